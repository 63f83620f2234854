"""A request, as an institution sends it: read strictly, and recognised by its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.exchange.request.conditions import Condition, condition_from

FORMAT = 1
KEYS = ("kohorte", "requester", "purpose", "attributes", "condition", "until")
LONGEST_LINE = 500
MOST_ATTRIBUTES = 100


@dataclass(frozen=True)
class Requester:
    """Who asks: a person and the institution that the answer goes to."""

    name: str
    institution: str
    contact: str = ""

    def __post_init__(self) -> None:
        for field in ("name", "institution"):
            _line(getattr(self, field), f"requester: {field}")
        if self.contact != "":
            _line(self.contact, "requester: contact")


@dataclass(frozen=True)
class Request:
    """Which attributes of the people who satisfy a condition are asked for, by whom, why, and until when."""

    requester: Requester
    purpose: str
    attributes: tuple[str, ...]
    condition: Condition
    until: str

    def __post_init__(self) -> None:
        _line(self.purpose, "purpose")
        names = self.attributes
        if not names or len(names) > MOST_ATTRIBUTES or len(set(names)) < len(names):
            raise _wrong("attributes", f"are 1 to {MOST_ATTRIBUTES} different names of columns")
        for name in names:
            _line(name, "attributes")
        try:
            date.fromisoformat(self.until)
        except (TypeError, ValueError):
            raise _wrong("until", "is the last day on which an answer is wanted, such as 2026-12-31") from None

    def refuse_expired(self, today: date) -> None:
        """Refuse a request whose last day is over."""
        if today > date.fromisoformat(self.until):
            raise InputError(
                f"the request was valid until {self.until}; ask for a new one", code="exchange-request-expired"
            )

    def refuse_too_long(self, today: date, most_days: int) -> None:
        """Refuse a request that would stay valid longer than the policy allows."""
        if (date.fromisoformat(self.until) - today).days > most_days:
            raise InputError(
                f"the request would be valid for more than {most_days} days, the most that the policy allows",
                code="exchange-request-expired",
            )

    def to_dict(self) -> dict[str, Any]:
        """The request as plain data."""
        return {
            "kohorte": FORMAT,
            "requester": dict(vars(self.requester)),
            "purpose": self.purpose,
            "attributes": list(self.attributes),
            "condition": self.condition.to_dict(),
            "until": self.until,
        }

    def fingerprint(self) -> str:
        """The SHA-256 of the content; layout and comments of the file do not matter."""
        text = json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @classmethod
    def from_file(cls, path: str | Path) -> Self:
        """Read a request from YAML or JSON."""
        path = Path(path)
        text = read_text(path, what="request", code="exchange-request-yaml")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="exchange-request-yaml"))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a request from plain data."""
        if not isinstance(data, Mapping) or data.get("kohorte") != FORMAT:
            raise InputError(f"a request begins with 'kohorte: {FORMAT}'", code="exchange-request-yaml")
        refuse_unknown_keys(data, KEYS, where="the request", code="exchange-request-yaml")
        if missing := [key for key in KEYS if key not in data]:
            raise InputError(f"the request lacks {missing[0]}", code="exchange-request-yaml")
        requester, attributes = data["requester"], data["attributes"]
        if not isinstance(requester, Mapping):
            raise _wrong("requester", "is written as {name: ..., institution: ..., contact: ...}")
        known = ("name", "institution", "contact")
        refuse_unknown_keys(requester, known, where="requester", code="exchange-request-yaml")
        if not isinstance(attributes, list):
            raise _wrong("attributes", "is a list of names of columns")
        return cls(
            Requester(requester.get("name", ""), requester.get("institution", ""), requester.get("contact", "")),
            data["purpose"],
            tuple(attributes),
            condition_from(data["condition"]),
            data["until"],
        )


def _line(text: object, field: str) -> None:
    if not isinstance(text, str) or not text.strip() or len(text) > LONGEST_LINE or not text.isprintable():
        raise _wrong(field, f"is one line of text with at most {LONGEST_LINE} characters")


def _wrong(field: str, rule: str) -> InputError:
    return InputError(f"the request: {field} {rule}", code="exchange-request-value", field=field)
