"""Decisions about a checked request: by different people, none of whom is the requester, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from kohorte.errors import AccessDenied, InputError
from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.deciding.folder import DECIDED, RequestFolder
from kohorte.exchange.policies import CheckPolicy
from kohorte.exchange.request import Requester
from kohorte.exchange.request.names import same_name, same_person


class Choice(StrEnum):
    """What a person decides."""

    RELEASE = "release"
    REFUSE = "refuse"


class State(StrEnum):
    """How far a request is."""

    RECEIVED = "received"
    CHECKED = "checked"
    RELEASED = "decided: release"
    REFUSED = "decided: refuse"
    ANSWERED = "answered"


@dataclass(frozen=True)
class Decisions:
    """Who decided what about the latest check, and how many must agree."""

    choices: Mapping[str, Choice]
    needed: int

    @property
    def state(self) -> State:
        """One refusal is enough; a release needs all."""
        if Choice.REFUSE in self.choices.values():
            return State.REFUSED
        return State.RELEASED if len(self.choices) >= self.needed else State.CHECKED


def policy_of(record: CheckRecord) -> CheckPolicy:
    """The policy by which a request was checked."""
    return CheckPolicy.from_dict(record["request"]["policy"])


def decisions(folder: RequestFolder, number: int, record: CheckRecord) -> Decisions:
    """The decisions about the latest check that count, as the log has them.

    A release is no longer agreed to by a person who was removed since, also if the name was given again. A refusal
    stays.
    """
    removed, found = folder.removals(), {}
    for entry in _noted(folder, number, record):
        choice = Choice(entry["details"]["decision"])
        if choice is Choice.REFUSE or removed.get(entry["actor"], 0) < entry["number"]:
            found[entry["actor"]] = choice
    return Decisions(found, policy_of(record).deciders)


def told(folder: RequestFolder, number: int, record: CheckRecord) -> list[dict[str, str]]:
    """Who decided what about the latest check, when and why, for the people of the house."""
    return [
        {
            "person": entry["actor"],
            "decision": entry["details"]["decision"],
            "reason": entry["details"].get("reason", ""),
            "at": entry["at"],
        }
        for entry in _noted(folder, number, record)
    ]


def _noted(folder: RequestFolder, number: int, record: CheckRecord) -> list[Mapping[str, Any]]:
    """The entries of the log about the latest check of a request."""
    return [
        entry
        for entry in folder.entries(number)
        if entry["action"] == DECIDED and entry["details"]["check"] == record.sha256
    ]


@dataclass(frozen=True)
class Decider:
    """A person who signed in: how the log names them, and by which other names they are known."""

    name: str
    known_as: tuple[str, ...] = ()
    institution: str = ""

    def is_requester(self, requester: Requester) -> bool:
        """Whether this may be the person who asks, or somebody of the institution that asks."""
        own = (self.name, *self.known_as)
        reached = bool(requester.contact) and any(same_name(one, requester.contact) for one in own)
        of_theirs = bool(self.institution) and same_name(self.institution, requester.institution)
        return of_theirs or reached or any(same_person(one, requester.name) for one in own)


def decide(
    folder: RequestFolder,
    number: int,
    choice: Choice,
    *,
    person: Decider,
    today: date,
    reason: str = "",
    check: str | None = None,
) -> Decisions:
    """Note the decision of a person; the person must have signed in, which the caller asks for.

    `check` is the hash of the check that the person has read, if they were shown one before.
    """
    record = folder.record(number)
    request = folder.request(number)
    folder.refuse_answered(number)
    if check is not None and check != record.sha256:
        raise InputError(
            "the request was checked again since; read the latest check, then decide", code="exchange-check-changed"
        )
    if person.is_requester(request.requester):
        raise AccessDenied("the requester cannot decide about their own request", code="exchange-decider")
    before = decisions(folder, number, record)
    if any(same_name(person.name, other) for other in before.choices):
        raise AccessDenied("this person has decided already; another person must decide", code="exchange-decider")
    if choice is Choice.RELEASE:
        request.refuse_expired(today)
        if record["draft"]["draft"] is None:
            raise InputError(
                "there is nothing that may be sent: the recommendation is not to release; refuse the request",
                code="exchange-no-draft",
            )
    folder.trust.log.append(
        DECIDED, f"request {number}", actor=person.name, decision=str(choice), check=record.sha256, reason=reason
    )
    return decisions(folder, number, record)


def state_of(folder: RequestFolder, number: int) -> State:
    """How far a request is."""
    if folder.was_answered(number):
        return State.ANSWERED
    if not folder.checked(number)["check"]:
        return State.RECEIVED
    return decisions(folder, number, folder.record(number)).state
