"""The evidence for a release as a project shows it: nothing in it names values that the release hides."""

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
        "intervals": ("lower", "upper", "widths", "below", "above", "integer", "decimal"),
        "ordering": ("by", "fanouts", "labels"),
        "dates": ("format", "levels"),
        "safe_harbor": ("kind", "format", "of", "as_of"),
    }
)
"""The options of hierarchies that cannot list values; of all others only the kind is shown."""


def shown_certificate(certificate: Certificate) -> Certificate:
    """Leave out what lists values in hierarchies, and hashes that cover it, since guesses can be tested with them."""
    facts: dict[str, Any] = json.loads(certificate.to_json())
    for attribute in facts["plan"]["attributes"].values():
        if "hierarchy" in attribute:
            attribute["hierarchy"] = _shown_hierarchy(attribute["hierarchy"])
    facts["plan_sha256"] = hashlib.sha256(json.dumps(facts["plan"], ensure_ascii=False).encode()).hexdigest()
    facts["hierarchies_sha256"] = {}  # only hierarchies that list their values have one
    return Certificate(facts)


def _shown_hierarchy(hierarchy: Mapping[str, Any]) -> dict[str, Any]:
    return {
        kind: {option: options[option] for option in HARMLESS.get(kind, ()) if option in options}
        for kind, options in hierarchy.items()
    }
