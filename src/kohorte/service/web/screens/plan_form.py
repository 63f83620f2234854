"""The form of a plan: its fields from a plan, and a plan from its fields.

The form has the choices that most plans need. Whatever else a plan has (weights, other models, options of the search)
stays as it is, and can be changed in the plan's text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from kohorte.data import Role, strict_yaml
from kohorte.errors import InputError
from kohorte.metrics import METRICS, Metric
from kohorte.plans.person import NONE, Knowledge
from kohorte.service.web.screens.visitors import Visitor

SIMPLE: Mapping[str, str] = {
    "l-diversity_distinct": "l",
    "l-diversity_entropy": "l",
    "t-closeness_equal": "t",
    "t-closeness_ordered": "t",
    "t-closeness_hierarchical": "t",
}
"""Models of one sensitive attribute that the form offers, each with its parameter."""
KEEP, COLUMN = "keep", "column:"
WITH_HIERARCHY = (Role.QUASI_IDENTIFYING, Role.SENSITIVE)
LONGEST = 1 << 20


@dataclass(frozen=True)
class ColumnFields:
    """The fields of one column."""

    name: str
    role: str
    hierarchy: str
    model: str
    parameter: str


@dataclass(frozen=True)
class PlanForm:
    """What the form shows: the plan itself as text and the fields that were taken from it."""

    plan: Mapping[str, Any]
    columns: Sequence[ColumnFields]

    @classmethod
    def of(cls, plan: Mapping[str, Any], names: Sequence[str]) -> PlanForm:
        """Return the form of a plan for a table; a column that the plan does not name has no role yet."""
        return cls(plan, [_column(plan, name) for name in names])

    @property
    def text(self) -> str:
        """The plan as YAML."""
        return strict_yaml.dump(dict(self.plan))

    @property
    def base(self) -> str:
        """The plan as JSON, which the form sends back."""
        return json.dumps(self.plan, ensure_ascii=False)

    @property
    def k(self) -> int | None:
        """The k of k-anonymity, if the plan has it."""
        return next((entry["k"] for entry in _models(self.plan) if entry.get("model") == "k-anonymity"), None)

    @property
    def limit(self) -> float:
        """The suppression limit in percent."""
        return round(100 * float(self.plan.get("suppression_limit", 0)), 6)

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return str(_mapping(self.plan.get("metric")).get("metric", "loss"))

    @property
    def person(self) -> str:
        """Whom a row is about, as the field says it."""
        given = self.plan.get("person")
        if given is None:
            return ""
        if given == NONE:
            return NONE
        column = given.get("column") if isinstance(given, Mapping) else given
        return f"{COLUMN}{column}" if isinstance(column, str) else KEEP

    @property
    def knows(self) -> str:
        """How many rows of a person an attacker knows, as the field says it."""
        return str(_mapping(self.plan.get("person")).get("attacker_knows", Knowledge.ONE_ROW))

    @property
    def levels(self) -> Mapping[str, Any]:
        """The levels that the plan fixes; empty if they are searched."""
        return _mapping(_mapping(self.plan.get("search")).get("levels"))

    def about(self, name: str) -> str:
        """Title, purpose or recipient."""
        return str(self.plan.get(name) or "")

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics that can be chosen: those that need nothing further, and the one that the plan has."""
        return tuple(metric.name for metric in METRICS if metric.name == self.metric or not _needs_more(metric))

    simple = tuple(SIMPLE)


def plan_from(visitor: Visitor, names: Sequence[str]) -> dict[str, Any]:
    """Return the plan that the fields of a form say; what the form does not show stays as it was."""
    plan = _parsed(visitor.text("base"))
    before = _mapping(plan.get("attributes"))
    fields = [_fields(visitor, number, name) for number, name in enumerate(names)]
    plan["attributes"] = {one.name: _attribute(one, _mapping(before.get(one.name))) for one in fields if one.role}
    plan["models"] = _chosen_models(visitor, plan, fields)
    plan["suppression_limit"] = _number(visitor, "limit", of=float) / 100
    if visitor.text("metric") != PlanForm(plan, ()).metric:
        plan["metric"] = {"metric": visitor.text("metric")}
    _set(plan, "person", _person(visitor, plan.get("person")))
    for name in ("title", "purpose", "recipient"):
        _set(plan, name, visitor.text(name) or None)
    return with_levels(plan, None) if visitor.text("free_levels") else plan


def with_levels(plan: Mapping[str, Any], levels: Mapping[str, int] | None) -> dict[str, Any]:
    """Return a plan that fixes these levels, or that searches them again; other options of its search stay."""
    search = {"algorithm": plan["search"]} if isinstance(plan.get("search"), str) else _mapping(plan.get("search"))
    kept = {key: value for key, value in search.items() if key != "levels"}
    if levels is not None:  # a recoding has no levels, and the options of single algorithms search in their own way
        kept = {key: value for key, value in kept.items() if key in ("time_limit", "threads")}
        kept = {"algorithm": "optimal", **kept, "levels": dict(levels)}
    return {**plan, "search": kept}


