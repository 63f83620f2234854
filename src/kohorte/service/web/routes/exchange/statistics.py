"""Statistics of the world."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from kohorte.service.exchange import statistics
from kohorte.service.web.dependencies import ActorDep, ServiceDep
from kohorte.service.web.models.exchange import GivenStatistics, ProblemsAnswer, StatisticsAnswer

router = APIRouter(tags=["exchange"], prefix="/exchange/statistics")


@router.get("", summary="List the statistics")
def list_statistics(service: ServiceDep) -> StatisticsAnswer:
    """Return all versions of all tables of frequencies."""
    return StatisticsAnswer(versions=statistics.listed(service))


@router.post("", status_code=201, summary="Import statistics")
def import_statistics(body: GivenStatistics, service: ServiceDep, actor: ActorDep) -> StatisticsAnswer:
    """Import a table of frequencies as a new version; older versions stay."""
    made = statistics.add(service, actor, body.origin(), body.table, body.layout)
    return StatisticsAnswer(versions=[made])


@router.post("/shipped", status_code=201, summary="Import the statistics that come with Kohorte")
def import_shipped_statistics(service: ServiceDep, actor: ActorDep) -> StatisticsAnswer:
    """Import a small set of published figures and estimates; they show how a check works, and are not for decisions."""
    return StatisticsAnswer(versions=statistics.add_shipped(service, actor))


@router.get("/problems", summary="Say what is old or missing")
def check_statistics(
    service: ServiceDep, policy: Annotated[str, Query(min_length=1, max_length=100)] = "default"
) -> ProblemsAnswer:
    """Compare every table with its hash, and say which are too old for a policy and which kinds are missing."""
    return ProblemsAnswer(problems=statistics.problems(service, policy))
