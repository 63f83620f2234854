"""The operations of FHIR on the domains of a folder: what a service calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from kohorte.errors import InputError
from kohorte.pseudonyms.domains import Domain, Domains
from kohorte.pseudonyms.fhir.operations import Show, create_pseudonym, de_pseudonymize, pseudonymize
from kohorte.pseudonyms.made import TextError
from kohorte.pseudonyms.resolving import Source
from kohorte.pseudonyms.texts import plain_text, pseudonymized
from kohorte.trust.way_back import WayBack

GPAS_PATH = "/ttp-fhir/fhir/gpas"
VFPS_PATH = "/v1/fhir"
ALLOW_CREATE = ("$pseudonymizeAllowCreate", "$pseudonymize-allow-create")
LOOK_UP = ("$pseudonymize",)
WAY_BACK = ("$dePseudonymize", "$de-pseudonymize")
CREATE = ("$create-pseudonym",)
OPERATIONS: Mapping[str, tuple[str, ...]] = {GPAS_PATH: (*ALLOW_CREATE, *LOOK_UP, *WAY_BACK), VFPS_PATH: CREATE}
"""The operations by the path that clients expect; gPAS before version 1.10.3 spelled two of them with hyphens."""


class FhirOperations:
    """Answers operations for one person, who may pseudonymize; the way back needs an approved request of that person.

    A target is the name of a domain, whatever its capital letters. `discreet` as in `pseudonymized`.
    """

    def __init__(self, domains: Domains, *, actor: str, show: Show | None = None, discreet: bool = False) -> None:
        self._domains, self._actor, self._show = domains, actor, show or self._shown
        self._discreet = discreet

    def answered(self, operation: str, parameters: object) -> dict[str, Any]:
        """The answer to an operation."""
        if operation in ALLOW_CREATE:
            return pseudonymize(parameters, partial(self._asked, create=True))
        if operation in LOOK_UP:
            return pseudonymize(parameters, partial(self._asked, create=False))
        if operation in WAY_BACK:
            return de_pseudonymize(parameters, self._show)
        if operation in CREATE:
            return create_pseudonym(parameters, partial(self._asked, create=True))
        raise InputError("there is no such operation", code="fhir-operation")

    def _domain(self, target: str) -> Domain:
        return self._domains.open(target.lower())

    def _asked(self, target: str, originals: Sequence[str], *, create: bool) -> list[str | None]:
        """The pseudonyms of texts; with `create`, texts that have none get one."""
        domain = self._domain(target)
        if create:
            return pseudonymized(domain, originals, actor=self._actor, discreet=self._discreet).pseudonyms
        plain = [plain_text(domain.definition, original) for original in originals]
        wanted = list(dict.fromkeys(one for one in plain if one is not None))
        try:
            found = dict(zip(wanted, domain.kind.known(wanted, domain.key(None)), strict=True))
        except TextError as error:
            raise InputError(f"a value has no pseudonym: {error.message}", code=error.code) from None
        self._domains.folder.log.append(
            "look up", f"domain {domain.definition.name}", actor=self._actor, values=len(originals)
        )
        return [None if one is None else found[one] for one in plain]

    def _shown(self, number: int, target: str, pseudonyms: Sequence[str]) -> list[str | None]:
        """What pseudonyms of an approved request stand for."""
        check = refuse_others(target, pseudonyms)

        def reveal(source: str, items: Sequence[str]) -> list[str | None]:
            check(source, items)
            return Source.of(source).originals(self._domains.folder, pseudonyms)

        return WayBack(self._domains.folder).show(number, reveal, actor=self._actor)


def refuse_others(target: str, pseudonyms: Sequence[str]) -> Callable[[str, Sequence[str]], None]:
    """Return a check that a request was approved for these pseudonyms: it is shown once, so all must be asked for."""

    def check(source: str, items: Sequence[str]) -> None:
        if Source.of(source).domain != target.lower() or set(items) != set(pseudonyms):
            raise InputError(
                "the request was approved for other pseudonyms; send exactly those, and their domain as the target",
                code="fhir-way-back",
            )

    return check
