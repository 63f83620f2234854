"""Plans in YAML: nothing is lost on the way there and back, and nothing that is unclear is accepted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.data import strict_yaml
from kohorte.errors import InputError
from kohorte.hierarchies import Bounds, CsvFile, Dates, Intervals, Ordering, Redaction, Tree
from kohorte.metrics import PLAIN_METRICS
from kohorte.models import KAnonymity
from kohorte.search import SEARCHES

AWKWARD = [
    "no",
    "1",
    "null",
    "~",
    "a: b",
    "ü",
    "x y",
    "0123",
    "1e5",
    "true",
    "<<",
    "#",
    "- a",
    "'",
    '"',
    "a\nb",
    "=",
    "*a",
]
AWKWARD += [
    "&a",
    "!a",
    "? a",
    "2024-01-01",
    "1:30",
    ".inf",
    "{",
    "[",
    " ",
    "\u2028",
    "\x85",
    "x" * 200,
    "%",
    "@",
    "|",
    ">",
]
HEAD = "kohorte: 1\nattributes:\n  zip: {role: quasi-identifying}\nmodels: [{model: k-anonymity, k: 2}]\n"

names = st.one_of(
    st.sampled_from(AWKWARD),
    st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12),
)
labels = st.one_of(st.sampled_from([word for word in AWKWARD if word != "*"]), names).filter(lambda word: word != "*")
marks = st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp", "Cn", "Co", "Cf", "Zs")).filter(str.isprintable)


@st.composite
def builders(draw: st.DrawFn) -> object:
    which = draw(st.sampled_from(["none", "redaction", "intervals", "bounds", "ordering", "dates", "csv", "tree"]))
    match which:
        case "none":
            return None
        case "redaction":
            return Redaction(
                order=draw(st.sampled_from(["right_to_left", "left_to_right"])),
                mask=draw(marks),
                padding=draw(st.none() | marks),
                length=draw(st.none() | st.integers(1, 100)),
            )
        case "intervals":
            step = draw(st.sampled_from([1, 0.1, 0.25, 5]))
            return Intervals(lower=draw(st.integers(-100, 0)), upper=100, widths=[step, 2 * step, 8 * step])
        case "bounds":
            bounds = sorted(draw(st.sets(st.decimals(-99, 99, places=2), min_size=2, max_size=4)))
            own = draw(st.none() | st.lists(labels, min_size=len(bounds) - 1, max_size=len(bounds) - 1, unique=True))
            return Intervals(levels=[Bounds(bounds, own)], below="group", decimal=",")
        case "ordering":
            values = draw(st.lists(labels, min_size=1, max_size=5, unique=True))
            return Ordering(values=values, fanouts=draw(st.lists(st.integers(2, 5), max_size=2)))
        case "dates":
            return Dates(format=draw(st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"])), levels=["month", "year"])
        case "csv":
            return CsvFile(draw(names.filter(lambda n: "\0" not in n)), separator=draw(st.sampled_from(";,\t|")))
    return Tree(
        {draw(labels): draw(st.lists(labels.filter(lambda n: len(n) > 1), min_size=1, max_size=3, unique=True))}
    )


lines = st.text(min_size=1, max_size=20).filter(lambda text: text.isprintable() and text.strip() != "")


@st.composite
def plans(draw: st.DrawFn) -> ko.Plan:
    columns = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    attributes = {columns[0]: ko.Attribute("quasi-identifying", draw(builders()), draw(st.floats(0, 1)))}
    for column in columns[1:]:
        role = draw(st.sampled_from(list(ko.Role)))
        attributes[column] = ko.Attribute(role, draw(builders()))
    return ko.Plan(
        attributes=attributes,
        models=[KAnonymity(k=k) for k in draw(st.lists(st.integers(1, 10**9), min_size=1, max_size=2))],
        suppression_limit=draw(st.floats(0, 1)),
        metric=draw(st.sampled_from(PLAIN_METRICS))(),
        search=ko.SearchOptions(
            draw(st.sampled_from(SEARCHES)).name, draw(st.none() | st.floats(0, exclude_min=True, allow_infinity=False))
        ),
        missing=draw(st.sampled_from(list(ko.Missing))),
        order=draw(st.sampled_from(["shuffled", "input"])),
        title=draw(st.none() | lines),
        purpose=draw(st.none() | lines),
        recipient=draw(st.none() | lines | st.sampled_from(["no", "1.0", "null", "# 5", "~", "a: b", " x "])),
    )


@given(plans())
def test_a_plan_comes_back_from_yaml_as_it_was(plan: ko.Plan) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.yaml"
        path.write_text(plan.to_yaml(), encoding="utf-8", newline="")
        again = ko.Plan.from_yaml(path)
    assert again == plan
    assert list(again.attributes) == list(plan.attributes)
    assert again.fingerprint() == plan.fingerprint()
    assert again.to_yaml() == plan.to_yaml()


@given(st.lists(names, min_size=1, unique=True))
@example(AWKWARD)
def test_column_names_stay_text_whatever_they_look_like(columns: list[str]) -> None:
    plan = ko.Plan(attributes=dict.fromkeys(columns, ko.Attribute("quasi-identifying")), models=[KAnonymity(k=2)])
    again = ko.Plan.from_dict(strict_yaml.load(plan.to_yaml(), source="plan.yaml", code="plan-yaml"))
    assert list(again.attributes) == columns


@pytest.mark.parametrize("name", ["no", "1", "null", "0123", "1e5", "true", "2024-01-01", "~"])
def test_column_names_need_no_quotes_in_a_plan(name: str) -> None:
    text = HEAD.replace("zip", name)
    assert list(ko.Plan.from_dict(strict_yaml.load(text, source="plan.yaml", code="plan-yaml")).attributes) == [name]


@pytest.mark.parametrize("word", ["yes", "no", "on", "off", "0123", "0x10", "1_000", "1:30", "2024-01-01", "=", "<<"])
def test_words_that_old_yaml_would_convert_stay_text(word: str) -> None:
    text = HEAD.replace("quasi-identifying}", f"quasi-identifying, hierarchy: {{ordering: {{values: [{word}]}}}}}}")
    plan = ko.Plan.from_dict(strict_yaml.load(text, source="plan.yaml", code="plan-yaml"))
    assert plan.attributes["zip"].hierarchy == Ordering(values=[word])


BROKEN = {
    "a key twice": (HEAD + "missing: category\nmissing: refuse\n", "line 6"),
    "a column twice": (HEAD.replace("models", "  zip: {role: identifying}\nmodels"), "line 4"),
    "a parameter twice": (HEAD.replace("k: 2", "k: 2, k: 3"), "line 4"),
    "a reference": (HEAD + "missing: &m category\nmetric: *m\n", "references"),
    "a tab for indentation": (HEAD.replace("  zip", "\tzip"), "at line 3"),
    "an open bracket": (HEAD + "metric: {metric: loss\n", "not valid YAML"),
    "two documents": (HEAD + "---\n" + HEAD, "not valid YAML"),
    "a tag": (HEAD + "missing: !!python/name:os.system\n", "not valid YAML"),
    "a wrong tag of a number": (HEAD + "suppression_limit: !!int five\n", "not valid YAML"),
    "a wrong tag of a truth": (HEAD + "suppression_limit: !!bool maybe\n", "not valid YAML"),
    "a number without end": (HEAD + "suppression_limit: " + "9" * 5000 + "\n", "not valid YAML"),
    "a mapping as key": (HEAD + "? {a: b}\n: 3\n", "not valid YAML"),
    "a NUL": (HEAD + "# \0\n", "not valid YAML"),
    "a deep nest": ("[" * 5000, "not valid YAML"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_yaml_that_is_broken_or_unclear_is_refused_with_its_line(tmp_path: Path, what: str) -> None:
    text, words = BROKEN[what]
    (tmp_path / "my plan.yaml").write_text(text)
    with pytest.raises(InputError) as caught:
        ko.Plan.from_yaml(tmp_path / "my plan.yaml")
    assert caught.value.code == "plan-yaml"
    assert caught.value.message.startswith("my plan.yaml: ")
    assert words in caught.value.message


@pytest.mark.parametrize("text", ["", "# only a comment\n", "- a\n- b\n", "just words\n"])
def test_a_file_without_a_mapping_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.yaml").write_text(text)
    with pytest.raises(InputError, match=r"mapping|empty") as caught:
        ko.Plan.from_yaml(tmp_path / "plan.yaml")
    assert caught.value.code == "plan-yaml"


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "plan.yaml").write_bytes(b"\xef\xbb\xbf" + HEAD.replace("\n", "\r\n").encode())
    assert ko.Plan.from_yaml(tmp_path / "plan.yaml").quasi_identifiers == ("zip",)
