"""Configs of projects that release a table, as plans; they cannot refer to files of the server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from kohorte.data import Role
from kohorte.errors import InputError, nearest
from kohorte.models import MODELS, PrivacyModel, model_from_dict
from kohorte.plans import Plan
from kohorte.plans.columns import check_columns
from kohorte.plans.parts import Attribute, Within
from kohorte.service.datasets.stored_references import WITH_HIERARCHY, resolved

MOST_SECONDS = 24 * 60 * 60
ABOUT = ("title", "purpose", "recipient")
PARTS = ("suppression_limit", "metric", "search", "missing", "missing_values", "person", "linked_by", *ABOUT)


def to_plan(
    given: Mapping[str, Any],
    attributes: Sequence[Mapping[str, Any]],
    models: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    stored: Mapping[str, Sequence[Sequence[str]]],
) -> Plan:
    """Return the plan of a config with PRIORI's names; for a missing hierarchy the stored one is used."""
    parts = {key: given[key] for key in PARTS if key in given}
    by_name = {
        str(entry["attribute_name"]): _attribute(entry, number, stored) for number, entry in enumerate(attributes)
    }
    _refuse_unnamed(columns, by_name)
    found = [_model(entry, number) for number, entry in enumerate(models)]
    with Within("config"):
        plan = Plan(attributes=by_name, models=found, **parts)
        return _checked(plan, columns)


def stated_plan(
    config: Mapping[str, Any], columns: Sequence[str], stored: Mapping[str, Sequence[Sequence[str]]]
) -> Plan:
    """Return the plan of a config that is a plan: `{"plan": {...}}`, perhaps with `person_because` and `consent`.

    A hierarchy `{stored: true}` is the one that is stored for the column.
    """
    if not set(config) <= {"plan", "person_because", "consent"}:
        raise _wrong("config", "plan excludes all other keys but person_because and consent")
    with Within("config.plan"):
        data = resolved(config["plan"], stored)
        plan = Plan.from_dict({"kohorte": 1, **data} if isinstance(data, Mapping) else data)
        return _checked(plan, columns)


def _checked(plan: Plan, columns: Sequence[str]) -> Plan:
    if plan.files():
        raise InputError(
            "a plan of the service cannot refer to files: give hierarchies as rows, and populations as subset",
            code="project-config",
        )
    if plan.search.time_limit is not None and plan.search.time_limit > MOST_SECONDS:
        raise InputError(f"search.time_limit: is at most {MOST_SECONDS:,} seconds", code="project-config")
    if plan.unit.stays_tied and not set(plan.unit.columns) & set(plan.pseudonyms):
        raise InputError(
            "person: no release of the service contains the column that says whom a row is about; make it identifying",
            code="project-config",
        )
    check_columns(columns, plan)
    return plan


def _attribute(entry: Mapping[str, Any], number: int, stored: Mapping[str, Sequence[Sequence[str]]]) -> Attribute:
    place = f"config.attributes[{number}]"
    role = Role(entry["attribute_type"])
    if "hierarchy" in entry and "attribute_hierarchy" in entry:
        raise _wrong(place, "give attribute_hierarchy or hierarchy, not both")
    hierarchy = entry.get("hierarchy")
    if "attribute_hierarchy" in entry:
        hierarchy, place = {"rows": entry["attribute_hierarchy"]}, f"{place}.attribute_hierarchy"
    elif hierarchy is None and role in WITH_HIERARCHY and entry["attribute_name"] in stored:
        hierarchy = {"rows": stored[entry["attribute_name"]]}
    with Within(place):
        pseudonym = {"pseudonym": entry["pseudonym"]} if "pseudonym" in entry else {}
        return Attribute.from_dict({"role": str(role), "hierarchy": hierarchy, **pseudonym}, folder=Path())


def _model(entry: Mapping[str, Any], number: int) -> PrivacyModel:
    place, name, given = f"config.privacy_models[{number}]", entry["model_name"], dict(entry["model_params"])
    kinds = {kind.name: kind for kind in MODELS}
    if name not in kinds:
        raise _wrong(
            f"{place}.model_name", f"is not a privacy model{nearest(name, kinds)}; known are {', '.join(kinds)}"
        )
    protects_one = any(field.name == "attribute" for field in fields(kinds[name]))
    if protects_one != ("attribute_name" in entry):
        reason = "must name the sensitive attribute of the model" if protects_one else "is not supported by this model"
        raise _wrong(f"{place}.attribute_name", reason)
    if unknown := {"model", "attribute"} & set(given):
        raise _wrong(f"{place}.model_params", f"has an unknown key {min(unknown)!r}")
    attribute = {"attribute": entry["attribute_name"]} if protects_one else {}
    with Within(f"{place}.model_params"):
        return model_from_dict({**given, **attribute, "model": name})


def _refuse_unnamed(columns: Sequence[str], named: Mapping[str, object]) -> None:
    if unnamed := [repr(name) for name in columns if name not in named]:
        raise InputError(
            f"config.attributes: does not name these columns of the dataset: {', '.join(unnamed)}; give each a type "
            "(identifying, quasi-identifying, sensitive or insensitive)",
            code="columns-unnamed",
        )


def _wrong(place: str, reason: str) -> InputError:
    return InputError(f"{place}: {reason}", code="project-config", field=place)
