"""What has been computed about tables and stays in memory for a while: explored spaces, risks, and proposed plans."""

from __future__ import annotations

from typing import Any

from kohorte.plans.proposal import Proposal
from kohorte.service.context import Service
from kohorte.service.datasets.recent import Recent
from kohorte.space.exploration import Exploration

MOST, MOST_ASSESSMENTS, MOST_PROPOSALS = 4, 32, 16
"""The most explorations, each with a prepared table until it is complete; assessments, which are figures; and plans."""
EXPLORATIONS: Recent[Exploration] = Recent(MOST)
ASSESSMENTS: Recent[dict[str, Any]] = Recent(MOST_ASSESSMENTS)
PROPOSALS: Recent[Proposal] = Recent(MOST_PROPOSALS)


def forget(service: Service, table_sha256: str) -> None:
    """Drop everything about a table that was deleted."""
    EXPLORATIONS.forget(service, table_sha256)
    ASSESSMENTS.forget(service, table_sha256)
    PROPOSALS.forget(service, table_sha256)
