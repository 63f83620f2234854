"""A policy of the release check: every threshold that a check uses, read from a file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest, refuse_unknown_keys
from kohorte.exchange.policies.base_set import BaseSet
from kohorte.identifiers import Form
from kohorte.plans.search_options import is_number

FORMAT = 1
FOLDER = Path(__file__).with_name("files")
POLICIES = tuple(sorted(path.stem for path in FOLDER.glob("*.yaml")))
"""The policies that come with Kohorte, by name."""

ALWAYS_DROPPED = (Form.DIRECT, Form.UNIQUE, Form.FREE_TEXT, Form.PLACE)
"""No policy can let these through: they identify a person by themselves, can contain anything, or are places smaller
than a state."""
GAPS = ("rare", "ignore")
TOGETHER = ("all", "alone")
FEWEST_DECIDERS = 2


class Detail(StrEnum):
    """The finest form in which a kind of attribute may be released."""

    YEAR = "year"
    MONTH = "month"
    SAFE_HARBOR = "safe_harbor"
    NONE = "none"


@dataclass(frozen=True)
class CheckPolicy:
    """All thresholds of a check; docs/exchange.md explains each.

    `finest` says for dates, dates of birth, ZIP codes and ages what may be shown at most: for dates `month` or `year`;
    for ZIP codes the number of leading digits; for ages the highest one that is told apart. `none` shows nothing, and
    `safe_harbor`, for ZIP codes and dates of birth, what HIPAA Safe Harbor permits.
    """

    name: str
    law: str
    k: int
    l: int  # noqa: E741 - the published letter
    base_set: BaseSet
    rare_value: float
    rare_combination: int
    conspicuous: float
    gaps: str
    largest_share: float
    most_removed: float
    statistics_years: float
    never: tuple[Form, ...]
    finest: Mapping[Form, Detail | int]
    together: str
    deciders: int
    longest_days: int

    def __post_init__(self) -> None:
        for name in ("name", "law"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text.strip() or not text.isprintable():
                raise _wrong(name, "is one line of text")
        for name, valid, rule in RULES:
            if not valid(getattr(self, name)):
                raise _wrong(name, rule)
        object.__setattr__(self, "finest", MappingProxyType(dict(self.finest)))

    def __hash__(self) -> int:
        return hash(self.fingerprint())

    @property
    def dropped(self) -> tuple[Form, ...]:
        """The forms of attributes that are never in an answer."""
        return tuple(dict.fromkeys((*ALWAYS_DROPPED, *self.never)))

    def fingerprint(self) -> str:
        """The SHA-256 of the content of the policy."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The policy as plain data."""
        plain = {part.name: getattr(self, part.name) for part in fields(self)}
        finest = {str(form): detail if isinstance(detail, int) else str(detail) for form, detail in self.finest.items()}
        base_set, never = self.base_set.to_dict(), [str(form) for form in self.never]
        return {"kohorte": FORMAT, **plain, "base_set": base_set, "never": never, "finest": finest}

    @classmethod
    def named(cls, name: str) -> Self:
        """A policy that comes with Kohorte."""
        if name not in POLICIES:
            raise InputError(
                f"unknown policy {name!r}{nearest(name, POLICIES)}; known are {', '.join(POLICIES)}, or give a file",
                code="exchange-policy-unknown",
            )
        return cls.from_yaml(FOLDER / f"{name}.yaml")

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a policy file; every threshold must be in it."""
        path = Path(path)
        text = read_text(path, what="policy", code="exchange-policy-yaml")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="exchange-policy-yaml"))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a policy from plain data."""
        if not isinstance(data, Mapping) or data.get("kohorte") != FORMAT:
            raise InputError(
                f"a policy of the release check begins with 'kohorte: {FORMAT}'", code="exchange-policy-yaml"
            )
        names = [part.name for part in fields(cls)]
        refuse_unknown_keys(data, ("kohorte", *names), where="the policy", code="exchange-policy-key")
        if missing := [name for name in names if name not in data]:
            raise InputError(f"the policy lacks {missing[0]}; no threshold has a default", code="exchange-policy-key")
        given = {name: data[name] for name in names}
        given["base_set"] = BaseSet.from_dict(given["base_set"])
        given["never"] = _forms(given["never"])
        given["finest"] = _finest(given["finest"])
        return cls(**given)


def _is_count(least: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and value >= least


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 < value <= 1


RULES: tuple[tuple[str, Callable[[Any], bool], str], ...] = (
    ("k", _is_count(2), "is a whole number of at least 2"),
    ("l", _is_count(1), "is a whole number of at least 1"),
    ("rare_combination", _is_count(2), "is a whole number of people, at least 2"),
    ("deciders", _is_count(FEWEST_DECIDERS), f"is a whole number of at least {FEWEST_DECIDERS}"),
    ("longest_days", _is_count(1), "is a whole number of days, at least 1"),
    ("conspicuous", lambda value: is_number(value) and 0 <= value < 1, "is a share of at least 0 and below 1"),
    ("rare_value", _is_share, "is a share above 0 and at most 1"),
    ("largest_share", _is_share, "is a share above 0 and at most 1"),
    ("most_removed", lambda value: is_number(value) and 0 <= value < 1, "is a share of at least 0 and below 1"),
    ("statistics_years", lambda value: is_number(value) and value > 0, "is a number of years above 0"),
    ("gaps", lambda value: value in GAPS, f"is one of {', '.join(GAPS)}"),
    ("together", lambda value: value in TOGETHER, f"is one of {', '.join(TOGETHER)}"),
)
"""What each threshold must be."""

_DETAILS: Mapping[Form, tuple[Callable[[Any], bool], str]] = {
    Form.DATE: (lambda value: value in (Detail.YEAR, Detail.MONTH, Detail.NONE), "year, month or none"),
    Form.BIRTH: (lambda value: value in tuple(Detail), "year, month, safe_harbor or none"),
    Form.ZIP: (
        lambda value: value in (Detail.SAFE_HARBOR, Detail.NONE) or (type(value) is int and 1 <= value <= 10),
        "a number of digits, safe_harbor or none",
    ),
    Form.AGE: (
        lambda value: value == Detail.NONE or (type(value) is int and 1 <= value <= 150),
        "the highest age that is told apart, or none",
    ),
}


def _forms(given: object) -> tuple[Form, ...]:
    known = [str(form) for form in Form]
    if not isinstance(given, list) or any(form not in known for form in given):
        raise _wrong("never", f"is a list of {', '.join(known)}")
    return tuple(Form(form) for form in given)


def _finest(given: object) -> dict[Form, Detail | int]:
    known = [str(form) for form in _DETAILS]
    if not isinstance(given, Mapping) or sorted(given) != sorted(known):
        raise _wrong("finest", f"has an entry for each of {', '.join(known)}")
    found: dict[Form, Detail | int] = {}
    for form, (valid, rule) in _DETAILS.items():
        value = given[str(form)]
        if not valid(value):
            raise _wrong("finest", f"{form} is {rule}")
        found[form] = value if isinstance(value, int) else Detail(value)
    return found


def _wrong(name: str, rule: str) -> InputError:
    return InputError(f"the policy: {name} {rule}", code="exchange-policy-value", field=name)
