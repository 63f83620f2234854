"""A patient list with a grey zone, domains and requests for the way back, for the demonstration; all are made up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from kohorte.patients.identity import FIELDS
from kohorte.pseudonyms.domains import definition_of
from kohorte.pseudonyms.resolving import Source
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.parts import Part
from kohorte.service.trust import domains, patients, way_back

DOMAIN, DAYS = "heart-study", 14
DOMAINS: Sequence[tuple[str, str]] = ((DOMAIN, "reversible"), ("registry", "list"), ("statistics", "one-way"))
PEOPLE: Sequence[tuple[str, ...]] = (
    ("Hannelore", "Eichhorst", "", "1960-12-30", "f", "01067", "Dresden", "A123456780"),
    ("Hannelore", "Bauer", "", "1960-12-30", "f", "04109", "Leipzig", ""),  # after a marriage, or somebody else
    ("Lena", "Vogt", "", "2012-06-03", "f", "24103", "Kiel", ""),
    ("Marie", "Vogt", "", "2012-06-03", "f", "24103", "Kiel", ""),  # twins, or a second first name
    ("Ottokar", "Zwickel", "", "1975-05-17", "m", "80331", "München", "B234567891"),
    ("Ottokar", "Zwickel", "", "1957-05-17", "m", "", "", ""),  # swapped digits
    ("Miroslav", "Kowalczyk", "", "1983-09-21", "m", "99084", "Erfurt", ""),
    ("Ingeborg", "Sommerlath", "Brandt", "1949-01-12", "f", "50667", "Köln", "C345678902"),
    ("Tariq", "Rahmani", "", "1991-11-08", "m", "28195", "Bremen", ""),
)
FINDING = "Incidental finding in the heart study, tell the treating physician"
RECALL = "Follow-up of the heart study, invite the patients again"
INVITATION = "Invite a patient of the registry to a check-up"


def fill_patients(service: Service, actors: Mapping[str, Actor]) -> None:
    """Register people, make domains, and let people ask for the way back; `actors` are those of the demonstration."""
    trustee, researcher, steward = actors["trustee"], actors["researcher"], actors["steward"]
    described = [dict(zip(FIELDS, person, strict=True)) for person in PEOPLE]
    found = patients.register(service, trustee, described)
    pids = [str(one["pid"]) for one in found if one["outcome"] == "new"]
    for name, kind in DOMAINS:
        domains.create(service, trustee, definition_of(name=name, kind=kind))
    until = datetime.now(UTC) + timedelta(days=DAYS)
    made = domains.pseudonymize(service, trustee, DOMAIN, pids, key_version=None).pseudonyms
    known = [one for one in made if one is not None]
    ready = way_back.ask(service, researcher, Source(DOMAIN), known[:2], way_back.Wish(RECALL, until))
    for name in ("approver", "second-approver"):
        way_back.approve(service, actors[name], ready["request"])
    way_back.ask(service, researcher, Source(DOMAIN), known[2:3], way_back.Wish(FINDING, until))
    people = way_back.ask_people(service, steward, pids[:1], way_back.Wish(INVITATION, until))
    way_back.approve(service, actors["approver"], people["request"], part=Part.PATIENTS)
