"""Queries to a project: answer them from the budget of the caller, estimate their cost, list them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import polars as pl
from sqlalchemy import ColumnElement, Row, and_, func, select

from kohorte.dp import Budget, QueryMetadata, dummy_table, estimate_query, query
from kohorte.dp.budget.budget import Cost
from kohorte.errors import AccessDenied, InputError
from kohorte.service.access import Actor, project_for
from kohorte.service.context import Service
from kohorte.service.disclosures.given import remembered_answers
from kohorte.service.house_rules import QuestionTerms
from kohorte.service.integrity import marks
from kohorte.service.permissions import Permission
from kohorte.service.projects import tables
from kohorte.service.projects.configuration import Dataset, read_config
from kohorte.service.projects.ledger import DatabaseLedger, sql_label
from kohorte.service.projects.measuring.turns import PREPARING, InTurn
from kohorte.service.projects.query_terms import QueryTerms
from kohorte.service.projects.store import config_text_of, dataset_of, names_of
from kohorte.service.storage.schema import answered, spent

LEAST_EPSILON = 0.001


@dataclass(frozen=True)
class Query:
    """A query and its cost; None means the default of the project."""

    sql: str = field(repr=False)
    epsilon: float | None = None
    delta: float | None = None


class _Price(NamedTuple):
    epsilon: float
    delta: float


@dataclass(frozen=True)
class InteractiveProject:
    """An interactive project that the actor may see."""

    project: Row[Any]
    dataset: Row[Any]
    terms: QueryTerms
    metadata: QueryMetadata

    def price(self, asked: Query) -> _Price:
        """The cost of the query."""
        epsilon = self.terms.epsilon if asked.epsilon is None else asked.epsilon
        if epsilon < LEAST_EPSILON:
            raise InputError(
                f"a query costs at least epsilon {LEAST_EPSILON:g}, to limit the number of queries",
                code="query-epsilon",
            )
        return _Price(epsilon, self.terms.delta if asked.delta is None else asked.delta)


def answer_query(service: Service, actor: Actor, project_id: int, asked: Query) -> dict[str, Any]:
    """Answer a query from the actor's own account."""
    return answer_from(service, actor, interactive(service, actor, project_id), asked)


def answer_from(service: Service, actor: Actor, found: InteractiveProject, asked: Query) -> dict[str, Any]:
    """Answer a query to a project that was just read, from the actor's own account."""
    service.settings.rules.refuse(QuestionTerms.of(found.terms.metadata))
    metadata, price, project_id = found.metadata, found.price(asked), found.project.id
    ledger = DatabaseLedger(service, project_id, actor.user_id, sql=asked.sql)
    with remembered_answers(service, actor, project_id) as memory:
        with PREPARING.of(actor.user_id):
            table = tables.typed(service, found.dataset, metadata, memory)
        with InTurn(ledger, actor.user_id) as turn:
            answer = query(table, asked.sql, metadata, epsilon=price.epsilon, delta=price.delta, ledger=turn)
        if memory is not None:
            memory.record(answer)
    if answer.from_record:
        with service.database.writing() as connection:
            service.log.append(connection, "answer-from-record", f"project {project_id}", actor=actor.user_id)
    return replace(answer, warnings=()).to_dict()  # the steward saw them; they depend on the rows


def estimate(service: Service, actor: Actor, project_id: int, asked: Query) -> dict[str, Any]:
    """Return the cost and the expected error of a query; nothing is read or spent."""
    found = interactive(service, actor, project_id)
    service.settings.rules.refuse(QuestionTerms.of(found.terms.metadata))
    ledger = DatabaseLedger(service, project_id, actor.user_id)
    price = found.price(asked)
    with PREPARING.of(actor.user_id):
        estimated = estimate_query(asked.sql, found.metadata, epsilon=price.epsilon, delta=price.delta, ledger=ledger)
    return estimated.to_dict()


def dummy_data(service: Service, actor: Actor, project_id: int, *, rows: int, seed: int) -> pl.DataFrame:
    """Return a synthetic table that fits the metadata of the project."""
    return dummy_table(interactive(service, actor, project_id).terms.metadata, rows, seed=seed)


