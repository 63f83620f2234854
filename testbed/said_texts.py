"""The texts that the program composes in Python, for the catalogues: f-strings become templates with numbered holes.

In the rooms that speak to people (`SPEAKING`), every text of several words is for people, so nobody can forget to mark
one; a single word has to be marked (`translatable`). The messages of errors are the first arguments of calls with a
`code`, and those of problems their `detail`; those of the command line are left out, because they are shown there only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "kohorte"
SPEAKING = (
    "attacks",
    "comparison/recommendation.py",
    "data/columns.py",
    "data/csv_encoding.py",
    "data/csv_layout.py",
    "data/files.py",
    "data/strict_yaml.py",
    "data/table.py",
    "disclosures/findings.py",
    "dp/answers/run_query.py",
    "dp/budget/budget.py",
    "dp/sql/conditions.py",
    "dp/sql/parse.py",
    "dp/sql/words.py",
    "errors.py",
    "estimators",
    "exchange/checking",
    "exchange/picture",
    "exchange/statistics/entries.py",
    "exchange/statistics/lookup.py",
    "exchange/statistics/store.py",
    "exchange/statistics/typical.py",
    "hierarchies/builders",
    "hierarchies/labels.py",
    "identifiers/classes.py",
    "identifiers/contents.py",
    "identifiers/detection.py",
    "identifiers/given_numbers.py",
    "in_words.py",
    "lattice",
    "models/parameters.py",
    "parties/dummy_rows/statement.py",
    "parties/joint.py",
    "plans",
    "progress.py",
    "recoding",
    "release",
    "report",
    "risks",
    "series/drafting",
    "series/releasing/certificate.py",
    "service/jobs/tasks.py",
    "service/problems.py",
)
"""Folders and files whose texts are read by people in their own language."""

SECTIONS = ("Guarantee", "Guarantee for people", "Leaves open", "Leaves open for people")
"""The sections of the docstrings of models that a certificate quotes."""

KEPT = re.compile(
    r"(^|[._])(names?|attributes?|columns?|labels?|examples?|title|purpose|recipient|path|sha256)(\(\))?$"
)
"""Expressions that stand for names and texts of users; what they give is never translated."""

SINGLE_WORDS = (
    *("none", "nobody", "all", "some", "nothing", "unknown", "above", "before", "after", "public", "internal", "no"),
    *("holds", "FAILS", "PROBLEM", "Warnings", "Notes", "removed", "grouped", "intervals", "homogeneity", "linkage"),
    *("similarity", "skewness", "identifying", "quasi-identifying", "sensitive", "insensitive", "names", "dates"),
    *("hour", "day", "week", "month", "quarter", "year", "five years", "decade", "century", "ages", "release", "table"),
    *("attribute = {1=}", "threshold = {1}", "population = {1=}", "estimator = {1=}", "sampling_fraction = {1}"),
    *("proven", "contact", "attributes", "condition", "until", "people", "rows", "classes"),
    *(
        "file",
        "series",
        "query",
        "exchange",
        "joint",
        "typical",
        "unusual",
        "conspicuous",
        "pass",
        "generalize",
        "drop",
    ),
    *("Title", "Purpose", "Recipient", "region", "class", "vertical", "horizontal", "signed"),
    *("prosecutor", "journalist", "marketer", "made", "view", "search", "purpose", "recipient", "optimal", "numbers"),
    *(
        "and",
        "Lost:",
        ", before",
        ", after",
        "{1} and {2}",
        "{1} or {2}",
        "share of {1}",
        "other values",
        "(missing)",
        "the rest",
        "yes",
        "numbers",
    ),
)
"""Words that sentences are made of, or that stand alone in a table; texts of several words are found without a list."""

REFUSING = (
    *("attacks", "data", "disclosures", "dp", "envelopes", "errors.py", "estimators", "exchange"),
    *("hierarchies", "lattice", "metrics", "models", "patients", "plans", "pseudonyms", "recoding"),
    *("release", "report", "risks", "search", "series", "service", "sources", "space", "survey"),
    *("tradeoff", "trust"),
)
"""Folders whose errors a page can show."""
MARKED = "translatable"
_HAS_WORDS = re.compile(r"[A-Za-z]{2,}\W* +\W*[A-Za-z0-9]|[A-Za-z0-9]\W* +\W*[A-Za-z]{2,}")
_CODE = re.compile(
    r"^\w+\(|[<>]|\\[bsdwS\[]|\[\^|\(\?|^--|^%[a-zA-Z]|^\{[a-z]+: |^[a-z_]+(: [a-z_]+)+$|->|^os error|\{[a-z-]+:[a-z]"
)
_IN_TEMPLATE = re.compile(r"in_words\.count\([^\"]*, \"([^\"]+)\"(?:, \"([^\"]+)\")?\)")
_PLURAL = ("count",)
_UNITS = ("Unit",)


@cache
def said_texts() -> tuple[str, ...]:
    """Return the texts of the speaking rooms."""
    found = [text for path, place in _files() if speaks(place) for text in _texts(path)]
    return tuple(dict.fromkeys([*found, *_in_templates(), *_sections(), *_shipped(), *SINGLE_WORDS]))


@cache
def error_texts() -> tuple[str, ...]:
    """Return the messages of errors that are not said elsewhere."""
    found = [text for path, place in _files() if place.split("/")[0] in REFUSING for text in _messages(path)]
    return tuple(text for text in dict.fromkeys(found) if text not in said_texts())


def _files() -> Iterator[tuple[Path, str]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path, path.relative_to(PACKAGE).as_posix()


def speaks(place: str) -> bool:
    """Whether all texts of a file are for people."""
    return any(place == room or place.startswith(f"{room}/") for room in SPEAKING)


def _in_templates() -> Iterator[str]:
    """Numbers with their nouns in templates: `in_words.count(n, "row")`."""
    for path in sorted(PACKAGE.rglob("*.j2")):
        for one, many in _IN_TEMPLATE.findall(_source(path)):
            yield from (f"{{1}} {one}", f"{{1}} {many or one + 's'}")


def _shipped() -> Iterator[str]:
    """Where the statistics that come with the program are from, whom they are about, and where policies are from."""
    from kohorte.exchange.policies import POLICIES, CheckPolicy
    from kohorte.exchange.statistics import shipped_statistics

    yield from (CheckPolicy.named(name).law for name in POLICIES)

    for table in shipped_statistics().tables:
        yield from (table.origin.reference, table.origin.source)


def _sections() -> Iterator[str]:
    from kohorte.models import MODELS
    from kohorte.models.words import section_of

    for model in MODELS:
        yield model.name
        yield from filter(None, (section_of(model.__doc__, title) for title in SECTIONS))


def _texts(path: Path) -> Iterator[str]:
    tree = _whole(path)
    for node in _walk(tree, skip_errors=True):
        if isinstance(node, ast.Call):
            yield from _counted(node)
            if _name(node) == MARKED:
                yield from _constants(node.args)
        text = template(node)
        if text is not None and _for_people(text):
            yield text


def _whole(path: Path) -> ast.Module:
    """The source of a module, with the texts of constants put in where they are used."""
    tree = _parsed(path)
    known = {**_imported(tree), **_own(tree)}
    _Constants(known).visit(tree)
    return tree


@cache
def _source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _parsed(path: Path) -> ast.Module:
    return ast.parse(_source(path))


def _own(tree: ast.Module) -> dict[str, ast.expr]:
    """The constants of a module that are texts."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign) and len(node.targets) == 1]
    named = [(node.targets[0].id, node.value) for node in assigned if isinstance(node.targets[0], ast.Name)]
    return {name: value for name, value in named if name.isupper() and _parts(value)}


