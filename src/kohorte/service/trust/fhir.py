"""Operations of FHIR on the domains of the service; the way back needs its two approvers there, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kohorte.pseudonyms.fhir.serving import LOOK_UP, WAY_BACK, FhirOperations, refuse_others
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.trust import limits
from kohorte.service.trust.domains import known_domains, learns_nothing
from kohorte.service.trust.folders import name_of, note
from kohorte.service.trust.way_back import reveal


def answered(service: Service, actor: Actor, operation: str, parameters: object) -> dict[str, Any]:
    """Return the answer to an operation; the audit log has the operation and how many values were answered."""

    def shown(number: int, target: str, pseudonyms: Sequence[str]) -> list[str | None]:
        result, _ = reveal(service, actor, number, check=refuse_others(target, pseudonyms))
        found = {one: None if values is None else values[0] for one, values in result.found.items()}
        return [found[one] for one in pseudonyms]

    limits.count(service, actor, values_in(parameters))
    with known_domains(service) as domains:
        operations = FhirOperations(domains, actor=name_of(actor), show=shown, discreet=learns_nothing(actor))
        answer = operations.answered(operation, parameters)
    if operation not in WAY_BACK:  # of which `reveal` makes an entry
        action = "look-up-pseudonyms" if operation in LOOK_UP else "pseudonymize"
        note(service, actor, action, "fhir", pseudonyms=len(answer["parameter"]))
    return answer


def values_in(parameters: object) -> int:
    """How many parameters were sent, one of which names the domain; what is wrong with them is told later."""
    entries = parameters.get("parameter") if isinstance(parameters, dict) else None
    return max(len(entries) - 1, 1) if isinstance(entries, list) else 1
