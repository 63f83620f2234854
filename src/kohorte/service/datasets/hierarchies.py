"""Hierarchies that are stored with a dataset; they are encrypted, because they contain its values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import polars as pl
from sqlalchemy import Connection, Row, delete, insert, select, update

from kohorte.errors import AccessDenied, InputError
from kohorte.hierarchies import Builder, Rows, check_hierarchy
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import tables
from kohorte.service.datasets.records import held, log_reading
from kohorte.service.permissions import Permission
from kohorte.service.storage.schema import hierarchies, now

LONGEST_ATTRIBUTE = 255


def stored(service: Service, connection: Connection, dataset_id: int) -> dict[str, list[list[str]]]:
    """Return all stored hierarchies of a dataset by the names of their columns."""
    rows = connection.execute(select(hierarchies).where(hierarchies.c.dataset_id == dataset_id)).all()
    return {row.attribute: _unsealed(service, row) for row in rows}


def stored_for(connection: Connection, dataset_id: int) -> set[str]:
    """Return the columns of a dataset for which a hierarchy is stored."""
    columns = select(hierarchies.c.attribute).where(hierarchies.c.dataset_id == dataset_id)
    return set(connection.execute(columns).scalars())


def listed(service: Service, actor: Actor, dataset_id: int) -> list[dict[str, Any]]:
    """Return the columns of a dataset, and since when a hierarchy is stored for each."""
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        chosen = select(hierarchies.c.attribute, hierarchies.c.created_at).where(hierarchies.c.dataset_id == dataset_id)
        since = {row.attribute: row.created_at for row in connection.execute(chosen)}
    return [
        {
            "attribute_name": column["name"],
            "distinct": column["distinct"],
            "stored_at": since[column["name"]].isoformat() if column["name"] in since else None,
        }
        for column in dataset.columns or ()
    ]


def for_plan(service: Service, actor: Actor, dataset_id: int) -> dict[str, list[list[str]]]:
    """Return all stored hierarchies of a dataset for a plan that refers to them."""
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset_for(service, connection, actor, dataset_id)
        found = stored(service, connection, dataset_id)
    if found:
        log_reading(service, actor, dataset_id, "read-hierarchy", values=sum(map(len, found.values())))
    return found


def store(service: Service, actor: Actor, dataset_id: int, attribute: str, rows: Rows) -> tuple[dict[str, Any], bool]:
    """Store a hierarchy that contains every value of its column; also return whether it is new."""
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
    column = _column(service, dataset, attribute)
    refuse_misfit(rows, column)
    hierarchy = rows.build([], attribute=attribute)
    sealed = service.vault.seal(json.dumps(rows.to_dict()), label=hierarchy_label(dataset_id, attribute))
    with service.database.writing() as connection:
        held(service, connection, actor, dataset_id)
        new = _write(connection, dataset_id, attribute, sealed)
        service.log.append(
            connection, "store-hierarchy", f"dataset {dataset_id}", actor=actor.user_id, values=len(rows.rows)
        )
    return {"attribute_name": attribute, "levels": hierarchy.top + 1, "values": len(hierarchy.values)}, new


def show(service: Service, actor: Actor, dataset_id: int, attribute: str) -> list[list[str]]:
    """Return the rows of a stored hierarchy; they contain values, so the audit log gets an entry."""
    with service.database.reading() as connection:
        refuse_unknown(dataset_for(service, connection, actor, dataset_id), attribute)
        found = connection.execute(select(hierarchies).where(*_key(dataset_id, attribute))).one_or_none()
    if found is None:
        raise _nothing()
    rows = _unsealed(service, found)
    log_reading(service, actor, dataset_id, "read-hierarchy", values=len(rows))
    return rows


def remove(service: Service, actor: Actor, dataset_id: int, attribute: str) -> None:
    """Remove a stored hierarchy; existing projects keep their copies."""
    with service.database.writing() as connection:
        refuse_unknown(dataset_for(service, connection, actor, dataset_id), attribute)
        gone = connection.execute(delete(hierarchies).where(*_key(dataset_id, attribute)))
        if not gone.rowcount:
            raise _nothing()
        service.log.append(connection, "delete-hierarchy", f"dataset {dataset_id}", actor=actor.user_id)


def refuse_misfit(builder: Builder, column: pl.Series) -> None:
    """Refuse a hierarchy that lacks values of a column, with counts and row numbers."""
    check = check_hierarchy(builder, column, attribute=column.name)
    if check.missed_values:
        first = ", ".join(map(str, check.missed_row_numbers))
        raise InputError(
            f"column {column.name!r}: the hierarchy lacks {check.missed_values:,} of its values, in "
            f"{check.missed_rows:,} rows (first rows: {first})",
            code="value-not-in-hierarchy",
        )


def _write(connection: Connection, dataset_id: int, attribute: str, sealed: bytes) -> bool:
    values = {"sealed": sealed, "created_at": now()}
    changed = connection.execute(update(hierarchies).where(*_key(dataset_id, attribute)).values(**values))
    if changed.rowcount:
        return False
    connection.execute(insert(hierarchies).values(dataset_id=dataset_id, attribute=attribute, **values))
    return True


def _column(service: Service, dataset: Row[Any], attribute: str) -> pl.Series:
    refuse_unknown(dataset, attribute)
    if len(attribute) > LONGEST_ATTRIBUTE:
        raise InputError(
            f"hierarchies are stored for columns whose names have at most {LONGEST_ATTRIBUTE} characters",
            code="dataset-column",
        )
    return tables.text_column(service, dataset, attribute)


def refuse_unknown(dataset: Row[Any], attribute: str) -> None:
    """Refuse a column that the dataset does not have, as a resource that is not found."""
    columns: Sequence[dict[str, Any]] = dataset.columns or ()
    if attribute not in [column["name"] for column in columns]:
        raise AccessDenied("the dataset has no such column, or is not ready yet", code="not-found")


def _key(dataset_id: int, attribute: str) -> tuple[Any, Any]:
    return hierarchies.c.dataset_id == dataset_id, hierarchies.c.attribute == attribute


def _unsealed(service: Service, row: Row[Any]) -> list[list[str]]:
    rows: list[list[str]] = json.loads(
        service.vault.unseal(row.sealed, label=hierarchy_label(row.dataset_id, row.attribute))
    )
    return rows


def hierarchy_label(dataset_id: int, attribute: str) -> str:
    """Return the label under which a hierarchy is sealed."""
    return f"hierarchy {dataset_id} {attribute}"


def _nothing() -> AccessDenied:
    return AccessDenied("there is no such hierarchy", code="not-found")
