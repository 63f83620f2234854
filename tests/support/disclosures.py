"""Requests to a disclosure ledger in short: a letter per person and a digit for the class of each."""

from __future__ import annotations

from typing import Any

import numpy as np

from kohorte.disclosures.candidate import Candidate
from kohorte.disclosures.ledger import Ledger

K = 3
NAMES = [f"p{number}" for number in range(12)]


def asked(ledger: Ledger, who: str, classes: str, recipient: str = "A", **more: Any) -> Candidate:
    """A request for some of twelve people: a is p0, b is p1 and so on."""
    people = ledger.fingerprints(NAMES)[[ord(letter) - ord("a") for letter in who]]
    return Candidate(people, np.array([int(digit) for digit in classes]), recipient, **more)
