"""Blocking: which records are compared at all.

A record has a few keys, and is compared with the records that share one of them. Each key leaves out a field that may
be wrong. What shares no key is not compared: records that differ in several fields at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from kohorte.patients.linkage.record import Record


def keys_of(record: Record) -> frozenset[str]:
    """The keys of a record in all its spellings, each with the name of its rule in front."""
    found = frozenset(_keys(record)) | {f"same:{record.key}"}
    return found.union(*map(keys_of, record.others))


def _keys(record: Record) -> Iterator[str]:
    families = {*record.last.sounds, *record.birth.sounds, record.last.sound} - {""}
    first = record.first.sounds[0] if record.first else ""
    date = record.date
    if record.number:
        yield f"number:{record.number}"
    if date.whole:
        day = date.text
        yield from (f"date and family:{day}:{sound}" for sound in families)
        yield from (f"date and family:{day}:{sound}" for sound in record.first.sounds)
        yield from (f"date and place:{day}:{where}" for where in {record.postcode, record.place} - {""})
    if not first:
        return
    for sound in families:
        pair = ":".join(sorted((first, sound)))  # sorted: first and family name may be swapped
        if date.year:
            yield f"names and year:{pair}:{date.year}"
        if date.month and date.day:
            yield f"names and day:{pair}:{min(date.month, date.day)}:{max(date.month, date.day)}"
        if record.postcode:
            yield f"names and postcode:{pair}:{record.postcode}"
