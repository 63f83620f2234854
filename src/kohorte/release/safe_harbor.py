"""HIPAA Safe Harbor: which columns show what the rule forbids, in a release and before there is one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from kohorte.data import Role, as_text
from kohorte.data.identifiers import MOSTLY, Cells, Form, Suspicion, suspects
from kohorte.engines import EncodedColumn
from kohorte.errors import InputError, nearest
from kohorte.hierarchy import SafeHarbor
from kohorte.models import SafeHarborRule
from kohorte.release.plan import Plan
from kohorte.search import SEARCHES

_CLASS = {"zip": 2, "date": 3, "age": 3}
_KIND = {Form.ZIP: "zip", Form.DATE: "date", Form.BIRTH: "date, of: birth", Form.AGE: "age"}


def problems(table: pl.DataFrame, plan: Plan) -> list[str]:
    """Say which columns of a release show what Safe Harbor forbids; nothing where the plan does not ask for it."""
    if not asks_for_safe_harbor(plan):
        return []
    _refuse_strangers(plan)
    return [
        f"column {name!r}: {_in_words(suspicion)}"
        for name in table.columns
        for suspicion in _complaints(as_text(table[name]), table.height, plan)
    ]


def refuse_unsafe(frame: pl.DataFrame, plan: Plan, columns: Sequence[EncodedColumn]) -> None:
    """Refuse a table of which a release could show what Safe Harbor forbids, before anything is searched.

    `columns` are the encoded quasi-identifiers: every level that may be shown is looked at. Suppressing rows must not
    make a column suspect, so what is vague counts from the first row on in columns that may be suppressed in part.
    """
    if not asks_for_safe_harbor(plan):
        return
    _refuse_strangers(plan)
    refuse_recoding(plan)
    found = [*_shown_as_they_are(frame, plan), *_generalized(frame.height, plan, columns)]
    if found:
        raise InputError(
            "Safe Harbor forbids what these columns would show: " + "; ".join(found), code="safe-harbor-unsafe"
        )


def asks_for_safe_harbor(plan: Plan) -> bool:
    """Tell whether one of the models is Safe Harbor."""
    return any(isinstance(model, SafeHarborRule) for model in plan.models)


def _allowed(plan: Plan) -> set[str]:
    """The columns that all such models of the plan let stand."""
    return set.intersection(*(set(model.allow) for model in plan.models if isinstance(model, SafeHarborRule)))


def _complaints(text: pl.Series, rows: int, plan: Plan, *, mostly: float = MOSTLY) -> list[Suspicion]:
    """What is wrong with a column as it is shown. `allow` does not reach columns that the plan itself makes safe."""
    attribute = plan.attributes.get(text.name)
    builder = None if attribute is None or attribute.role is not Role.QUASI_IDENTIFYING else attribute.hierarchy
    if isinstance(builder, SafeHarbor):
        cells = Cells.of(text)
        unsafe = cells.with_hit(~builder.safe(cells.values, attribute=text.name))
        why = f"{unsafe:,} row{'' if unsafe == 1 else 's'} show more than its safe form"
        return [Suspicion(_CLASS[builder.kind], why, Form(builder.kind))] if unsafe else []
    return [] if text.name in _allowed(plan) else suspects(text, rows, least=0.0, mostly=mostly)


def _shown_as_they_are(frame: pl.DataFrame, plan: Plan) -> Iterator[str]:
    flag = None if plan.subset is None else plan.subset.name
    for name in (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE)):
        mostly = 0.0 if name in plan.decorrelated_attributes else MOSTLY
        if name == flag:
            continue
        if complaints := _complaints(as_text(frame[name]), frame.height, plan, mostly=mostly):
            yield (
                f"{name!r} ({_in_words(*complaints)}): make it identifying, so that it is removed, or name it in "
                f"allow if you have looked at it and it is harmless{_or_hierarchy(complaints)}"
            )


def _generalized(rows: int, plan: Plan, columns: Sequence[EncodedColumn]) -> Iterator[str]:
    mostly = 0.0 if plan.suppression_limit else MOSTLY
    for column in columns:
        levels = [
            _complaints(column.generalized(level), rows, plan, mostly=mostly) for level in range(len(column.maps))
        ]
        unsafe = [level for level, complaints in enumerate(levels) if complaints]
        if not unsafe:
            continue
        first, safe = unsafe[0] + column.finest, unsafe[-1] + 1 + column.finest
        builder = plan.attributes[column.name].hierarchy
        other = "" if isinstance(builder, SafeHarbor) else _or_hierarchy(levels[unsafe[0]]) + ", or name it in allow"
        yield (f"{column.name!r} at level {first} ({_in_words(*levels[unsafe[0]])}): set minimum_level: {safe}{other}")


def _or_hierarchy(complaints: Sequence[Suspicion]) -> str:
    kinds = [_KIND[complaint.form] for complaint in complaints if complaint.form in _KIND]
    if not kinds:
        return ""
    return f", or make it quasi-identifying with hierarchy: {{safe_harbor: {{kind: {kinds[0]}}}}} and minimum_level: 1"


def _in_words(*complaints: Suspicion) -> str:
    return ", ".join(f"{complaint.name} (class {complaint.number}): {complaint.why}" for complaint in complaints)


def _refuse_strangers(plan: Plan) -> None:
    for model in plan.models:
        for name in model.allow if isinstance(model, SafeHarborRule) else ():
            if name not in plan.attributes:
                raise InputError(
                    f"model {model.name}: allow names {name!r}, which is not an attribute of the plan"
                    f"{nearest(name, plan.attributes)}",
                    code="safe-harbor-allow",
                )


def refuse_recoding(plan: Plan) -> None:
    """Refuse Safe Harbor with a recoding: the ends of intervals are values, and not their safe form."""
    if asks_for_safe_harbor(plan) and plan.search.algorithm not in {search.name for search in SEARCHES}:
        raise InputError(
            f"algorithm {plan.search.algorithm} cannot be used with safe-harbor: its cells can show values that only a "
            "level of the hierarchy hides; use a search of the lattice, such as optimal",
            code="safe-harbor-algorithm",
        )
