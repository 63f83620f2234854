"""What one party answers to another over HTTPS, as JSON, and how a stop is written into headers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from kohorte.errors import ProtocolError
from kohorte.parties.transport.certificates import NAME
from kohorte.parties.transport.inbox import Stop
from kohorte.parties.transport.messages import is_kind

LONGEST_ANSWER = 4096
STUDY_HEADER = "Kohorte-Study"
RUN_HEADER = "Kohorte-Run"
SEQUENCE_HEADER = "Kohorte-Sequence"
KIND_HEADER = "Kohorte-Kind"
SIZE_HEADER = "Kohorte-Size"
STOP_HEADERS = {"by": "Kohorte-By", "code": "Kohorte-Code", "phase": "Kohorte-Phase", "lost": "Kohorte-Lost"}


class State(StrEnum):
    """How the run that a request is about stands at the party that answers."""

    RUNNING = "running"
    ASKED = "asked"
    AGREED = "agreed"
    REFUSED = "refused"
    STOPPED = "stopped"
    FINISHED = "finished"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Answer:
    """The state of a run at another party; `code` is the reason of a refusal, `stop` the reason of a stop."""

    state: State
    code: str = ""
    stop: Stop | None = None

    @property
    def is_good(self) -> bool:
        """Whether the request was accepted."""
        return self.state in (State.RUNNING, State.ASKED, State.AGREED, State.FINISHED)

    def to_json(self) -> bytes:
        """The answer as the body of a response."""
        return json.dumps(asdict(self)).encode()

    @classmethod
    def from_json(cls, body: bytes, *, peer: str) -> Answer:
        """Read the answer of another party, of which nothing is taken for granted."""
        try:
            data = json.loads(body)
            stop = None if data.get("stop") is None else stop_of(data["stop"].get)
            answer = cls(State(data["state"]), str(data.get("code", "")), stop)
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise _unreadable(peer) from None
        if answer.code and not is_kind(answer.code):
            raise _unreadable(peer)
        return answer


def stop_of(get: Callable[[str], object]) -> Stop:
    """Read a stop of another party by the names of its fields; ValueError if a text has an unexpected form."""
    by, code, phase, lost = (get(name) for name in STOP_HEADERS)
    fits = (
        isinstance(by, str)
        and NAME.fullmatch(by)
        and isinstance(code, str)
        and is_kind(code)
        and isinstance(phase, str)
        and (not phase or is_kind(phase))
        and (lost is None or (isinstance(lost, str) and NAME.fullmatch(lost)))
    )
    if not fits:
        raise ValueError
    return Stop(str(by), str(code), str(phase), None if lost is None else str(lost))


def stop_headers(stop: Stop) -> Mapping[str, str]:
    """Return the headers that tell another party why the run has ended."""
    return {STOP_HEADERS[key]: value for key, value in asdict(stop).items() if value is not None}


def _unreadable(peer: str) -> ProtocolError:
    return ProtocolError(
        f"the answer of {peer} cannot be read; the parties may have different versions of this program",
        code="party-answer",
    )
