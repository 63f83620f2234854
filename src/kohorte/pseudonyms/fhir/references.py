"""References between resources: what they point to, and how they are written after ids have changed."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LITERAL = re.compile(
    r"(?P<base>https?://[^?#\s]+/)?(?P<type>[A-Z][A-Za-z]{1,63})/(?P<id>[A-Za-z0-9.-]{1,64})(?:/_history/[A-Za-z0-9.-]{1,64})?"
)
URN = re.compile(r"urn:(?:uuid|oid):[A-Za-z0-9.-]{1,128}")
ID = re.compile(r"[A-Za-z0-9.-]{1,64}")
"""What FHIR allows as the id of a resource."""
_NAMESPACE = uuid.UUID("5f4c1f0a-6f0e-5d53-9a55-1b4b3b1c7c0e")


@dataclass(frozen=True)
class Target:
    """The resource that a reference points to: its type, its id or URN, and how the reference is written."""

    type: str
    original: str
    base: str = ""
    as_urn: bool = False

    def written(self, identity: str) -> str:
        """The reference after the resource has another id; a URN stays one, made of the new id."""
        if self.as_urn:
            return urn_of(self.type, identity)
        return f"{self.base}{self.type}/{identity}"


def urn_of(type_: str, identity: str) -> str:
    """The URN of a resource of a Bundle, from its new id: everybody can compute it, and it says nothing else."""
    return f"urn:uuid:{uuid.uuid5(_NAMESPACE, f'{type_}/{identity}')}"


def target_of(reference: str, urns: Mapping[str, Target]) -> Target | None:
    """What a reference points to; None if it cannot be told from the reference and the Bundle around it."""
    if known := urns.get(reference):
        return known
    found = LITERAL.fullmatch(reference)
    return None if found is None else Target(found["type"], found["id"], found["base"] or "")


def entry_target(entry: Mapping[str, Any]) -> Target | None:
    """What the full URL of an entry of a Bundle stands for; None if it has none."""
    url, resource = entry.get("fullUrl"), entry.get("resource")
    if not isinstance(url, str) or not isinstance(resource, Mapping):
        return None
    type_, identity = resource.get("resourceType"), resource.get("id")
    if not isinstance(type_, str):
        return None
    if URN.fullmatch(url):
        original = identity if isinstance(identity, str) else url.rpartition(":")[2]
        return Target(type_, original, as_urn=True)
    found = LITERAL.fullmatch(url)
    return None if found is None else Target(found["type"], found["id"], found["base"] or "")
