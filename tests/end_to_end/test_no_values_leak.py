"""No value of a cell ever appears in what is printed, raised, logged or shown: here each cell is a canary.

The header is ordinary. Every cell, whatever its role, holds a token that stands nowhere else. Then everything that can
go wrong is made to go wrong, through the command and through Python, and all that comes out is searched.
"""

from __future__ import annotations

import io
import logging
import os
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import kohorte as ko
from kohorte.errors import KohorteError
from kohorte.hierarchies import Hierarchy, Redaction, check_hierarchy
from kohorte.plans import profile
from kohorte.release import find_candidate, write_release
from kohorte.release.anonymization import set_up_search
from kohorte.release.preparation import encode_problem
from kohorte.sources import FrameSource

Run = Callable[..., Any]
CANARY = "canary"
ROLES = ("name", "zip", "sex", "diagnosis", "note")
ROWS = 6
PLAN = """\
kohorte: 1
attributes:
  name: {role: identifying}
  zip: {role: quasi-identifying, hierarchy: {redaction: {}}}
  sex: {role: quasi-identifying}
  diagnosis: {role: sensitive}
  note: {role: insensitive}
models:
  - {model: k-anonymity, k: 2}
suppression_limit: 0.5
"""


def cell(column: str, row: int) -> str:
    return f"{CANARY}{ROLES.index(column)}{row // 2}"


