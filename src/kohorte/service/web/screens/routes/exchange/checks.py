"""Start the check of a request: which table, how it is described, and by which policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.exchange.contents import CONTENTS, WORDS, content_of
from kohorte.exchange.policies import POLICIES
from kohorte.exchange.statistics import KINDS
from kohorte.service.accounts import users
from kohorte.service.datasets import proposal, records
from kohorte.service.exchange import asking, requests
from kohorte.service.web.dependencies import LARGEST_NUMBER, Number
from kohorte.service.web.execution.table_work import run_table_work
from kohorte.service.web.models.exchange import CheckWish
from kohorte.service.web.screens.plan_form import PlanForm, plan_from_text
from kohorte.service.web.screens.refusing import body_of, told_in_place
from kohorte.service.web.screens.routes.exchange.requests import LIST, REQUEST
from kohorte.service.web.screens.visitors import Allowed, Visitor

router = APIRouter(include_in_schema=False)
MOST_DATASETS = 200
USUAL = {
    "age": "age",
    "sex": "sex",
    "gender": "sex",
    "occupation": "occupation",
    "diagnosis": "disease",
    "icd": "disease",
    "icd10": "disease",
    "drug": "medication",
    "medication": "medication",
    "blood_group": "blood-group",
    "country": "country",
    "region": "region",
}
"""Columns whose statistics are proposed by their names."""
Checker = Annotated[Visitor, Allowed("check_request")]
Chosen = Annotated[int | None, Query(ge=1, le=LARGEST_NUMBER)]


@router.get(f"{REQUEST}/check", name="screen_check_form")
async def check_form(number: Number, visitor: Checker, dataset: Chosen = None) -> Response:
    """Show the form: first the table is chosen, then it is described, with a proposal to be changed."""
    if dataset is None:
        return await run_in_threadpool(_choice, visitor, number)
    shown = await run_in_threadpool(records.show, visitor.service, visitor.actor, dataset)
    if shown["state"] != records.READY:
        raise InputError("the dataset is not ready", code="dataset-conflict")
    plan = await run_table_work(proposal.proposed_plan, visitor.service, visitor.actor, dataset)
    return await run_in_threadpool(_form, visitor, number, shown, _proposed(visitor, shown, plan))


@router.post(f"{REQUEST}/check", name="screen_check_request")
def begin(number: Number, visitor: Checker) -> Response:
    """Start the job that checks the request."""
    chosen = visitor.text("dataset")
    if not chosen.isdecimal() or not 0 < int(chosen) <= LARGEST_NUMBER:
        return _choice(visitor, number)
    dataset = records.show(visitor.service, visitor.actor, int(chosen))
    names = ("institution", "policy", "population", "country", "person", "plan")
    typed: dict[str, Any] = {name: visitor.text(name) for name in names}
    typed["kinds"] = [visitor.text(f"kind-{place}") for place, _ in enumerate(dataset["columns"])]
    try:
        wish = body_of(CheckWish, dataset_id=int(chosen), holding=_holding(typed, dataset))
        job_id = requests.begin_check(visitor.service, visitor.actor, number, wish.dataset_id, wish.holding)
    except KohorteError as error:
        return _form(visitor, number, dataset, typed, problem=error)
    return visitor.to(f"/app/jobs/{job_id}", said="check-started")


def _choice(visitor: Visitor, number: int) -> Response:
    request = requests.shown(visitor.service, number)
    found = records.page(visitor.service, limit=MOST_DATASETS, number=1)["datasets"]
    ready = [one for one in found if one["state"] == records.READY]
    return visitor.page("exchange/choose_table.html.j2", inquiry=request, datasets=ready)


def _form(
    visitor: Visitor,
    number: int,
    dataset: Mapping[str, Any],
    typed: Mapping[str, Any],
    problem: KohorteError | None = None,
) -> Response:
    status = 200 if problem is None else told_in_place(visitor, problem)
    return visitor.page(
        "exchange/check.html.j2",
        status=status,
        inquiry=requests.shown(visitor.service, number),
        dataset=dataset,
        typed=typed,
        policies=tuple(POLICIES),
        kinds=KINDS,
        contents=[name for name in CONTENTS if name != WORDS],
        problem=problem,
        back=f"{LIST}/{number}",
    )


def _proposed(visitor: Visitor, dataset: Mapping[str, Any], plan: Mapping[str, Any]) -> dict[str, Any]:
    person = PlanForm(plan, ()).person.removeprefix("column:")
    names = [column["name"] for column in dataset["columns"]]
    return {
        "institution": _institution(visitor),
        "policy": "default",
        "population": "",
        "country": "",
        "person": person if person in names else "",
        "plan": PlanForm({"kohorte": 1, **plan}, ()).text,
        "kinds": [USUAL.get(name.lower()) or _by_name(name) for name in names],
    }


def _by_name(name: str) -> str:
    """The unit at the end of the name of a column; empty if there is none."""
    stated = content_of(name, {}, {}).stated
    return "" if stated == WORDS else stated


def _institution(visitor: Visitor) -> str:
    """The name of this house as others know it, otherwise that of the visitor's account."""
    try:
        return asking.identity(visitor.service)["institution"]
    except InputError:
        row = users.shown(visitor.service, visitor.actor, visitor.actor.user_id)
        return str(users.user_to_dict(row)["institution"] or "")


def _holding(typed: Mapping[str, Any], dataset: Mapping[str, Any]) -> dict[str, Any]:
    """The description of the table as REST takes it."""
    plan = plan_from_text(typed["plan"])
    if typed["person"]:
        plan["person"] = typed["person"]
    population = typed["population"].replace(".", "").replace(",", "").replace(" ", "")
    if not population.isdecimal():
        raise InputError("population: is a whole number of people", code="form-field", field="population")
    pairs = list(zip((column["name"] for column in dataset["columns"]), typed["kinds"], strict=True))
    return {
        "kohorte": 1,
        "institution": typed["institution"],
        "plan": {"kohorte": 1, **plan},
        "policy": typed["policy"],
        "population": int(population[:15]),
        "statistics": {name: kind for name, kind in pairs if kind in KINDS},
        "contents": {name: kind for name, kind in pairs if kind and kind not in KINDS},
        **({"country": typed["country"].upper()} if typed["country"] else {}),
    }
