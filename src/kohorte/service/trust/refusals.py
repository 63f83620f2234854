"""Every call that a part refuses is an entry of its chained log, and what matters is told to data protection officers.

Refusals are noted in one place, where errors become answers. Steps of a way back, TempIDs and exports are also refused
on the command line; their packages note these refusals themselves.
"""

from __future__ import annotations

import logging

from kohorte.errors import AccessDenied, KohorteError
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.problems import status_of
from kohorte.service.trust.folders import name_of, opened
from kohorte.trust.notices import REFUSED_OPERATION

NOTED_BELOW = frozenset(
    f"way-back-{step}"
    for step in ("own", "twice", "open", "other", "approver", "dependent", "shown", "declined", "expired", "recipient")
) | {"temp-id-refused", "consent-changed", "too-many-requests"}
"""The codes of refusals that are in the log already; too many requests would only fill it."""
REFUSED_INPUT = "refuse input"
"""What may be a mistake in typing: it is logged, and nobody is told."""
TOLD_STATUS = (404, 409)
SERVER_ERRORS = 500
PREFIXES = {
    "/api/v1/patients": Part.PATIENTS,
    "/api/v1/domains": Part.PSEUDONYMS,
    "/api/v1/encodings": Part.PSEUDONYMS,
    "/api/v1/way-back": Part.PSEUDONYMS,
    "/api/v1/exchange": Part.EXCHANGE,
    "/ttp-fhir/": Part.PSEUDONYMS,
    "/v1/fhir/": Part.PSEUDONYMS,
    "/app/patients": Part.PATIENTS,
    "/app/way-back/people": Part.PATIENTS,
    "/app/way-back": Part.PSEUDONYMS,
    "/app/pseudonyms": Part.PSEUDONYMS,
    "/app/exchange": Part.EXCHANGE,
}
"""How the paths of a part begin, of the REST interface and of the pages; the first that fits counts."""
_log = logging.getLogger("kohorte.service")


def part_of(path: str) -> Part | None:
    """Return the part with a chained log that a path belongs to, if any."""
    return next((part for prefix, part in PREFIXES.items() if path.startswith(prefix)), None)


def note(service: Service, part: Part, actor: Actor, operation: str, error: KohorteError) -> None:
    """Note that a call was refused, with the code of the error; failures of the service are no refusals."""
    status = status_of(error)
    if status >= SERVER_ERRORS or error.code in NOTED_BELOW:
        return
    told = isinstance(error, AccessDenied) or status in TOLD_STATUS
    action = REFUSED_OPERATION if told else REFUSED_INPUT
    try:
        with opened(service, part) as folder:
            folder.log.append(action, operation, actor=name_of(actor), reason=error.code)
    except KohorteError as problem:
        _log.error("a refusal could not be noted: %s (%s)", problem.message, problem.code)
