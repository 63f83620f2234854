"""A member of a run is killed, freezes or misbehaves, each a process of its own: the others end with a clear error.

They end within ten seconds, nothing of the run is left on disk, and the run can be started again from the beginning.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kohorte as ko
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, rows_of
from support.party_stage import LONGEST, Process, Stage

SEX = {"role": "quasi-identifying", "hierarchy": {"ordering": {"values": sorted(ZIP_ROWS["sex"].unique())}}}
PLAN = {
    **ZIP_PLAN,
    "attributes": {**ZIP_PLAN["attributes"], "sex": SEX},  # listed, so that its values can be mirrored
    "metric": {"metric": "non_uniform_entropy"},
}
FRAME = pl.concat([ZIP_ROWS, ZIP_ROWS]).with_columns(
    diagnosis=pl.Series([f"diagnosis-{number}" for number in range(16)])
)
NUMBERED = FRAME.with_columns(TID=pl.Series([f"person-{number}" for number in range(16)]))
COLUMNS = {"clinic-a": ["zip"], "clinic-b": ["sex"], "clinic-c": ["diagnosis"]}

AGREEING = ("key", "secret", "lengths")
COUNTING = ("public-key", "labels", "rows", "table", "domain", "ask", "counted", "release")
SIGNING = ("certificate", "result", "signature", "signed")
KINDS = {
    ("A", "horizontal"): (*AGREEING, "layer", "parts", "release", "unknown", "texts", *SIGNING),
    ("B", "horizontal"): (*AGREEING, "labels", "table", "release", *SIGNING),
    ("C", "horizontal"): (*AGREEING, *COUNTING, "decrypt", *SIGNING),
    ("B", "vertical"): (*AGREEING, "labels", "table", "release", *SIGNING),
    ("A", "vertical"): ("layer", "parts", "release", "unknown"),
    ("C", "vertical"): ("rows", "table", "counted", "release", "class-keys", "shares"),
    ("C imitated", "vertical"): ("pairs",),
}
SENDERS = {
    "A": {"layer": "bca", "parts": "ac", "release": "bc", "texts": "bc"},
    "B": {"table": "bca", "release": "h"},
    "C": {
        "pairs": "ab",
        "public-key": "a",
        "table": "cba",
        "domain": "h",
        "ask": "a",
        "counted": "h",
        "release": "h",
        "decrypt": "a",
        "class-keys": "h",
        "shares": "bc",
    },
}
"""The parties that send a kind of message, by the last letter of their names; others are sent by all, or below."""
ALWAYS = {"secret": "a", "unknown": "a", "certificate": "a", "signature": "bch", "result": "a", "signed": "a"}
RECEIVERS = {
    "A": {"parts": "cb", "release": "ca", "texts": "a"},
    "B": {"table": "h", "release": "a", "certificate": "hbc"},
    "C": {
        "pairs": "bc",
        "public-key": "h",
        "table": "h",
        "domain": "a",
        "ask": "h",
        "counted": "a",
        "release": "a",
        "decrypt": "bc",
        "class-keys": "bc",
        "shares": "a",
    },
}
ALSO = {"secret": "bc", "unknown": "bc", "certificate": "bc", "signature": "a", "result": "bc", "signed": "bc"}


def failing(protocol: str, kind: str, side: str, turn: int) -> str:
    """One of the members that send or receive a kind of message; with another turn, another one."""
    roles, always = (SENDERS, ALWAYS) if side == "send" else (RECEIVERS, ALSO)
    letters = roles[protocol].get(kind) or always.get(kind, "abc")
    letters = letters.replace("h", "") if protocol == "A" else letters
    letter = letters[turn % len(letters)]
    return "helper" if letter == "h" else f"clinic-{letter}"


def staged(folder: Path, protocol: str, distribution: str, **more: Any) -> Stage:
    """A study of three parties, two for protocol B and C with few processes."""
    names = more.pop("names", ("clinic-a", "clinic-b", "clinic-c"))
    if protocol == "C imitated":
        protocol, more["dummies"] = "C", 0.25
    if distribution == "vertical":
        tables = {name: NUMBERED.select("TID", *COLUMNS[name]) for name in names}
        more |= {"identifier": "TID", "parties": {name: {"columns": COLUMNS[name]} for name in names}}
    else:
        tables = {name: FRAME[number :: len(names)] for number, name in enumerate(names)}
    return Stage.built(folder, PLAN, tables, protocol=protocol, distribution=distribution, **more)


def assert_others_end(stage: Stage, member: str, how: tuple[str, str, str]) -> None:
    """Let a member fail; the others must end in time, say why, and leave nothing behind."""
    before = stage.files()
    with stage.running(member, how) as processes:
        failed = processes[member].fails()
        others = {name: process.ended() for name, process in processes.items() if name != member}
        assert all(ended.at - failed < LONGEST for ended in others.values())
    for name, ended in others.items():
        if how[1] in SIGNING and ended.code == 0:  # it had done its part
            continue
        assert ended.code == 3, ended.said
        assert member in ended.said.splitlines()[-1], ended.said
        assert "Traceback" not in ended.said
        assert not stage.output(name).exists()
    releases = {name for name in stage.files() if name not in before}
    done = {name for name, ended in others.items() if ended.code == 0}
    assert {name.split(".")[0] for name in releases} <= done


def assert_runs(stage: Stage) -> None:
    """Run the study from the start, without a failure."""
    with stage.running() as processes:
        ended = {name: process.ended() for name, process in processes.items()}
    assert {name: one.code for name, one in ended.items()} == dict.fromkeys(stage.study.members, 0), ended
    pooled = ko.anonymize(FRAME, stage.study.plan)
    released = ko.read_table(stage.output(stage.starter)).frame
    assert rows_of(released, FRAME.columns) == rows_of(pooled.data, FRAME.columns)


FAST = {"names": ("clinic-a", "clinic-b"), "beat": 0.2}


@pytest.mark.slow
def test_a_helper_that_is_killed_ends_the_run_everywhere_and_it_can_be_started_again(tmp_path: Path) -> None:
    stage = staged(tmp_path, "C", "horizontal", **FAST)
    assert_others_end(stage, "helper", ("send", "counted", "SIGKILL"))
    assert_runs(stage)


@pytest.mark.slow
def test_a_party_that_is_interrupted_says_so_to_the_others(tmp_path: Path) -> None:
    stage = staged(tmp_path, "B", "horizontal", **FAST)
    before = stage.files()
    with stage.running("clinic-b", ("send", "table", "SIGINT")) as processes:
        ended = {name: process.ended() for name, process in processes.items()}
    assert {name: one.code for name, one in ended.items()} == {"clinic-a": 3, "clinic-b": 130, "helper": 3}
    for name in ("clinic-a", "helper"):
        assert "clinic-b stopped the run in the phase encrypt; its reason: it was interrupted" in ended[name].said
    assert stage.files() == before


def cases() -> Iterator[tuple[str, str, str, str, str]]:
    """Every kind of message of every protocol: the one who would send it, and one who has just received it."""
    for (protocol, distribution), kinds in KINDS.items():
        for turn, kind in enumerate(kinds):
            for side in ("send", "receive"):
                yield protocol, distribution, kind, side, failing(protocol[0], kind, side, turn)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "distribution", "kind", "side", "member"),
    [one if "send" in one else pytest.param(*one, marks=pytest.mark.exhaustive) for one in cases()],
)
def test_the_others_end_when_a_member_is_killed_at_any_message(
    protocol: str, distribution: str, kind: str, side: str, member: str, tmp_path: Path
) -> None:
    assert_others_end(staged(tmp_path, protocol, distribution), member, (side, kind, "SIGKILL"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "kind", "member"),
    [("A", "layer", "clinic-b"), ("B", "release", "helper"), ("C", "counted", "helper"), ("C", "ask", "clinic-a")],
)
def test_the_others_end_when_a_member_freezes(protocol: str, kind: str, member: str, tmp_path: Path) -> None:
    stage = staged(tmp_path, protocol, "horizontal")
    assert_others_end(stage, member, ("send", kind, "SIGSTOP"))
    assert_runs(stage)


@pytest.mark.slow
def test_a_member_that_is_frozen_before_the_run_begins_ends_it_for_the_others(tmp_path: Path) -> None:
    stage = staged(tmp_path, "B", "horizontal", names=("clinic-a", "clinic-b"))
    with Process.started(stage, "clinic-b") as frozen, Process.started(stage, "helper"):
        for name in ("clinic-b", "helper"):
            stage.wait_until_listening(name)
        frozen.process.send_signal(signal.SIGSTOP)
        with Process.started(stage, "clinic-a") as starting:
            ended = starting.ended()
            assert ended.code == 3
            assert "clinic-b no longer answers in the phase agree" in ended.said


@pytest.mark.slow
def test_a_member_that_wakes_up_after_a_run_has_ended_learns_it(tmp_path: Path) -> None:
    stage = staged(tmp_path, "B", "horizontal")
    with stage.running("clinic-b", ("send", "labels", "SIGSTOP")) as processes:
        processes["clinic-b"].fails()
        assert [processes[name].ended().code for name in ("clinic-a", "clinic-c", "helper")] == [3, 3, 3]
        processes["clinic-b"].process.send_signal(signal.SIGCONT)
        ended = processes["clinic-b"].ended(LONGEST + 5)
    assert ended.code == 3
    assert "[party-" in ended.said


@pytest.mark.slow
@pytest.mark.parametrize("how", ["malformed", "other-kind"])
@pytest.mark.parametrize(
    ("protocol", "kind", "member"),
    [
        ("A", "layer", "clinic-b"),
        ("A", "release", "clinic-b"),
        ("B", "secret", "clinic-a"),
        ("B", "table", "clinic-b"),
        ("C", "counted", "helper"),
        ("C", "decrypt", "clinic-a"),
    ],
)
def test_the_run_ends_everywhere_when_a_member_sends_what_it_should_not(
    protocol: str, kind: str, member: str, how: str, tmp_path: Path
) -> None:
    stage = staged(tmp_path, protocol, "horizontal")
    before = stage.files()
    with stage.running(member, ("send", kind, how)) as processes:
        failed = processes[member].fails()
        ended = {name: process.ended() for name, process in processes.items()}
    assert all(one.at - failed < LONGEST for one in ended.values())
    assert {one.code for one in ended.values()} == {3}, ended
    assert stage.files() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "kind", "member", "receiver"),
    [("A", "layer", "clinic-b", "clinic-c"), ("B", "table", "clinic-b", "helper"), ("C", "ask", "clinic-a", "helper")],
)
def test_a_member_that_gets_a_message_twice_says_so(
    protocol: str, kind: str, member: str, receiver: str, tmp_path: Path
) -> None:
    stage = staged(tmp_path, protocol, "horizontal")
    with stage.running(member, ("send", kind, "twice")) as processes:
        ended = processes[receiver].ended()
    assert ended.code == 3
    assert member in ended.said.splitlines()[-1], ended.said


@pytest.mark.slow
def test_a_member_with_another_plan_takes_no_part(tmp_path: Path) -> None:
    stage = staged(tmp_path, "B", "horizontal")
    (tmp_path / "other").mkdir()
    text = (tmp_path / "plan.yaml").read_text(encoding="utf-8")
    (tmp_path / "other" / "plan.yaml").write_text(text.replace("k: 2", "k: 1"), encoding="utf-8")
    (tmp_path / "other" / "study.yaml").write_text((tmp_path / "study.yaml").read_text("utf-8"), encoding="utf-8")
    settings = tmp_path / "clinic-c" / "party.yaml"
    settings.write_text(settings.read_text("utf-8").replace("../study.yaml", "../other/study.yaml"), encoding="utf-8")
    before = stage.files()
    with stage.running() as processes:
        ended = processes["clinic-a"].ended()
    assert ended.code == 3
    assert "clinic-c has another version of the study" in ended.said
    assert stage.files() == before


@pytest.mark.slow
def test_a_party_that_waits_for_runs_waits_on_after_one_that_failed(tmp_path: Path) -> None:
    stage = staged(tmp_path, "B", "horizontal", names=("clinic-a", "clinic-b"))
    with Process.started(stage, "clinic-b", once=False) as waiting:
        with (
            Process.started(stage, "helper", ("send", "release", "SIGKILL")),
            Process.started(stage, "clinic-a") as own,
        ):
            assert own.ended().code == 3
        with Process.started(stage, "helper") as helper, Process.started(stage, "clinic-a") as own:
            assert (own.ended().code, helper.ended().code) == (0, 0)
        waiting.process.send_signal(signal.SIGINT)
        assert "[party-lost]" in waiting.ended().said
    (release,) = (tmp_path / "clinic-b").glob("heart-*.csv")
    assert release.read_bytes() == stage.output("clinic-a").read_bytes()
