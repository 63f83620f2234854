"""HIPAA Safe Harbor: finds columns that show forbidden values, in a release and before the search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from kohorte.algorithm_names import SEARCH_NAMES
from kohorte.data import Role
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SafeHarbor
from kohorte.identifiers.detection import MOSTLY, Cells, Form, Suspicion, suspects
from kohorte.models import SafeHarborRule
from kohorte.plans.plan import Plan
from kohorte.sources import EncodedTable, TableSource, spread

_CLASS = {"zip": 2, "date": 3, "age": 3}
_KIND = {Form.ZIP: "zip", Form.DATE: "date", Form.BIRTH: "date, of: birth", Form.AGE: "age"}


def problems(table: TableSource, plan: Plan) -> list[str]:
    """Say which columns of a release show what Safe Harbor forbids; empty if the plan does not use the model."""
    if not asks_for_safe_harbor(plan):
        return []
    _refuse_unknown_columns(plan)
    return [
        f"column {name!r}: {_in_words(suspicion)}"
        for name in table.columns
        for suspicion in _complaints(_texts(table, name), table.rows, plan)
    ]


def refuse_unsafe(source: TableSource, plan: Plan, encoded: EncodedTable) -> None:
    """Refuse a table before the search if a release of it could show what Safe Harbor forbids.

    All levels of the quasi-identifiers that may be shown are checked. Suppressing rows must not make a column
    suspicious later, so in columns that may be suppressed in part a single suspicious row is enough.
    """
    if not asks_for_safe_harbor(plan):
        return
    _refuse_unknown_columns(plan)
    refuse_recoding(plan)
    found = [*_unchanged(source, plan), *_generalized(plan, encoded)]
    if found:
        raise InputError(
            "Safe Harbor forbids what these columns would show: " + "; ".join(found), code="safe-harbor-unsafe"
        )


def asks_for_safe_harbor(plan: Plan) -> bool:
    """Whether one of the models is Safe Harbor."""
    return any(isinstance(model, SafeHarborRule) for model in plan.models)


def _allowed(plan: Plan) -> set[str]:
    """The columns that all Safe Harbor models of the plan allow."""
    return set.intersection(*(set(model.allow) for model in plan.models if isinstance(model, SafeHarborRule)))


def _complaints(text: pl.Series, rows: int, plan: Plan, *, mostly: float = MOSTLY) -> list[Suspicion]:
    """What Safe Harbor forbids in a column. `allow` has no effect on columns with a Safe Harbor hierarchy."""
    attribute = plan.attributes.get(text.name)
    builder = None if attribute is None or attribute.role is not Role.QUASI_IDENTIFYING else attribute.hierarchy
    if isinstance(builder, SafeHarbor):
        cells = Cells.of(text)
        unsafe = cells.with_hit(~builder.safe(cells.values, attribute=text.name))
        why = f"{unsafe:,} row{'' if unsafe == 1 else 's'} show more than its safe form"
        return [Suspicion(_CLASS[builder.kind], why, Form(builder.kind))] if unsafe else []
    return [] if text.name in _allowed(plan) else suspects(text, rows, least=0.0, mostly=mostly)


def _unchanged(source: TableSource, plan: Plan) -> Iterator[str]:
    flag = None if plan.subset is None else plan.subset.name
    for name in (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE)):
        mostly = 0.0 if name in plan.decorrelated_attributes else MOSTLY
        if name == flag:
            continue
        if complaints := _complaints(_texts(source, name), source.rows, plan, mostly=mostly):
            yield (
                f"{name!r} ({_in_words(*complaints)}): make it identifying, so that it is removed, or name it in "
                f"allow if you have looked at it and it is harmless{_or_hierarchy(complaints)}"
            )


def _texts(source: TableSource, name: str) -> pl.Series:
    return spread(source.count_shown([name]), name)


def _generalized(plan: Plan, encoded: EncodedTable) -> Iterator[str]:
    mostly = 0.0 if plan.suppression_limit else MOSTLY
    rows = encoded.row_by_row()
    for column in rows.columns:
        levels = [
            _complaints(column.generalized(level), rows.rows, plan, mostly=mostly) for level in range(len(column.maps))
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


def _refuse_unknown_columns(plan: Plan) -> None:
    for model in plan.models:
        for name in model.allow if isinstance(model, SafeHarborRule) else ():
            if name not in plan.attributes:
                raise InputError(
                    f"model {model.name}: allow names {name!r}, which is not an attribute of the plan"
                    f"{nearest(name, plan.attributes)}",
                    code="safe-harbor-allow",
                )


def refuse_recoding(plan: Plan) -> None:
    """Refuse Safe Harbor with a recoder: the ends of its intervals are values, not their safe form."""
    if asks_for_safe_harbor(plan) and plan.search.algorithm not in SEARCH_NAMES:
        raise InputError(
            f"algorithm {plan.search.algorithm} cannot be used with safe-harbor: its cells can show values that only a "
            "level of the hierarchy hides; use a search of the lattice, such as optimal",
            code="safe-harbor-algorithm",
        )