def table() -> pl.DataFrame:
    return pl.DataFrame({column: [cell(column, row) for row in range(ROWS)] for column in ROLES})


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that is logged, at every level."""
    stream = io.StringIO()
    handler, root = logging.StreamHandler(stream), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def cage(folder: Path) -> Path:
    table().write_csv(folder / "in.csv")
    (folder / "plan.yaml").write_text(PLAN)
    return folder


def check_error(error: BaseException) -> None:
    """Search an error, all that led to it, and what Python would print."""
    seen: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        part = waiting.pop()
        if part is None or part in seen:
            continue
        seen.append(part)
        if part is error or not error.__suppress_context__ or part is error.__cause__:
            assert CANARY not in str(part)
            assert CANARY not in repr(part)
            assert CANARY not in repr(vars(part))
        waiting += [part.__cause__, part.__context__]
    assert CANARY not in "".join(traceback.format_exception(error))


HIERARCHIES = {
    "few.csv": f"{cell('zip', 0)};{CANARY};*\n",
    "split.csv": "".join(f"{cell('zip', row)};{CANARY}{row // 4};{CANARY}{row % 4};*\n" for row in (0, 2, 4)),
    "ragged.csv": f"{cell('zip', 0)};*\n{cell('zip', 2)};{CANARY};*\n",
    "twice.csv": f"{cell('zip', 0)};*\n{cell('zip', 0)};*\n",
    "star.csv": f"{cell('zip', 0)};{CANARY};*\n{cell('zip', 2)};*;*\n",
    "quotes.csv": f'{cell("zip", 0)};"{CANARY}\n',
    "latin.csv": f"{cell('zip', 0)};ü;*\n",
    "emptylabel.csv": f"{cell('zip', 0)};;*\n{cell('zip', 2)};;*\n",
    "twice.yaml": f"{CANARY}: [a]\n{CANARY}: [b]\n",
    "broken.yaml": f"{CANARY}: [a\n",
    "alias.yaml": f"{CANARY}: &{CANARY} [a]\nx: *{CANARY}\n",
    "samevalue.yaml": f"a: [{CANARY}]\nb: [{CANARY}]\n",
    "star.yaml": f"{CANARY}: ['*']\n",
}

PLANS = {
    "no numbers": ("{redaction: {}}", "{intervals: {lower: 0, upper: 9, widths: [3]}}"),
    "no dates": ("{redaction: {}}", "{dates: {}}"),
    "too short a redaction": ("{redaction: {}}", "{redaction: {length: 3}}"),
    "other values": ("{redaction: {}}", "{ordering: {values: [a, b]}}"),
    "values twice": ("{redaction: {}}", f"{{ordering: {{values: [{CANARY}, {CANARY}]}}}}"),
    "values that are no numbers": ("{redaction: {}}", f"{{ordering: {{by: number, values: [{CANARY}]}}}}"),
    "a star as value": ("{redaction: {}}", f"{{ordering: {{values: [{CANARY}, '*']}}}}"),
    "another tree": ("{redaction: {}}", "{tree: {a: [b]}}"),
    "a tree with a category twice": ("{redaction: {}}", f"{{tree: {{{CANARY}: [a], {CANARY}: [b]}}}}"),
    "a tree with a value twice": ("{redaction: {}}", f"{{tree: {{a: [{CANARY}], b: [{CANARY}]}}}}"),
    "a tree of no text": ("{redaction: {}}", f"{{tree: {{{CANARY}: [1.5]}}}}"),
    "labels twice": (
        "{redaction: {}}",
        f"{{intervals: {{levels: [{{bounds: [0, 1, 2], labels: [{CANARY}, {CANARY}]}}]}}}}",
    ),
    "no solution": ("suppression_limit: 0.5", "suppression_limit: 0.0\nmissing: suppress"),
    "refused": ("suppression_limit: 0.5", "missing: refuse"),
    "k beyond the rows": ("k: 2", "k: 100"),
    "a column less": ("  note: {role: insensitive}\n", ""),
    "a column more": ("  note:", "  more: {role: insensitive}\n  note:"),
    "no fitting column": (
        "attributes:",
        "attributes:\n  other: {role: quasi-identifying}\nmetric: {metric: height}\nx:",
    ),
    "flash": ("suppression_limit", "search: {algorithm: flash}\nmetric: {metric: entropy}\nsuppression_limit"),
    **{name: ("{redaction: {}}", f"{{csv: {name}}}") for name in HIERARCHIES if name.endswith("csv")},
    **{name: ("{redaction: {}}", f"{{tree: {name}}}") for name in HIERARCHIES if name.endswith("yaml")},
}

VERBS: dict[str, tuple[str, ...]] = {
    "anonymize": ("anonymize", "in.csv", "--plan", "plan.yaml", "--output", "out.csv", "--force"),
    "json": ("anonymize", "in.csv", "--plan", "plan.yaml", "--dry-run", "--json"),
    "verify": ("verify", "in.csv", "--plan", "plan.yaml"),
    "verify json": ("verify", "in.csv", "--plan", "plan.yaml", "--json"),
    "risk": ("risk", "in.csv", "--plan", "plan.yaml", "--rows", "3", "--population", "in.csv"),
    "risk json": ("risk", "in.csv", "--plan", "plan.yaml", "--compare", "in.csv", "--json"),
    "attack": ("attack", "in.csv", "--plan", "plan.yaml", "--register", "in.csv", "--release", "in.csv"),
    "attack json": ("attack", "in.csv", "--plan", "plan.yaml", "--register", "in.csv", "--json"),
    "lattice": ("lattice", "in.csv", "--plan", "plan.yaml"),
    "algorithms": ("algorithms", "in.csv", "--plan", "plan.yaml", "--page", "page.html", "--force", "--task", "note"),
    "check": ("hierarchy", "check", "in.csv", "--plan", "plan.yaml"),
    "check json": ("hierarchy", "check", "in.csv", "--plan", "plan.yaml", "--json"),
    "build": (
        "hierarchy",
        "build",
        "in.csv",
        "--plan",
        "plan.yaml",
        "--attribute",
        "zip",
        "--output",
        "z.csv",
        "--force",
    ),
    "profile": ("profile", "in.csv"),
    "profile json": ("profile", "in.csv", "--json"),
}


def silent(run: Run, log: io.StringIO, *arguments: str) -> int:
    """Run a command and search all that it says."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ran = run(*arguments)
    assert CANARY not in ran.out
    assert CANARY not in ran.err
    assert CANARY not in log.getvalue()
    assert not [warning for warning in caught if CANARY in str(warning.message)]
    return int(ran.code)


@pytest.mark.parametrize("plan", PLANS)
def test_no_verb_tells_a_value_whatever_the_plan(cage: Path, run: Run, log: io.StringIO, plan: str) -> None:
    for name, text in HIERARCHIES.items():
        (cage / name).write_bytes(text.encode("latin-1" if name == "latin.csv" else "utf-8"))
    rows = table()
    if plan in ("no solution", "refused"):
        rows = rows.with_columns(zip=pl.Series([None, *rows["zip"][1:]]))
    rows.write_csv(cage / "in.csv")
    old, new = PLANS[plan]
    assert old in PLAN
    (cage / "plan.yaml").write_text(PLAN.replace(old, new))
    codes = {verb: silent(run, log, *arguments) for verb, arguments in VERBS.items()}
    assert codes["anonymize"] in (1, 2), codes
    assert not (cage / "out.csv").exists()


