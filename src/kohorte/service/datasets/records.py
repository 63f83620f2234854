"""Datasets in the database: create, list, change and remove them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row, and_, delete, func, insert, select, update

from kohorte.errors import InputError
from kohorte.service.access import DATASET, JOBS, Actor, dataset_for
from kohorte.service.accounts.users import user_to_dict
from kohorte.service.context import Service
from kohorte.service.datasets import kept_tables
from kohorte.service.datasets.uploads import Upload
from kohorte.service.integrity import marks
from kohorte.service.jobs.queue import Kind, State, Subject, enqueue
from kohorte.service.storage.schema import datasets, hierarchies, jobs, now, projects, users

PREPARING, READY, FAILED = "preparing", "ready", "failed"
LISTED = datasets.c.deleted_at.is_(None)


def create(
    service: Service, actor: Actor, upload: Upload, *, name: str, description: str, layout: Mapping[str, str]
) -> tuple[int, int]:
    """Create a dataset from an upload, and the job that reads it; return both ids. A failure leaves no file."""
    try:
        with service.database.writing() as connection:
            number = _insert(service, connection, actor, upload, name=name, description=description)
            request = {"file": upload.file, "file_name": upload.file_name, **layout}
            job = enqueue(
                service, connection, Kind.INGEST, Subject(DATASET, number), actor_id=actor.user_id, request=request
            )
            about = f"dataset {number}"
            service.log.append(connection, "upload-dataset", about, actor=actor.user_id, bytes=upload.bytes, job=job)
            return number, job
    except BaseException:
        service.vault.remove(upload.file)
        raise


def _insert(
    service: Service, connection: Connection, actor: Actor, upload: Upload, *, name: str, description: str
) -> int:
    found = connection.execute(
        insert(datasets)
        .values(
            name=name,
            description=description,
            creator_id=actor.user_id,
            created_at=now(),
            state=PREPARING,
            file_name=upload.file_name,
            bytes=upload.bytes,
            sha256=upload.sha256,
            uploaded_file=upload.file,
        )
        .returning(datasets.c.id)
    )
    number = int(found.scalar_one())
    service.guard.mark(connection, marks.DATASET, number)
    return number


def show(service: Service, actor: Actor, dataset_id: int) -> dict[str, Any]:
    """Return one dataset."""
    with service.database.reading() as connection:
        return _shown(connection, [dataset_for(service, connection, actor, dataset_id)])[0]


def page(service: Service, *, limit: int, number: int) -> dict[str, Any]:
    """Return a page of all datasets, the newest last, including those that could not be read."""
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(datasets).where(LISTED)).scalar_one()
        statement = select(datasets).where(LISTED).order_by(datasets.c.id).limit(limit).offset(limit * (number - 1))
        found = _shown(connection, connection.execute(statement).all())
    return {"datasets": found, "limit": limit, "page": number, "total": total}


def change(service: Service, actor: Actor, dataset_id: int, changes: dict[str, str]) -> dict[str, Any]:
    """Give a dataset another name or description."""
    with service.database.writing() as connection:
        row = held(service, connection, actor, dataset_id)
        if changes:
            with service.guard.changing(connection, marks.DATASET, dataset_id):
                connection.execute(update(datasets).where(datasets.c.id == dataset_id).values(**changes))
            row = dataset_for(service, connection, actor, dataset_id)
            changed = ", ".join(sorted(changes))
            service.log.append(
                connection, "change-dataset", f"dataset {dataset_id}", actor=actor.user_id, changed=changed
            )
        return _shown(connection, [row])[0]


def held(service: Service, connection: Connection, actor: Actor, dataset_id: int) -> Row[Any]:
    """Lock a dataset until the transaction ends, and return it."""
    connection.execute(select(datasets.c.id).where(datasets.c.id == dataset_id).with_for_update())
    return dataset_for(service, connection, actor, dataset_id)


def remove(service: Service, connection: Connection, actor: Actor, dataset_id: int) -> Callable[[], None]:
    """Remove an unused dataset and its hierarchies; return a function that removes its files after the transaction."""
    row = held(service, connection, actor, dataset_id)
    _refuse_in_use(connection, dataset_id)
    gone = {"deleted_at": now(), "uploaded_file": None, "table_file": None}
    with service.guard.changing(connection, marks.DATASET, dataset_id):
        connection.execute(update(datasets).where(datasets.c.id == dataset_id).values(**gone))
    connection.execute(delete(hierarchies).where(hierarchies.c.dataset_id == dataset_id))
    service.log.append(connection, "delete-dataset", f"dataset {dataset_id}", actor=actor.user_id)

    def remove_files() -> None:
        service.vault.remove(row.uploaded_file)
        service.vault.remove(row.table_file)
        kept_tables.forget(service, row.table_sha256)

    return remove_files


def log_reading(service: Service, actor: Actor, dataset_id: int, action: str, **figures: int) -> None:
    """Record who is about to see content of a dataset; refuse if the dataset was deleted meanwhile."""
    with service.database.writing() as connection:
        dataset_for(service, connection, actor, dataset_id)
        service.log.append(connection, action, f"dataset {dataset_id}", actor=actor.user_id, **figures)


def give_up(service: Service, dataset_id: int) -> None:
    """Delete a dataset that could not be read; its files are already removed, its job contains the reason."""
    unread = and_(datasets.c.id == dataset_id, datasets.c.deleted_at.is_(None), datasets.c.state == FAILED)
    with service.database.writing() as connection:
        with service.guard.changing(connection, marks.DATASET, dataset_id):
            changed = connection.execute(update(datasets).where(unread).values(deleted_at=now()))
        if changed.rowcount:
            service.log.append(connection, "give-up-dataset", f"dataset {dataset_id}", actor=None)


def _refuse_in_use(connection: Connection, dataset_id: int) -> None:
    using = and_(projects.c.dataset_id == dataset_id, projects.c.deleted_at.is_(None))
    if count := connection.execute(select(func.count()).select_from(projects).where(using)).scalar_one():
        raise InputError(f"projects use the dataset ({count}); delete them first", code="dataset-conflict")
    about = JOBS.where(jobs.c.state.in_([str(State.QUEUED), str(State.RUNNING)])).subquery()
    busy = select(func.count()).select_from(about).where(about.c.dataset_id == dataset_id)
    if count := connection.execute(busy).scalar_one():
        raise InputError(
            f"jobs on the dataset have not ended ({count}); wait, or cancel them first", code="dataset-conflict"
        )


def _shown(connection: Connection, rows: Sequence[Row[Any]]) -> list[dict[str, Any]]:
    """The datasets as the interface shows them, with the users who created them."""
    wanted = {row.creator_id for row in rows}
    creators = {row.id: row for row in connection.execute(marks.USERS.where(users.c.id.in_(wanted)))}
    return [_to_dict(row, creators[row.creator_id]) for row in rows]


def _to_dict(row: Row[Any], creator: Row[Any]) -> dict[str, Any]:
    return {
        "created_at": row.created_at.isoformat(),
        "creator": user_to_dict(creator),
        "dataset_id": row.id,
        "description": row.description,
        "name": row.name,
        "state": row.state,
        "rows": row.rows,
        "columns": row.columns,
        "file_name": row.file_name,
        "bytes": row.bytes,
        "sha256": row.sha256,
    }
