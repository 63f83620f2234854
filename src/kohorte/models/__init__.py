"""Privacy models: verdicts from groups alone."""

from __future__ import annotations

from kohorte.errors import InputError, nearest
from kohorte.models.base import PrivacyModel
from kohorte.models.k_anonymity import KAnonymity

MODELS: tuple[type[PrivacyModel], ...] = (KAnonymity,)

__all__ = ["MODELS", "KAnonymity", "PrivacyModel", "model_from_dict"]


def model_from_dict(entry: object) -> PrivacyModel:
    """Return the model that a plan describes as `{model: name, parameter: value}`."""
    known = {model.name: model for model in MODELS}
    if not isinstance(entry, dict) or "model" not in entry:
        raise InputError(
            "a model is written as {model: name, ...}, for example {model: k-anonymity, k: 5}",
            code="model-entry",
        )
    name = str(entry["model"])
    if name not in known:
        raise InputError(
            f"unknown model {name!r}{nearest(name, known)}; known are {', '.join(known)}",
            code="model-unknown",
        )
    return known[name].from_dict(entry)