def test_no_verb_tells_a_value_when_all_goes_well(cage: Path, run: Run, log: io.StringIO) -> None:
    for verb, arguments in VERBS.items():
        code = silent(run, log, *arguments)
        assert code == (1 if verb.startswith("verify") else 0), verb
    assert silent(run, log, "verify", "out.csv", "--plan", "plan.yaml") == 0
    for name in ("out.certificate.json", "out.certificate.txt", "page.html"):
        assert CANARY not in (cage / name).read_text()
    assert silent(run, log, "anonymize", "in.csv", "--plan", "plan.yaml", "--output", "out.csv") == 2
    assert silent(run, log, "profile", "in.csv", "--write-plan", "first.yaml") == 0
    assert CANARY not in (cage / "first.yaml").read_text()


LINE = ",".join(cell(column, 0) for column in ROLES)
HEAD = ",".join(ROLES)
TABLES: dict[str, bytes] = {
    "ragged": f"{HEAD}\n{LINE}\n{LINE},{CANARY}\n".encode(),
    "quotes": f'{HEAD}\n{LINE}\n{CANARY},"{CANARY},c,d,e\n'.encode(),
    "no utf-8": f"{HEAD}\n{LINE}\n{CANARY},ü,c,d,e\n".encode("latin-1"),
    "nul": f"{HEAD}\n{LINE}\n{CANARY},\0,c,d,e\n".encode(),
    "line ends": f"{HEAD}\n{LINE}\r{LINE}\r".encode(),
    "another separator": f"{HEAD}\n{LINE}\n".replace(",", "#").encode(),
    "no header": f"{LINE}\n{LINE}\n".encode(),
    "a zip file": b"PK\x03\x04" + LINE.encode(),
    "damaged parquet": b"PAR1" + LINE.encode() + b"PAR1",
    "one row": f"{HEAD}\n{LINE}\n".encode(),
    "stars": f"{HEAD}\n{LINE}\n{CANARY},*,*,{CANARY},{CANARY}\n".encode(),
}


@pytest.mark.parametrize("what", TABLES)
def test_no_verb_tells_a_value_whatever_the_table(cage: Path, run: Run, log: io.StringIO, what: str) -> None:
    (cage / "in.csv").write_bytes(TABLES[what])
    for verb, arguments in VERBS.items():
        if verb.startswith("profile") and what in ("no header", "another separator"):
            continue  # a profile shows the names of columns, and who has no header calls data so
        silent(run, log, *arguments)
    assert not (cage / "out.csv").exists()


def test_table_and_plan_in_the_wrong_places_tell_nothing(cage: Path, run: Run, log: io.StringIO) -> None:
    assert silent(run, log, "anonymize", "plan.yaml", "--plan", "in.csv", "--dry-run") == 2
    assert silent(run, log, "verify", "in.csv", "--plan", "in.csv") == 2


