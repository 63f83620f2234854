"""Read the config of a project, with the names of PRIORI's interface, as a plan or as the terms of queries.

A config releases a table (`Plan`) or answers queries about it (`QueryTerms`), never both. Errors begin with their
position in the config, such as `config.attributes[2].metadata.min`, and contain no value. PRIORI is described in
Leitner, Datenschutzgerechte Forschungsschnittstelle für medizinische Daten, 2020.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kohorte.data import Role
from kohorte.errors import InputError, nearest
from kohorte.plans import Plan
from kohorte.service.projects.plans import ABOUT, stated_plan, to_plan
from kohorte.service.projects.query_terms import DIFFERENTIAL_PRIVACY, QueryTerms, person_because, to_query_terms

Rows: TypeAlias = Sequence[Sequence[str]]
KEYS = (
    "attributes",
    "privacy_models",
    "suppression_limit",
    "metric",
    "search",
    "missing",
    "missing_values",
    "person",
    "linked_by",
    *ABOUT,
    "consent",
    "table_name",
    "private_id",
    "max_contributions",
    "person_because",
)
ATTRIBUTE_KEYS = ("attribute_name", "attribute_type", "attribute_hierarchy", "hierarchy", "metadata", "pseudonym")
MODEL_KEYS = ("model_name", "attribute_name", "model_params")
INTERACTIVE_ONLY = ("table_name", "private_id", "max_contributions")
RELEASE_ONLY = ("suppression_limit", "metric", "search", "missing", "linked_by", "consent", *ABOUT)


@dataclass(frozen=True)
class Dataset:
    """The columns of a table and its stored hierarchies, with which a config is compared."""

    columns: Sequence[str]
    hierarchies: Mapping[str, Rows]


def read_config(config: Mapping[str, Any], dataset: Dataset) -> Plan | QueryTerms:
    """Return the plan or the terms of a config; an invalid config is refused with the position of the error."""
    person_because(config)
    if "plan" in config:
        return stated_plan(config, dataset.columns, dataset.hierarchies)
    given = _known(config, KEYS, "config")
    attributes = _attributes(given.get("attributes"), dataset.columns)
    models = _models(given.get("privacy_models"))
    named = [model["model_name"] for model in models]
    interactive = named.count(DIFFERENTIAL_PRIVACY)
    if interactive and (interactive > 1 or len(named) > 1):
        raise _wrong(
            "config.privacy_models",
            f"{DIFFERENTIAL_PRIVACY} excludes other models: a project answers queries or releases a table",
        )
    _refuse_others(given, RELEASE_ONLY if interactive else INTERACTIVE_ONLY, interactive=bool(interactive))
    if interactive:
        return to_query_terms(given, attributes, models[0], dataset.columns)
    _refuse_metadata(attributes)
    return to_plan(given, attributes, models, dataset.columns, dataset.hierarchies)


def read_plan(config: Mapping[str, Any], dataset: Dataset) -> Plan:
    """Return the plan of a config that must be about a release."""
    found = read_config(config, dataset)
    if isinstance(found, QueryTerms):
        raise _wrong("config.privacy_models", f"{DIFFERENTIAL_PRIVACY} protects answers, not a table")
    if found.pseudonyms or "consent" in config:
        raise _wrong("config", "pseudonym and consent are for releases; leave them out to measure the risk of a table")
    return found


def _attributes(entries: object, columns: Sequence[str]) -> list[dict[str, Any]]:
    place = "config.attributes"
    found = [_known(entry, ATTRIBUTE_KEYS, f"{place}[{number}]") for number, entry in enumerate(_list(entries, place))]
    names: list[str] = []
    for number, entry in enumerate(found):
        name = entry.get("attribute_name")
        if name not in columns:
            hint = nearest(name, set(columns) - set(names)) if isinstance(name, str) else ""
            raise _wrong(f"{place}[{number}].attribute_name", f"the dataset has no such column{hint}")
        if name in names:
            raise _wrong(f"{place}[{number}].attribute_name", "the attribute is named twice")
        if entry.get("attribute_type") not in list(Role):
            raise _wrong(f"{place}[{number}].attribute_type", f"is one of {', '.join(Role)}")
        names.append(str(name))
    return found


def _models(entries: object) -> list[dict[str, Any]]:
    place = "config.privacy_models"
    found = [_known(entry, MODEL_KEYS, f"{place}[{number}]") for number, entry in enumerate(_list(entries, place))]
    for number, entry in enumerate(found):
        if not isinstance(entry.get("model_name"), str):
            raise _wrong(f"{place}[{number}].model_name", "is the name of a privacy model")
        entry["model_params"] = _mapping(entry.get("model_params", {}), f"{place}[{number}].model_params")
    return found


def _refuse_others(given: Mapping[str, Any], keys: Sequence[str], *, interactive: bool) -> None:
    about = "queries under differential privacy" if interactive else "the release of a table"
    for key in keys:
        if key in given:
            raise _wrong(f"config.{key}", f"is not supported for {about}")


def _refuse_metadata(attributes: Sequence[Mapping[str, Any]]) -> None:
    for number, entry in enumerate(attributes):
        if "metadata" in entry:
            raise _wrong(f"config.attributes[{number}].metadata", "is not supported for the release of a table")


def _list(entries: object, place: str) -> Sequence[object]:
    if isinstance(entries, str) or not isinstance(entries, Sequence) or not entries:
        raise _wrong(place, "is a list with at least one entry")
    return entries


def _mapping(entry: object, place: str) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise _wrong(place, "is written as keys with values")
    return {str(key): value for key, value in entry.items()}


def _known(entry: object, keys: Sequence[str], place: str) -> dict[str, Any]:
    """A mapping with known keys; a key whose value is null counts as left out."""
    found = _mapping(entry, place)
    for key in found:
        if key not in keys:
            raise _wrong(place, f"has an unknown key{nearest(key, keys)}; known are {', '.join(keys)}")
    return {key: value for key, value in found.items() if value is not None}


def _wrong(place: str, reason: str) -> InputError:
    return InputError(f"{place}: {reason}", code="project-config", field=place)
