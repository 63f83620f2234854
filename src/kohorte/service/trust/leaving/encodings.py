"""Two patient lists compared without names: a house encodes its list, and a third party compares.

The secret that both houses share comes with the call and is not kept. The file for the third party and the PIDs behind
its identifiers are never in one answer, so that nobody passes on both. Comparing belongs to the pseudonyms: that house
has no names, and must not have the secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from kohorte.data import parse_table
from kohorte.errors import InputError
from kohorte.patients.encodings.exchange import COLUMNS, Pair, compared, secret_in
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.trust import limits
from kohorte.service.trust.folders import note
from kohorte.service.trust.patients import ABOUT, patient_list

MOST_COMPARISONS = 5_000_000
"""Pairs of rows that one call may compare: they are held in memory."""


def encode(service: Service, actor: Actor, secret: str) -> pl.DataFrame:
    """Return the encoded list, for the third party."""
    key = secret_in(secret)
    with patient_list(service, actor) as patients:
        table, people = patients.encoded(key)
    note(service, actor, "encode-patients", ABOUT, people=people.height, records=table.height)
    return table


def look_up(service: Service, actor: Actor, secret: str, ids: Sequence[str]) -> list[str | None]:
    """Return the PIDs behind identifiers of an encoded list; None for one that is not of this list and secret."""
    limits.count(service, actor, len(ids))
    key = secret_in(secret)
    with patient_list(service, actor) as patients:
        found = patients.behind(key, ids)
    note(service, actor, "look-up-encoded", ABOUT, ids=len(ids))
    return found


def _parsed(text: str, name: str) -> pl.DataFrame:
    """Read an encoded list; nothing but CSV, since a small Parquet file can unpack to a large table."""
    if not text.startswith(",".join(COLUMNS)):
        raise InputError(
            f"{name}: an encoded list is a CSV file that begins with {','.join(COLUMNS)}", code="patients-encoding"
        )
    return parse_table(text.encode(), Path(f"{name}.csv"), separator=",", may_lack_rows=True).frame


def compare(service: Service, actor: Actor, one: str, other: str) -> list[Pair]:
    """Return the pairs of two encoded lists that are a match or grey; it needs no key and changes no list."""
    tables = [_parsed(one, "one"), _parsed(other, "other")]
    pairs = compared(tables[0], tables[1], most=MOST_COMPARISONS)
    note(service, actor, "compare-lists", "encoded lists", pairs=len(pairs))
    return pairs
