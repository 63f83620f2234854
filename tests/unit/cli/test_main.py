"""The frame around all verbs: signals, threads, errors."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest

from kohorte.algorithm_names import ALGORITHM_NAMES
from kohorte.cli import main as cli
from kohorte.cli.output import print_error, print_json, print_table
from kohorte.errors import InputError
from kohorte.recoding import RECODERS
from kohorte.search import SEARCHES


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_command_can_run_outside_the_main_thread(capsys: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(cli.main(["--version"])))
    thread.start()
    thread.join()
    assert codes == [0]
    assert "kohorte " in capsys.readouterr().out


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_is_one_module(verb: str) -> None:
    assert (Path(cli.__file__).parent / "verbs" / f"{verb}.py").is_file()


def test_the_help_of_anonymize_names_every_algorithm() -> None:
    assert [algorithm.name for algorithm in (*SEARCHES, *RECODERS)] == list(ALGORITHM_NAMES)


def test_the_modules_of_the_verbs_are_the_verbs() -> None:
    modules = {path.stem for path in (Path(cli.__file__).parent / "verbs").glob("*.py")}
    assert modules - {"__init__"} == set(cli.VERBS)


def test_an_unforeseen_error_is_told_by_kind_and_place_only() -> None:
    try:
        json.loads("{secret")
    except ValueError as error:
        told = cli._unexpected(error)
    assert told.code == "unexpected"
    assert told.exit_code == 3
    assert "JSONDecodeError" in told.message
    assert "secret" not in told.message
    assert "line" in told.message


def test_an_error_is_printed_with_its_code(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(InputError("column 'zip' is odd", code="odd"), as_json=True)
    captured = capsys.readouterr()
    assert captured.err == "kohorte: column 'zip' is odd [odd]\n"
    assert json.loads(captured.out) == {"error": "odd", "message": "column 'zip' is odd"}


def test_json_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"größe": ["a\nb", None, True]})
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    assert json.loads(out) == {"größe": ["a\nb", None, True]}


def test_values_of_data_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["year", "n"], [(2024, 10_000.0)], data=True)
    assert capsys.readouterr().out == "year        n\n2024  10000.0\n"


def test_numbers_stand_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["name", "count"], [("a", 5), ("bcdef", 1000)])
    assert capsys.readouterr().out == "name   count\na          5\nbcdef  1,000\n"


def test_a_signal_while_a_class_is_being_made_is_an_interruption(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python wraps what is raised in `__set_name__` in a RuntimeError."""

    def interrupted(*_: object) -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(cli, "_run", interrupted)
    assert cli.main(["--version"]) == 130
    assert "interrupted" in capsys.readouterr().err
