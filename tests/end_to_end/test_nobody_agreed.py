"""Tables without people: the steps between houses go on with an empty table, as they do with a full one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.trust.store import ENVIRONMENT
from support.identities import ANNA, table

Run = Callable[..., Any]
NOBODY = "nobody (0 people) is in the output"


@pytest.fixture(autouse=True)
def trust(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anna is registered and has agreed to nothing; her data is sealed for research."""
    monkeypatch.setenv("KOHORTE_FOLDER", "trust")
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    table(ANNA).with_columns(pl.Series("diagnosis", ["I21"]), pl.Series("day", ["2020-01-01"])).write_csv("clinic.csv")
    assert run("patients", "register", "clinic.csv", "--output", "data.csv").code == 0
    assert run("domain", "create", "p7", "--kind", "list").code == 0
    assert run("envelope", "keys", "research").code == 0


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_an_export_of_nobody_goes_all_the_way_to_the_project(run: Run, ending: str) -> None:
    assert run("envelope", "seal", "data.csv", "--keep", "pid", "--for", "research.pub", "--output", "s.csv").code == 0
    wish = ("--purpose", "research", "--project", "p7", "--output", f"agreed.{ending}")
    exported = run("patients", "consent", "filter", "s.csv", *wish)
    assert (exported.code, NOBODY in exported.out) == (0, True)
    target = ("--domain", "p7", "--column", "pid", "--output", f"p7.{ending}")
    made = run("pseudonymize", f"agreed.{ending}", *target)
    assert (made.code, NOBODY in made.out) == (0, True)
    assert read(f"p7.{ending}").columns == ["pid", "sealed"]
    opened = run("envelope", "open", f"p7.{ending}", "--key", "research.key", "--output", f"open.{ending}")
    assert (opened.code, NOBODY in opened.out) == (0, True)
    assert (read(f"open.{ending}").columns, read(f"open.{ending}").height) == (["pid"], 0)
    whole = ("--key", "research.key", "--complete", "--output", "x.csv")
    assert "envelope-rows-missing" in run("envelope", "open", f"p7.{ending}", *whole).err


def test_a_list_of_nobody_leaves_all_rows_out(run: Run) -> None:
    wish = ("--purpose", "research", "--project", "p7", "--output", "covered.csv")
    assert NOBODY in run("patients", "consent", "list", *wish).out
    target = ("--domain", "p7", "--column", "pid", "--shift-dates", "day", "--output", "p7.csv")
    made = run("pseudonymize", "data.csv", *target, "--only", "covered.csv", "--json")
    assert {name: made.json[name] for name in ("rows", "left_out", "new")} == {"rows": 0, "left_out": 1, "new": 0}
    assert Path("p7.csv").read_text() == "pid,registered,diagnosis,day\n"


def test_every_step_takes_a_table_without_rows(run: Run) -> None:
    pl.read_csv("clinic.csv").clear().write_csv("empty.csv")
    registered = run("patients", "register", "empty.csv", "--temp-ids-for", "database", "--output", "ids.csv")
    assert (registered.code, "0 rows: 0 new, 0 known, 0 grey, 0 insufficient" in registered.out) == (0, True)
    assert run("patients", "temp-id", "resolve", "ids.csv", "--for", "database", "--output", "pids.csv").code == 0
    assert pl.read_csv("pids.csv").columns == ["pid", "registered", "diagnosis", "day"]
    sealing = ("--keep", "pid", "--for", "research.pub", "--output", "sealed.csv")
    assert run("envelope", "seal", "pids.csv", *sealing).code == 0
    assert Path("sealed.csv").read_text() == "pid,sealed\n"
    shifted = ("--domain", "p7", "--column", "pid", "--shift-dates", "day", "--output", "p7.parquet")
    assert run("pseudonymize", "pids.csv", *shifted).code == 0
    assert read("p7.parquet").height == 0


def read(name: str) -> pl.DataFrame:
    return pl.read_parquet(name) if name.endswith("parquet") else pl.read_csv(name)
