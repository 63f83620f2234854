"""The parts of a service: all are served, or only some, so that two houses run one part each."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """A part with its own routes; all but the research part also have their own folder and keys."""

    RESEARCH = "research"
    PATIENTS = "patients"
    PSEUDONYMS = "pseudonyms"
    EXCHANGE = "exchange"


OF_TRUST = (Part.PATIENTS, Part.PSEUDONYMS, Part.EXCHANGE)
"""The parts that keep keys and lists in a folder of their own."""
