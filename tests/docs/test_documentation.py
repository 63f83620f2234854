"""The documentation is true: its examples run, its outputs and names are those of the program."""

from __future__ import annotations

import argparse
import io
import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest

import kohorte as ko
from kohorte.cli.main import VERBS, main, parser
from kohorte.cohorts import hierarchy_files, plan_text
from kohorte.data import strict_yaml
from kohorte.hierarchies import BUILDERS
from kohorte.metrics import METRICS, PLAIN_METRICS, metric_named
from kohorte.models import MODELS
from kohorte.plans.plan import KEYS
from kohorte.recoding import RECODERS
from kohorte.search import SEARCHES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
INSIDE = {"Attacks", "Builder", "Costing", "HierarchyCheck", "Metric", "PopulationSource", "SkippedAttack"}
"""Members of families that users get from functions, or that only contributors need."""
NOTICE = "kohorte: this installation has no compiled kernels"


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def titles(text: str, mark: str) -> list[str]:
    """The titles of one depth, without backticks."""
    return [title.strip("`") for title in re.findall(rf"^{mark} (.+)$", text, re.MULTILINE)]


def section(text: str, title: str) -> str:
    """What stands under a title of depth 2."""
    return re.split(r"^## ", text.split(f"\n## {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


# Examples


@pytest.fixture(scope="session")
def demo_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    ko.write_table(ko.cohort(10_000), folder / "patients.csv", like=None, force=False)
    for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def demo(demo_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own with the files of the demo, and the test in it."""
    shutil.copytree(demo_files, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def commands(console: str) -> Iterator[tuple[str, int, list[str]]]:
    """The commands of a console block, each with its exit code and the output that is shown."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        line, *shown = part.rstrip("\n").split("\n")
        code = EXIT_CODE.search(line)
        yield EXIT_CODE.sub("", line), int(code[1]) if code else 0, shown


def settled(text: str) -> str:
    """The text without what differs from run to run, or with a better search."""
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
    return re.sub(r"^[\d,]+ of ([\d,]+) combinations counted, [\d.]+ m?s", r"N of \1 combinations counted, S s", text)


def is_shown(shown: list[str], printed: list[str]) -> bool:
    """Whether the shown lines are the printed ones; a line `...` stands for any number of lines."""
    pattern = "".join("(?s:.*)" if line == "..." else re.escape(settled(line)) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{settled(line)}\n" for line in printed)) is not None


def run_console(console: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for line, code, shown in commands(console):
        verb, *arguments = shlex.split(line)
        if verb == "cd":
            monkeypatch.chdir(arguments[0])
            continue
        assert verb == "kohorte", line
        capsys.readouterr()
        monkeypatch.setattr("getpass.getpass", _typed(arguments))
        assert main(arguments) == code, line
        streams = capsys.readouterr()
        printed = [text for text in (streams.out + streams.err).splitlines() if not text.startswith(NOTICE)]
        assert is_shown(shown, printed), f"{line} prints\n" + "\n".join(printed)


def _typed(arguments: list[str]) -> Callable[[str], str]:
    """What is typed as a password: everybody who is named in a command has their own."""
    names = [value for name, value in pairwise(arguments) if name in ("--as", "add-person")]
    return lambda _: f"twelve characters or more{''.join(names)[::-1]}"


def run_examples(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Run all blocks of a document in their order: Python in one namespace, and commands."""
    namespace: dict[str, object] = {"__name__": "example"}
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    assert blocks
    for language, text in blocks:
        if language == "python":
            exec(compile(text, str(path), "exec"), namespace)
        else:
            run_console(text, capsys, monkeypatch)


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits at the terminal and types a password whenever one is asked for."""
    monkeypatch.setattr("sys.stdin", io.StringIO())
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("getpass.getpass", lambda _: "twelve characters or more")


LONG_DOCUMENTS = (
    "docs/how-to/anonymize-together.md",
    "docs/how-to/compare-algorithms.md",
    "docs/how-to/measure-risk.md",
    "docs/how-to/plan-a-survey.md",
    "docs/how-to/population.md",
    "docs/how-to/protect-a-diagnosis.md",
    "docs/how-to/pseudonymize.md",
    "docs/how-to/read-the-report.md",
    "docs/how-to/release-a-growing-table.md",
)


@pytest.mark.usefixtures("demo", "typing")
@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "docs/python.md",
        "docs/how-to/check-a-request.md",
        "docs/how-to/hierarchies.md",
        "docs/how-to/pseudonymize-fhir.md",
        "docs/how-to/query-with-noise.md",
        "docs/how-to/remember-releases.md",
        "docs/how-to/safe-harbor.md",
        "docs/how-to/solution-space.md",
        *(pytest.param(name, marks=pytest.mark.slow) for name in LONG_DOCUMENTS),
    ],
)
def test_the_examples_of_a_document_run_in_the_folder_of_the_demo(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run_examples(ROOT / name, capsys, monkeypatch)


def test_the_tutorial_can_be_followed_from_an_empty_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples(DOCS / "tutorial.md", capsys, monkeypatch)


def test_the_plan_that_is_shown_as_a_reference_is_a_plan() -> None:
    shown = re.search(r"^```yaml\n(.*?)^```$", page("plan.md"), re.MULTILINE | re.DOTALL)
    assert shown is not None
    data = strict_yaml.load(shown[1], source="plan.md", code="plan-yaml")
    assert ko.Plan.from_dict(data).quasi_identifiers == ("zip", "birth_date", "sex")


def test_the_ten_metrics_choose_what_their_page_says(demo: Path) -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d ]+) \| (\d+) \|$", page("metrics.md"), re.MULTILINE)
    patients = ko.read_table("patients.csv").frame
    plan = ko.Plan.from_yaml(demo / "plan.yaml")
    releases = {name: ko.anonymize(patients, replace(plan, metric=metric_named(name))) for name, _, _ in rows}
    found = [(name, " ".join(map(str, release.node)), str(release.suppressed)) for name, release in releases.items()]
    assert found == rows
    assert [name for name, _, _ in rows] == [metric.name for metric in PLAIN_METRICS]


# Names


def test_every_error_code_of_the_source_is_documented_and_no_other() -> None:
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    raised = set(re.findall(r'code="([^"]+)"', source)) | {"plan-role", "plan-missing", "plan-formulas"}
    documented = titles(page("errors.md"), "###")
    assert sorted(documented) == sorted(raised)


def test_every_error_code_has_a_meaning_and_a_remedy() -> None:
    codes = re.split(r"^### .+$", page("errors.md"), flags=re.MULTILINE)[1:]
    for text in codes:
        meaning, remedy = [line for line in text.splitlines() if line and not line.startswith("## ")]
        assert meaning.endswith(".")
        assert remedy.startswith("Remedy: ")


def subparsers(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = [action for action in of._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}


@cache
def verbs() -> dict[str, argparse.ArgumentParser]:
    found = {}
    for verb in VERBS:
        found |= dict(actions_of(verb, subparsers(parser([verb]))[verb]))
    return found


def actions_of(name: str, own: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """A verb, or its actions, or theirs."""
    below = subparsers(own)
    for action, other in below.items():
        yield from actions_of(f"{name} {action}", other)
    if not below:
        yield name, own


def options(of: argparse.ArgumentParser) -> set[str]:
    """The options that the help shows."""
    shown = (action for action in of._actions if action.help != argparse.SUPPRESS)
    return {option for action in shown for option in action.option_strings} - {"-h", "--help"}


def test_every_verb_of_the_command_is_documented_and_no_other() -> None:
    assert titles(page("command-line.md"), "##") == list(verbs())


@pytest.mark.parametrize("verb", verbs())
def test_every_option_of_a_verb_is_documented_and_no_other(verb: str) -> None:
    text = section(page("command-line.md"), verb)
    usage, _, table = text.partition("\n| option |")
    wanted = options(verbs()[verb])
    assert set(re.findall(r"--[a-z-]+", usage)) == wanted
    assert set(re.findall(r"^\| `(--[a-z-]+)", table, re.MULTILINE)) == wanted - {
        "--separator",
        "--encoding",
        "--quiet",
    }


def test_the_options_of_the_command_itself_are_documented() -> None:
    before_verbs = page("command-line.md").split("\n## ")[0]
    shown = set(re.findall(r"^\| `(--[a-z-]+)", before_verbs, re.MULTILINE))
    assert shown == options(parser([])) | {"--help", "--separator", "--encoding", "--quiet"}


def keys_of(answer: object) -> set[str]:
    """All keys of a JSON answer, but those below that are names of attributes or parts of a plan."""
    if isinstance(answer, dict):
        names_below = ("plan", "parameters", "levels", "costs", "lost_values", "hierarchy")
        below = (keys_of(value) for key, value in answer.items() if key not in names_below)
        return set(answer).union(*below)
    return set().union(*map(keys_of, answer)) if isinstance(answer, list) else set()


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("title", "arguments"),
    [
        ("profile", "profile patients.csv"),
        ("hierarchy check", "hierarchy check patients.csv --plan plan.yaml"),
        ("anonymize", "anonymize patients.csv --plan plan.yaml --dry-run"),
        ("verify", "verify patients.csv --plan plan.yaml"),
        ("risk", "risk patients.csv --plan plan.yaml --rows 2 --population-size 100000"),
        ("risk", "risk patients.csv --plan plan.yaml --compare patients.csv"),
        ("attack", "attack patients.csv --plan plan.yaml --register patients.csv --release patients.csv"),
        ("lattice", "lattice patients.csv --plan plan.yaml"),
        ("algorithms", "algorithms patients.csv --plan plan.yaml --only optimal,mondrian --task blood_group"),
    ],
)
def test_every_key_of_a_json_answer_is_documented(
    title: str, arguments: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*arguments.split(), "--json"])
    answer = json.loads(capsys.readouterr().out)
    text = section(page("command-line.md"), title)
    assert [key for key in sorted(keys_of(answer)) if f"`{key}`" not in text] == []


def test_every_metric_has_a_row_and_a_section() -> None:
    text = page("metrics.md")
    names = [metric.name for metric in METRICS]
    assert titles(text, "###") == names
    assert re.findall(r"^\| `(\w+)` \|", text.split("\n## ")[0], re.MULTILINE) == names


def test_every_model_has_a_page_and_a_row() -> None:
    names = {model.name for model in MODELS}
    assert {path.stem for path in (DOCS / "models").glob("*.md")} == names | {"index"}
    assert all(f"[`{name}`]({name}.md)" in page("models/index.md") for name in names)


def test_every_search_has_a_row_and_a_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \[(\S+)\]", page("search/index.md"), re.MULTILINE)
    assert [name for name, _ in rows] == [search.name for search in SEARCHES]
    assert all(name in page(f"search/{file}") for name, file in rows)


def test_every_recoder_has_a_row_and_a_page() -> None:
    rows = re.findall(r"^\| `(\w+)` \| \[(\S+)\]", page("recoding/index.md"), re.MULTILINE)
    assert [name for name, _ in rows] == [recoder.name for recoder in RECODERS]
    assert all(name in page(f"recoding/{file}") for name, file in rows)


def test_every_hierarchy_builder_has_a_section() -> None:
    names = [builder.name for builder in BUILDERS]
    assert [title for title in titles(page("how-to/hierarchies.md"), "##") if title != "Check and show"] == names


def test_the_reference_of_the_plan_names_every_key_and_every_member_of_a_family() -> None:
    text = page("plan.md")
    assert titles(text, "##") == [*KEYS[1:], "How the YAML is read"]
    families = {"metric": METRICS, "search": (*SEARCHES, *RECODERS), "attributes": BUILDERS}
    for key, family in families.items():
        assert [member.name for member in family if f"`{member.name}`" not in section(text, key)] == []


def test_every_public_name_is_in_the_python_reference() -> None:
    text = page("python.md")
    assert [name for name in ko.__all__ if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize(
    "family", [ko.attacks, ko.hierarchies, ko.metrics, ko.models], ids=lambda family: family.__name__
)
def test_every_class_and_attack_of_a_family_is_in_the_python_reference(family: ModuleType) -> None:
    text = page("python.md")
    functions = {name for name in family.__all__ if name.endswith("_attack")}
    members = functions | {name for name in family.__all__ if isinstance(getattr(family, name), type)}
    assert members
    assert sorted(name for name in members - INSIDE if not re.search(rf"\b{name}\b", text)) == []


PARTS = {"ALGORITHMS", "PLAIN_METRICS"}
"""Tuples made of the members of other families."""


def families() -> Iterator[tuple[str, tuple[type, ...]]]:
    """The tuples of members that packages export, by name."""
    for path in sorted((ROOT / "src" / "kohorte").glob("*/__init__.py")):
        package = import_module(f"kohorte.{path.parent.name}")
        for name in getattr(package, "__all__", ()):
            members = getattr(package, name)
            kinds = isinstance(members, tuple) and all(isinstance(member, type) for member in members)
            if name.isupper() and name not in PARTS and kinds:
                yield name, members


def test_the_table_of_seams_names_every_family() -> None:
    seams = section((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "The seams")
    named = set(re.findall(r"^\| `\w+` \| [\w/.]+ \| `(\w+)` \|", seams, re.MULTILINE))
    found = {name for name, _ in families()}
    assert found >= {"BUILDERS", "METRICS", "MODELS", "RECODERS", "SEARCHES"}
    assert found <= named


def test_the_renamed_names_of_the_changelog_are_gone_and_their_successors_exist() -> None:
    table = (
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").partition("| old name |")[2].partition("| old module |")[0]
    )
    rows = re.findall(r"^\| (`kohorte\..+) \| (.+) \|$", table, re.MULTILINE)
    assert rows
    for old, new in rows:
        names = [name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", old)]
        homes = [name.rpartition(".")[0] for name in re.findall(r"`([\w.]+)`", new)]
        homes = homes if len(homes) == len(names) else homes * len(names)
        assert [name for name in names if name in ko.__all__] == []
        assert [name for name, home in zip(names, homes, strict=True) if not hasattr(import_module(home), name)] == []


# The glossary


def test_every_word_of_the_glossary_is_defined_once() -> None:
    words = [
        word
        for entry in re.findall(r"^\| ([^|]+?) \|", page("glossary.md"), re.MULTILINE)
        if entry != "word" and not entry.startswith("---")
        for word in re.sub(r"\s*\(\*.+?\*\)", "", entry).split(", ")
    ]
    assert len(words) > 80
    assert sorted({word for word in words if words.count(word) > 1}) == []


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/index.md"])
def test_the_glossary_can_be_found(name: str) -> None:
    assert "glossary.md)" in (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_prose_has_none_of_the_words_that_readers_stumbled_over(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    found = re.findall(
        r"\b(anew|whoever|wherefore|so to speak|the own|the dissertation|the source's)\b", text, re.IGNORECASE
    )
    assert found == []


# The map


def test_the_picture_of_layers_is_that_of_the_import_rules() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    picture = section((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "The layers")
    drawn = re.findall(r"^ {8}(\w+(?: \| \w+)*)", picture, re.MULTILINE)
    assert drawn == layers


def test_the_architecture_can_be_read_in_five_minutes() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) < 200


@pytest.mark.parametrize("top", ["src/kohorte", "native", "tests", "testbed", "benchmarks", "docs"])
def test_the_tree_of_the_architecture_names_every_folder(top: str) -> None:
    tree = section((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "The tree")
    folders = [path.name for path in (ROOT / top).iterdir() if path.is_dir() and not path.name.startswith(("_", "."))]
    assert [folder for folder in [*top.split("/"), *folders] if f"{folder}/" not in tree] == []


def anchors(path: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_between_documents_leads_somewhere(path: Path) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", path.read_text(encoding="utf-8"))
    broken = []
    for link in links:
        name, _, anchor = link.partition("#")
        target = path.parent / name if name else path
        if link.startswith("http"):
            continue
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_can_be_reached_from_the_map() -> None:
    linked, found = [DOCS / "index.md"], set()
    while linked:
        path = linked.pop().resolve()
        if path in found or path.suffix != ".md" or not path.is_relative_to(DOCS):
            continue
        found.add(path)
        links = re.findall(r"\]\(([^)\s#]+)[^)]*\)", path.read_text(encoding="utf-8"))
        linked += [path.parent / link for link in links if not link.startswith("http")]
    assert set(DOCS.rglob("*.md")) == found
