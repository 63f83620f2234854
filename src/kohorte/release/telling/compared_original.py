"""Whether the original table with which a release is verified is the file that the release was made from."""

from __future__ import annotations

from kohorte.data import TableFile
from kohorte.in_words import listed
from kohorte.plans.people.person_notes import identifiers
from kohorte.plans.plan import Plan

SAME = "the original table is the file that the certificate of the release names (by its SHA-256)"


def original_points(
    release: TableFile, original: TableFile, plan: Plan, certified: str | None
) -> tuple[list[str], list[str]]:
    """Return an open point if the original is not the file that the certificate next to the release names, and notes.

    `certified` is the hash of the file that the certificate names; None if there is none.
    The release does not have the columns that say whom a row is about: rows that fit do not say whether these columns
    are still those from which it was made.
    """
    hidden = [
        name for name in dict.fromkeys((*plan.unit.columns, *identifiers(plan))) if name not in release.frame.columns
    ]
    if not hidden:
        return [], []
    if certified == original.sha256:
        return [], [SAME]
    why = (
        "no certificate next to the release says from which file it was made"
        if certified is None
        else "it is another file than the one that the certificate of the release names (by its SHA-256)"
    )
    shared = [name for name in (*plan.quasi_identifiers, *plan.histograms) if name in release.frame.columns]
    compared = f"rows can be compared only in {listed(list(map(repr, shared)))}"
    named = listed(list(map(repr, hidden)))
    return [
        f"whether the original table still says whom its rows are about is unclear: {why}; {compared}, not in {named}"
    ], []
