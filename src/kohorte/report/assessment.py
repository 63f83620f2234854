"""The facts of a report as plain data, with the attacks that can be run: what a risk dashboard shows.

The figures of risk are those of `kohorte risk TABLE --compare RELEASE --json`. Labels of groups are values of the
table; everything else may be read by people who must not see values.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from kohorte.attacks import Attack, Attacks, run_attacks
from kohorte.in_words import count
from kohorte.plans import Plan
from kohorte.release import Release
from kohorte.release.telling.losses import Group
from kohorte.release.telling.verdict import Standing
from kohorte.report.facts import Facts
from kohorte.report.questions_part import answers
from kohorte.report.suppression_part import SuppressionPart
from kohorte.report.verdict import judged
from kohorte.report.write import fitting_size, report_of
from kohorte.risks import RiskPolicy, RiskProfile, compare_risks, risk
from kohorte.risks.attribute_sets import feasible_size

INFERRING = ("homogeneity", "background knowledge", "skewness", "similarity")
"""The attacks by which something is inferred about people."""


def assess(
    frame: pl.DataFrame,
    plan: Plan,
    release: Release | pl.DataFrame,
    *,
    policy: RiskPolicy | None = None,
    certified: Sequence[str] = (),
) -> dict[str, object]:
    """Measure a table and its release, run the attacks that need no other table, and judge.

    `certified` are open points that the certificate of the release has.
    """
    attributes = len(plan.quasi_identifiers)
    largest = min(feasible_size(attributes), fitting_size(frame.height, attributes))

    def measure(table: object, *, original: object = None, in_rows: bool = False) -> RiskProfile:
        return risk(table, plan, original=original, in_rows=in_rows, largest_set=largest, policy=policy)

    facts = report_of(frame, plan, release=release, view="internal", rows=0, measure=measure)
    assert facts.after is not None, "there is a release"
    attacks = run_attacks(facts.after.frame, plan, original=frame)
    notes = dict.fromkeys((*facts.table.profile.open_points, *facts.after.profile.open_points))
    return {
        "unit": facts.unit.many,
        "rows": facts.after.profile.rows,
        "rows_before": facts.table.profile.rows,
        "people": facts.after.profile.people,
        "risk": compare_risks(facts.table.profile, facts.after.profile).to_dict() | {"warnings": list(notes)},
        "verdict": _verdict(facts, attacks, certified),
        "questions": _questions(facts, attacks),
        "attacks": attacks.to_dict(),
        "suppressed": _suppressed(facts),
    }


def _verdict(facts: Facts, attacks: Attacks, certified: Sequence[str]) -> dict[str, object]:
    """The verdict of the report; never green if an attack harms somebody or the certificate has an open point."""
    found = judged(facts)
    harmed = (f"the attack by {_called(attack)} harms {_harmed(attack)}" for attack in attacks if attack.hurt)
    more = () if found.standing is Standing.RED else (*certified, *attacks.open_points, *harmed)
    reasons = list(dict.fromkeys((*found.reasons, *more)))
    standing = Standing.AMBER if reasons and found.standing is Standing.GREEN else found.standing
    return {"standing": str(standing), "reasons": reasons}


def _called(attack: Attack) -> str:
    return attack.name


def _harmed(attack: Attack) -> str:
    one, many = ("person", "people") if attack.unit == "people" else ("row", "rows")
    return count(attack.hurt, one, many)


def _questions(facts: Facts, attacks: Attacks) -> list[dict[str, object]]:
    """The three questions of the authorities, each with its answer and whether something is open about it."""
    profile, together = facts.judged.profile, facts.one_person
    certain = () if together is None else [value for value in together.values if value.single_value]
    found = (
        bool(profile.uniqueness.sample_uniques or (together is not None and together.alone)),
        profile.attackers.prosecutor.above_threshold > 0 or bool(together is not None and together.fewer_than_k),
        facts.known_values or bool(certain) or any(attack.hurt for attack in attacks if attack.name in INFERRING),
    )
    still_open = [one or profile.people_not_counted for one in found]
    names = ("singling_out", "linkability", "inference")
    return [
        {"name": name, "question": question, "answer": answer, "open": is_open}
        for name, (question, answer), is_open in zip(names, answers(facts), still_open, strict=True)
    ]


def _suppressed(facts: Facts) -> dict[str, object]:
    part, profile = SuppressionPart(facts), facts.judged.profile
    lost = {one.attribute: one.lost_values for one in facts.losses or () if one.lost_values}
    return {
        "rows": profile.suppressed,
        "share": profile.suppressed / profile.rows if profile.rows else 0.0,
        "people": profile.people_losing_all_rows,
        "known": part.known,
        "lost_values": lost,
        "columns": [
            {
                "attribute": name,
                "lowest_share": min(group.suppressed_share for group in groups),
                "highest_share": max(group.suppressed_share for group in groups),
                "groups": [_group(group) for group in groups],
            }
            for name, groups in part.groups
        ],
        "unlisted": part.unlisted,
    }


def _group(group: Group) -> dict[str, object]:
    return {
        "label": group.label,
        "together": group.together,
        "rows": group.rows,
        "suppressed": group.rows - group.kept,
        "share": group.suppressed_share,
    }


def without_labels(assessment: dict[str, object]) -> dict[str, object]:
    """Return an assessment for people who must not see values: of columns only the shares, of no group."""
    suppressed = assessment["suppressed"]
    assert isinstance(suppressed, dict)
    columns = [{key: value for key, value in one.items() if key != "groups"} for one in suppressed["columns"]]
    return {**assessment, "suppressed": {**suppressed, "columns": columns}}
