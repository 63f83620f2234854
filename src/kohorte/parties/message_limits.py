"""How large the messages of a study can be, by kind: one that is larger ends the run before it fills the memory."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.errors import InputError
from kohorte.parties.dummy_rows.ties import PAIRS
from kohorte.parties.study import Study

SMALL = 1 << 12
"""Bytes of a message that has a key, or a number or two."""

LABEL = 256
"""Bytes for what is said about one column, besides its name."""

COUNTER = 64
"""Bytes of an encrypted counter under ElGamal; under Paillier it has more."""

SEALED = 21
"""Bytes of the shortest encrypted identifier."""

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


def refuse_large(study: Study, name: str, rows: int, most: int) -> None:
    """Refuse a table that cannot be sent, before anything is sent; `most` is how many bytes a message may have.

    Counted is what every row needs: a byte in each column, its identifier and its counter. A table that passes can
    still be too large, if its columns have many values: then the run ends when it is sent.
    """
    counts = study.dummies > 0 and any(names[0] == name for names in study.groups().values())
    each = len(study.columns_of(name)) + (SEALED if study.joins else 0) + (COUNTER if counts else 0)
    needed = int(rows * (1 + study.dummies)) * each
    if needed > most:
        raise InputError(
            f"the table has {rows:,} rows, which need at least {needed:,} bytes as a message; parties accept "
            f"{most:,}: divide the study, for example by years",
            code="party-table-too-large",
        )
