"""The way back: one person asks, two others approve, it is shown once to the person who asked."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte import KohorteError
from kohorte.errors import EngineError
from kohorte.trust.folder import TrustFolder
from kohorte.trust.log import Log
from kohorte.trust.way_back import Request, State, WayBack

START = datetime(2026, 11, 17, 9, tzinfo=UTC)
PURPOSE = "an incidental finding, for the treating physician"
SECRETS = ("PSN-4711", "Lovelace")


class Clock:
    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path) -> TrustFolder:
    return TrustFolder.opened(tmp_path / "trust", create=True)


@pytest.fixture
def way_back(folder: TrustFolder, clock: Clock) -> WayBack:
    return WayBack(folder, clock=clock)


def asked(way_back: WayBack, *, actor: str = "ada", items: Sequence[str] = (SECRETS[0],)) -> Request:
    return way_back.ask("domain study", items, purpose=PURPOSE, until=START + timedelta(days=7), actor=actor)


def reveal(source: str, items: Sequence[str]) -> list[tuple[str, str]]:
    assert source == "domain study"
    return [(item, SECRETS[1]) for item in items]


def refused(code: str) -> pytest.RaisesContext[KohorteError]:
    return pytest.raises(KohorteError, check=lambda error: error.code == code)


def test_two_approvals_of_others_show_the_result_to_the_person_who_asked(way_back: WayBack) -> None:
    number = asked(way_back).number
    assert way_back.approve(number, actor="ben").state(START) is State.OPEN
    assert way_back.approve(number, actor="cleo").state(START) is State.APPROVED
    assert way_back.show(number, reveal, actor="ada") == [SECRETS]
    assert way_back.all()[0].state(START) is State.SHOWN


@pytest.mark.parametrize("approvers", [(), ("ben",)])
def test_without_two_approvals_nothing_is_shown(way_back: WayBack, approvers: tuple[str, ...]) -> None:
    number = asked(way_back).number
    for name in approvers:
        way_back.approve(number, actor=name)
    with refused("way-back-open"):
        way_back.show(number, reveal, actor="ada")


def test_nobody_approves_their_own_request_or_twice(way_back: WayBack) -> None:
    number = asked(way_back).number
    with refused("way-back-own"):
        way_back.approve(number, actor="ada")
    way_back.approve(number, actor="ben")
    with refused("way-back-twice"):
        way_back.approve(number, actor="ben")
    assert way_back.all()[0].approved_by == ("ben",)


@pytest.mark.parametrize("actor", ["ben", "cleo", "dora"])
def test_only_the_person_who_asked_sees_the_result(way_back: WayBack, actor: str) -> None:
    number = asked(way_back).number
    way_back.approve(number, actor="ben")
    way_back.approve(number, actor="cleo")
    with refused("way-back-other"):
        way_back.show(number, reveal, actor=actor)


def test_the_result_is_shown_once(way_back: WayBack) -> None:
    number = asked(way_back).number
    for name in ("ben", "cleo"):
        way_back.approve(number, actor=name)
    way_back.show(number, reveal, actor="ada")
    with refused("way-back-shown"):
        way_back.show(number, reveal, actor="ada")


def test_a_failure_before_the_result_does_not_use_up_the_one_time(way_back: WayBack) -> None:
    number = asked(way_back).number
    for name in ("ben", "cleo"):
        way_back.approve(number, actor=name)

    def fails(source: str, items: Sequence[str]) -> list[str]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        way_back.show(number, fails, actor="ada")
    assert way_back.show(number, reveal, actor="ada") == [SECRETS]


@pytest.mark.parametrize("step", ["approve", "show"])
def test_after_its_expiry_a_request_can_neither_be_approved_nor_shown(
    way_back: WayBack, clock: Clock, step: str
) -> None:
    number = asked(way_back).number
    for name in ("ben", "cleo") if step == "show" else ("ben",):
        way_back.approve(number, actor=name)
    clock.now = START + timedelta(days=7)
    with refused("way-back-expired"):
        way_back.approve(number, actor="emil") if step == "approve" else way_back.show(number, reveal, actor="ada")


def test_a_declined_request_stays_declined(way_back: WayBack) -> None:
    number = asked(way_back).number
    way_back.decline(number, actor="ben")
    with refused("way-back-declined"):
        way_back.approve(number, actor="cleo")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"items": []}, "way-back-pseudonyms"),
        ({"purpose": "  because  "}, "way-back-purpose"),
        ({"until": START}, "way-back-until"),
        ({"until": START + timedelta(days=32)}, "way-back-until"),
    ],
)
def test_a_request_without_pseudonyms_purpose_or_near_expiry_is_refused(
    way_back: WayBack, changes: dict[str, object], code: str
) -> None:
    entry: dict[str, object] = {"items": ["x"], "purpose": PURPOSE, "until": START + timedelta(days=1)} | changes
    with refused(code):
        way_back.ask("domain study", actor="ada", **entry)  # type: ignore[arg-type]
    assert way_back.all() == []


def test_an_unknown_request_is_named(way_back: WayBack) -> None:
    with refused("way-back-unknown"):
        way_back.approve(7, actor="ben")


def test_no_file_of_the_folder_shows_a_pseudonym_a_purpose_or_a_result(way_back: WayBack, folder: TrustFolder) -> None:
    number = asked(way_back).number
    for name in ("ben", "cleo"):
        way_back.approve(number, actor=name)
    way_back.show(number, reveal, actor="ada")
    content = b"".join(path.read_bytes() for path in folder.path.rglob("*") if path.is_file())
    assert not any(text.encode() in content for text in (*SECRETS, PURPOSE))


def test_pseudonyms_are_removed_when_they_can_no_longer_be_shown(
    way_back: WayBack, folder: TrustFolder, clock: Clock
) -> None:
    shown, declined, expired = (asked(way_back, items=[SECRETS[0] * 50]).number for _ in range(3))
    sizes = {number: (folder.path / "requests" / f"{number}.sealed").stat().st_size for number in (1, 2, 3)}
    for name in ("ben", "cleo"):
        way_back.approve(shown, actor=name)
    way_back.show(shown, reveal, actor="ada")
    way_back.decline(declined, actor="ben")
    clock.now = START + timedelta(days=8)
    way_back.all()
    for number in (shown, declined, expired):
        assert (folder.path / "requests" / f"{number}.sealed").stat().st_size < sizes[number] - 300


def test_an_approval_written_into_the_log_by_hand_stops_everything(way_back: WayBack, folder: TrustFolder) -> None:
    number = asked(way_back).number
    way_back.approve(number, actor="ben")
    lines = folder.log.path.read_text().splitlines()
    forged = json.loads(lines[-1]) | {"number": len(lines) + 1, "actor": "cleo"}
    folder.log.path.write_text("\n".join([*lines, json.dumps(forged)]) + "\n")
    with refused("trust-log-broken"):
        way_back.show(number, reveal, actor="ada")


def test_a_result_is_not_shown_again_when_the_end_of_the_log_was_cut_off(
    way_back: WayBack, folder: TrustFolder
) -> None:
    number = asked(way_back).number
    for name in ("ben", "cleo"):
        way_back.approve(number, actor=name)
    way_back.show(number, reveal, actor="ada")
    folder.log.path.write_text("\n".join(folder.log.path.read_text().splitlines()[:-1]) + "\n")
    for use in (way_back.all, lambda: way_back.show(number, reveal, actor="ada")):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-log-cut"


def test_a_result_is_not_shown_again_when_log_and_head_were_put_back_and_the_pseudonyms_were_not(
    way_back: WayBack, folder: TrustFolder
) -> None:
    number = asked(way_back).number
    for name in ("ben", "cleo"):
        way_back.approve(number, actor=name)
    before = {path: path.read_bytes() for path in (folder.log.path, folder.log.path.with_suffix(".head"))}
    way_back.show(number, reveal, actor="ada")
    for path, content in before.items():
        path.write_bytes(content)
    assert way_back.show(number, reveal, actor="ada") == []


def test_entries_are_verified_once_and_a_change_of_an_old_one_is_noticed(
    folder: TrustFolder, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(WayBack(folder, clock=clock))
    for _ in range(50):
        folder.log.append("pseudonymize", "domain study", actor="ada")
    WayBack(folder, clock=clock).all()
    verified: list[int] = []
    original = Log._next
    monkeypatch.setattr(
        Log, "_next", lambda self, line, last: verified.append(last.number) or original(self, line, last)
    )
    folder.log.append("pseudonymize", "domain study", actor="ada")
    assert len(WayBack(folder, clock=clock).all()) == 1
    assert verified == [51]
    lines = folder.log.path.read_bytes()
    folder.log.path.write_bytes(lines.replace(b'"ada"', b'"eve"', 1))
    with pytest.raises(KohorteError) as caught:
        WayBack(folder, clock=clock).all()
    assert caught.value.code == "trust-log-broken"
    folder.log.path.write_bytes(lines)
    assert [one.asked_by for one in WayBack(folder, clock=clock).all()] == ["ada"]


def test_a_log_that_was_put_back_tells_its_own_requests(folder: TrustFolder, clock: Clock) -> None:
    way_back = WayBack(folder, clock=clock)
    asked(way_back)
    files = (folder.log.path, folder.log.path.with_suffix(".head"))
    copies = [path.read_bytes() for path in files]
    way_back.approve(1, actor="ben")
    for path, copy in zip(files, copies, strict=True):
        path.write_bytes(copy)
    assert [one.approved_by for one in way_back.all()] == [()]


def test_an_officer_is_told_every_step_once_refusals_included(way_back: WayBack) -> None:
    number = asked(way_back).number
    with refused("way-back-own"):
        way_back.approve(number, actor="ada")
    way_back.approve(number, actor="ben")
    told = way_back.notices(actor="dora")
    assert [(one["actor"], one["action"]) for one in told] == [
        ("ada", "ask way back"),
        ("ada", "refuse way back"),
        ("ben", "approve way back"),
    ]
    assert way_back.notices(actor="dora") == []
    assert len(way_back.notices(actor="erik")) == 3


@given(st.lists(st.tuples(st.sampled_from(["approve", "show", "decline", "later"]), st.sampled_from("abcd"))))
def test_whatever_people_do_a_result_needs_two_approvals_of_others_in_time(steps: list[tuple[str, str]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        clock = Clock()
        way_back = WayBack(TrustFolder.opened(Path(name) / "trust", create=True), clock=clock)
        number = asked(way_back, actor="a").number
        approved: set[str] = set()
        ended = False
        for step, actor in steps:
            if step == "later":
                clock.now += timedelta(days=3)
                continue
            may_show = actor == "a" and len(approved) >= 2 and not ended and clock.now < START + timedelta(days=7)
            try:
                if step == "approve":
                    way_back.approve(number, actor=actor)
                    assert actor != "a"
                    approved.add(actor)
                elif step == "decline":
                    way_back.decline(number, actor=actor)
                    ended = True
                else:
                    way_back.show(number, reveal, actor=actor)
                    assert may_show
                    ended = True
            except KohorteError:
                assert not (step == "show" and may_show)


def test_all_orders_of_two_approvals_and_a_look_show_only_after_both(folder: TrustFolder) -> None:
    for order in permutations(["ben", "cleo", "look"]):
        way_back = WayBack(folder)
        request = way_back.ask(
            "domain study", ["x"], purpose=PURPOSE, until=datetime.now(UTC) + timedelta(days=1), actor="ada"
        )
        for step in order:
            if step != "look":
                way_back.approve(request.number, actor=step)
            elif order[-1] == "look":
                assert way_back.show(request.number, reveal, actor="ada")
            else:
                with refused("way-back-open"):
                    way_back.show(request.number, reveal, actor="ada")
