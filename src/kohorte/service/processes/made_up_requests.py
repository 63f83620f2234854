"""Requests for the demonstration, of made-up institutions: one is checked, one proven, and one asked in return."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from kohorte.exchange.peers.address_book import AddressBook
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.incoming import Arriving
from kohorte.exchange.peers.sending import request_to
from kohorte.exchange.request import Request
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.exchange import asking, requests, statistics
from kohorte.service.parts import Part
from kohorte.service.trust.folders import opened
from kohorte.trust.folder import TrustFolder

HOUSE, INSTITUTE = "Made-up Hospital", "Institute A"
NOWHERE = "https://127.0.0.1:9"
"""An address at which nobody listens: the made-up institution has no server."""
DAYS = 60
STATISTICS = {"sex": "sex", "occupation": "occupation", "diagnosis": "disease", "blood_group": "blood-group"}
HEART: dict[str, Any] = {
    "requester": {"name": "Dr. Xaver Neumann", "institution": "University B", "contact": "neumann@b.example"},
    "purpose": "Blood groups of people with diseases of the heart",
    "attributes": ["sex", "blood_group"],
    "condition": {"attribute": "diagnosis", "in": ["I10", "I25", "I48", "I50"]},
}
DIABETES: dict[str, Any] = {
    "requester": {"name": "Dr. Ada Winter", "institution": INSTITUTE, "contact": "winter@a.example"},
    "purpose": "Diabetes by region",
    "attributes": ["sex", "zip", "occupation"],
    "condition": {"all": [{"attribute": "diagnosis", "is": "E11"}, {"not": {"attribute": "sex", "is": "diverse"}}]},
}
FOLLOW_UP: dict[str, Any] = {
    "purpose": "Compare blood groups with our own patients",
    "attributes": ["sex", "blood_group"],
    "condition": {"attribute": "diagnosis", "in": ["I10", "I25", "I48", "I50"]},
}


def fill_exchange(
    service: Service, steward: Actor, researcher: Actor, *, dataset_id: int, plan: Mapping[str, Any]
) -> int:
    """Fill the inbox and start the check of a request; return the number of its job."""
    statistics.add_shipped(service, steward)
    until = {"until": (datetime.now(UTC).date() + timedelta(days=DAYS)).isoformat()}
    _receive_proven(service, steward, Request.from_dict({"kohorte": 1, **DIABETES, **until}))
    asking.send(service, researcher, INSTITUTE, FOLLOW_UP | until)
    number = requests.receive(service, steward, {"kohorte": 1, **HEART, **until})["number"]
    holding = {
        "kohorte": 1,
        "institution": HOUSE,
        "plan": dict(plan) | {"person": "ssn"},
        "policy": "default",
        "population": 500_000,
        "statistics": STATISTICS,
    }
    return requests.begin_check(service, steward, number, dataset_id, holding)


def _receive_proven(service: Service, steward: Actor, request: Request) -> None:
    """Let a made-up institution, whose folder is only there meanwhile, sign and send a request."""
    with opened(service, Part.EXCHANGE) as own, tempfile.TemporaryDirectory(prefix="kohorte-demo-") as place:
        house = Identity.create(own, HOUSE)
        other = TrustFolder.opened(Path(place) / "house", create=True)
        institute = Identity.create(other, INSTITUTE)
        AddressBook(other).add(HOUSE, NOWHERE, house.certificate, fingerprint=house.fingerprint)
        known = {"address": NOWHERE, "certificate": institute.certificate, "fingerprint": institute.fingerprint}
        asking.add_peer(service, steward, known | {"institution": INSTITUTE, "contacts": ["Dr. Ada Winter"]})
        item = request_to(other, request, HOUSE, today=datetime.now(UTC).date())
        parcel = Arriving(own, institute.fingerprint)
        for piece in item.signed.pieces(item.files):
            parcel.write(piece)
        parcel.finish()
