"""`kohorte patients` as people use it."""

from __future__ import annotations

import io
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.trust.store import ENVIRONMENT
from support.identities import ANNA, MARRIED, MISSPELT, OTTO, table

Run = Callable[..., Any]
NAMES = ("Anna", "Eichhorst", "EICHORST", "Bauer", "Dresden", "1960", "01067", "A123456789", "Zwickel")


@pytest.fixture(autouse=True)
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KOHORTE_FOLDER", "trust")
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    frame = table(ANNA, OTTO, MISSPELT, MARRIED)
    frame.with_columns(pl.Series("diagnose", ["I21", "E11", "I21", "J45"])).write_csv(folder / "in.csv")
    return folder


def test_from_a_table_with_names_to_one_with_pids(run: Run) -> None:
    ran = run("patients", "register", "in.csv", "--output", "out.csv")
    assert ran.code == 0
    assert "4 rows: 2 new, 1 known, 1 grey, 0 insufficient" in ran.out
    assert "the list has 3 people; 1 open case" in ran.out
    out = pl.read_csv("out.csv")
    assert out.columns == ["pid", "registered", "diagnose"]
    assert out["registered"].to_list() == ["new", "new", "known", "grey"]
    assert out["pid"][0] == out["pid"][2]
    assert out["pid"].n_unique() == 3
    assert stat.S_IMODE(Path("trust").stat().st_mode) == 0o700
    assert not any(name in ran.out + ran.err for name in NAMES)


def test_a_case_is_decided_side_by_side_and_corrected(run: Run) -> None:
    run("patients", "register", "in.csv")
    listed = run("patients", "match", "--json").json["cases"]
    (case,) = listed
    assert case["levels"]["family name"] == "different"
    shown = run("patients", "match", case["case"], "--show").out
    assert all(name in shown for name in ("Anna", "Eichhorst", "EICHORST", "Bauer", "Dresden", "A123456789"))
    assert "Zwickel" not in shown
    tried = run("patients", "decide", case["case"], "same", "--dry-run")
    assert "would be one person" in tried.out
    decided = run("patients", "decide", case["case"], "same", "--json").json
    assert decided == {
        "case": case["case"],
        "verdict": "same",
        "pid": case["other_pid"],
        "other_pid": case["pid"],
        "dry_run": False,
    }
    assert "no open cases" in run("patients", "match").out
    split = run("patients", "split", decided["pid"], "--record", 3)
    assert case["pid"] in split.out
    merged = run("patients", "merge", decided["pid"], case["pid"])
    assert "stands for the same person" in merged.out
    told = run("patients", "history", case["pid"])
    assert f"{decided['pid']}, also {case['pid']}: 3 records" in told.out
    assert "joined with another PID" in told.out


def test_nothing_but_show_prints_identity_data(run: Run) -> None:
    run("patients", "register", "in.csv")
    (case,) = run("patients", "match", "--json").json["cases"]
    pid, other = case["pid"], case["other_pid"]
    everything = [
        run("patients", "register", "in.csv"),
        run("patients", "register", "in.csv", "--json"),
        run("patients", "register", "in.csv", "--dry-run"),
        run("patients", "match"),
        run("patients", "match", case["case"]),
        run("patients", "match", case["case"], "--show", "--json"),
        run("patients", "decide", case["case"], "same"),
        run("patients", "decide", case["case"], "same"),
        run("patients", "history", pid),
        run("patients", "history", other, "--json"),
        run("patients", "split", pid, "--record", 1),
        run("patients", "merge", pid, other),
        run("patients", "forget", pid, "--dry-run"),
        run("patients", "forget", pid, "--yes"),
        run("patients", "history", pid),
    ]
    text = "".join(ran.out + ran.err for ran in everything) + Path("trust/log.jsonl").read_text()
    assert [name for name in NAMES if name in text] == []


def test_json_has_counts_and_seconds_and_no_pid(run: Run) -> None:
    counts = run("patients", "register", "in.csv", "--json").json
    assert (counts["rows"], counts["new"], counts["known"], counts["grey"], counts["insufficient"]) == (4, 2, 1, 1, 0)
    assert counts["seconds"] > 0
    again = run("patients", "register", "in.csv", "--json").json
    assert (again["registered_before"], again["new"], again["people"]) == (4, 0, 3)
    assert not any(case["pid"] in json.dumps(counts) for case in run("patients", "match", "--json").json["cases"])


