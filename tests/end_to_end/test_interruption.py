"""Ctrl-C and SIGTERM at every moment: no output, no temporary file, exit code 130; or, when too late, everything."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kohorte as ko
from kohorte.cohorts import hierarchy_files, plan_text

Run = Callable[..., Any]
Snapshot = Callable[[Path], dict[str, bytes]]
SIGNALS = [signal.SIGINT, signal.SIGTERM]
ARGUMENTS = ("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv")
OUTPUTS = {"out.csv", "out.certificate.json", "out.certificate.txt"}

MOMENTS = [
    "kohorte.data.read_table",
    "kohorte.release.preparation.encode",
    "kohorte.release.anonymization.search",
    "kohorte.release.anonymization.apply",
    "kohorte.sources.frame.fill_table",
    "kohorte.sources.frame.parse_table",
    "kohorte.release.release.verify_source",
    "kohorte.release.write.certify",
    "kohorte.release.write.flush",
]


def interrupt_at(place: str, number: int, monkeypatch: pytest.MonkeyPatch, *, times: int = 1) -> None:
    """Send the process a signal right after a function has done its work."""
    module, _, name = place.rpartition(".")
    __import__(module)
    original = getattr(sys.modules[module], name)

    def interrupted(*arguments: Any, **options: Any) -> Any:
        result = original(*arguments, **options)
        for _ in range(times):
            os.kill(os.getpid(), number)
        return result

    monkeypatch.setattr(place, interrupted)


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("place", MOMENTS)
@pytest.mark.parametrize("force", [False, True], ids=["new", "forced"])
def test_a_signal_leaves_everything_as_it_was(
    hospital: Path,
    run: Run,
    snapshot: Snapshot,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    number: int,
    force: bool,
) -> None:
    if force:
        for name in OUTPUTS:
            (hospital / name).write_text("precious")
    before = snapshot(hospital)
    interrupt_at(place, number, monkeypatch)
    ran = run(*ARGUMENTS, *(["--force"] if force else []))
    assert ran.code == 130
    assert ran.out == ""
    assert ran.err == "kohorte: interrupted; no file is half written\n"
    assert snapshot(hospital) == before


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_while_the_files_get_their_names_a_signal_comes_too_late(
    hospital: Path, run: Run, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    interrupt_at("kohorte.data.files._publish", number, monkeypatch, times=2)
    ran = run(*ARGUMENTS)
    assert ran.code == 0
    assert {path.name for path in hospital.iterdir()} == {"patients.csv", "plan.yaml"} | OUTPUTS
    assert run("verify", "out.csv", "--plan", "plan.yaml").code == 0


def test_an_impatient_user_does_not_stop_the_cleaning_up(
    hospital: Path, run: Run, snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(hospital)
    unlink = Path.unlink

    def slow(path: Path, missing_ok: bool = False) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        unlink(path, missing_ok=missing_ok)

    interrupt_at("kohorte.release.write.certify", signal.SIGINT, monkeypatch)
    monkeypatch.setattr(Path, "unlink", slow)
    ran = run(*ARGUMENTS)
    monkeypatch.undo()
    assert ran.code == 130
    assert snapshot(hospital) == before


def test_afterwards_signals_do_what_they_did_before(hospital: Path, run: Run) -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    assert run(*ARGUMENTS).code == 0
    assert run("verify", "absent.csv", "--plan", "plan.yaml").code == 2
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_the_demo_ends_when_one_of_its_steps_is_interrupted(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_at("kohorte.release.anonymization.search", signal.SIGINT, monkeypatch)
    ran = run("demo", "--rows", 100)
    assert ran.code == 130
    assert "4. The release" not in ran.out
    assert not list((folder / "kohorte-demo").glob("release*"))


def test_the_lattice_can_be_interrupted(hospital: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupt_at("kohorte.release.anonymization.full_domain", signal.SIGINT, monkeypatch)
    ran = run("lattice", "patients.csv", "--plan", "plan.yaml", "--json")
    assert (ran.code, ran.out) == (130, "")


START = "import sys, kohorte.cli.main as cli; print('ready', flush=True); sys.exit(cli.main(sys.argv[1:]))"


def start() -> subprocess.Popen[bytes]:
    """Start the command; it can be interrupted from now on, also where the tests themselves ignore Ctrl-C."""
    process = subprocess.Popen(
        [sys.executable, "-c", START, *ARGUMENTS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


@pytest.fixture
def big(folder: Path) -> Path:
    ko.cohort(200_000).write_csv(folder / "patients.csv")
    for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.slow
def test_a_big_table_can_be_interrupted_at_any_time(big: Path) -> None:
    before = {path.name for path in big.iterdir()}
    started = time.monotonic()
    process = start()
    assert process.wait(timeout=300) == 0
    process.communicate()
    whole = time.monotonic() - started
    assert {path.name for path in big.iterdir()} == before | OUTPUTS
    for name in OUTPUTS:
        (big / name).unlink()
    stopped = 0
    for turn, share in enumerate((0.1, 0.25, 0.4, 0.55, 0.7, 0.8, 0.9)):
        process = start()
        time.sleep(share * whole)
        process.send_signal(SIGNALS[turn % 2])
        _, errors = process.communicate(timeout=300)
        after = {path.name for path in big.iterdir()}
        if after == before | OUTPUTS:  # too late: all was written, and the process about to end
            for name in OUTPUTS:
                (big / name).unlink()
            continue
        assert process.returncode == 130, errors
        assert b"Traceback" not in errors
        assert after == before
        stopped += 1
    assert stopped >= 1


@pytest.mark.slow
@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_a_big_table_can_be_interrupted_while_it_is_written(big: Path, number: int) -> None:
    before = {path.name for path in big.iterdir()}
    process = start()
    while process.poll() is None and not any(path.name.endswith(".tmp") for path in big.iterdir()):
        time.sleep(0.001)
    process.send_signal(number)
    _, errors = process.communicate(timeout=300)
    after = {path.name for path in big.iterdir()}
    assert after == before | OUTPUTS or (process.returncode, after) == (130, before), errors


@pytest.mark.slow
def test_a_killed_process_leaves_no_output_under_its_name(big: Path) -> None:
    process = start()
    while process.poll() is None and not any(path.name.endswith(".tmp") for path in big.iterdir()):
        time.sleep(0.001)
    process.kill()
    process.communicate(timeout=300)
    if process.returncode == -signal.SIGKILL:
        names = {path.name for path in big.iterdir()}
        assert "out.csv" not in names or names >= OUTPUTS
