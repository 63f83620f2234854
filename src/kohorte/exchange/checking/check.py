"""Check a request: all steps from the look into the world to the recommendation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import polars as pl

from kohorte.data import as_text, person_keys, without_marks
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError, nearest
from kohorte.exchange.checking.conditions.blocked import blocked_conditions
from kohorte.exchange.checking.conditions.cells import cell_problem, cells_of, sensitive_facts, told_of
from kohorte.exchange.checking.conspicuous import conspicuous_conditions
from kohorte.exchange.checking.drafting import Draft, Drafting, NoDraft
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.checking.local_look import LocalLook, local_look, people_risk
from kohorte.exchange.checking.recommendation import recommend
from kohorte.exchange.checking.rows import Rows, selected
from kohorte.exchange.checking.shown_labels import numbered_classes
from kohorte.exchange.checking.steps import CheckRecord
from kohorte.exchange.checking.verdicts import Judged, Treatment, Verdict, judge
from kohorte.exchange.checking.written_labels import groups_values_of_data, without_groups_of_data
from kohorte.exchange.holding import Holding
from kohorte.exchange.request import Request, selected_rows
from kohorte.exchange.statistics import Statistics
from kohorte.kernels.arrays import Integers
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release import Candidate


@dataclass(frozen=True, eq=False)
class Check:
    """A checked request: the record of all steps and, if something could be sent, the draft of the answer."""

    request: Request
    record: CheckRecord
    draft: Draft | None = field(repr=False)


def check_request(
    request: Request,
    frame: pl.DataFrame,
    holding: Holding,
    statistics: Statistics,
    ledger: Ledger,
    *,
    today: date,
    progress: ProgressCallback | None = None,
) -> Check:
    """Check a request against a table; nothing is written but new people of the table into the ledger."""
    request.refuse_expired(today)
    request.refuse_too_long(today, holding.policy.longest_days)
    tell(progress, Stage.CHECKING, "the request and the statistics")
    table = without_marks(frame, holding.plan.missing_values)
    _refuse_columns(table, request, holding)
    grouped = [name for name, one in holding.plan.attributes.items() if groups_values_of_data(one.hierarchy)]
    house = replace(holding, plan=without_groups_of_data(holding.plan, table))
    look = GlobalLook(house, statistics, request, today, grouped=frozenset(grouped))
    tell(progress, Stage.COUNTING, f"people of {table.height:,} rows")
    rows, cells = _base_set(table, look, ledger)
    look = replace(look, selected=_selected(rows, look))
    local = local_look(rows.frame, request.attributes, rows.people, holding.policy.k)
    judged = judge(rows, look, local)
    tell(progress, Stage.SEARCHING, "for what could be sent")
    blocked = blocked_conditions(table, look)
    draft = NoDraft(cells) if cells else _drafted(rows, judged, look, ledger, local, blocked)
    verdicts = _final(judged, draft)
    made = draft if isinstance(draft, Draft) else None
    record = CheckRecord.of(
        [
            {"sha256": request.fingerprint(), "request": request.to_dict(), "policy": holding.policy.to_dict()},
            look.to_dict(),
            local.to_dict(),
            {"verdicts": [one.to_dict() for one in verdicts]},
            _draft_facts(draft, rows),
            {"findings": draft.findings.to_dict(), "words": [one.in_words for one in draft.findings]},
            recommend(look, local, verdicts, draft, blocked).to_dict(),
        ]
    )
    return Check(request, record, made)


def _refuse_columns(table: pl.DataFrame, request: Request, holding: Holding) -> None:
    person = holding.plan.person
    assert person is not None, "a holding has one"
    for name in (*request.attributes, *request.condition.attributes, *person.columns):
        if name not in table.columns or name not in holding.plan.attributes:
            raise InputError(
                f"the request or the plan names the column {name!r}, which the table or the plan does not have"
                f"{nearest(name, holding.plan.attributes)}",
                code="exchange-request-column",
            )


def _base_set(table: pl.DataFrame, look: GlobalLook, ledger: Ledger) -> tuple[Rows, str | None]:
    """The rows that satisfy the condition, and why the condition describes too few people, if it does."""
    person, request = look.holding.plan.person, look.request
    assert person is not None, "a holding has one"
    keys = person_keys([as_text(table[name]) for name in person.columns])
    people: Integers = ledger.fingerprints(keys)
    kept = selected_rows(table, request.condition).to_numpy()
    names = tuple(dict.fromkeys((*request.attributes, *person.columns)))
    cells = cells_of(table, look)
    facts = sensitive_facts(table, look)
    told, looked_at = told_of(table, look), request.condition.attributes
    rows = selected(table, kept, names, people, cells=cells, facts=facts, told=told, condition=looked_at)
    return rows, cell_problem(table, cells, people, look)


def _selected(rows: Rows, look: GlobalLook) -> dict[str, list[str]]:
    """The values that the people of the base set have of each attribute of the condition with statistics."""
    told, own = rows.with_condition(), look.holding
    names = [name for name in look.request.condition.attributes if name in own.statistics]
    return {name: as_text(told[name]).drop_nulls().unique().sort().to_list() for name in names}


def _drafted(
    rows: Rows, judged: Judged, look: GlobalLook, ledger: Ledger, local: LocalLook, blocked: Sequence[str]
) -> Draft | NoDraft:
    if blocked:
        return NoDraft("a condition that identifies people, or tells too much about them, is never answered")
    if found := conspicuous_conditions(look):
        return NoDraft(f"it is conspicuous for the people whom the condition names: {', '.join(found)}")
    if local.people < look.needed:
        return NoDraft(f"fewer than {look.needed:,} people satisfy the condition")
    allowed = {one.attribute for one in judged.kept()}
    dropped = [name for name in look.request.attributes if name not in allowed]
    person = look.holding.plan.person
    assert person is not None, "a holding has one"
    without = [name for name in dropped if name not in person.columns]
    return Drafting(rows.without(without), judged, look, ledger).draft()


def _final(judged: Judged, draft: Draft | NoDraft) -> tuple[Verdict, ...]:
    """The verdicts with the levels that the engine chose; an attribute at its top level shows nothing."""
    if isinstance(draft, NoDraft):
        return judged.verdicts
    levels, hierarchies = draft.found.levels, draft.found.hierarchies
    return tuple(
        one.with_level(levels[one.attribute], top=hierarchies[one.attribute].top)
        if one.attribute in levels and one.treatment is not Treatment.DROP
        else one
        for one in judged.verdicts
    )


def _draft_facts(draft: Draft | NoDraft, rows: Rows) -> Mapping[str, Any]:
    """What would be sent, and the risk before and after."""
    if isinstance(draft, NoDraft):
        return {"draft": None, "reason": draft.reason}
    found, disclosure = draft.found, draft.disclosure
    raw = pl.DataFrame([as_text(draft.rows.frame[name]) for name in found.levels])
    before = people_risk(numbered_classes(raw), disclosure.people)
    after = people_risk(disclosure.classes, disclosure.people)
    return {
        "draft": {
            "levels": found.levels,
            "meanings": _meanings(found),
            "rows": found.rows,
            "people": draft.rows.count,
            "left_out": rows.count - draft.rows.count,
            "classes": found.classes,
            "smallest_class": found.smallest_class,
            "fewest_expected": draft.fewest_expected,
            "models": [model.to_dict() for model in found.plan.models],
        },
        "risk_before": before.to_dict(),
        "risk_after": after.to_dict(),
    }


def _meanings(found: Candidate) -> dict[str, str]:
    """What each attribute shows at its level, in words."""
    return {name: _meaning(found, name, level) for name, level in found.levels.items()}


def _meaning(found: Candidate, name: str, level: int) -> str:
    top, builder = found.hierarchies[name].top, found.plan.attributes[name].hierarchy
    if level in (0, top):
        return "the value" if level == 0 else "nothing (*)"
    words = "" if builder is None else builder.meaning(level, top)
    return words or f"level {level} of {top}"
