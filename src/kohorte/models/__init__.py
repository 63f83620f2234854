"""Privacy models: verdicts from groups alone."""

from __future__ import annotations

from kohorte.errors import InputError, member_named
from kohorte.models.base import PrivacyModel
from kohorte.models.k_anonymity import KAnonymity

MODELS: tuple[type[PrivacyModel], ...] = (KAnonymity,)

__all__ = ["MODELS", "KAnonymity", "PrivacyModel", "model_from_dict"]


def model_from_dict(entry: object) -> PrivacyModel:
    """Return the model that a plan describes as `{model: name, parameter: value}`."""
    if not isinstance(entry, dict) or "model" not in entry:
        raise InputError(
            "a model is written as {model: name, ...}, for example {model: k-anonymity, k: 5}",
            code="model-entry",
        )
    return member_named(str(entry["model"]), MODELS, what="model", code="model-unknown").from_dict(entry)
