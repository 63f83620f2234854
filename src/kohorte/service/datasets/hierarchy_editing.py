"""Edit the hierarchy of a column: build it, find what is broken, and count what its labels cover; nothing is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.hierarchies import Builder, Examination, Fault, LabelCount, Ordering, Place, examine, label_counts
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies, kept_tables, proposal
from kohorte.service.datasets.records import log_reading
from kohorte.service.datasets.transformations import hierarchy_rows
from kohorte.service.permissions import Permission

MOST_EDITED = 400_000
"""Labels of a hierarchy that can be edited; a larger one is better built by a plan."""
MOST_PLACES = 1_000


@dataclass(frozen=True)
class Edited:
    """An examined hierarchy of a column, with the values, rows and people that each label covers."""

    attribute: str
    examination: Examination
    counts: Sequence[Mapping[str, LabelCount]]

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The rows `[value, level 1, ...]`, those of missing values included."""
        return self.examination.rows

    @property
    def ok(self) -> bool:
        """Whether it can be stored."""
        return self.examination.ok

    @property
    def faults(self) -> dict[Fault, int]:
        """How often each fault occurs."""
        return self.examination.counts

    @property
    def places(self) -> tuple[Place, ...]:
        """Where they are."""
        return self.examination.places

    @property
    def levels(self) -> list[dict[str, Any]]:
        """For each level, the number of its labels, and how few and how many rows and people they cover."""
        return [_level_to_dict(level, counts) for level, counts in enumerate(self.counts)]

    def to_dict(self) -> dict[str, Any]:
        """The examination for the REST interface; of very many faults, the first ones."""
        return {
            "attribute_name": self.attribute,
            "ok": self.ok,
            "faults": {str(fault): count for fault, count in self.faults.items()},
            "places": [
                {"fault": str(one.fault), "row": one.row, "level": one.level} for one in self.places[:MOST_PLACES]
            ],
            "levels": self.levels,
            "hierarchy": [list(row) for row in self.rows],
        }


def examined(
    service: Service,
    actor: Actor,
    dataset_id: int,
    attribute: str,
    rows: Sequence[Sequence[str]],
    *,
    person: str | None = None,
) -> Edited:
    """Compare rows with a column; `person` is the column that says whom a row of the table is about."""
    frame = _frame(service, actor, dataset_id, attribute, *(() if person is None else (person,)))
    _refuse_large(rows)
    column = as_text(frame[attribute])
    found = examine(rows, column.drop_nulls().unique().to_list())
    _refuse_large(found.rows)
    log_reading(service, actor, dataset_id, "read-values", values=len(found.rows))
    people = None if person is None else as_text(frame[person])
    return Edited(attribute, found, label_counts(found.rows, column, people))


def built(service: Service, actor: Actor, dataset_id: int, attribute: str, builder: Builder) -> list[list[str]]:
    """Return the rows that a builder makes for those values of a column that it can place."""
    column = as_text(_frame(service, actor, dataset_id, attribute)[attribute])
    _refuse_many(column)
    return hierarchy_rows(builder, column, all_values=False)


def begun(
    service: Service, actor: Actor, dataset_id: int, attribute: str
) -> tuple[list[list[str]], Builder | None, bool]:
    """Return the stored rows of a column, or proposed ones with their builder; and whether they are stored.

    Without a better proposal, a hierarchy has the value and `*`.
    """
    frame = _frame(service, actor, dataset_id, attribute)
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        is_stored = attribute in hierarchies.stored_for(connection, dataset_id)
    if is_stored:
        return hierarchies.show(service, actor, dataset_id, attribute), None, True
    builder = (_proposed(service, dataset, attribute) if frame.height else None) or Ordering()
    return built(service, actor, dataset_id, attribute, builder), builder, False


def _proposed(service: Service, dataset: Row[Any], attribute: str) -> Builder | None:
    """The hierarchy that the proposed plan has for a column."""
    return next(one.hierarchy for one in proposal.proposed(service, dataset).columns if one.name == attribute)


def _frame(service: Service, actor: Actor, dataset_id: int, *attributes: str) -> pl.DataFrame:
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
    for name in attributes:
        hierarchies.refuse_unknown(dataset, name)
    return kept_tables.frame(service, dataset)


def _refuse_many(column: pl.Series) -> None:
    if column.n_unique() > MOST_EDITED // 2:
        raise _too_large(column.n_unique())


def _refuse_large(rows: Sequence[Sequence[str]]) -> None:
    if sum(map(len, rows)) > MOST_EDITED:
        raise _too_large(len(rows))


def _too_large(values: int) -> InputError:
    return InputError(
        f"a hierarchy of {values:,} values is too large to be edited; the limit is {MOST_EDITED:,} labels: "
        "let a plan build it, as {builder: options}",
        code="hierarchy-too-large",
    )


def _level_to_dict(level: int, counts: Mapping[str, LabelCount]) -> dict[str, Any]:
    used = [count for count in counts.values() if count.rows]
    people = [count.people for count in used if count.people is not None]
    return {
        "level": level,
        "labels": len(counts),
        "fewest_rows": min((count.rows for count in used), default=0),
        "most_rows": max((count.rows for count in used), default=0),
        "fewest_people": min(people, default=None),
        "most_people": max(people, default=None),
    }
