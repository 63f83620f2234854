"""The certificate of a release as a project shows it, without values that the release hides."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from kohorte.release import Certificate

HARMLESS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "redaction": ("order", "mask", "padding", "length"),
        "intervals": ("lower", "upper", "widths", "below", "above", "integer", "decimal", "thousands"),
        "ordering": ("by", "fanouts", "labels"),
        "dates": ("format", "levels"),
        "safe_harbor": ("kind", "format", "of", "as_of"),
    }
)
"""The options of hierarchies that cannot contain values of the data; of other hierarchies only the kind is shown."""


def shown_certificate(certificate: Certificate) -> Certificate:
    """Leave out values in hierarchies and hashes that cover them, because a hash allows guesses to be tested."""
    facts: dict[str, Any] = json.loads(certificate.to_json())
    for attribute in facts["plan"]["attributes"].values():
        if "hierarchy" in attribute:
            attribute["hierarchy"] = without_values(attribute["hierarchy"])
    facts["plan_sha256"] = hashlib.sha256(json.dumps(facts["plan"], ensure_ascii=False).encode()).hexdigest()
    facts["hierarchies_sha256"] = {}  # only hierarchies that list their values have one
    return Certificate(facts)


def text_of(facts: Mapping[str, Any]) -> str:
    """Return a certificate as it is handed out; reports and signatures name the hash of this text."""
    return json.dumps(facts, ensure_ascii=False)


def hash_of(facts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a certificate as it is handed out."""
    return hashlib.sha256(text_of(facts).encode()).hexdigest()


def without_values(hierarchy: Mapping[str, Any]) -> dict[str, Any]:
    """Return a hierarchy of a plan with the options that cannot list values, and no others."""
    return {
        kind: {option: options[option] for option in HARMLESS.get(kind, ()) if option in options}
        for kind, options in hierarchy.items()
    }
