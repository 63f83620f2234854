"""The line that shows the progress of a command, and what it says about the time that is left."""

from __future__ import annotations

import argparse
import io
import math
from dataclasses import replace
from types import SimpleNamespace

import pytest

from kohorte.cli import progress as module
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.time_left import TimeLeft
from kohorte.progress import Progress, Stage


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    stream = Terminal()
    monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream))
    return stream


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    return now


def lines(stream: Terminal) -> list[str]:
    return [line.rstrip() for line in stream.getvalue().split("\r") if line.strip()]


def test_a_stage_is_shown_when_it_begins(terminal: Terminal) -> None:
    with TerminalProgress(quiet=False) as shown:
        shown.stage(Stage.READING, "patients.csv (104 MB)")
        assert lines(terminal) == ["reading patients.csv (104 MB)"]
        shown.stage(Stage.ENCODING, "1,000 rows")
        assert lines(terminal)[-1] == "encoding 1,000 rows"


def test_the_line_is_removed_at_the_end_and_after_an_error(terminal: Terminal) -> None:
    def interrupted() -> None:
        with TerminalProgress(quiet=False) as shown:
            shown.stage(Stage.WRITING, "release.csv")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith("\r" + " " * len("writing release.csv") + "\r")


def test_a_sentence_has_a_line_of_its_own(terminal: Terminal) -> None:
    """A party asked its person in the middle of the line that said which file is read."""
    with TerminalProgress(quiet=False) as shown:
        shown.stage(Stage.READING, "clinic-b.csv")
        shown.say("clinic-a invites to a run")
        assert terminal.getvalue().endswith("\r" + " " * len("reading clinic-b.csv") + "\rclinic-a invites to a run\n")


@pytest.mark.parametrize("given", [{"json": True, "quiet": False}, {"json": False, "quiet": True}])
def test_nothing_is_shown_with_json_or_quiet(terminal: Terminal, given: dict[str, bool]) -> None:
    with TerminalProgress.of(argparse.Namespace(**given)) as shown:
        shown.stage(Stage.READING)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_if_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (io.StringIO(), None):
        monkeypatch.setattr(module, "sys", SimpleNamespace(stderr=stream))
        with TerminalProgress(quiet=False) as shown:
            shown.stage(Stage.READING)
        assert stream is None or stream.getvalue() == ""


def test_updates_of_a_stage_are_shown_ten_times_a_second_at_most(terminal: Terminal, clock: list[float]) -> None:
    shown = TerminalProgress(quiet=False)
    for settled in range(100):
        shown(Progress(nodes=100, settled=settled))
        clock[0] += 0.01
    assert len(lines(terminal)) == 10


def test_a_line_is_never_wider_than_the_terminal(terminal: Terminal) -> None:
    TerminalProgress(quiet=False).stage(Stage.READING, "x" * 500)
    assert max(map(len, lines(terminal))) == 79


def test_a_figure_that_does_not_fit_is_left_out_and_never_cut(terminal: Terminal) -> None:
    found = Progress(nodes=960, settled=824, best_cost=0.256462, lower_bound=0.182)
    TerminalProgress(quiet=False)(found)
    assert lines(terminal) == ["searching: 824 of 960 combinations, best cost so far 0.256462"]


def test_a_name_with_control_characters_cannot_move_the_cursor(terminal: Terminal) -> None:
    TerminalProgress(quiet=False).stage(Stage.READING, "a\x1b[2Jb\n.csv")
    assert lines(terminal) == ["reading a [2Jb .csv"]


def test_counts_and_costs_are_in_plain_words() -> None:
    found = Progress(checked=249, nodes=4320, settled=1200, best_cost=0.331967, lower_bound=0.25)
    assert found.in_words == (
        "searching: 1,200 of 4,320 combinations, best cost so far 0.331967, no better than 0.25 is possible"
    )
    assert Progress(checked=12, unit="").in_words == "searching: 12 counted"
    rows = Progress(nodes=1_000_000, settled=810_000, unit="rows", stage=Stage.COUNTING, what="classes")
    assert rows.in_words == "counting classes: 810,000 of 1,000,000 rows"


