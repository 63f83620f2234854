"""Codes, units and addresses of standards: texts that cannot be anything else, and so may stay without a word.

FHIR has many elements for codes and addresses that are texts in JSON, and systems write anything into them: a remark
into a unit, a name into a code of their own. A text is harmless only if it is one of the codes that FHIR itself
defines, has the form of a code in the terminology that stands beside it, or is the address of a published profile or
terminology. Everything else is listed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from kohorte.pseudonyms.fhir.types import TYPES
from kohorte.pseudonyms.fhir.units import is_unit

_DEFINED = """
draft active retired unknown on-hold revoked completed entered-in-error stopped suspended cancelled proposed accepted
rejected requested received ready in-progress failed finished planned arrived triaged onleave inactive waitlist
registered preliminary final amended corrected appended partial preparation not-done aborted declined intended
not-taken unavailable unsatisfactory available pending booked fulfilled noshow checked-in ended issued current
superseded balanced billed billable not-billable delivered submitted test instantiated executed terminated withdrawn
proposal plan directive order original-order reflex-order filler-order instance-order option
routine urgent asap stat
male female other usual official temp nickname anonymous old maiden secondary home work mobile billing postal physical
phone fax email pager url sms both
recurrence relapse remission resolved unconfirmed provisional differential confirmed refuted
problem-list-item encounter-diagnosis allergy intolerance food medication environment biologic low high unable-to-assess
mild moderate severe fatal
social-history vital-signs imaging laboratory procedure survey exam therapy activity inpatient outpatient community
cause complication comorbidity replaces transforms signs appends permit deny opt-in
generated extensions additional empty snapshot changes working mode match include outcome
document message transaction transaction-response batch batch-response history searchset collection
not-asked asked-unknown temp-unknown not-asked asked-declined masked not-applicable unsupported as-text error
not-a-number negative-infinity positive-infinity not-performed not-permitted
person animal practitioner device substance group
< <= > >= ad
GET POST PUT PATCH DELETE HEAD
"""
CODES = frozenset(_DEFINED.split())
"""Codes that FHIR R4 defines for its own elements (status, intent, use, gender, comparator, ...), without names."""

_HL7_CODE = re.compile(r"[A-Z][A-Z0-9_]{0,7}|[0-9]{1,4}|_[A-Z][A-Za-z]{2,30}")
_ICD = re.compile(r"[A-Z][0-9]{2}(\.(-|[0-9][0-9-]?))?[+*!†]?")
_SHAPES: Mapping[str, re.Pattern[str]] = {
    "http://loinc.org": re.compile(r"[0-9]{1,7}-[0-9]|(LA|LP|LL|LG)[0-9]{1,7}-[0-9]"),
    "http://snomed.info/sct": re.compile(r"[0-9]{6,18}"),
    "http://fhir.de/CodeSystem/bfarm/icd-10-gm": _ICD,
    "http://fhir.de/CodeSystem/dimdi/icd-10-gm": _ICD,
    "http://hl7.org/fhir/sid/icd-10": _ICD,
    "http://hl7.org/fhir/sid/icd-10-cm": re.compile(r"[A-Z][0-9][0-9A-Z](\.[0-9A-Z]{1,4})?"),
    "http://fhir.de/CodeSystem/bfarm/ops": re.compile(r"[0-9]-[0-9][0-9a-z]{1,2}(\.[0-9a-z]{1,3})?"),
    "http://fhir.de/CodeSystem/dimdi/ops": re.compile(r"[0-9]-[0-9][0-9a-z]{1,2}(\.[0-9a-z]{1,3})?"),
    "http://fhir.de/CodeSystem/bfarm/atc": re.compile(r"[A-Z]([0-9]{2}([A-Z]([A-Z]([0-9]{2})?)?)?)?"),
    "http://fhir.de/CodeSystem/dimdi/atc": re.compile(r"[A-Z]([0-9]{2}([A-Z]([A-Z]([0-9]{2})?)?)?)?"),
    "http://www.whocc.no/atc": re.compile(r"[A-Z]([0-9]{2}([A-Z]([A-Z]([0-9]{2})?)?)?)?"),
    "http://fhir.de/CodeSystem/ifa/pzn": re.compile(r"[0-9]{7,8}"),
    "http://terminology.hl7.org/CodeSystem/icd-o-3": re.compile(r"[0-9]{4}/[0-9]|C[0-9]{2}(\.[0-9])?"),
    "http://www.nlm.nih.gov/research/umls/rxnorm": re.compile(r"[0-9]{1,8}"),
    "urn:iso:std:iso:3166": re.compile(r"[A-Z]{2,3}"),
    "urn:iso:std:iso:11073:10101": re.compile(r"[0-9]{1,7}"),
    "urn:ietf:bcp:47": re.compile(r"[a-z]{2,3}(-[A-Z]{2})?"),
    "urn:ietf:bcp:13": re.compile(r"(application|text|image)/[a-z.+-]{2,30}"),
}
"""The form of the codes of a terminology, by its address."""
_HL7 = ("http://terminology.hl7.org/", "http://hl7.org/fhir/", "http://dicom.nema.org/resources/ontology/DCM")
_PUBLISHED = re.compile(
    r"https?://((www\.)?(hl7\.org|loinc\.org|snomed\.info|unitsofmeasure\.org|whocc\.no|medizininformatik-initiative\.de|"
    r"gematik\.de|fhir\.de)|(terminology|build)\.(hl7|fhir)\.org|fhir\.kbv\.de|ihe\.net|profiles\.ihe\.net|"
    r"simplifier\.net|dicom\.nema\.org|nlm\.nih\.gov)(/[A-Za-z0-9._~-]{1,60}){0,8}/?(\|[0-9.]{1,12})?(#[A-Za-z0-9.-]{1,60})?"
)
_FORMATS = frozenset(
    f"{kind}/{name}"
    for kind, names in {
        "text": "plain html xml csv markdown rtf calendar cda+xml",
        "image": "jpeg png gif tiff svg+xml bmp webp dicom",
        "application": "pdf json xml fhir+json fhir+xml dicom hl7-v3+xml hl7-v2 octet-stream zip rtf msword",
        "audio": "mpeg wav ogg basic",
        "video": "mp4 mpeg ogg",
    }.items()
    for name in names.split()
)
"""Media types of attachments."""
UCUM = "http://unitsofmeasure.org"


def is_harmless(key: str, text: str, beside: Mapping[str, Any]) -> bool:
    """Whether a text is a code, a unit or an address of a standard; `beside` has the elements of the same object."""
    if text in CODES:
        return True
    if key == "code":
        return _is_code(text, beside.get("system"))
    check = _CHECKS.get(key)
    return check is not None and check(text)


def _is_code(text: str, system: object) -> bool:
    """Whether a code has the form that its terminology gives it; a terminology that is not known may have names."""
    if not isinstance(system, str):
        return False
    if system == UCUM:
        return is_unit(text)
    shape = _SHAPES.get(system)
    if shape is not None:
        return shape.fullmatch(text) is not None
    return system.startswith(_HL7) and _is_published(system) and _HL7_CODE.fullmatch(text) is not None


def _is_published(text: str) -> bool:
    """Whether an address is that of a published profile or terminology."""
    return text in _SHAPES or _PUBLISHED.fullmatch(text) is not None


def _is_format(text: str) -> bool:
    kind, _, parameter = text.partition(";")
    return kind in _FORMATS and parameter.strip().lower() in ("", "charset=utf-8")


def _fits(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


_CHECKS: Mapping[str, Callable[[str], bool]] = {
    "system": _is_published,
    "profile": _is_published,
    "url": _is_published,
    "unit": is_unit,
    "type": lambda text: text in TYPES,
    "version": _fits(r"v?[0-9]{1,4}(\.[0-9]{1,4}){0,3}"),
    "language": _fits(r"[a-z]{2}(-[A-Z]{2})?"),
    "contentType": _is_format,
    "country": _fits(r"[A-Z]{2,3}"),
    "state": _fits(r"([A-Z]{2}-)?[A-Z]{2}"),
}
