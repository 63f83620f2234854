"""Channels over HTTPS between machines: TLS 1.3, both sides with pinned certificates, one open port for each party."""

from __future__ import annotations

from kohorte.parties.transport.https.server import PartyServer
from kohorte.parties.transport.https.terms import Contact, Invitation, Limits, Patience, RunTerms

__all__ = ["Contact", "Invitation", "Limits", "PartyServer", "Patience", "RunTerms"]
