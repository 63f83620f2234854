"""Pseudonyms and consent in the releases of projects.

A project gets pseudonyms only of domains that the settings name, from the pseudonyms of this service or from the
service of another house. The texts count towards the daily limit of the person who makes the project: otherwise a table
with all PIDs, each beside itself, would be a way back without approvers. If a config names a purpose of consent, only
rows of people who agreed are used, the release is noted as an export, and it is handed out only as long as everybody in
it is still covered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import SystemRandom
from typing import Any

import polars as pl

from kohorte.errors import EngineError, InputError, KohorteError, PrivacyViolation
from kohorte.patients.consents.elsewhere import ConsentsElsewhere
from kohorte.patients.consents.filtering import FrameExport, Purpose
from kohorte.patients.consents.register import Consents
from kohorte.patients.patient_list import PatientList
from kohorte.plans import Plan
from kohorte.plans.people.project_pseudonyms import Pseudonymize
from kohorte.pseudonyms.domains import Domains
from kohorte.pseudonyms.for_releases import ReleasePseudonyms
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.settings import FILES, Settings
from kohorte.service.trust import consents, limits, refusals
from kohorte.service.trust.folders import name_of, opened, opened_at
from kohorte.trust.remote import OtherHouse

CONSENT = "consent"
CONSENT_KEYS = ("purpose", "column", "categories")
NO_CONSENT = (
    "the release ties rows to people of the patient list, and no consent was checked: name a purpose (consent), or be "
    "sure that everybody in the table agreed"
)


@dataclass(frozen=True)
class Places:
    """Where the process that makes a release finds pseudonyms and consents; paths only, no key."""

    domains: tuple[str, ...]
    pseudonyms: str | None
    patients: str | None
    house: Mapping[str, str] | None = field(default=None)
    list_house: Mapping[str, str] | None = field(default=None)

    @classmethod
    def of(cls, settings: Settings) -> Places:
        """Return the places of a service."""
        served = {part: str(settings.trust_folder(part).absolute()) for part in settings.parts}
        houses = (settings.other_house("pseudonyms"), settings.other_house("patients"))
        return cls(settings.project_domains, served.get(Part.PSEUDONYMS), served.get(Part.PATIENTS), *houses)

    @property
    def other_house(self) -> OtherHouse | None:
        """The service of the other house that makes the pseudonyms, if there is one."""
        return None if self.house is None else _house(self.house)

    @property
    def house_of_list(self) -> OtherHouse | None:
        """The service of the other house that has the patient list, unless this one has a list of its own."""
        return None if self.list_house is None or self.patients is not None else _house(self.list_house)

    @property
    def know_consents(self) -> bool:
        """Whether there is a patient list, here or in another house."""
        return self.patients is not None or self.list_house is not None


def _house(given: Mapping[str, str]) -> OtherHouse:
    certificate, key, pinned = (Path(given[name]) for name in FILES)
    return OtherHouse(given["at"], certificate, key, pinned)


def stated_consent(config: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any] | None:
    """Return the consent that a config asks for; columns are compared with those of the table."""
    given = config.get(CONSENT)
    if given is None:
        return None
    unknown = sorted(set(given) - set(CONSENT_KEYS))
    if unknown or not isinstance(given.get("purpose"), str):
        raise _wrong_consent(
            f"names a purpose, and perhaps column and categories{f', not {unknown}' if unknown else ''}"
        )
    found = {"purpose": given["purpose"], "column": given.get("column") or "pid"}
    kinds = {name: kind for kind, names in (given.get("categories") or {}).items() for name in names}
    missing = [name for name in (found["column"], *kinds) if name not in columns]
    if missing:
        raise _wrong_consent(f"the dataset has no column {missing[0]!r}")
    Purpose(found["purpose"], "project")
    return found | {"categories": kinds}


def check(
    service: Service, actor: Actor, plan: Plan, consent: Mapping[str, Any] | None, distinct: Mapping[str, int]
) -> tuple[str, ...]:
    """Refuse pseudonyms and consents that this service cannot give, before any work is done; return warnings."""
    places = Places.of(service.settings)
    if consent is not None:
        _refuse_without_list(service, places)
        limits.count(service, actor, distinct[consent["column"]])  # the release tells who of them agreed
    if not plan.pseudonyms:
        return ()
    try:
        _refuse(service, plan, places, distinct)
        limits.count(service, actor, sum(distinct[name] for name in plan.pseudonyms))
    except KohorteError as error:
        if Part.PSEUDONYMS in service.settings.parts:
            refusals.note(service, Part.PSEUDONYMS, actor, "create_project", error)
        raise
    return () if consent is not None or not places.know_consents else (NO_CONSENT,)


def _refuse_without_list(service: Service, places: Places) -> None:
    """Refuse where nobody says who agreed: no list, an older one, which lacks withdrawals, or one out of reach."""
    if not places.know_consents:
        raise _no_list()
    if (house := places.house_of_list) is not None:
        house.call("GET", "/users/me")
        return
    with opened(service, Part.PATIENTS):
        pass


def _refuse(service: Service, plan: Plan, places: Places, distinct: Mapping[str, int]) -> None:
    for name, domain in plan.pseudonyms.items():
        _refuse_others(domain, places)
        if (house := places.other_house) is not None:
            house.call("GET", f"/domains/{domain}")
        elif places.pseudonyms is None:
            raise InputError(
                "pseudonym: this service makes no pseudonyms and knows no service that does (setting pseudonyms_at); "
                "leave the key out, and the column is removed",
                code="project-pseudonym",
            )
        else:
            _open(service, domain, distinct[name])


def _open(service: Service, domain: str, texts: int) -> None:
    """Open a domain once, to see that it can be used and tells nobody who is new; the names of others are not told."""
    try:
        with opened(service, Part.PSEUDONYMS) as folder:
            Domains(folder).open(domain).kind.refuse_telling(texts)
    except InputError as error:
        if error.code != "pseudonym-domain-unknown":
            raise
        raise InputError("pseudonym: there is no such domain", code="project-pseudonym") from None


def _refuse_others(domain: str, places: Places) -> None:
    if domain not in places.domains:
        raise InputError(
            "pseudonym: projects of this service get no pseudonyms of this domain; the operator names such domains in "
            "the setting project_domains",
            code="project-pseudonym",
        )


def request_of(actor: Actor, project_id: int, consent: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the job of a project has to know."""
    return {"actor": name_of(actor), "project": f"project-{project_id}"} | (
        {} if consent is None else {CONSENT: consent}
    )


