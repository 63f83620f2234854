"""The survey planner: questions, the number of people, the curve of the risk, and merges that can be tried.

The questionnaire travels with the form and is stored nowhere; it can be saved as a file.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.responses import Response

from kohorte.errors import InputError, KohorteError
from kohorte.service.surveys import planning
from kohorte.service.web.execution.table_work import run_sketch, run_survey
from kohorte.service.web.multipart import received_text
from kohorte.service.web.routes.projects import attachment
from kohorte.service.web.screens.survey.form import (
    BLANKS,
    GROUPS,
    AskedQuestion,
    SurveyForm,
    applied,
    from_text,
    proposal_button,
)
from kohorte.service.web.screens.visitors import FORM_TOKEN, Allowed, Visitor, refuse_forged
from kohorte.survey import JUDGES, Survey
from kohorte.survey.picture.sketch import sketch_chart
from kohorte.survey.planning.trying import try_merges

router = APIRouter(include_in_schema=False)
SURVEY = "/app/survey"
LARGEST_FILE = 1 << 20
EXAMPLE = """
people: 200
questions:
  sex: {categories: {female: 0.51, male: 0.49}}
  age: {categories: {18-29: 0.2, 30-44: 0.25, 45-59: 0.25, 60-74: 0.2, 75+: 0.1}}
  school: {categories: [primary, secondary, tertiary]}
  region: {categories: {north: 0.3, south: 0.4, east: 0.2, west: 0.1}, ordered: false}
"""
Planner = Annotated[Visitor, Allowed("estimate_survey")]


@router.get(SURVEY, name="screen_survey")
def survey_page(visitor: Planner) -> Response:
    """Show the planner with an example."""
    return _page(visitor, from_text(EXAMPLE))


@router.post(SURVEY, name="screen_sketch_survey")
async def change(visitor: Planner) -> Response:
    """Show the planner with what was typed, and what can be told about it at once."""
    form = SurveyForm((visitor.text("people")), ())
    try:
        form = SurveyForm.sent(visitor)
        form = _changed(visitor, form)
        return _page(visitor, form, **await _sketched(form))
    except KohorteError as error:
        return _page(visitor, form, problem=error)


@router.post(f"{SURVEY}/panel", name="screen_survey_panel")
async def panel(visitor: Planner) -> Response:
    """Show the figures and the curve alone, for the script of the page."""
    told: dict[str, Any] = {"problem": None, "sketch": None}
    try:
        told |= await _sketched(SurveyForm.sent(visitor))
    except KohorteError as error:
        told["problem"] = error
    return visitor.page("survey_panel.html.j2", chart=_chart(visitor, told), **told)


@router.post(f"{SURVEY}/estimate", name="screen_estimate_survey")
async def estimate(visitor: Planner) -> Response:
    """Show all figures, with the worst and the best case."""
    return await _worked(
        visitor, "estimate", lambda form, survey: planning.estimate(survey, form.number, by=form.by, merges=form.merges)
    )


@router.post(f"{SURVEY}/plan", name="screen_plan_survey")
async def plan(visitor: Annotated[Visitor, Allowed("plan_survey")]) -> Response:
    """Show proposals that reach the percentage."""
    return await _worked(
        visitor, "plan", lambda form, survey: planning.plan(survey, form.number, percent=form.wanted, by=form.by)
    )


@router.post(f"{SURVEY}/yaml", name="screen_survey_yaml")
def as_yaml(visitor: Planner) -> Response:
    """Send the questionnaire as the file that the command reads."""
    return _file(visitor, "yaml", "application/yaml", lambda survey: survey.to_yaml())


@router.post(f"{SURVEY}/json", name="screen_survey_json")
def as_json(visitor: Planner) -> Response:
    """Send the questionnaire as JSON, which the command reads, too."""
    return _file(
        visitor, "json", "application/json", lambda survey: json.dumps(survey.to_dict(), ensure_ascii=False, indent=2)
    )


@router.post(f"{SURVEY}/file", name="screen_survey_file")
async def import_file(visitor: Annotated[Visitor, Allowed("estimate_survey", uploads=True)]) -> Response:
    """Show the questionnaire of a file."""
    try:
        text, fields = await received_text(visitor.request, limit=LARGEST_FILE, also=(FORM_TOKEN,))
        refuse_forged(visitor, str(fields.get(FORM_TOKEN, "")))
        form = from_text(text)
    except InputError as error:
        return _page(visitor, from_text(EXAMPLE), problem=error)
    return _page(visitor, form)


def _changed(visitor: Visitor, form: SurveyForm) -> SurveyForm:
    if visitor.text("apply"):
        return form.with_merges(*applied(visitor.text("apply")))
    action = visitor.text("do")
    if action == "question":
        return form.with_question()
    if action == "keep":
        survey = _survey(form)
        merged = SurveyForm.of(try_merges(survey, form.merges, form.number).survey)
        return SurveyForm(form.people, merged.questions, form.percent, form.by, joint=merged.joint)
    return form


def _survey(form: SurveyForm) -> Survey:
    return planning.questionnaire(form.to_dict(), normalize=form.normalize)


async def _sketched(form: SurveyForm) -> dict[str, Any]:
    if any(not question.name for question in form.questions):
        return {}

    def sketched() -> planning.Sketch:
        return planning.sketch(_survey(form), form.number, form.merges)

    return {"sketch": await run_sketch(sketched), "percent": form.wanted}


async def _worked(visitor: Visitor, kind: str, work: Any) -> Response:
    form = SurveyForm(visitor.text("people"), ())
    try:
        form = SurveyForm.sent(visitor)
        survey = _survey(form)
        sketch = await _sketched(form)
        found = await run_survey(work, form, survey)
    except KohorteError as error:
        return _page(visitor, form, problem=error)
    return _page(visitor, form, **sketch, **{kind: found})


def _file(visitor: Visitor, suffix: str, kind: str, write: Any) -> Response:
    form = SurveyForm(visitor.text("people"), ())
    try:
        form = SurveyForm.sent(visitor)
        text = write(_survey(form))
    except KohorteError as error:
        return _page(visitor, form, problem=error)
    return Response(text, media_type=kind, headers=attachment(f"survey.{suffix}"))


def _chart(visitor: Visitor, told: dict[str, Any]) -> Any:
    sketch = told.get("sketch")
    if sketch is None:
        return None
    return sketch_chart(sketch.curves, sketch.merged_curves, told.get("percent"), visitor.language)


def _page(visitor: Visitor, form: SurveyForm, **told: Any) -> Response:
    shown: dict[str, Any] = {"problem": None, "sketch": None, "estimate": None, "plan": None, **told}
    people = int(form.people) if form.people.isascii() and form.people.isdecimal() and len(form.people) < 9 else 0
    return visitor.page(
        "survey.html.j2",
        status=200 if shown["problem"] is None else 400,
        form=form,
        groups=GROUPS,
        judges=JUDGES,
        blanks=[_with_blanks(question) for question in form.questions],
        furthest=max(1000, 3 * people),
        chart=_chart(visitor, shown),
        button=proposal_button,
        **shown,
    )


def _with_blanks(question: AskedQuestion) -> int:
    return len(question.answers) + BLANKS
