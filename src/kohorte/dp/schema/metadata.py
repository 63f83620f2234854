"""The metadata of a table for queries: columns, bounds, the person of a row, and the budget."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import as_missing_values, strict_yaml
from kohorte.data.files import read_text
from kohorte.dp.budget.budget import Budget
from kohorte.dp.numbers import is_whole
from kohorte.dp.schema.columns import Column
from kohorte.errors import InputError, refuse_unknown_keys
from kohorte.plans.person import NONE, Person

FORMAT = 1
KEYS = (
    *("kohorte", "project", "table", "columns", "private_id", "max_contributions", "identifying"),
    *("missing_values", "budget"),
)
MOST_CONTRIBUTIONS = 1_000_000
UNSTATED = (
    "rows are counted, not people: nobody has said that every row is another person, so that the noise may hide one of "
    "many rows of a person; name the private_id, or state with private_id: none that every row is another person"
)


@dataclass(frozen=True)
class QueryMetadata:
    """Which columns of a table may be queried, and the budget; nothing here comes from the rows.

    Each part may also be given as a metadata file writes it: `columns={"age": {"datatype": "int", "min": 0, "max":
    120}}`.
    """

    table: str
    columns: Mapping[str, Column]
    budget: Budget
    private_id: str | Sequence[str] | None = None
    """The column, or columns, that say whom a row is about; `none` states that every row is another person."""
    max_contributions: int = 1
    identifying: Sequence[str] = ()
    project: str = ""
    """The project whose budget is spent, by default the table. A change of the metadata does not renew the budget."""
    missing_values: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not _is_name(self.table):
            raise _wrong("table is the name that queries use")
        if not _is_name(self.project or self.table):
            raise _wrong("project is a name")
        self._set("project", self.project or self.table)
        self._set("columns", MappingProxyType(_columns(self.columns)))
        self._set("budget", _budget(self.budget))
        if isinstance(self.identifying, str) or not all(isinstance(name, str) for name in self.identifying):
            raise _wrong("identifying is a list of names of columns")
        self._set("identifying", tuple(sorted(set(self.identifying))))
        self._set("missing_values", as_missing_values(self.missing_values, code="query-metadata"))
        self._check_people()

    def _check_people(self) -> None:
        most = self.max_contributions
        given: object = self.private_id
        if given is not None and not isinstance(given, str):
            listed = tuple(given) if isinstance(given, Sequence) else ("",)
            self._set("private_id", listed[0] if len(listed) == 1 else listed)
        names = self.person_columns
        if self.private_id is not None and not self.rows_are_people and (not names or not all(map(_is_name, names))):
            raise _wrong("private_id is the name of a column, or a list of names")
        if len(set(names)) < len(names):
            raise _wrong("private_id names a column twice")
        if not is_whole(most) or not 1 <= most <= MOST_CONTRIBUTIONS:
            raise _wrong(f"max_contributions is a whole number from 1 to {MOST_CONTRIBUTIONS:,}")
        if not names and most != 1:
            raise _wrong(
                "max_contributions needs a private_id, or a plan with person: without it every row counts as a "
                "different person"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __reduce__(self) -> tuple[Any, ...]:
        return QueryMetadata.from_dict, (self.to_dict(),)

    @property
    def person_columns(self) -> tuple[str, ...]:
        """The columns that say whom a row is about; none if every row counts as a different person."""
        if self.private_id is None or self.rows_are_people:
            return ()
        return (self.private_id,) if isinstance(self.private_id, str) else tuple(self.private_id)

    @property
    def rows_are_people(self) -> bool:
        """Whether the metadata state that every row is another person."""
        return self.private_id == NONE

    @property
    def person(self) -> Person | None:
        """Whom a row is about, as a plan says it; None if nobody has said it."""
        return None if self.private_id is None else Person(self.person_columns)

    @property
    def unstated(self) -> tuple[str, ...]:
        """A warning if nobody has said whom a row is about; it does not depend on the table."""
        return () if self.private_id is not None else (UNSTATED,)

    def about(self, person: Person | None) -> Self:
        """Return metadata with the person of a plan as the private id; metadata that say something else are refused."""
        if person is None:
            return self
        stated = replace(self, private_id=NONE if person.rows_are_people else person.columns)
        if self.private_id is not None and stated.private_id != self.private_id:
            raise InputError(
                "the plan and the metadata say different things about whom a row is about: person of the plan and "
                "private_id of the metadata must name the same columns",
                code="query-person",
            )
        return stated

    def protecting(self, names: Iterable[str]) -> QueryMetadata:
        """Return metadata under which these columns cannot be queried, such as the identifying ones of a plan."""
        return replace(self, identifying=(*self.identifying, *names))

    @cached_property
    def sha256(self) -> str:
        """The hash of everything that determines an answer: all except the budget and the project."""
        relevant = {key: value for key, value in self.to_dict().items() if key not in ("budget", "project")}
        return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_yaml(cls, path: str | Path, *, person: Person | None = None) -> Self:
        """Read a metadata file; the `person` of a plan is the private id."""
        path = Path(path)
        text = read_text(path, what="metadata file", code="query-metadata")
        data = strict_yaml.load(text, source=str(path), code="query-metadata")
        try:
            return cls.from_dict(data, person=person)
        except InputError as error:
            raise InputError(f"{path}: {error.message}", code=error.code) from None

    @classmethod
    def from_dict(cls, data: object, *, person: Person | None = None) -> Self:
        """Read metadata from plain data, as loaded from a metadata file; the `person` of a plan is the private id."""
        given = mapping(data, KEYS, what="the metadata")
        if given.pop("kohorte", FORMAT) != FORMAT:
            raise _wrong(f"kohorte: the format of metadata is {FORMAT}")
        for key in ("table", "columns", "budget"):
            if key not in given:
                raise _wrong(f"the key {key!r} is missing")
        if person is None:
            return cls(**given)
        most = given.pop("max_contributions", 1)
        return replace(cls(**given).about(person), max_contributions=most)

    def to_dict(self) -> dict[str, Any]:
        """Return the metadata as plain data, as a metadata file writes them."""
        return {
            "kohorte": FORMAT,
            "project": self.project,
            "table": self.table,
            "columns": {name: column.to_dict() for name, column in self.columns.items()},
            "private_id": list(self.private_id) if isinstance(self.private_id, tuple) else self.private_id,
            "max_contributions": self.max_contributions,
            "identifying": list(self.identifying),
            **({"missing_values": list(self.missing_values)} if self.missing_values else {}),
            "budget": self.budget.to_dict(),
        }

    def to_yaml(self) -> str:
        """Return the text of a metadata file."""
        return strict_yaml.dump(self.to_dict())


def mapping(data: object, keys: Sequence[str], *, what: str) -> dict[str, Any]:
    """Return a copy of a mapping; unknown keys are refused."""
    if not isinstance(data, Mapping):
        raise _wrong(f"{what}: keys with values are expected")
    refuse_unknown_keys(data, keys, where=what, code="query-metadata")
    return dict(data)


def _columns(given: object) -> dict[str, Column]:
    if not isinstance(given, Mapping) or not given:
        raise _wrong("columns: at least one column with its datatype is expected")
    return {_name(name): _column(name, column) for name, column in given.items()}


def _name(name: object) -> str:
    if not _is_name(name):
        raise _wrong("columns: the name of a column is text")
    return str(name)


def _column(name: str, given: object) -> Column:
    if isinstance(given, Column):
        return given
    parts = mapping(given, [part.name for part in fields(Column)], what=f"columns: {name}")
    if "datatype" not in parts:
        raise _wrong(f"columns: {name}: the key 'datatype' is missing")
    try:
        return Column(**parts)
    except InputError as error:
        raise _wrong(f"columns: {name}: {error.message}") from None


def _budget(given: object) -> Budget:
    if isinstance(given, Budget):
        return given
    parts = mapping(given, [part.name for part in fields(Budget)], what="budget")
    if "epsilon" not in parts:
        raise _wrong("budget: the key 'epsilon' is missing")
    return Budget(**parts)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name != ""


def _wrong(message: str) -> InputError:
    return InputError(message, code="query-metadata")