def pseudonymizer(places: Places, plan: Plan, actor: str) -> Pseudonymize | None:
    """Return what makes the pseudonyms of a plan, in the process that makes its release."""
    if not plan.pseudonyms:
        return None
    house, folder = places.other_house, places.pseudonyms

    def made(domain: str, texts: pl.Series) -> pl.Series:
        _refuse_others(domain, places)
        if house is not None:
            return _made_elsewhere(house, domain, texts)
        if folder is None:
            raise _no_list()
        with opened_at(Path(folder), Part.PSEUDONYMS) as trust:
            return ReleasePseudonyms(Domains(trust), actor=actor, discreet=True)(domain, texts)

    return made


def _made_elsewhere(house: OtherHouse, domain: str, texts: pl.Series) -> pl.Series:
    """The pseudonyms of another house; they are asked for in any order, which would tell that of the rows."""
    originals = SystemRandom().sample(texts.to_list(), len(texts))
    found = house.pseudonyms(domain, originals)
    if len(found) != len(originals) or not all(one is None or isinstance(one, str) for one in found):
        raise EngineError("the other house answered with something else than pseudonyms", code="trust-house-failed")
    by_text = dict(zip(originals, found, strict=True))
    return pl.Series([by_text[one] for one in texts], dtype=pl.String)


def remember_parts(service: Service, request: Mapping[str, Any]) -> None:
    """Note, after the process of a release, how far it brought the logs of the parts.

    Otherwise a folder that is put back before the next request would lack the note of the export, unnoticed.
    """
    for part in (Part.PATIENTS, Part.PSEUDONYMS) if "actor" in request else ():
        if part in service.settings.parts:
            with suppress(KohorteError), opened(service, part):
                pass


def consented(
    places: Places, request: Mapping[str, Any], frame: pl.DataFrame
) -> tuple[pl.DataFrame, Callable[[bytes], dict[str, Any] | None]]:
    """Return the rows of the people who agreed, and a function that checks again and notes the release as an export."""
    stated = request.get(CONSENT)
    if stated is None:
        return frame, lambda _: None
    export = FrameExport(Purpose(stated["purpose"], request["project"]), stated["column"], stated["categories"])
    if (house := places.house_of_list) is not None:
        return _agreed_elsewhere(ConsentsElsewhere(house, request["project"]), export, stated["purpose"], frame)
    with _list(places, request["actor"]) as agreed:
        kept = export.filtered(agreed, frame)

    def noted(content: bytes) -> dict[str, Any]:
        with _list(places, request["actor"]) as agreed:
            return {"purpose": stated["purpose"], "export": export.note(agreed, content)}

    return kept, noted


def _agreed_elsewhere(
    asked: ConsentsElsewhere, export: FrameExport, purpose: str, frame: pl.DataFrame
) -> tuple[pl.DataFrame, Callable[[bytes], dict[str, Any] | None]]:
    kept = export.filtered(asked, frame)

    def noted(content: bytes) -> dict[str, Any]:
        export.note(asked, content)
        return {"purpose": purpose, "exports": asked.exports}

    return kept, noted


@contextmanager
def _list(places: Places, actor: str) -> Iterator[Consents]:
    if places.patients is None:
        raise _no_list()
    with opened_at(Path(places.patients), Part.PATIENTS) as folder:
        patients = PatientList(folder, actor=actor)
        try:
            yield Consents(patients)
        finally:
            patients.close()


def refuse_withdrawn(service: Service, actor: Actor, certificate: Mapping[str, Any] | None) -> None:
    """Refuse to hand out a release if somebody in it is not covered any more, or if nobody can tell."""
    noted = (certificate or {}).get(CONSENT)
    if noted is None:
        return
    try:
        _confirm(service, actor, noted)
    except PrivacyViolation as error:
        raise PrivacyViolation(
            "consent of people in this release has ended since it was made; it is not handed out any more, and a new "
            "project has nobody who withdrew",
            code=error.code,
        ) from None


def _confirm(service: Service, actor: Actor, noted: Mapping[str, Any]) -> None:
    """Ask the list that the release was noted in; another one, or none, cannot say anything."""
    if "exports" in noted:
        house = Places.of(service.settings).house_of_list
        if house is None:
            raise _no_list()
        ConsentsElsewhere(house, "", noted["exports"]).confirm()
    elif Part.PATIENTS in service.settings.parts:
        consents.confirm(service, actor, noted["export"])
    else:
        raise _no_list()


def _no_list() -> InputError:
    return InputError(
        "consent: this service has no patient list that says who agreed, and knows no house that has one (setting "
        "patients_at); or filter the table with 'kohorte patients consent filter' before it is uploaded",
        code="project-consent",
    )


def _wrong_consent(reason: str) -> InputError:
    return InputError(f"config.consent: {reason}", code="project-consent", field="config.consent")
