"""How large the messages of a study can be, by kind: one that is larger ends the run before it fills the memory."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.parties.dummy_rows.ties import PAIRS
from kohorte.parties.study import Study

SMALL = 1 << 12
"""Bytes of a message that has a key, or a number or two."""

LABEL = 256
"""Bytes for what is said about one column, besides its name."""

COUNTER = 64
"""Bytes of an encrypted counter under ElGamal."""

STATEMENT = 1 << 26
"""Bytes of the certificate of a release, which has the whole plan, and of a signature."""


def most_bytes(study: Study) -> Mapping[str, int]:
    """The most bytes of each kind of message whose size does not depend on the number of rows.

    Other kinds have tables, counters or the release; before a run nobody knows how many rows the others have.
    """
    columns = len(study.plan.attributes)
    facts = SMALL + sum(LABEL + 6 * len(name.encode()) for name in study.plan.attributes)
    return {
        **dict.fromkeys(("key", "secret", "counter-key", "public-key", "rows"), SMALL),
        **dict.fromkeys(("lengths", "labels", "tied"), facts),
        "pairs": facts + columns * PAIRS * COUNTER,
        "agreeing": facts + columns**2 * COUNTER,
        **dict.fromkeys(("certificate", "signature", "signed"), STATEMENT),
    }
