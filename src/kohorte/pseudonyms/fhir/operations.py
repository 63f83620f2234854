"""Operations of other pseudonym services, as functions from Parameters to Parameters: those of gPAS and of Vfps.

They know no key and no list: the caller hands in functions that look up, make and resolve pseudonyms.

Source
    gPAS: THS Greifswald, FHIR gateway of the trusted third party, operations pseudonymize, pseudonymizeAllowCreate and
    dePseudonymize. Vfps: MIRACUM, operation create-pseudonym.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from kohorte.errors import AccessDenied, EngineError, InputError, InternalError, KohorteError

GPAS = "https://ths-greifswald.de/gpas"
"""The system of the identifiers in answers of gPAS; clients expect it."""
MOST_VALUES = 10_000

Ask: TypeAlias = Callable[[str, Sequence[str]], Sequence[str | None]]
"""Takes a domain and different texts; returns their pseudonyms, None for one that has none."""
Show: TypeAlias = Callable[[int, str, Sequence[str]], Sequence[str | None]]
"""Takes the number of an approved request, a domain and pseudonyms; returns what they stand for."""


def pseudonymize(parameters: object, ask: Ask) -> dict[str, Any]:
    """`$pseudonymize` and `$pseudonymizeAllowCreate` of gPAS; what `ask` returns decides which of the two it is."""
    target, originals = _target(parameters, "target"), _texts(parameters, "original")
    found = dict(zip(originals, ask(target, originals), strict=True))
    return _parameters(
        [
            _part("pseudonym", target=target, original=original, pseudonym=pseudonym)
            if pseudonym is not None
            else _error(target=target, original=original)
            for original, pseudonym in found.items()
        ]
    )


def de_pseudonymize(parameters: object, show: Show) -> dict[str, Any]:
    """`$dePseudonymize` of gPAS, for a request that two people have approved; its number is the parameter `request`."""
    target, pseudonyms = _target(parameters, "target"), _texts(parameters, "pseudonym")
    number = next(iter(_values(parameters, "request")), None)
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 10:
        number = int(number)
    if type(number) is not int:
        raise AccessDenied(
            "nobody goes the way back alone: ask for it with a purpose (reidentify request, or POST /api/v1/way-back); "
            "when two others have approved, send the number of the request as the parameter 'request'",
            code="fhir-way-back",
        )
    found = dict(zip(pseudonyms, show(number, target, pseudonyms), strict=True))
    return _parameters(
        [
            _part("original", target=target, original=original, pseudonym=pseudonym)
            if original is not None
            else _error(target=target, pseudonym=pseudonym)
            for pseudonym, original in found.items()
        ]
    )


def create_pseudonym(parameters: object, ask: Ask) -> dict[str, Any]:
    """`$create-pseudonym` of Vfps: one value, and its pseudonym."""
    namespace, originals = _target(parameters, "namespace"), _texts(parameters, "originalValue")
    if len(originals) > 1:
        raise InputError("originalValue: one value at a time", code="fhir-parameters")
    pseudonym = ask(namespace, originals)[0]
    if pseudonym is None:
        raise InputError("originalValue: is blank, and so has no pseudonym", code="fhir-parameters")
    values = {"namespace": namespace, "originalValue": originals[0], "pseudonymValue": pseudonym}
    return _parameters([{"name": name, "valueString": value} for name, value in values.items()])


def operation_outcome(error: KohorteError) -> dict[str, Any]:
    """An error as FHIR tells it: what is wrong, and the code of the error; no value."""
    kinds = ((AccessDenied, "forbidden"), (InternalError, "exception"), (EngineError, "transient"))
    kind = next((name for family, name in kinds if isinstance(error, family)), "invalid")
    if error.code in ("pseudonym-domain-unknown", "not-found"):
        kind = "not-found"
    return {
        "resourceType": "OperationOutcome",
        "issue": [
            {"severity": "error", "code": kind, "details": {"coding": [{"code": error.code}]},
             "diagnostics": error.message}
        ],
    }  # fmt: skip


# Parameters


def _values(parameters: object, name: str) -> list[object]:
    """All values of a parameter: texts, numbers, and the values of identifiers."""
    is_resource = isinstance(parameters, Mapping) and parameters.get("resourceType") == "Parameters"
    entries = parameters.get("parameter") if isinstance(parameters, Mapping) and is_resource else None
    if not isinstance(entries, list):
        raise InputError("the body is a Parameters resource with a list of parameters", code="fhir-parameters")
    found: list[object] = []
    for entry in entries:
        if not isinstance(entry, Mapping) or entry.get("name") != name:
            continue
        identifier = entry.get("valueIdentifier")
        values = [entry.get(key) for key in ("valueString", "valueInteger", "valuePositiveInt", "valueUnsignedInt")]
        values += [identifier.get("value")] if isinstance(identifier, Mapping) else []
        found += [value for value in values if value is not None]
    return found


def _texts(parameters: object, name: str) -> list[str]:
    values = _values(parameters, name)
    if not 1 <= len(values) <= MOST_VALUES:
        raise InputError(f"{name}: is given 1 to {MOST_VALUES:,} times", code="fhir-parameters")
    if not all(isinstance(value, str) and value for value in values):
        raise InputError(f"{name}: each is a valueString that is not empty", code="fhir-parameters")
    return list(dict.fromkeys(map(str, values)))


def _target(parameters: object, name: str) -> str:
    values = _texts(parameters, name)
    if len(values) != 1:
        raise InputError(f"{name}: is given once, the name of a domain", code="fhir-parameters")
    return values[0]


def _parameters(entries: list[dict[str, Any]]) -> dict[str, Any]:
    return {"resourceType": "Parameters", "parameter": entries}


def _part(name: str, **values: str) -> dict[str, Any]:
    return {"name": name, "part": _identifiers(values)}


def _error(**values: str) -> dict[str, Any]:
    coding = {"system": f"{GPAS}/error-code", "code": "not-found", "display": "no value found"}
    return {"name": "error", "part": [*_identifiers(values), {"name": "error-code", "valueCoding": coding}]}


def _identifiers(values: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "valueIdentifier": {"system": GPAS, "value": value}} for name, value in values.items()]
