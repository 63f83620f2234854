"""Queries with noise: an SQL box with the columns beside it, what an answer would cost, the budget, and the history."""

from __future__ import annotations

import io
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.data import write_csv
from kohorte.errors import InputError, KohorteError
from kohorte.service.projects import queries, released_files, store
from kohorte.service.projects.project_dicts import project_to_dict
from kohorte.service.web.dependencies import Number
from kohorte.service.web.execution.constant_time import run_query
from kohorte.service.web.routes.projects import attachment
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
ASK = "/app/projects/{project_id}/ask"
SHOWN, DUMMY_ROWS, LONGEST = 20, 1_000, 100_000
Asker = Annotated[Visitor, Allowed("analyze")]


@router.get(ASK, name="screen_ask")
async def ask_page(project_id: Number, visitor: Asker) -> Response:
    """Show the box, the columns, the budget and the history."""
    return await _page(visitor, project_id)


@router.post(ASK, name="screen_answer")
async def answer(project_id: Number, visitor: Asker) -> Response:
    """Answer a query from the visitor's own budget."""
    return await _answered(visitor, project_id, queries.answer_query, "answer")


@router.post(f"{ASK}/estimate", name="screen_estimate")
async def estimate(project_id: Number, visitor: Annotated[Visitor, Allowed("estimate")]) -> Response:
    """Tell what an answer would cost and how far it would be off; nothing is spent."""
    return await _answered(visitor, project_id, queries.estimate, "estimate")


@router.get("/app/projects/{project_id}/dummy-data", name="screen_dummy_data")
def dummy_data(project_id: Number, visitor: Annotated[Visitor, Allowed("download_dummy_data")]) -> Response:
    """Send a made-up table for trying queries."""
    written = io.BytesIO()
    write_csv(queries.dummy_data(visitor.service, visitor.actor, project_id, rows=DUMMY_ROWS, seed=0), written)
    return Response(written.getvalue(), media_type="text/csv", headers=attachment(f"dummy-{project_id}.csv"))


async def _answered(visitor: Visitor, project_id: int, work: Any, kind: str) -> Response:
    try:
        asked = queries.Query(_sql(visitor), _epsilon(visitor), None)
        found = await run_query(visitor.actor.user_id, work, visitor.service, visitor.actor, project_id, asked)
    except KohorteError as error:
        return await _page(visitor, project_id, problem=error)
    return await _page(visitor, project_id, **{kind: found})


def _sql(visitor: Visitor) -> str:
    sql = visitor.text("query")
    if not 0 < len(sql) <= LONGEST:
        raise InputError("query: write a query in SQL", code="query-empty", field="query")
    return sql


def _epsilon(visitor: Visitor) -> float | None:
    given = visitor.text("epsilon").replace(",", ".")
    try:
        return float(given) if given else None
    except ValueError:
        raise InputError("epsilon: is a number above 0", code="query-epsilon", field="epsilon") from None


async def _page(visitor: Visitor, project_id: int, **told: Any) -> Response:
    facts = await run_in_threadpool(_facts, visitor, project_id)
    shown: dict[str, Any] = {"problem": None, "answer": None, "estimate": None, **told}
    status = 200 if shown["problem"] is None else 400
    return visitor.page(
        "ask.html.j2", status=status, query=visitor.text("query"), epsilon=visitor.text("epsilon"), **shown, **facts
    )


def _facts(visitor: Visitor, project_id: int) -> dict[str, Any]:
    service, actor = visitor.service, visitor.actor
    project = project_to_dict(service, actor, store.show(service, actor, project_id))
    budget = queries.budget_of(service, actor, project_id, None)
    history, _ = released_files.questions(service, actor, project_id, user_id=actor.user_id, limit=SHOWN, number=1)
    return {"project": project, "budget": budget, "history": history}
