"""Consents of another house: what it answers, and what it does not."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import EngineError, KohorteError, PrivacyViolation
from kohorte.patients.consents import elsewhere
from kohorte.patients.consents.elsewhere import ConsentsElsewhere
from kohorte.trust.remote import HouseRefused, OtherHouse

NOWHERE = Path("nowhere")


@dataclass(frozen=True)
class Answering(OtherHouse):
    """Another house that answers what it is told to, in its order."""

    answers: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)

    def call(self, method: str, path: str, body: object = None, *, token: str | None = None) -> Any:
        assert (method, token) == ("POST", None)
        self.asked.append((path, body))
        answer = self.answers.pop(0)
        if isinstance(answer, KohorteError):
            raise answer
        return answer


def house(*answers: Any) -> Answering:
    return Answering("https://example.org", NOWHERE, NOWHERE, NOWHERE, answers=list(answers))


def refusal(reason: str) -> HouseRefused:
    error = HouseRefused("refused", code="trust-house-refused")
    error.reason = reason
    return error


def person(pid: str, *kinds: str) -> dict[str, Any]:
    return {"pid": pid, "categories": list(kinds) or None}


def test_people_are_asked_for_in_parts_and_every_export_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "PIDS_AT_ONCE", 1)
    there = house({"export": 7, "people": []}, {"export": 8, "people": []}, None, None)
    consents = ConsentsElsewhere(there, "project-1")
    assert consents.covered({"A", "B"}, "research").people == {}
    consents.confirm()
    assert [path for path, _ in there.asked[2:]] == ["/patients/exports/7/confirm", "/patients/exports/8/confirm"]
    assert {body["pids"][0] for _, body in there.asked[:2]} == {"A", "B"}


def test_kinds_of_data_are_those_that_the_other_house_names() -> None:
    there = house({"export": 7, "people": [person("A"), person("B", "lab")]})
    people = ConsentsElsewhere(there, "project-1").covered({"A", "B", "C"}, "research").people
    assert set(people) == {"A", "B"}
    assert people["A"].includes("stay")
    assert (people["B"].includes("lab"), people["B"].includes("stay"), people["B"].includes(None)) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    "answer",
    [
        None,
        [],
        {"export": 7},
        {"export": "7", "people": []},
        {"export": 7, "people": [{"pid": "A"}]},
        {"export": 7, "people": [{"pid": "A", "categories": []}]},
        {"export": 7, "people": [{"pid": "A", "categories": "lab"}]},
        {"export": 7, "people": [{"pid": "somebody else", "categories": None}]},
    ],
)
def test_anything_else_than_an_answer_to_the_question_covers_nobody(answer: Any) -> None:
    with pytest.raises(EngineError) as caught:
        ConsentsElsewhere(house(answer), "project-1").covered({"A"}, "research")
    assert caught.value.code == "trust-house-failed"


def test_a_withdrawal_a_refusal_and_a_lost_house_end_the_hand_out() -> None:
    lost = EngineError("lost", code="trust-house-lost")
    for answer, code in (
        (refusal("consent-changed"), "consent-changed"),
        (refusal("x"), "trust-house-refused"),
        (lost, lost.code),
    ):
        with pytest.raises(KohorteError) as caught:
            ConsentsElsewhere(house(answer), "project-1", [7]).confirm()
        assert caught.value.code == code
        assert isinstance(caught.value, PrivacyViolation) == (code == "consent-changed")
