"""The parts of a service: all are served, or only some, so that two houses run one part each."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """A part with its own routes; the patient list and the pseudonyms also have their own folder and keys."""

    RESEARCH = "research"
    PATIENTS = "patients"
    PSEUDONYMS = "pseudonyms"


OF_TRUST = (Part.PATIENTS, Part.PSEUDONYMS)
"""The parts that keep keys and lists in a folder of their own."""