def plan_from_text(text: str) -> dict[str, Any]:
    """Return the plan of a text in YAML."""
    found = strict_yaml.load(text[:LONGEST], source="the plan", code="plan-yaml")
    if not isinstance(found, Mapping):
        raise InputError("a plan is a mapping with keys such as attributes and models", code="plan-yaml")
    return dict(found)


def _column(plan: Mapping[str, Any], name: str) -> ColumnFields:
    entry = _mapping(_mapping(plan.get("attributes")).get(name))
    hierarchy = entry.get("hierarchy")
    of_column = [one for one in _models(plan) if one.get("attribute") == name]
    model, parameter = ("", "") if not of_column else (KEEP, "")
    if len(of_column) == 1 and of_column[0].get("model") in SIMPLE:
        model = str(of_column[0]["model"])
        parameter = str(of_column[0].get(SIMPLE[model], ""))
    text = strict_yaml.dump(hierarchy).strip() if isinstance(hierarchy, Mapping) else ""
    return ColumnFields(name, str(entry.get("role", "")), text, model, parameter)


def _fields(visitor: Visitor, number: int, name: str) -> ColumnFields:
    read = (visitor.text(f"{part}-{number}") for part in ("role", "hierarchy", "model", "parameter"))
    return ColumnFields(name, *read)


def _attribute(fields: ColumnFields, before: Mapping[str, Any]) -> dict[str, Any]:
    kept = {key: before[key] for key in ("weight", "minimum_level", "pseudonym") if key in before}
    entry: dict[str, Any] = {"role": fields.role, **(kept if before.get("role") == fields.role else {})}
    if fields.hierarchy and fields.role in list(WITH_HIERARCHY):
        place = f"the hierarchy of {fields.name!r}"
        entry["hierarchy"] = strict_yaml.load(fields.hierarchy[:LONGEST], source=place, code="plan-yaml")
    return entry


def _chosen_models(visitor: Visitor, plan: Mapping[str, Any], fields: Sequence[ColumnFields]) -> list[dict[str, Any]]:
    """The models of the form, in the order of the plan; models that the form does not show stay."""
    found: list[dict[str, Any]] = []
    if visitor.text("k"):
        found.append({"model": "k-anonymity", "k": int(_number(visitor, "k", of=int))})
    kept = {one.name for one in fields if one.model == KEEP and one.role == Role.SENSITIVE}
    shown = {one.name for one in fields} - kept
    others = (one for one in _models(plan) if one.get("model") != "k-anonymity")
    found += [dict(one) for one in others if one.get("attribute") not in shown]
    chosen = (one for one in fields if one.role == Role.SENSITIVE and one.model in SIMPLE)
    found += [{"model": one.model, "attribute": one.name, SIMPLE[one.model]: _parameter(one)} for one in chosen]
    return found


def _parameter(fields: ColumnFields) -> float | int:
    try:
        number = float(fields.parameter)
    except ValueError:
        raise InputError(f"{fields.name!r}: {fields.model} needs a number", code="plan-form") from None
    return int(number) if number.is_integer() and SIMPLE[fields.model] == "l" else number


def _number(visitor: Visitor, name: str, *, of: type[int] | type[float]) -> float:
    try:
        return of(visitor.text(name).replace(",", "."))
    except ValueError:
        raise InputError(f"{name}: is a number", code="plan-form", field=name) from None


def _person(visitor: Visitor, before: object) -> object:
    """Whom a row is about; reasons in the plan stay as long as its column stays."""
    chosen, knows = visitor.text("person"), visitor.text("knows")
    if not chosen or chosen == NONE:
        return chosen or None
    kept = before if isinstance(before, Mapping) else {"column": before}
    column = kept.get("column") if chosen == KEEP else chosen.removeprefix(COLUMN)
    entry = {**(kept if kept.get("column") == column else {}), "column": column}
    if knows:
        entry["attacker_knows"] = knows
    plain = entry.get("attacker_knows", Knowledge.ONE_ROW) == Knowledge.ONE_ROW and set(entry) <= {
        "column",
        "attacker_knows",
    }
    return column if plain else entry


def _set(plan: dict[str, Any], name: str, value: object) -> None:
    if value is None:
        plan.pop(name, None)
    else:
        plan[name] = value


def _parsed(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text[:LONGEST]) if text else {}
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError("the plan that the form sent back cannot be read; open the page again", code="plan-form")
    return found


def _models(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    models = plan.get("models")
    return [one for one in models if isinstance(one, Mapping)] if isinstance(models, list) else []


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _needs_more(metric: type[Metric]) -> bool:
    """Whether a metric has a parameter without a default, which only the plan as text can give."""
    return any(
        one.default is MISSING and one.default_factory is MISSING
        for one in fields(metric)  # type: ignore[arg-type]
    )
