"""The summary of a config that everyone who may see the project gets: attributes, models and limits, no hierarchies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SHOWN = ("attribute_name", "attribute_type", "metadata", "pseudonym")
SHOWN_AS_GIVEN = ("person", "linked_by", "title", "purpose", "recipient")


def summary(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a valid config, with the names of the interface."""
    if "plan" in config:
        return _of_plan(config["plan"]) | _only(config, ("person_because", "consent"))
    return _of_config(config)


def _of_config(config: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "attributes": [_only(entry, SHOWN) for entry in config["attributes"]],
        "privacy_models": [_only(entry, tuple(entry)) for entry in config["privacy_models"]],
        "suppression_limit": config.get("suppression_limit"),
        **_only(
            config, (*SHOWN_AS_GIVEN, "table_name", "private_id", "max_contributions", "person_because", "consent")
        ),
    }


def _of_plan(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "attributes": [
            {"attribute_name": name, "attribute_type": entry["role"], **_only(entry, ("pseudonym",))}
            for name, entry in plan["attributes"].items()
        ],
        "privacy_models": [_model(entry) for entry in plan["models"]],
        "suppression_limit": plan.get("suppression_limit", 0.0),
        **_only(plan, SHOWN_AS_GIVEN),
    }


def _model(entry: Mapping[str, Any]) -> dict[str, Any]:
    attribute = {"attribute_name": entry["attribute"]} if "attribute" in entry else {}
    parameters = {key: value for key, value in entry.items() if key not in ("model", "attribute")}
    return {"model_name": entry["model"], **attribute, "model_params": parameters}


def _only(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: entry[key] for key in keys if entry.get(key) is not None}