@cache
def _constants_of(path: Path) -> dict[str, ast.expr]:
    return _own(_parsed(path))


def _imported(tree: ast.Module) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("kohorte"):
            path = PACKAGE.parent / f"{node.module.replace('.', '/')}.py"
            names = {alias.name: alias.asname or alias.name for alias in node.names if alias.name.isupper()}
            own = _constants_of(path) if names and path.exists() else {}
            found |= {known: own[name] for name, known in names.items() if name in own}
    return found


class _Constants(ast.NodeTransformer):
    """Puts the texts of constants into the holes of f-strings and into sums."""

    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """Replace a hole by the text of its constant."""
        if isinstance(node.value, ast.Name) and node.value.id in self.known:
            text: ast.AST = self.visit(self.known[node.value.id])
            return text
        return self.generic_visit(node)


def _messages(path: Path) -> Iterator[str]:
    if "code=" not in _source(path):
        return
    for node in ast.walk(_whole(path)):
        if isinstance(node, ast.Call) and _is_error(node):
            told = [node.args[0], *(word.value for word in node.keywords if word.arg == "detail")]
            for inner in (inner for one in told for inner in _walk(one)):
                text = template(inner)
                if text is not None and _for_people(text):
                    yield text


def _is_error(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and bool(node.args) and any(word.arg == "code" for word in node.keywords)


def _walk(node: ast.AST, *, skip_errors: bool = False) -> Iterator[ast.AST]:
    """All nodes but docstrings, asserted and annotated texts, and the parts of a text that was taken as a whole."""
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    if docstring or isinstance(node, ast.Assert) or (skip_errors and _is_error(node)):
        return
    yield node
    for one in _below(node):
        yield from _walk(one, skip_errors=skip_errors)


def _below(node: ast.AST) -> list[ast.AST]:
    """The nodes below a node; below a text, or a number with its noun, those that are no constants."""
    counted = isinstance(node, ast.Call) and _name(node) in (*_PLURAL, *_UNITS)
    parts: Sequence[ast.AST] = node.args if counted and isinstance(node, ast.Call) else _parts(node)
    if counted or parts:
        return [part for part in parts if not isinstance(part, ast.Constant)]
    fields = [child for field, child in ast.iter_fields(node) if field not in ("annotation", "returns")]
    children = [one for child in fields for one in (child if isinstance(child, list) else [child])]
    return [one for one in children if isinstance(one, ast.AST)]


# Templates


def template(node: ast.AST) -> str | None:
    """Return a text of the source with numbered holes, or None if the node is no text."""
    parts = _parts(node)
    if not parts:
        return None
    text, holes = "", 0
    for part in parts:
        if isinstance(part, ast.Constant):
            text += str(part.value)
        elif words := _choice(part):
            text += "{" + "|".join(words) + "}"
        else:
            holes += 1
            text += "{" + str(holes) + ("=" if _is_kept(part) else "") + "}"
    return text


def _parts(node: ast.AST) -> list[ast.expr]:
    """The pieces of a text: constants, and expressions for its holes; empty if the node is no text."""
    if isinstance(node, ast.Constant):
        return [node] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return [piece for part in node.values for piece in _pieces(part)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _parts(node.left), _parts(node.right)
        return [*(left or [node.left]), *(right or [node.right])] if left or right else []
    return []


def _pieces(part: ast.expr) -> list[ast.expr]:
    if isinstance(part, ast.Constant | ast.JoinedStr):
        return _parts(part)
    return [part.value] if isinstance(part, ast.FormattedValue) and _is_plain(part) else [part]


def _is_plain(part: ast.expr) -> bool:
    """Whether a hole has neither a conversion nor a format."""
    return isinstance(part, ast.FormattedValue) and part.conversion == -1 and part.format_spec is None


def _choice(part: ast.expr) -> list[str]:
    """The words of which a number chooses one (`'is' if n == 1 else 'are'`)."""
    if not isinstance(part, ast.IfExp):
        return []
    words = [one.value for one in (part.body, part.orelse) if isinstance(one, ast.Constant)]
    alike = all(isinstance(word, str) and " " not in word for word in words)
    return [str(word) for word in words] if len(words) == 2 and alike else []


def _is_kept(part: ast.expr) -> bool:
    if isinstance(part, ast.FormattedValue):
        return part.conversion == -1 and _is_kept(part.value)
    return KEPT.search(ast.unparse(part)) is not None


def _for_people(text: str) -> bool:
    return _HAS_WORDS.search(re.sub(r"\{\d+=?\}", "0", text)) is not None and not _CODE.search(text)


def _counted(node: ast.Call) -> Iterator[str]:
    """Numbers with their nouns: `count(n, "row")` says `1 row` or `2 rows`."""
    name = _name(node)
    words = _constants(node.args[1:] if name in _PLURAL else node.args if name in _UNITS else [])
    if words:
        one, many = words[0], words[1] if len(words) > 1 else f"{words[0]}s"
        yield from (f"{{1}} {one}", f"{{1}} {many}")
        if name in _UNITS:
            yield from (one, many)


def _name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else str(getattr(node.func, "id", ""))


def _constants(nodes: Sequence[ast.expr]) -> list[str]:
    return [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