def test_a_dry_run_makes_nothing(run: Run) -> None:
    ran = run("patients", "register", "in.csv", "--dry-run")
    assert ran.code == 0
    assert "dry run: nothing was stored" in ran.out
    assert not Path("trust").exists()


def test_rows_that_say_too_little_are_named_and_left_out_and_the_code_is_1(run: Run) -> None:
    pl.DataFrame({"nachname": ["Koch", None], "geburtsdatum": ["1960-02-03", "1961-02-03"], "x": [1, 2]}).write_csv(
        "few.csv"
    )
    for output, *more in (["pids.csv"], ["tokens.csv", "--temp-ids-for", "database"]):
        ran = run("patients", "register", "few.csv", "--output", output, *more)
        assert ran.code == 1
        assert "1 row (2) got no PID" in ran.out
        assert "1 row without a PID left out of the output" in ran.out
        assert pl.read_csv(output)["x"].to_list() == [1]


def test_columns_can_be_named(run: Run) -> None:
    pl.DataFrame({"FAM": ["Koch"], "GEB": ["1960-02-03"]}).write_csv("odd.csv")
    assert run("patients", "register", "odd.csv").code == 2
    named = ("--field", "last_name=FAM", "--field", "birth_date=GEB")
    assert run("patients", "register", "odd.csv", *named, "--json").json["new"] == 1


def test_parquet_with_dates_is_the_same_as_text(run: Run) -> None:
    run("patients", "register", "in.csv")
    frame = table(ANNA, OTTO).with_columns(pl.col("geburtsdatum").str.to_date())
    frame.write_parquet("in.parquet")
    assert run("patients", "register", "in.parquet", "--json").json["known"] == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("register", "in.csv", "--field", "nonsense"), "patients-field"),
        (("register", "in.csv", "--field", "last_name=x"), "patients-column"),
        (("match",), "trust-folder-missing"),
        (("match", "--show"), "patients-case"),
        (("register", "in.csv", "--output", "in.csv"), "output-exists"),
    ],
)
def test_wrong_use_is_refused_before_a_folder_is_made(run: Run, arguments: tuple[str, ...], code: str) -> None:
    ran = run("patients", *arguments)
    assert ran.code == 2
    assert f"[{code}]" in ran.err
    assert not Path("trust").exists()


class Terminal(io.StringIO):
    """Standard input on which somebody types."""

    def isatty(self) -> bool:
        return True


