"""Dummy rows that are the mirror image of all rows: nothing that can be seen tells which half is the real one.

Every row gets one dummy row, in which labels are exchanged for their partners (exchange.py). The exchange is its own
inverse. So it turns dummy rows into real ones as well, and changes nothing in the whole table but the names of labels;
these are ciphertexts, which are random for all who have no key. Whatever is counted about a row is counted about its
mirror image, too.

If columns are divided between parties, each exchanges the labels of its own. If rows are divided, all parties must
exchange alike without telling each other their values: they exchange labels of hierarchies whose values the plan lists,
and codes, numbers and dates by how they are written (patterns). Other columns stay as they are. The identifier of a
dummy row is a keyed hash of that of the person, so that parties find the dummy row of a person together without asking
who is at the others.

Guarantee
    A member that has no key of the parties, sees all that is sent to it, and even knows the real rows in plain text,
    cannot tell for any row whether it is the dummy row, better than by tossing a coin.
Leaves open
    Of a row and its mirror image exactly one is real. Somebody who knows for certain that some rows are real may learn
    it about others. The table of both halves shows how often two partners occur together, and the hierarchy with
    invented labels.
Source
    docs/decisions/0043-mirrored-dummy-rows.md has the proof.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kohorte.parties.dummy_rows.exchange import NAME, exchanged_labels
from kohorte.parties.dummy_rows.patterns import Labels, Pattern, pattern_of
from kohorte.parties.own_table import LabelledColumn, OwnTable, labels_of, listed_values, numbered
from kohorte.parties.study import Distribution, Protocol, Study

Key = Callable[[str], bytes]


Known = LabelledColumn | Pattern
"""What all parties know about the values of a column: all of them, or how they are written."""


def known_to_all(study: Study) -> dict[str, Known] | None:
    """The columns that all parties can exchange alike; None if each column is at one party, which knows its values."""
    if study.distribution is Distribution.VERTICAL:
        return None
    found = {name: listed_values(study, name) or pattern_of(study, name) for name in study.columns}
    return {name: known for name, known in found.items() if known is not None and _can_exchange(known)}


def _can_exchange(known: Known) -> bool:
    return not isinstance(known, LabelledColumn) or bool(exchanged_labels(known, b""))


def against_mirroring(study: Study) -> str:
    """Why mirrored rows would be told from real ones, or would be copies of them; empty if they would not."""
    if study.plan.suppression_limit > 0 and study.protocol is not Protocol.C:
        return (
            "mirrored rows could be told by which classes are not shown; take protocol C, state suppression_limit: 0, "
            "or state a share of dummy rows, such as dummies: 0.25"
        )
    known = known_to_all(study)
    if known is None or any(name in known for name in study.plan.quasi_identifiers):
        return ""
    return (
        "all parties must exchange the same labels for mirrored rows; therefore the plan must list the values of a "
        "quasi-identifier in its hierarchy (csv, rows, tree), with labels that can be exchanged, or say how they are "
        "written (redaction, intervals, dates); or state a share of dummy rows, such as dummies: 0.25"
    )


def not_exchanged(study: Study) -> list[str]:
    """The columns that are counted and stay as they are in mirrored rows: how often their values occur is seen."""
    known, plan = known_to_all(study), study.plan
    if known is None:
        return []
    return [name for name in dict.fromkeys((*plan.quasi_identifiers, *plan.counted_attributes)) if name not in known]


def with_mirrored_rows(own: OwnTable, listed: Mapping[str, Known] | None, key: Key, person: bytes) -> OwnTable:
    """Add the mirror image of each row behind all rows.

    `listed` is what all parties know about columns; None if nobody else has these columns. `key` gives the key
    of a column, `person` is that of identifiers.
    """
    columns = {}
    for name, column in own.columns.items():
        known = column if listed is None else listed.get(name)
        columns[name] = _with_partners(column, _images(column, known, key(name)))
    if own.identifiers is None:
        return OwnTable(columns)
    return OwnTable(columns, (*own.identifiers, *(_partner(identifier, person) for identifier in own.identifiers)))


def _partner(identifier: str, key: bytes) -> str:
    return f"\0{hashlib.shake_256(key + identifier.encode()).digest(NAME).hex()}"


def _images(column: LabelledColumn, known: Known | None, key: bytes) -> list[Labels]:
    """The labels of the partner of each value."""
    if known is not None and not isinstance(known, LabelledColumn):
        return known.images(column, key)
    pairs = {} if known is None else exchanged_labels(known, key)
    return [tuple(text if text is None else pairs.get(text, text) for text in labels) for labels in labels_of(column)]


def _with_partners(column: LabelledColumn, images: Sequence[Labels]) -> LabelledColumn:
    """The column twice: as it is, and with exchanged labels."""
    values = labels_of(column)
    number = {labels: place for place, labels in enumerate(dict.fromkeys((*values, *images)))}
    source = {labels: place for place, labels in enumerate((*values, *images))}
    image_of = np.array([number[labels] for labels in images], dtype=np.uint32)
    codes = np.concatenate([column.codes, image_of[column.codes]]) if len(values) else column.codes
    shares = None
    if column.shares is not None:
        shares = np.concatenate([column.shares, column.shares])[[source[labels] for labels in number]]
    return numbered(codes, list(number), shares) if len(values) else column
