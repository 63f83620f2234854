"""Several parties as processes of their own, over HTTPS."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte import parties
from kohorte.cli.main import main
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError
from kohorte.parties import rehearsal
from kohorte.parties.transport.folder import PartyFolder
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, rows_of, written_study
from support.party_stage import Process, Stage
from support.registered import identities


def test_a_rehearsal_gives_the_release_of_all_rows_in_one_table(tmp_path: Path) -> None:
    study = written_study(tmp_path, ZIP_PLAN, parties={"clinic-a": {}, "clinic-b": {}})
    pooled = ko.anonymize(ZIP_ROWS, study.plan)
    frame, figures = parties.rehearse(tmp_path / "study.yaml", {"clinic-a": ZIP_ROWS[:3], "clinic-b": ZIP_ROWS[3:]})
    assert rows_of(frame, ZIP_ROWS.columns) == rows_of(pooled.data, ZIP_ROWS.columns)
    assert figures["levels"] == pooled.levels
    assert {"protocol", "distribution", "parties", "messages", "bytes", "seconds"} <= set(figures)


@pytest.mark.slow
def test_the_error_of_one_party_is_the_error_of_the_rehearsal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written_study(tmp_path, {**ZIP_PLAN, "missing": "refuse"}, parties={"clinic-a": {}, "clinic-b": {}})
    ZIP_ROWS[:4].write_csv(tmp_path / "a.csv")
    ZIP_ROWS[4:].with_columns(sex=pl.lit(None, dtype=pl.String)).write_csv(tmp_path / "b.csv")
    data = [option for name in ("a", "b") for option in ("--data", f"clinic-{name}={tmp_path / name}.csv")]
    output = tmp_path / "release.csv"
    assert main(["party", "rehearse", str(tmp_path / "study.yaml"), *data, "--output", str(output)]) == 2
    assert "[missing-refused]" in capsys.readouterr().err
    assert not output.exists()


def test_the_certificate_of_a_rehearsal_can_be_checked_and_says_what_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "study"
    written_study(folder, ZIP_PLAN, protocol="A", parties={"clinic-a": {}, "clinic-b": {}})
    ZIP_ROWS[:4].write_csv(tmp_path / "a.csv")
    ZIP_ROWS[4:].write_csv(tmp_path / "b.csv")
    data = [option for name in ("a", "b") for option in ("--data", f"clinic-{name}={tmp_path / name}.csv")]
    output = tmp_path / "joint.csv"
    assert main(["party", "rehearse", str(folder / "study.yaml"), *data, "--output", str(output), "--quiet"]) == 0
    assert "rehearsed, to check signatures" in capsys.readouterr().out
    check = ["party", "signatures", str(tmp_path / "joint.certificate.json"), "--study"]
    assert main([*check, str(tmp_path / "joint.study.yaml")]) == 0
    printed = capsys.readouterr().out
    assert printed.count(" signed\n") == 2
    table = [*check, str(tmp_path / "joint.study.yaml"), "--table", str(output)]
    assert main(table) == 0
    assert "is exactly the table" in capsys.readouterr().out
    output.write_text("\n".join(output.read_text(encoding="utf-8").splitlines()[:-1]) + "\n", encoding="utf-8")
    assert main(table) == 1
    assert "is NOT the table" in capsys.readouterr().out
    assert "the institutions signed nothing" in printed
    assert main([*check, str(folder / "study.yaml")]) == 1  # no institution signed
    certificate = json.loads((tmp_path / "joint.certificate.json").read_text(encoding="utf-8"))
    certificate["joint"]["signatures"].append({**certificate["joint"]["signatures"][0], "name": "ministry"})
    (tmp_path / "joint.certificate.json").write_text(json.dumps(certificate), encoding="utf-8")
    capsys.readouterr()
    assert main([*check, str(tmp_path / "joint.study.yaml")]) == 1
    assert "not a member of the study" in capsys.readouterr().out
    text = (tmp_path / "joint.certificate.txt").read_text(encoding="utf-8")
    assert "The signatures below are not those of the institutions." in text
    assert "none of them saw a row of another" not in text


def test_a_party_may_have_a_table_without_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written_study(tmp_path, ZIP_PLAN, parties={"clinic-a": {}, "clinic-b": {}})
    party = PartyFolder.create(tmp_path / "clinic-b", "clinic-b")
    (party.path / "party.yaml").write_text("name: clinic-b\ndata: table.csv\nstudies: []\n", encoding="utf-8")
    ZIP_ROWS[:0].write_csv(party.path / "table.csv")
    assert main(["party", "check", str(tmp_path / "study.yaml"), "--folder", str(party.path), "--quiet"]) == 0
    assert "clinic-b brings 0 rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "told"), [("clinic-a", "your table and the study"), ("helper", "then name the study")]
)
def test_a_new_member_is_told_what_to_write_into_its_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, told: str
) -> None:
    assert main(["party", "init", name, "--folder", str(tmp_path / name)]) == 0
    assert told in capsys.readouterr().out


def test_an_agreement_that_can_be_to_no_study_is_refused_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    PartyFolder.create(tmp_path / "clinic-b", "clinic-b")
    with pytest.raises(SystemExit) as ended:
        main(["party", "serve", "--folder", str(tmp_path / "clinic-b"), "--agree", "abc"])
    assert ended.value.code == 2
    assert "a study hash has 64 hexadecimal digits" in capsys.readouterr().err


def test_a_rehearsal_does_not_wait_for_a_party_that_refused_its_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended before anybody invited it: the one that started the run waited for it a minute."""
    monkeypatch.setattr(rehearsal, "PATIENCE", 0.0)
    written_study(tmp_path, ZIP_PLAN, protocol="A", parties={"clinic-a": {}, "clinic-b": {}})
    ZIP_ROWS[:4].write_csv(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("zip,sex,diagnosis\n81667\n", encoding="utf-8")
    data = [option for name in ("a", "b") for option in ("--data", f"clinic-{name}={tmp_path / name}.csv")]
    started = time.monotonic()
    assert main(["party", "rehearse", str(tmp_path / "study.yaml"), *data, "--output", str(tmp_path / "out.csv")]) == 2
    assert "[csv-ragged]" in capsys.readouterr().err
    assert time.monotonic() - started < 50


def test_a_rehearsal_without_a_table_is_refused_before_anything_starts(tmp_path: Path) -> None:
    written_study(tmp_path, ZIP_PLAN, protocol="A", parties={"clinic-a": {}, "clinic-b": {}})
    tables = {"clinic-a": tmp_path / "a.csv", "clinic-b": tmp_path / "nowhere.csv"}
    ZIP_ROWS.write_csv(tables["clinic-a"])
    with pytest.raises(InputError, match=r"nowhere\.csv: there is no such file"):
        rehearsal.rehearse_files(tmp_path / "study.yaml", tables, tmp_path / "out.csv")


def test_a_rehearsal_needs_the_table_of_every_party(tmp_path: Path) -> None:
    written_study(tmp_path, ZIP_PLAN, parties={"clinic-a": {}, "clinic-b": {}})
    with pytest.raises(InputError, match="missing for clinic-b"):
        parties.rehearse(tmp_path / "study.yaml", {"clinic-a": ZIP_ROWS})


@pytest.mark.slow
def test_a_serving_party_brings_its_table_as_it_is_when_it_agrees(tmp_path: Path) -> None:
    tables = {"clinic-a": ZIP_ROWS, "clinic-b": ZIP_ROWS}
    stage = Stage.built(tmp_path, ZIP_PLAN, tables, protocol="A", distribution="horizontal")
    with Process.started(stage, "clinic-b") as serving:
        stage.wait_until_listening("clinic-b")
        ZIP_ROWS[:6].write_csv(tmp_path / "clinic-b" / "table.csv")  # two people have withdrawn their consent
        with Process.started(stage, "clinic-a") as starting:
            ended = [starting.ended(), serving.ended()]
    assert [one.code for one in ended] == [0, 0]
    assert ended[1].said.startswith("clinic-b waits at port ")
    released = pl.read_csv(stage.output("clinic-a"), infer_schema=False)
    assert sorted(released["diagnosis"]) == sorted([*ZIP_ROWS["diagnosis"], *ZIP_ROWS["diagnosis"][:6]])


@pytest.mark.slow
def test_a_serving_party_does_not_agree_if_its_output_cannot_be_written(tmp_path: Path) -> None:
    stage = Stage.built(
        tmp_path, ZIP_PLAN, {"clinic-a": ZIP_ROWS, "clinic-b": ZIP_ROWS}, protocol="A", distribution="horizontal"
    )
    stage.output("clinic-b").write_text("precious\n", encoding="utf-8")
    with Process.started(stage, "clinic-b") as serving:
        stage.wait_until_listening("clinic-b")
        with Process.started(stage, "clinic-a") as starting:
            assert starting.ended().code != 0
            serving.process.terminate()
            assert "output-exists" in serving.ended().said
    assert stage.output("clinic-b").read_text(encoding="utf-8") == "precious\n"
    assert not stage.output("clinic-a").exists()


@pytest.mark.parametrize("action", ["serve", "run", "rehearse"])
def test_the_help_says_how_to_keep_the_messages(action: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["party", action, "--help"])
    shown = capsys.readouterr().out
    assert "--record DIR" in shown
    assert "--log" not in shown


@pytest.mark.slow
def test_each_party_has_a_joint_release_in_its_own_ledger_and_leaves_out_who_withdrew_while_it_served(
    tmp_path: Path,
) -> None:
    tables = {name: _with_pids(tmp_path, name) for name in ("clinic-a", "clinic-b")}
    plan = {**ZIP_PLAN, "attributes": {**ZIP_PLAN["attributes"], "pid": {"role": "identifying"}}}
    stage = Stage.built(tmp_path, plan, tables, protocol="A", distribution="horizontal")
    for name in tables:
        settings = tmp_path / name / "party.yaml"
        settings.write_text(settings.read_text(encoding="utf-8") + f"ledger: ../{name}-house\nperson: pid\n")
    withdraws = tables["clinic-b"]["pid"][7]
    with Process.started(stage, "clinic-b") as serving:
        stage.wait_until_listening("clinic-b")
        assert main(["patients", "consent", "withdraw", withdraws, "--folder", str(tmp_path / "clinic-b-house")]) == 0
        with Process.started(stage, "clinic-a") as starting:
            told = [starting.ended(), serving.ended()]
    assert [one.code for one in told] == [0, 0], told
    released = pl.read_csv(stage.output("clinic-a"), infer_schema=False)
    assert sorted(released["diagnosis"]) == sorted([*ZIP_ROWS["diagnosis"], *ZIP_ROWS["diagnosis"][:7]])
    for name, other, people in (("clinic-a", "clinic-b", 8), ("clinic-b", "clinic-a", 7)):
        with closing(Ledger.open(tmp_path / f"{name}-house")) as ledger:
            [facts] = ledger.releases()
            assert (facts["kind"], facts["recipient"], facts["people"]) == ("joint", other, people)
            assert stage.study.fingerprint() in facts["about"]
            shown = [pid for pid in tables[name]["pid"] if ledger.releases_of(pid)]
            assert shown == tables[name]["pid"].to_list()[:people]


def _with_pids(folder: Path, name: str) -> pl.DataFrame:
    """The table of a party whose people are in its patient list and agreed; its ledger is in the same folder."""
    people, pids, house = folder / f"{name}-people.csv", folder / f"{name}-pids.csv", str(folder / f"{name}-house")
    pl.DataFrame(identities(ZIP_ROWS.height)).write_csv(people)
    assert main(["patients", "register", str(people), "--folder", house, "--output", str(pids)]) == 0
    assert main(["patients", "consent", "give", "--file", str(pids), "--purpose", "research", "--folder", house]) == 0
    assert main(["disclosures", "init", house]) == 0
    return ZIP_ROWS.with_columns(pl.read_csv(pids, infer_schema=False)["pid"])


@pytest.mark.slow
def test_a_party_that_waits_or_is_asked_ends_when_it_is_interrupted(tmp_path: Path) -> None:
    """When Polars is imported, its handler lets a wait and a prompt go on, and Ctrl-C was not noticed."""
    stage = Stage.built(
        tmp_path,
        ZIP_PLAN,
        {"clinic-a": ZIP_ROWS[:4], "clinic-b": ZIP_ROWS[4:]},
        protocol="A",
        distribution="horizontal",
    )
    keyboard, terminal = pty.openpty()
    command = [sys.executable, "-m", "kohorte.cli.main", "party", "serve", "--folder", str(tmp_path / "clinic-b")]
    for asked in (False, True):
        with (
            subprocess.Popen(command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as serving,
            ExitStack() as stack,
        ):
            assert serving.stdout is not None
            stage.wait_until_listening("clinic-b")
            if asked:
                stack.enter_context(Process.started(stage, "clinic-a"))
                assert serving.stdout.read(9) == b"take part"
            time.sleep(1)  # it has begun to wait
            serving.send_signal(signal.SIGINT)
            try:
                assert serving.wait(30) == 130
            finally:
                serving.kill()
    os.close(keyboard)
    os.close(terminal)
