"""Bundles: entries with full URLs and requests, whose references to each other stay consistent.

Of a Bundle only its type, its entries and the number of matches are kept; links, identifiers, times and signatures are
not: they name servers and queries, or would no longer be true.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kohorte.errors import InputError
from kohorte.pseudonyms.fhir.codes import CODES
from kohorte.pseudonyms.fhir.json_text import Decimal
from kohorte.pseudonyms.fhir.references import Target, entry_target, target_of
from kohorte.pseudonyms.fhir.rules import TYPE
from kohorte.pseudonyms.fhir.walking import GONE, Walker

BUNDLE = "Bundle"
SEARCH_KEPT = ("mode", "score")


def bundle(value: Mapping[str, Any], walker: Walker, where: str) -> dict[str, Any]:
    """A Bundle by the rules of the types of its entries."""
    before = f"{where}, " if where else ""
    entries = value.get("entry", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{before or 'the Bundle: '}entry is not a list of entries", code="fhir-json")
    urns = {str(entry["fullUrl"]): own for entry in entries if (own := entry_target(entry)) is not None}
    kept = [
        found
        for number, entry in enumerate(entries, start=1)
        if (found := _entry(entry, walker, f"{before}entry {number}", urns))
    ]
    out: dict[str, Any] = {"resourceType": BUNDLE}
    if "type" in value:
        out["type"] = _code(value["type"], f"{before or 'the Bundle: '}type")
    if type(value.get("total")) is int and len(kept) == len(entries):
        out["total"] = value["total"]
    return out | ({"entry": kept} if kept else {})


def _entry(entry: Mapping[str, Any], walker: Walker, where: str, urns: Mapping[str, Target]) -> dict[str, Any]:
    """An entry with its full URL, resource and request; empty if the rules leave it out."""
    out: dict[str, Any] = {}
    url = entry.get("fullUrl")
    own = urns.get(url) if isinstance(url, str) else None
    if "resource" in entry:
        if url is not None and own is None:
            raise InputError(
                f"{where}: fullUrl is neither a URN nor the address of a resource, so that nobody can tell whom it "
                "names",
                code="fhir-reference",
            )
        resource = walker.resource(entry["resource"], where, urns, own)
        if resource is GONE:
            return {}
        if own is not None:
            walker.pseudonym(out, "fullUrl", own, f"{where}: fullUrl", str(url))
        out["resource"] = resource
    _request(entry.get("request"), out, walker, where, urns)
    search = entry.get("search")
    if isinstance(search, dict):
        out["search"] = {
            key: search[key] if isinstance(search[key], int | Decimal) else _code(search[key], f"{where}: search.{key}")
            for key in SEARCH_KEPT
            if key in search
        }
    return out


def _request(request: Any, out: dict[str, Any], walker: Walker, where: str, urns: Mapping[str, Target]) -> None:
    """The method and the address of a request; a condition could name a person, and is refused."""
    if not isinstance(request, dict):
        return
    url = request.get("url")
    made: dict[str, Any] = {"method": _code(request.get("method"), f"{where}: request.method")}
    target = target_of(url, urns) if isinstance(url, str) else None
    if target is not None:
        made["url"] = target.type  # where the rules remove ids
        walker.pseudonym(made, "url", target, f"{where}: request", str(url))
    elif isinstance(url, str) and (not url or TYPE.fullmatch(url)):
        made["url"] = url
    else:
        raise InputError(
            f"{where}: the address of the request is neither a type nor TYPE/ID, so that nobody can tell whom it names",
            code="fhir-reference",
        )
    out["request"] = made


def _code(value: Any, where: str) -> str:
    """A code that FHIR defines; anything else could be a text."""
    if not isinstance(value, str) or value not in CODES:
        raise InputError(f"{where}: is not a code of FHIR", code="fhir-json")
    return value
