"""Projects in the database: create, list, show, change and delete them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, and_, bindparam, func, insert, select, update

from kohorte.data import without_marks
from kohorte.errors import InputError
from kohorte.plans import Plan
from kohorte.plans.people.contradicted_person import contradictions
from kohorte.plans.people.repeated_people import refuse_repeated, repeated_column
from kohorte.service.access import PROJECT, Actor, project_for, visible_projects
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies
from kohorte.service.datasets.tables import load
from kohorte.service.disclosures.given import forget_waiting
from kohorte.service.house_rules import QuestionTerms, ReleaseTerms
from kohorte.service.integrity import marks
from kohorte.service.jobs.queue import Kind, State, Subject, enqueue
from kohorte.service.projects import tables
from kohorte.service.projects.configuration import Dataset, read_config
from kohorte.service.projects.query_terms import QueryTerms, person_because, refuse_doubted
from kohorte.service.projects.summary import summary
from kohorte.service.storage.schema import datasets, jobs, now, projects, users
from kohorte.service.trust.leaving import releases
from kohorte.sources import FrameSource

PREPARING, READY, FAILED, WITHDRAWN = "preparing", "ready", "failed", "withdrawn"
Within: TypeAlias = Callable[[Connection, Row[Any], Plan | QueryTerms, int], None]
"""Called in the transaction that creates a project, with its dataset, its terms and its number."""
LISTED = [column for column in projects.c if column.name != "sealed_config"]
"""The columns that a list needs; the config may be large."""
DATASET = select(datasets).where(datasets.c.id == bindparam("of_dataset"), datasets.c.deleted_at.is_(None))


@dataclass(frozen=True)
class NewProject:
    """A project that a steward requests; the config as in the interface."""

    name: str
    description: str
    dataset_id: int
    researcher_id: int
    config: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Created:
    """A new project, and the job that makes its release."""

    project_id: int
    job_id: int | None
    rows: int
    warnings: tuple[str, ...] = ()


def create(service: Service, actor: Actor, wanted: NewProject, *, within: Within | None = None) -> Created:
    """Create a project; one that releases a table starts a job, one that answers queries is ready at once.

    If `within` refuses, nothing is created.
    """
    with service.database.reading() as connection:
        dataset = ready_dataset(service, connection, wanted.dataset_id)
        refuse_inactive(service, connection, wanted.researcher_id)
        stored = hierarchies.stored(service, connection, wanted.dataset_id)
    terms = read_config(wanted.config, Dataset(names_of(dataset), stored))
    service.settings.rules.refuse(
        QuestionTerms.of(terms.metadata) if isinstance(terms, QueryTerms) else ReleaseTerms.of(terms)
    )
    warnings: tuple[str, ...] = ()
    consent = releases.stated_consent(wanted.config, names_of(dataset))
    if isinstance(terms, Plan):
        refuse_unclear_people(service, dataset, terms, person_because(wanted.config))
        distinct = {column["name"]: int(column["distinct"]) for column in dataset.columns}
        warnings = releases.check(service, actor, terms, consent, distinct)
    if isinstance(terms, QueryTerms):
        # Loading refuses wrong types, and the first query finds the table loaded.
        table = tables.typed(service, dataset, terms.metadata)
        doubts = (*terms.metadata.unstated, *terms.refuse_doubted(table.doubts))
        warnings = (*doubts, *tables.unreadable_cells(table, dataset))
    with service.database.writing() as connection:
        dataset = ready_dataset(service, connection, wanted.dataset_id, stays=True)
        project_id = _inserted(service, connection, actor, wanted, terms)
        job_id = None
        if isinstance(terms, Plan):
            job_id = enqueue(
                service,
                connection,
                Kind.ANONYMIZE,
                Subject(PROJECT, project_id),
                actor_id=actor.user_id,
                request={"plan": terms.to_dict(), **releases.request_of(actor, project_id, consent)},
            )
        service.log.append(
            connection,
            "create-project",
            f"project {project_id}",
            actor=actor.user_id,
            dataset=wanted.dataset_id,
            researcher=wanted.researcher_id,
            interactive=int(isinstance(terms, QueryTerms)),
        )
        if within is not None:
            within(connection, dataset, terms, project_id)
    return Created(project_id, job_id, int(dataset.rows), warnings)


def refuse_unclear_people(service: Service, dataset: Row[Any], plan: Plan, because: str) -> None:
    """Refuse a plan that does not say whom a row is about, on a table with repeated identifiers, and one whose person
    the table contradicts, unless the config says why it is right.

    What is only a question, such as that of repeated e-mail addresses, makes the verdict on the release amber, and so
    does a statement that every row is another person, if the table contradicts it.
    """
    source = FrameSource(without_marks(load(service, dataset), plan.missing_values))
    if plan.unit.counts_people and not because:
        refuse_doubted([one.note for one in contradictions(source, plan.unit)])
    if plan.unit.is_stated:
        return
    found = repeated_column(source, plan.unit.roles)
    refuse_repeated(None if found is None or found.is_question else found, "person", rows=int(dataset.rows))


def _inserted(
    service: Service, connection: Connection, actor: Actor, wanted: NewProject, terms: Plan | QueryTerms
) -> int:
    interactive = isinstance(terms, QueryTerms)
    found = connection.execute(
        insert(projects)
        .values(
            name=wanted.name,
            description=wanted.description,
            dataset_id=wanted.dataset_id,
            creator_id=actor.user_id,
            researcher_id=wanted.researcher_id,
            created_at=now(),
            interactive=interactive,
            state=READY if interactive else PREPARING,
            sealed_config=b"",
            sealed_summary=b"",
            budget=terms.budget_to_dict() if isinstance(terms, QueryTerms) else None,
        )
        .returning(projects.c.id)
    )
    project_id = int(found.scalar_one())
    sealed = {
        "sealed_config": service.vault.seal(json.dumps(wanted.config), label=config_label(project_id)),
        "sealed_summary": service.vault.seal(json.dumps(summary(wanted.config)), label=summary_label(project_id)),
    }
    connection.execute(update(projects).where(projects.c.id == project_id).values(**sealed))
    service.guard.mark(connection, marks.PROJECT, project_id)
    return project_id


def page(service: Service, actor: Actor, *, limit: int, number: int) -> tuple[list[Row[Any]], int]:
    """Return a page of the projects that the actor may see, the oldest first, and how many there are."""
    seen = visible_projects(actor)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(projects).where(seen)).scalar_one()
        statement = select(*LISTED).where(seen).order_by(projects.c.id).limit(limit).offset((number - 1) * limit)
        rows = connection.execute(statement).all()
        return [service.guard.checked(connection, marks.PROJECT, row) for row in rows], int(total)


def show(service: Service, actor: Actor, project_id: int) -> Row[Any]:
    """Return a project that the actor may see."""
    with service.database.reading() as connection:
        return project_for(service, connection, actor, project_id)


def change(service: Service, actor: Actor, project_id: int, changes: Mapping[str, str]) -> Row[Any]:
    """Change the name or the description."""
    with service.database.writing() as connection:
        row = project_for(service, connection, actor, project_id)
        if changes:
            with service.guard.changing(connection, marks.PROJECT, project_id):
                connection.execute(update(projects).where(projects.c.id == project_id).values(**changes))
            row = project_for(service, connection, actor, project_id)
            changed = ", ".join(sorted(changes))
            service.log.append(
                connection, "change-project", f"project {project_id}", actor=actor.user_id, changed=changed
            )
    return row


def remove(
    service: Service, connection: Connection, actor: Actor, project_id: int, *, action: str = "delete-project"
) -> Callable[[], None]:
    """Remove a project and stop its jobs; return a function that removes its files after the transaction.

    What was spent remains in the ledger.
    """
    project_for(service, connection, actor, project_id)
    project = connection.execute(select(projects).where(projects.c.id == project_id).with_for_update()).one()
    gone = {"deleted_at": now(), "release_file": None, "report_file": None}
    with service.guard.changing(connection, marks.PROJECT, project_id):
        connection.execute(update(projects).where(projects.c.id == project_id).values(**gone))
    own = and_(jobs.c.subject_kind == PROJECT, jobs.c.subject_id == project_id)
    busy = jobs.c.state.in_([str(State.QUEUED), str(State.RUNNING)])
    connection.execute(update(jobs).where(own, busy).values(cancel_requested=True))
    hashes = select(datasets.c.table_sha256).where(datasets.c.id == project.dataset_id)
    table_sha256 = connection.execute(hashes).scalar_one()
    service.log.append(connection, action, f"project {project_id}", actor=actor.user_id)

    def remove_files() -> None:
        if project.interactive:
            tables.forget(service, table_sha256)
        service.vault.remove(project.release_file)
        service.vault.remove(project.report_file)
        forget_waiting(service, project.release_file)

    return remove_files


def give_up(service: Service, actor: Actor, project_id: int) -> None:
    """Remove a project whose release could not be made."""
    with service.database.writing() as connection:
        remove_files = remove(service, connection, actor, project_id, action="give-up-project")
    remove_files()


def summary_of(service: Service, project: Row[Any]) -> dict[str, Any]:
    """Return the summary of the config, without reading the config, which may contain large hierarchies."""
    found: dict[str, Any] = json.loads(service.vault.unseal(project.sealed_summary, label=summary_label(project.id)))
    return found


def config_text_of(service: Service, project: Row[Any]) -> bytes:
    """Return the config of a project, as JSON."""
    return service.vault.unseal(project.sealed_config, label=config_label(project.id))


def dataset_of(service: Service, connection: Connection, project: Row[Any]) -> Row[Any]:
    """Return the dataset of a project; refuse if it was deleted."""
    found = connection.execute(DATASET, {"of_dataset": project.dataset_id}).one_or_none()
    if found is None:
        raise InputError("the dataset of this project was deleted", code="project-conflict")
    return service.guard.checked(connection, marks.DATASET, found)


def people_of(service: Service, rows: list[Row[Any]]) -> dict[int, Row[Any]]:
    """Return the creators and researchers of projects by their ids."""
    wanted = {number for row in rows for number in (row.creator_id, row.researcher_id)}
    with service.database.reading() as connection:
        return {row.id: row for row in connection.execute(marks.USERS.where(users.c.id.in_(wanted)))}


def names_of(dataset: Row[Any]) -> list[str]:
    """Return the names of a dataset's columns."""
    return [column["name"] for column in dataset.columns]


