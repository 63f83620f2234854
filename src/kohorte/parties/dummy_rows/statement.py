"""What the certificate says about dummy rows: how well they are told, and what they do not hide.

All of it is counted by the party that decrypts. None of the figures changes if real rows and mirrored rows are
exchanged, so that a member that reads the certificate cannot tell them apart by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kohorte.in_words import listed
from kohorte.parties.dummy_rows.mirrored import not_exchanged
from kohorte.parties.sealed import malformed
from kohorte.parties.study import Study

MOST = 0.5
"""A larger share of values or classes without a partner is an open point: the sizes of most of them were seen."""


def dummy_facts(facts: Mapping[str, Any], study: Study) -> dict[str, Any]:
    """How well dummy rows can be told, how many are known for certain, and of what mirrored rows do not hide sizes.

    `unmatched_values` are shares of the values of each column, `unmatched_classes` of the classes of the release.
    """
    try:
        found = {"told": round(float(facts["dummy_rows_told"]), 2), "exposed": int(facts["dummy_rows_exposed"])}
        if not study.mirrored:
            return found
        shares = {str(name): _share(share) for name, share in facts["values_unmatched"].items()}
        return found | {"unmatched_values": shares, "unmatched_classes": _share(facts["classes_unmatched"])}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise malformed("the figures of the dummy rows are incomplete") from None


def _share(share: Any) -> float:
    if not 0 <= float(share) <= 1:
        raise ValueError
    return round(float(share), 2)


def _who_counts(study: Study) -> str:
    """The member that counts encrypted rows, as a certificate names it."""
    return "the helper" if study.helper is not None else "the master"


def _chosen(study: Study) -> list[str]:
    """What the study chooses about dummy rows, as open points."""
    if not study.dummies:
        return []
    who = _who_counts(study)
    if not study.mirrored:
        return [
            f"dummy rows are imitated, as the study chose: {who} can tell them from real rows more often than by chance"
        ]
    if shown := not_exchanged(study):
        return [
            f"mirrored rows do not exchange the values of {listed(shown, 'and')}, as the study chose: {who} saw how "
            "often each of these encrypted values occurs"
        ]
    return []


def dummy_warnings(study: Study, dummies: object) -> list[str]:
    """The open points about dummy rows: what the study chose, and what mirrored rows did not hide in this run."""
    points, who = _chosen(study), _who_counts(study)
    values, classes = _unmatched(dummies)
    if many := sorted(name for name, share in values.items() if share > MOST):
        points.append(
            f"nobody has the mirror images of most values of {listed(many, 'and')}: {who} saw how often each of these "
            "encrypted values occurs, but not which of a value and its mirror image is real"
        )
    if classes > MOST:
        points.append(
            f"nobody is in the mirror images of most classes of the release: {who} saw how many people these classes "
            "have, but not whether a class or its mirror image is real"
        )
    return points


def _unmatched(dummies: object) -> tuple[Mapping[str, float], float]:
    """The shares that a certificate states, which may come from another member."""
    if not isinstance(dummies, dict):
        return {}, 0.0
    values, classes = dummies.get("unmatched_values", {}), dummies.get("unmatched_classes", 0.0)
    try:
        return {str(name): _share(share) for name, share in values.items()}, _share(classes)
    except (TypeError, ValueError, AttributeError):
        raise malformed("the figures of the dummy rows are incomplete") from None


def dummies_in_words(dummies: Any, *, mirrored: bool) -> list[str]:
    """The figures about dummy rows, line by line, for a person who does not know the program."""
    if dummies is None:
        return []
    lines = ["  Dummy rows are mirrored: every row has a mirror image among the dummy rows."] if mirrored else []
    lines += [
        "  Dummy rows: who counts rows without knowing their values could tell a dummy row from a real one by how "
        f"rare\n  they are, {dummies['told']:.0%} of the time; 50% is chance.",
    ]
    if dummies["exposed"]:
        lines.append(
            f"  {dummies['exposed']:,} dummy rows are known for certain: their classes are too small for people."
        )
    lines += [
        f"  {name}: nobody has the mirror image of {share:.0%} of the values. How often they occur was seen."
        for name, share in dummies.get("unmatched_values", {}).items()
        if share
    ]
    if dummies.get("unmatched_classes"):
        lines.append(
            f"  Nobody is in the mirror image of {dummies['unmatched_classes']:.0%} of the classes of the release. "
            "Their size was seen."
        )
    return lines
