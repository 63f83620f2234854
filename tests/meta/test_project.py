"""What holds for the project as a whole."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

from kohorte.data import Role
from kohorte.sources import Missing
from support.parsed import nodes_of

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "kohorte"
MODULES = sorted(PACKAGE.rglob("*.py"))
MOST_LINES = 400
FORBIDDEN = ["/" + folder + "/" for folder in ("home", "root", "work", "Users")]
KINDS = {".py", ".md", ".yaml", ".yml", ".toml", ".cpp", ".hpp", ".txt", ".json", ".cfg"}


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def codes_in_source() -> Iterator[tuple[str, str]]:
    """All codes of errors with the module that uses them: the keyword `code` of every call."""
    for path in MODULES:
        for node in nodes_of(path):
            if isinstance(node, ast.Call):
                for keyword in node.keywords:
                    if keyword.arg in ("code", "duplicate_key_code", "too_deep_code"):
                        yield from ((code, name_of(path)) for code in codes_of(keyword.value, name_of(path)))


def codes_of(value: ast.expr, module: str) -> set[str]:
    """The codes that an expression can be; an error that is passed on keeps the code it has."""
    match value:
        case ast.Constant(value=str(code)):
            return {code}
        case ast.IfExp():
            return codes_of(value.body, module) | codes_of(value.orelse, module)
        case ast.JoinedStr():
            return {pattern_of(value)}
        case ast.Attribute(attr="code") | ast.Name(id="code" | "duplicate_key_code" | "too_deep_code"):
            return set()
    raise AssertionError(f"{module}, line {value.lineno}: a code must be a literal")


def pattern_of(value: ast.JoinedStr) -> str:
    """An f-string with {name} for what is put in."""
    parts = []
    for part in value.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
        else:
            assert isinstance(part, ast.FormattedValue)
            parts.append("{" + ast.unparse(part.value) + "}")
    return "".join(parts)


POSSIBLE = {"plan-{key}": {"plan-role", "plan-missing", "plan-formulas"}}
"""What the f-strings can become; `key` is the name of a choice of a plan."""


def all_codes() -> set[str]:
    found = {code for code, _ in codes_in_source()}
    unknown = {code for code in found if "{" in code} - set(POSSIBLE)
    assert not unknown, f"say in POSSIBLE what these codes can be: {unknown}"
    return {plain for code in found for plain in POSSIBLE.get(code, {code})}


def test_the_codes_made_of_a_key_are_those_of_the_choices_of_a_plan() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "plans").glob("*.py"))
    keys = set(re.findall(r'choice\("(\w+)"', source))
    assert {f"plan-{key}" for key in keys} == POSSIBLE["plan-{key}"]
    assert Role
    assert Missing


def test_codes_are_words_with_hyphens() -> None:
    assert [code for code in all_codes() if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", code)] == []


@pytest.fixture
def documented() -> list[str]:
    path = ROOT / "docs" / "errors.md"
    if not path.is_file():
        pytest.fail("docs/errors.md is missing")
    return re.findall(r"^### `([^`]+)`", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


def test_every_code_is_documented_and_every_documented_code_exists(documented: list[str]) -> None:
    codes = all_codes()
    assert sorted(codes - set(documented)) == [], "not in docs/errors.md"
    assert sorted(set(documented) - codes) == [], "only in docs/errors.md"


def test_no_code_is_documented_twice(documented: list[str]) -> None:
    assert sorted({code for code in documented if documented.count(code) > 1}) == []


def test_no_module_is_too_long() -> None:
    lengths = {name_of(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def texts() -> Iterator[Path]:
    for folder in ("src", "docs", "tests", "testbed", "benchmarks", "native"):
        for path in sorted((ROOT / folder).rglob("*")):
            parts = set(path.relative_to(ROOT).parts)
            if path.is_file() and path.suffix in KINDS and not parts & {"build", "__pycache__", ".venv"}:
                yield path
    yield from (path for path in sorted(ROOT.glob("*")) if path.is_file() and path.suffix in {".md", ".toml"})


def test_no_file_names_a_folder_of_somebodys_machine() -> None:
    found = [
        f"{name_of(path)}, line {number}"
        for path in texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if any(folder in line for folder in FORBIDDEN)
    ]
    assert found == []


def test_the_installed_version_is_that_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert version("kohorte") == project["version"]


def test_the_architecture_names_every_part_of_the_package() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    parts = [path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert parts
    assert [part for part in parts if not re.search(rf"\b{part}/", text)] == []


def test_every_module_says_what_it_is_for() -> None:
    assert [name_of(path) for path in MODULES if not ast.get_docstring(nodes_of(path)[0])] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    nothing = re.compile(r"^(utils?|helpers?|common|misc|manager|abstract.*|.*_?v2)$")
    assert [name_of(path) for path in MODULES if nothing.match(path.stem)] == []


def test_every_package_below_has_its_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = {
        name.strip() for contract in contracts for layer in contract.get("layers", ()) for name in layer.split("|")
    }
    parts = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert parts - {"__init__"} <= layers