def ready_dataset(service: Service, connection: Connection, dataset_id: int, *, stays: bool = False) -> Row[Any]:
    """Return a dataset that is ready; with `stays` it cannot be deleted before this transaction ends."""
    statement = select(datasets).where(datasets.c.id == dataset_id, datasets.c.deleted_at.is_(None))
    if stays:
        statement = statement.with_for_update(read=True, key_share=True)
    found = connection.execute(statement).one_or_none()
    if found is None:
        raise InputError("dataset_id: there is no such dataset", code="project-dataset")
    return refuse_unready(service.guard.checked(connection, marks.DATASET, found))


def refuse_unready(dataset: Row[Any]) -> Row[Any]:
    """Return the dataset if it is ready, otherwise refuse it."""
    if dataset.state != READY:
        state = "could not be read" if dataset.state == FAILED else "is being read; wait until it is ready"
        raise InputError(f"the dataset {state}", code="dataset-conflict")
    return dataset


def refuse_inactive(service: Service, connection: Connection, user_id: int) -> None:
    """Refuse a researcher who does not exist or cannot sign in."""
    active = (users.c.id == user_id) & users.c.deleted_at.is_(None) & users.c.disabled_at.is_(None)
    found = connection.execute(marks.USERS.where(active)).one_or_none()
    if found is None:
        raise InputError("researcher_id: there is no such user, or it is disabled", code="project-researcher")
    service.guard.checked(connection, marks.USER, found)


def config_label(project_id: int) -> str:
    """Return the label under which a config is sealed."""
    return f"config of project {project_id}"


def summary_label(project_id: int) -> str:
    """Return the label under which the summary of a config is sealed."""
    return f"summary of project {project_id}"