def budget_of(service: Service, actor: Actor, project_id: int, user_id: int | None) -> dict[str, Any]:
    """Return what an account has spent and what remains; other accounts need the permission to see all budgets."""
    found = interactive(service, actor, project_id, Permission.SEE_ALL_PROJECTS)
    whose = _whose(actor, user_id, Permission.SEE_ALL_BUDGETS)
    budget = found.terms.budget
    paid = DatabaseLedger(service, project_id, whose).spent()
    with service.database.reading() as connection:
        own = (spent.c.project_id == project_id) & (spent.c.user_id == whose)
        questions = connection.execute(select(func.count()).select_from(spent).where(own)).scalar_one()
    return {
        **found.terms.budget_to_dict(),
        "user_id": whose,
        "spent": budget.cost_to_dict(paid),
        "remaining": budget.cost_to_dict(budget.limit - paid),
        "questions": questions,
    }


def history(
    service: Service, actor: Actor, project_id: int, *, user_id: int | None, limit: int, number: int
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of the paid queries, the newest first: the actor's own, or all if the actor may see values."""
    budget = interactive(service, actor, project_id).terms.budget
    everybody = user_id is None and actor.may(Permission.SEE_VALUES)
    whose = None if everybody else _whose(actor, user_id, Permission.SEE_VALUES)
    shown = _queries_of(project_id, whose)
    with service.database.reading() as connection:
        total = connection.execute(select(func.count()).select_from(spent).where(shown)).scalar_one()
        rows = connection.execute(
            select(spent, answered.c.spent_id.is_not(None).label("is_answered"))
            .join(answered, answered.c.spent_id == spent.c.id, isouter=True)
            .where(shown)
            .order_by(spent.c.id.desc())
            .limit(limit)
            .offset((number - 1) * limit)
        ).all()
        for row in rows:
            service.guard.checked(connection, marks.SPENDING, row)
    return [_query_to_dict(service, row, budget) for row in rows], int(total)


def _queries_of(project_id: int, user_id: int | None) -> ColumnElement[bool]:
    own = [] if user_id is None else [spent.c.user_id == user_id]
    return and_(spent.c.project_id == project_id, *own)


def _query_to_dict(service: Service, row: Row[Any], budget: Budget) -> dict[str, Any]:
    sql = service.vault.unseal(row.sealed_sql, label=sql_label(row.project_id, row.user_id))
    return {
        "question_id": row.id,
        "at": row.at.isoformat(),
        "user_id": row.user_id,
        "sql": sql.decode(),
        "cost": budget.cost_to_dict(Cost(Fraction(row.amount), Fraction(row.delta))),
        "answered": bool(row.is_answered),
    }


def interactive(
    service: Service, actor: Actor, project_id: int, everything: Permission = Permission.MANAGE_PROJECTS
) -> InteractiveProject:
    """Return a project that answers queries, if the actor may see it."""
    with service.database.reading() as connection:
        project = project_for(service, connection, actor, project_id, everything)
        if not project.interactive:
            raise InputError("this project releases a table; it answers no queries", code="project-not-interactive")
        dataset = dataset_of(service, connection, project)
    terms = _terms(config_text_of(service, project), tuple(names_of(dataset)), project.id)
    return InteractiveProject(project, dataset, *terms)


@lru_cache(maxsize=64)
def _terms(config: bytes, names: tuple[str, ...], project_id: int) -> tuple[QueryTerms, QueryMetadata]:
    """The terms of a config, and the metadata of its project, cached because every query needs them."""
    terms = read_config(json.loads(config), Dataset(names, {}))
    assert isinstance(terms, QueryTerms)
    return terms, terms.of_project(project_id)


def _whose(actor: Actor, user_id: int | None, others: Permission) -> int:
    """The requested user; other users are reported as not found without the permission `others`."""
    if user_id is None or user_id == actor.user_id:
        return actor.user_id
    if not actor.may(others):
        raise AccessDenied("there is no such account", code="not-found")
    return user_id