def test_forgetting_is_confirmed_and_a_dry_run_says_what_would_go(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("patients", "register", "in.csv", "--output", "out.csv")
    pid = pl.read_csv("out.csv")["pid"][0]
    for typed in (io.StringIO("forget\n"), Terminal("yes\n"), Terminal("")):
        monkeypatch.setattr("sys.stdin", typed)
        refused = run("patients", "forget", pid)
        assert (refused.code, "[not-confirmed]" in refused.err) == (2, True)
    assert "would be destroyed; nothing was" in run("patients", "forget", pid, "--dry-run").out
    assert run("patients", "history", pid).code == 0
    monkeypatch.setattr("sys.stdin", Terminal("forget\n"))
    forgotten = run("patients", "forget", pid)
    assert (forgotten.code, "Type forget to go on" in forgotten.err, pid in forgotten.err) == (0, True, False)
    assert "[patients-pid-forgotten]" in run("patients", "history", pid).err


def test_a_pid_need_not_be_an_argument(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("patients", "register", "in.csv", "--output", "out.csv")
    pid, *_, other = pl.read_csv("out.csv")["pid"].unique(maintain_order=True)
    Path("pid.txt").write_text(f"\ufeff{pid}\r\n", encoding="utf-8")
    for action in ("history", "consent show", "consent released"):
        plain = run("patients", *action.split(), pid, "--json").out
        assert run("patients", *action.split(), "@pid.txt", "--json").out == plain
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{pid}\n"))
        assert run("patients", *action.split(), "-", "--json").out == plain
    assert run("patients", "consent", "give", "@pid.txt", "--purpose", "research").code == 0
    assert run("patients", "consent", "withdraw", "@pid.txt").code == 0
    assert len(run("patients", "temp-id", "issue", "@pid.txt", "--for", "database").out) > 20
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{pid}\n{other}\n"))
    assert run("patients", "merge", "-", "-", "--json").json == {"pid": pid, "other_pid": other}
    record = run("patients", "history", "@pid.txt", "--json").json["records"][-1]["record"]
    assert run("patients", "split", "@pid.txt", "--record", record, "--json").json["pid"] == pid
    assert run("patients", "forget", "@pid.txt", "--yes").code == 0
    assert "[file-unreadable]" in run("patients", "forget", "@nothing.txt").err


def test_a_mistyped_pid_says_where(run: Run) -> None:
    run("patients", "register", "in.csv", "--output", "out.csv")
    pid = pl.read_csv("out.csv")["pid"][0]
    wrong = pid[:2] + ("0" if pid[2] != "0" else "1") + pid[3:]
    ran = run("patients", "forget", wrong)
    assert ran.code == 2
    assert "character 3 seems to be wrong" in ran.err
    assert run("patients", "forget", pid, "--yes").code == 0
    assert "[patients-pid-forgotten]" in run("patients", "history", pid).err


def test_a_key_of_the_list_is_no_shared_secret_and_two_outputs_are_two_files(run: Run) -> None:
    run("patients", "register", "in.csv")
    own = run("patients", "encode", "--secret", "trust/patients.key", "--output", "a.csv", "--keep", "ids.csv")
    assert (own.code, "[patients-secret]" in own.err) == (2, True)
    same = run("patients", "encode", "--secret", "s.key", "--output", "a.csv", "--keep", "./a.csv", "--force")
    assert (same.code, "[patients-secret]" in same.err) == (2, True)
    assert not [path for path in map(Path, ("a.csv", "ids.csv", "s.key")) if path.exists()]


def test_a_list_of_nobody_can_be_compared(run: Run) -> None:
    run("patients", "register", "in.csv")
    pl.read_csv("in.csv").clear().write_csv("empty.csv")
    run("patients", "register", "empty.csv", "--folder", "other")
    for name, more in (("a", ()), ("b", ("--folder", "other"))):
        outputs = ("--output", f"{name}.csv", "--keep", f"ids-{name}.csv")
        assert run("patients", "encode", "--secret", "s.key", *outputs, *more).code == 0
    for one, other in (("a.csv", "b.csv"), ("b.csv", "a.csv"), ("b.csv", "b.csv")):
        compared = run("patients", "compare", one, other, "--output", "pairs.csv", "--force", "--json")
        assert compared.json == {"match": 0, "grey": 0}


def test_two_houses_find_common_patients_without_names(run: Run) -> None:
    """Each encodes its list with the shared secret; a third party compares; each resolves its own identifiers."""
    table(MISSPELT, OTTO | {"nachname": "Ganzanders", "vorname": "Karl"}).write_csv("other.csv")
    run("patients", "register", "in.csv", "--output", "mine.csv")
    run("patients", "register", "other.csv", "--folder", "trust2", "--output", "theirs.csv")
    made = run(
        "patients", "encode", "--secret", "shared.key", "--output", "a.csv", "--keep", "ids-a.csv", "--json"
    ).json
    assert made == {"people": 3, "records": 4, "secret_made": True}
    there = ("--secret", "shared.key", "--output", "b.csv", "--keep", "ids-b.csv", "--folder", "trust2")
    assert "2 people in 2 records" in run("patients", "encode", *there).out
    assert stat.S_IMODE(Path("ids-a.csv").stat().st_mode) == stat.S_IMODE(Path("shared.key").stat().st_mode) == 0o600
    ran = run("patients", "compare", "a.csv", "b.csv", "--output", "pairs.csv", "--json").json
    assert ran["match"] == 1
    pairs = pl.read_csv("pairs.csv").filter(pl.col("verdict") == "match")
    found = pairs.join(pl.read_csv("ids-a.csv"), on="id").join(
        pl.read_csv("ids-b.csv"), left_on="other_id", right_on="id", suffix="_there"
    )
    assert found["pid"].to_list() == [pl.read_csv("mine.csv")["pid"][0]]
    assert found["pid_there"].to_list() == [pl.read_csv("theirs.csv")["pid"][0]]
    sent = "".join(Path(name).read_text() for name in ("a.csv", "b.csv", "pairs.csv"))
    secrets = [*NAMES, *pl.read_csv("mine.csv")["pid"], Path("shared.key").read_text().split()[1]]
    assert [value for value in secrets if len(value) > 4 and value in sent] == []
    assert run("patients", "compare", "a.csv", "in.csv", "--output", "p.csv").code == 2