def test_the_time_that_is_left_comes_before_the_costs() -> None:
    text = Progress(nodes=10, settled=5, best_cost=0.5).with_time("about 2 min left")
    assert text == "searching: 5 of 10 combinations, about 2 min left, best cost so far 0.5"


def test_more_combinations_than_people_can_read_leave_room_for_time_and_cost(terminal: Terminal) -> None:
    found = Progress(nodes=675 * 10**12, settled=427 * 10**12, best_cost=0.713729, ends_in=17.6)
    TerminalProgress(quiet=False)(found)
    assert lines(terminal) == ["searching: 63.3 % of combinations, at most 18 s left, best cost so far 0.713729"]
    few = replace(found, settled=12, checked=12).with_time("at most 18 s left")
    assert few == "searching: 12 counted, at most 18 s left, best cost so far 0.713729"


def test_a_time_limit_that_ends_later_says_nothing() -> None:
    assert at_a_steady_speed(30, 0.5).in_words(30, 0.5, 60) == "about 30 s left"


def test_what_is_left_of_a_time_limit_is_told_where_it_ends_first_or_nothing_else_is_known() -> None:
    assert at_a_steady_speed(60, 0.1).in_words(60, 0.1, 20.4) == "at most 20 s left"
    assert TimeLeft().in_words(100, 0.0, 90) == "at most 1 min 30 s left"
    assert TimeLeft().in_words(100, None, 0.2) == "at most 1 s left"


@pytest.mark.parametrize("best", [None, math.inf, math.nan, 0.5])
@pytest.mark.parametrize("bound", [-math.inf, math.inf, math.nan, 0.0, 0.5, -3.0])
def test_no_infinity_and_no_bound_that_says_nothing_is_shown(best: float | None, bound: float) -> None:
    text = Progress(nodes=10, settled=5, best_cost=best, lower_bound=bound).in_words
    assert not any(word in text for word in ("inf", "nan", "no bound", "not known", "possible"))
    assert ("best cost" in text) == (best == 0.5)


def at_a_steady_speed(seconds: float, share: float, *, samples: int = 50) -> TimeLeft:
    left = TimeLeft()
    for number in range(samples):
        left.seconds(seconds * number / samples, share * number / samples)
    return left


@pytest.mark.parametrize(
    ("seconds", "share", "words"),
    [
        (60, 0.9, "a few seconds left"),
        (30, 0.5, "about 30 s left"),
        (60, 1 / 3, "about 2 min left"),
        (60, 0.02, "about 49 min left"),
        (600, 0.05, "about 3 h left"),
    ],
)
def test_the_time_that_is_left_follows_from_a_steady_past(seconds: float, share: float, words: str) -> None:
    assert at_a_steady_speed(seconds, share).in_words(seconds, share) == words


def test_nothing_is_said_too_early() -> None:
    assert at_a_steady_speed(1.0, 0.5).in_words(1.0, 0.5) is None
    assert at_a_steady_speed(60, 0.01).in_words(60, 0.01) is None
    assert TimeLeft().in_words(0.0, 0.5) is None


def test_nothing_is_said_about_a_search_that_has_stopped_to_advance_or_jumps() -> None:
    stopped = at_a_steady_speed(30, 0.5)
    assert stopped.in_words(90, 0.5) is None
    jumping = at_a_steady_speed(30, 0.05)
    assert jumping.in_words(31, 0.6) is None


def test_nothing_is_left_at_the_end() -> None:
    assert at_a_steady_speed(30, 0.99).in_words(30, 1.0) is None


def test_the_time_of_a_stage_does_not_count_for_the_next(terminal: Terminal, clock: list[float]) -> None:
    shown = TerminalProgress(quiet=False)
    for settled in range(50):
        shown(Progress(nodes=100, settled=settled, what="a"))
        clock[0] += 1
    assert lines(terminal)[-1] == "searching a: 49 of 100 combinations, about 50 s left"
    shown(Progress(nodes=100, settled=50, what="b"))
    assert lines(terminal)[-1] == "searching b: 50 of 100 combinations"


def test_a_file_that_is_not_there_is_named_without_a_size(terminal: Terminal) -> None:
    TerminalProgress(quiet=False).reading("none/of/this.csv")
    assert lines(terminal) == ["reading this.csv"]
