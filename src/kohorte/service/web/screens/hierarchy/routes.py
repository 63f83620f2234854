"""The pages of the hierarchy editor.

What is edited travels with the form: nothing is stored before somebody saves it. An editor that was opened from the
plan editor carries the plan along, so that nothing typed there is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from kohorte.errors import AccessDenied, InputError, KohorteError
from kohorte.hierarchies import Builder, Rows, to_csv
from kohorte.hierarchies.builders.rows import csv_rows
from kohorte.service.datasets import hierarchies, hierarchy_editing, records
from kohorte.service.web.dependencies import Number
from kohorte.service.web.execution.table_work import run_table_work
from kohorte.service.web.multipart import received_text
from kohorte.service.web.routes.projects import attachment
from kohorte.service.web.screens.hierarchy import changes
from kohorte.service.web.screens.hierarchy.builder_forms import FORMS, form_named
from kohorte.service.web.screens.hierarchy.from_plan import CARRIED, carried_from, plan_of
from kohorte.service.web.screens.hierarchy.view import Focus, view_of
from kohorte.service.web.screens.sentences import SENTENCES
from kohorte.service.web.screens.visitors import FORM_TOKEN, Allowed, Visitor, refuse_forged

router = APIRouter(include_in_schema=False)
LIST = "/app/datasets/{dataset_id}/hierarchies"
ONE = f"{LIST}/{{column}}"
LARGEST_FILE = 8 << 20
SIGNS = {"tab": "\t"}
Reader = Annotated[Visitor, Allowed("show_hierarchy")]
Editor = Annotated[Visitor, Allowed("examine_hierarchy")]
Importer = Annotated[Visitor, Allowed("examine_hierarchy", uploads=True)]


@router.get(LIST, name="screen_hierarchies")
def list_page(dataset_id: Number, visitor: Annotated[Visitor, Allowed("list_hierarchies")]) -> Response:
    """List the columns of a data set, and for which of them a hierarchy is stored."""
    dataset = records.show(visitor.service, visitor.actor, dataset_id)
    found = hierarchies.listed(visitor.service, visitor.actor, dataset_id)
    return visitor.page("hierarchies.html.j2", dataset=dataset, columns=found)


@router.get(ONE, name="screen_hierarchy")
async def editor_page(dataset_id: Number, column: Number, visitor: Reader) -> Response:
    """Show the stored hierarchy of a column, or a proposed one."""
    return await _begun(visitor, dataset_id, column)


@router.post(f"{ONE}/from-plan", name="screen_hierarchy_from_plan")
async def from_plan(dataset_id: Number, column: Number, visitor: Editor) -> Response:
    """Open the editor from the plan editor, and take its plan along."""
    return await _begun(visitor, dataset_id, column, carried=await run_in_threadpool(carried_from, visitor, dataset_id))


@router.post(ONE, name="screen_edit_hierarchy")
async def edit(dataset_id: Number, column: Number, visitor: Editor) -> Response:
    """Show the hierarchy with what was typed, or as a builder makes it."""
    attribute = await run_in_threadpool(_attribute, visitor, dataset_id, column)
    rows: changes.Rows = []
    try:
        rows = changes.rows_from(visitor.text("rows"))
        rows = await _changed(visitor, dataset_id, attribute)
    except KohorteError as error:
        return await _page(visitor, dataset_id, column, rows, problem=error)
    return await _page(visitor, dataset_id, column, rows)


@router.post(f"{ONE}/save", name="screen_store_hierarchy")
async def save(dataset_id: Number, column: Number, visitor: Annotated[Visitor, Allowed("store_hierarchy")]) -> Response:
    """Store the hierarchy; a broken one is shown, and not stored."""
    attribute = await run_in_threadpool(_attribute, visitor, dataset_id, column)
    rows: changes.Rows = []
    try:
        rows = _typed_rows(visitor)
        found = await _examined(visitor, dataset_id, attribute, rows)
        if not found.ok:
            return await _page(visitor, dataset_id, column, rows, broken=True)
        await run_table_work(hierarchies.store, visitor.service, visitor.actor, dataset_id, attribute, Rows(found.rows))
    except KohorteError as error:
        return await _page(visitor, dataset_id, column, rows, problem=error)
    if visitor.text(CARRIED):
        return await _page(visitor, dataset_id, column, rows, stored=True, said=SENTENCES["hierarchy-stored"])
    return visitor.to(_address(dataset_id, column), said="hierarchy-stored")


@router.post(f"{ONE}/csv", name="screen_export_hierarchy")
async def export(dataset_id: Number, column: Number, visitor: Editor) -> Response:
    """Send the hierarchy as a file, in the format that the command writes and reads."""
    attribute = await run_in_threadpool(_attribute, visitor, dataset_id, column)
    rows: changes.Rows = []
    try:
        rows = _typed_rows(visitor)
        found = await _examined(visitor, dataset_id, attribute, rows)
        if not found.ok:
            return await _page(visitor, dataset_id, column, rows, broken=True)
        text = to_csv(Rows(found.rows).build([], attribute=attribute))
    except KohorteError as error:
        return await _page(visitor, dataset_id, column, rows, problem=error)
    return Response(text, media_type="text/csv", headers=attachment(f"hierarchy-{dataset_id}-{column}.csv"))


@router.post(f"{ONE}/file", name="screen_import_hierarchy")
async def import_file(dataset_id: Number, column: Number, visitor: Importer) -> Response:
    """Show the hierarchy of a file; nothing is stored yet."""
    await run_in_threadpool(_attribute, visitor, dataset_id, column)
    try:
        text, fields = await received_text(visitor.request, limit=LARGEST_FILE, also=(FORM_TOKEN, CARRIED))
        refuse_forged(visitor, str(fields.pop(FORM_TOKEN, "")))
        sign = str(fields.get("separator", ";"))
        rows = csv_rows(text, separator=SIGNS.get(sign, sign[:1] or ";"))
    except InputError as error:
        return await _begun(visitor, dataset_id, column, problem=error)
    return await _page(visitor, dataset_id, column, rows, carried=str(fields.get(CARRIED, "")))


@router.post(f"{ONE}/delete", name="screen_delete_hierarchy")
def delete(dataset_id: Number, column: Number, visitor: Annotated[Visitor, Allowed("delete_hierarchy")]) -> Response:
    """Delete the stored hierarchy; projects keep their copies."""
    attribute = _attribute(visitor, dataset_id, column)
    hierarchies.remove(visitor.service, visitor.actor, dataset_id, attribute)
    return visitor.to(LIST.format(dataset_id=dataset_id), said="hierarchy-deleted")


async def _changed(visitor: Visitor, dataset_id: int, attribute: str) -> changes.Rows:
    """The rows after what was typed and what the button says."""
    name = visitor.text("build")
    if name == "csv":
        sign = visitor.text("csv.separator")
        return csv_rows(visitor.text("csv.text"), separator=SIGNS.get(sign, sign or ";"))
    if name:
        builder = form_named(name).builder(_reading(visitor))
        return await run_table_work(
            hierarchy_editing.built, visitor.service, visitor.actor, dataset_id, attribute, builder
        )
    typed = _typed_rows(visitor)
    action, _, level = visitor.text("do").partition(":")
    if not level.isdecimal() or len(level) > 3:
        return typed
    return changes.with_level(typed, int(level)) if action == "add" else changes.without_level(typed, int(level))


def _typed_rows(visitor: Visitor) -> changes.Rows:
    rows = changes.rows_from(visitor.text("rows"))
    cells = [(name, value) for name, value in visitor.form.multi_items() if isinstance(value, str)]
    typed = changes.with_cells(rows, cells, everywhere=bool(visitor.text("everywhere")))
    return changes.without_rows(typed, {int(one) for one in visitor.texts("drop") if one.isdecimal() and len(one) < 8})


def _reading(visitor: Visitor) -> Any:
    """Reads fields of builder forms; boxes that can be ticked are sent one by one."""
    return lambda name: ",".join(one.strip() for one in visitor.texts(name))


async def _examined(
    visitor: Visitor, dataset_id: int, attribute: str, rows: Sequence[Sequence[str]]
) -> hierarchy_editing.Edited:
    person = await run_in_threadpool(_person, visitor, dataset_id)

    def examine() -> hierarchy_editing.Edited:
        return hierarchy_editing.examined(visitor.service, visitor.actor, dataset_id, attribute, rows, person=person)

    return await run_table_work(examine)


async def _begun(visitor: Visitor, dataset_id: int, column: int, **told: Any) -> Response:
    attribute = await run_in_threadpool(_attribute, visitor, dataset_id, column)
    begun = hierarchy_editing.begun
    rows, builder, stored = await run_table_work(begun, visitor.service, visitor.actor, dataset_id, attribute)
    return await _page(visitor, dataset_id, column, rows, builder=builder, stored=stored, fresh=True, **told)


async def _page(visitor: Visitor, dataset_id: int, column: int, rows: changes.Rows, **told: Any) -> Response:
    service, actor = visitor.service, visitor.actor
    dataset = await run_in_threadpool(records.show, service, actor, dataset_id)
    listed = await run_in_threadpool(hierarchies.listed, service, actor, dataset_id)
    one = listed[column - 1]
    edited = await _examined(visitor, dataset_id, one["attribute_name"], rows)
    problem, builder = told.get("problem"), told.get("builder")
    broken = not edited.ok and (told.get("broken", False) or not visitor.text("focus"))
    focus = Focus(faults=True) if broken else Focus.from_text(visitor.text("focus"))
    carried = told.get("carried", visitor.text(CARRIED))
    shown: dict[str, Any] = {"said": told["said"]} if "said" in told else {}
    return visitor.page(
        "hierarchy.html.j2",
        status=400 if problem is not None or told.get("broken") else 200,
        dataset=dataset,
        column=column,
        attribute=one["attribute_name"],
        is_stored=one["stored_at"] is not None,
        unchanged=bool(told.get("stored")),
        view=view_of(edited, focus, _page_number(visitor)),
        rows=changes.rows_to(edited.rows),
        forms=[(form, form.shown(builder), _opened(form.name, builder, visitor)) for form in FORMS],
        typed=_reading(visitor),
        columns=[item["attribute_name"] for item in listed],
        person=visitor.text("person"),
        problem=problem,
        broken=told.get("broken", False),
        carried=carried,
        plan=plan_of(carried, one["attribute_name"]) if carried else None,
        **shown,
    )


def _opened(name: str, builder: Builder | None, visitor: Visitor) -> bool:
    return visitor.text("build") == name or (builder is not None and builder.name == name)


def _page_number(visitor: Visitor) -> int:
    text = visitor.text("go") or "1"
    return int(text) if text.isdecimal() and len(text) < 8 else 1


def _person(visitor: Visitor, dataset_id: int) -> str | None:
    text = visitor.text("person")
    return _attribute(visitor, dataset_id, int(text)) if text.isdecimal() and len(text) < 6 else None


def _attribute(visitor: Visitor, dataset_id: int, column: int) -> str:
    """The name of a column by its number, from 1."""
    listed = hierarchies.listed(visitor.service, visitor.actor, dataset_id)
    if not 0 < column <= len(listed):
        raise AccessDenied("the dataset has no such column, or is not ready yet", code="not-found")
    return str(listed[column - 1]["attribute_name"])


def _address(dataset_id: int, column: int) -> str:
    return ONE.format(dataset_id=dataset_id, column=column)
