"""What an institution says about its table: the plan, which statistics belong to which column, and its policy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest, refuse_unknown_keys
from kohorte.exchange.contents import CONTENTS
from kohorte.exchange.policies import POLICIES, CheckPolicy
from kohorte.exchange.statistics import KINDS
from kohorte.plans import Plan
from kohorte.plans.person import Knowledge

FORMAT = 1
KEYS = ("kohorte", "institution", "plan", "policy", "statistics", "contents", "country", "population")


@dataclass(frozen=True)
class Holding:
    """A table that requests are checked against.

    `plan` gives every column its role and hierarchy, and says with `person` whom a row is about. `statistics` says of
    which kind the values of a column are. `population` is the number of people of the area among whom somebody could
    look for a patient.
    """

    institution: str
    plan: Plan
    policy: CheckPolicy
    population: int
    statistics: Mapping[str, str] = field(default_factory=dict)
    country: str | None = None
    contents: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not str(self.institution).strip():
            raise _wrong("institution", "is the name of the institution")
        if type(self.population) is not int or self.population < 1:
            raise _wrong("population", "is a whole number of people")
        self._refuse_columns("statistics", self.statistics, KINDS)
        self._refuse_columns("contents", self.contents, CONTENTS)
        if self.country is not None and len(str(self.country)) != 2:
            raise _wrong("country", "has two letters, such as AT")
        object.__setattr__(self, "statistics", MappingProxyType(dict(self.statistics)))
        object.__setattr__(self, "contents", MappingProxyType(dict(self.contents)))
        _refuse_unfit(self.plan)

    def _refuse_columns(self, field: str, stated: Mapping[str, str], known: Sequence[str]) -> None:
        for name, what in stated.items():
            if name not in self.plan.attributes:
                raise _wrong(field, f"names {name!r}, which is not in the plan{nearest(name, self.plan.attributes)}")
            if what not in known:
                raise _wrong(field, f"{name}: is one of {', '.join(known)}{nearest(str(what), known)}")

    @property
    def known_by(self) -> dict[str, str | int]:
        """The people by whom frequencies are looked up."""
        return {} if self.country is None else {"country": self.country}

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read the description of a table; file names in it are relative to its folder."""
        path = Path(path)
        data = strict_yaml.load(
            read_text(path, what="description", code="exchange-holding"), source=path.name, code="exchange-holding"
        )
        found = _refuse_keys(data, source=path.name)
        plan = Plan.from_yaml(path.parent / str(found["plan"]))
        return cls._read(found, plan, _policy(found["policy"], path.parent))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read a description that has the plan in it, and a policy or the name of one."""
        found = _refuse_keys(data, source="the description of the table")
        policy = found["policy"]
        stated = CheckPolicy.from_dict(policy) if isinstance(policy, Mapping) else CheckPolicy.named(str(policy))
        if not isinstance(found["plan"], Mapping):
            raise _wrong("plan", "is a plan, not the name of a file")
        return cls._read(found, Plan.from_dict(dict(found["plan"])), stated)

    @classmethod
    def _read(cls, data: Mapping[str, Any], plan: Plan, policy: CheckPolicy) -> Self:
        statistics = data.get("statistics", {})
        if not isinstance(statistics, Mapping):
            raise _wrong("statistics", "is a mapping of columns to kinds, such as {drug: medication}")
        contents = data.get("contents", {})
        if not isinstance(contents, Mapping):
            raise _wrong("contents", "is a mapping of columns to what they contain, such as {weight: kg}")
        return cls(data["institution"], plan, policy, data["population"], statistics, data.get("country"), contents)


def _refuse_keys(data: object, *, source: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping) or data.get("kohorte") != FORMAT:
        raise InputError(f"{source}: begins with 'kohorte: {FORMAT}'", code="exchange-holding")
    refuse_unknown_keys(data, KEYS, where=source, code="exchange-holding")
    if missing := [key for key in ("institution", "plan", "policy", "population") if key not in data]:
        raise InputError(f"{source}: lacks {missing[0]}", code="exchange-holding")
    return data


def _policy(given: Any, folder: Path) -> CheckPolicy:
    if given in POLICIES or not str(given).endswith((".yaml", ".yml")):
        return CheckPolicy.named(str(given))
    return CheckPolicy.from_yaml(folder / str(given))


def _refuse_unfit(plan: Plan) -> None:
    """Refuse a plan by which people cannot be recognised in the ledger, or whose releases tie rows together."""
    if plan.person is None or plan.person.rows_are_people:
        raise InputError(
            "the plan of a release check needs person: whom a row is about, because answers are compared by people",
            code="exchange-plan",
        )
    if plan.person.attacker_knows is not Knowledge.ONE_ROW or plan.linked_by is not None or plan.pseudonyms:
        raise InputError(
            "a release check knows no attacker_knows: all_rows, linked_by or pseudonym", code="exchange-plan"
        )
    if any(name in plan.person.columns for name in (*plan.quasi_identifiers, *plan.histograms)):
        raise InputError("the columns of person are identifying in a release check", code="exchange-plan")


def _wrong(field: str, rule: str) -> InputError:
    return InputError(f"the description of the table: {field} {rule}", code="exchange-holding", field=field)