def test_library_errors_in_the_middle_tell_nothing(
    cage: Path, run: Run, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = (
        ("kohorte.release.find_candidate", pl.exceptions.ComputeError),
        ("kohorte.release.preparation.encode", ValueError),
        ("kohorte.sources.frame.fill_table", OSError),
        ("kohorte.sources.frame.fill_table", pl.exceptions.ComputeError),
        ("kohorte.release.release.verify_source", KeyError),
        ("kohorte.release.write.certify", UnicodeError),
        ("kohorte.data.read_table", MemoryError),
        ("kohorte.data.csv.pl.read_csv", pl.exceptions.ComputeError),
    )
    for place, kind in failing:

        def broken(*_: Any, kind: type[Exception] = kind, **__: Any) -> None:
            raise kind(f"could not convert '{CANARY}'")

        with monkeypatch.context() as patch:
            patch.setattr(place, broken)
            assert silent(run, log, *VERBS["anonymize"]) in (2, 3), place
        assert not (cage / "out.csv").exists()


def test_an_interrupted_command_tells_nothing(
    cage: Path, run: Run, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("kohorte.release.write.certify", interrupted)
    assert silent(run, log, *VERBS["anonymize"]) == 130


def plan_with(old: str = "", new: str = "") -> ko.Plan:
    from kohorte.data import strict_yaml

    text = PLAN.replace(old, new) if old else PLAN
    return ko.Plan.from_dict(strict_yaml.load(text, source="plan.yaml", code="plan-yaml"))


def unknown() -> pl.DataFrame:
    return table().with_columns(sex=pl.lit(f"{CANARY} unknown"))


def with_gap() -> pl.DataFrame:
    return table().with_columns(zip=pl.Series([None, *table()["zip"][1:]]))


CALLS: dict[str, Callable[[], object]] = {
    "unknown value": lambda: ko.anonymize(table(), plan_with("{redaction: {}}", "{dates: {}}")),
    "unknown value in transform": lambda: ko.anonymize(table(), plan_with()).transform(unknown()),
    "column missing in transform": lambda: ko.anonymize(table(), plan_with()).transform(table().drop("sex")),
    "missing refused": lambda: ko.anonymize(with_gap(), plan_with("suppression_limit: 0.5", "missing: refuse")),
    "no solution": lambda: ko.anonymize(with_gap(), plan_with("suppression_limit: 0.5", "missing: suppress")),
    "strange column": lambda: ko.verify(table().with_columns(other=pl.lit(CANARY)), plan_with()),
    "nothing fits": lambda: ko.verify(pl.DataFrame({cell("zip", 0): [cell("zip", 1)]}), plan_with()),
    "nested cells": lambda: ko.anonymize(table().with_columns(zip=pl.lit([[CANARY]])), plan_with()),
    "mixed pandas": lambda: ko.anonymize(
        pd.DataFrame({**table().to_pandas().to_dict("list"), "zip": [CANARY, 1, 2.5, b"x", None, {"a": CANARY}]}),
        plan_with(),
    ),
    "pandas index": lambda: ko.anonymize(table().to_pandas().set_index("name"), plan_with()),
    "nested arrow": lambda: ko.anonymize(pa.table({"zip": [[CANARY]]}), plan_with()),
    "no table": lambda: ko.anonymize([[CANARY]], plan_with()),
    "lazy error": lambda: ko.anonymize(table().lazy().select(pl.all().cast(pl.Int64)), plan_with()),
    "hierarchy not monotone": lambda: Hierarchy.from_columns(
        [[CANARY, "b"], ["x", "x"], [CANARY, "z"], ["*", "*"]], attribute="zip"
    ),
    "hierarchy with a value twice": lambda: Hierarchy.from_columns([[CANARY, CANARY], ["*", "*"]], attribute="zip"),
    "too long for redaction": lambda: Redaction().build([CANARY * 30], attribute="zip"),
    "solution space": lambda: ko.solution_space(table(), plan_with("{redaction: {}}", "{dates: {}}")),
}


@pytest.mark.parametrize("call", CALLS)
def test_no_error_of_the_python_interface_tells_a_value(call: str, log: io.StringIO) -> None:
    with pytest.raises(KohorteError) as caught:
        CALLS[call]()
    check_error(caught.value)
    assert CANARY not in log.getvalue()


def test_nothing_that_is_shown_tells_a_value(cage: Path) -> None:
    plan = plan_with()
    release = ko.anonymize(table(), plan)
    source = ko.read_table("in.csv")
    certificate = write_release(
        find_candidate(FrameSource(source.frame), plan), cage / "out.csv", source=source, force=False
    )
    shown = [
        release,
        release.evaluation,
        release.result,
        plan,
        certificate,
        certificate.to_json(),
        certificate.to_text(),
        ko.verify(table(), plan),
        ko.verify(table(), plan).to_dict(),
        ko.solution_space(table(), plan),
        set_up_search(encode_problem(FrameSource(table()), plan)),
        profile.profile(table()),
        release.to_dict(),
        check_hierarchy(Redaction(), table()["zip"], attribute="zip"),
    ]
    for item in shown:
        assert CANARY not in repr(item), type(item)
        assert CANARY not in str(item), type(item)


def test_tables_and_hierarchies_do_not_show_their_values_either(cage: Path) -> None:
    hierarchy = Redaction().build(sorted(set(table()["zip"])), attribute="zip")
    encoded = set_up_search(encode_problem(FrameSource(table()), plan_with())).encoded.table
    for item in (ko.read_table("in.csv"), hierarchy, encoded):
        assert CANARY not in repr(item), type(item)
