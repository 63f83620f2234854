"""What a member knows about a release from its own part of a run, compared with the certificate before it signs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl

from kohorte.errors import ProtocolError
from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.in_words import listed
from kohorte.parties.dummy_rows.statement import dummy_warnings
from kohorte.parties.study import MIRRORED, Study
from kohorte.plans.people.unstated_person import plan_note
from kohorte.plans.plan import Plan
from kohorte.release.certificate import plan_warnings, said_by_plan
from kohorte.release.telling.verdict import Standing
from kohorte.release.verification import Verification

FIGURES = ("levels", "cost", "suppressed", "classes", "smallest_class", "rows", "optimal")
"""The figures of a release that the member that finds it knows."""

COUNTED = ("rows", "classes", "smallest_class", "suppressed", "satisfied")
"""What everybody who has the release can count."""


SHOWN = ("rows", "classes", "smallest_class", "suppressed")
"""What the figures of the search say as well."""

PARTS = frozenset(
    {
        *(
            "certificate",
            "created",
            "about",
            "verdict",
            "counted",
            "versions",
            "input",
            "output",
            "plan_sha256",
            "plan",
        ),
        *("hierarchies_sha256", "populations_sha256", "release", "verification", "levels_in_words", "lost_values"),
        *("quality", "effort", "missing_values", "formulas", "suppressed_rows", "protects_against"),
        *("does_not_protect_against", "warnings", "notes", "joint"),
    }
)
"""The parts of a joint certificate: nobody signs anything else."""

OWN = frozenset({"created", "versions"})
"""Parts that differ between the members that certify the same release."""

CLOCKS = timedelta(days=1)
"""How far the clocks of members may be apart."""


@dataclass(frozen=True)
class Known:
    """What a member knows: figures of the release that it found itself, and how many rows parties have.

    `most_rows` is how many rows the release has at most, if the member knows only this.
    """

    figures: Mapping[str, object] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    most_rows: int | None = None

    @classmethod
    def found(cls, figures: Mapping[str, object], rows: Mapping[str, int]) -> Known:
        """What the member knows that found the release."""
        return cls({name: figures[name] for name in FIGURES}, rows)

    def refuse_other(self, facts: Mapping[str, Any], study: Study) -> None:
        """Refuse a certificate that says anything else than what this member knows."""
        stated, release = _part(facts, "joint"), _part(facts, "release")
        if stated.get("study_sha256") != study.fingerprint():
            raise _differs("it is about another study")
        if facts.get("plan_sha256") != study.plan.fingerprint() or facts.get("plan") != _as_json(study.plan.to_dict()):
            raise _differs("it is about another plan")
        _refuse_other_parts(facts, stated, study)
        expected = _as_json(study_facts(study))
        if other := [key for key, value in expected.items() if stated.get(key) != value]:
            raise _differs(f"it does not say what the study says about {listed(other, 'and')}")
        if other := [name for name, value in self.figures.items() if release.get(name) != _as_json(value)]:
            raise _differs(f"this member found other figures: {listed(other, 'and')}")
        _refuse_against_plan(facts, release, study)
        self._refuse_rows(release, stated, study)

    def _refuse_rows(self, release: Mapping[str, Any], stated: Mapping[str, Any], study: Study) -> None:
        """Compare the rows of the release with those of the parties, as far as they are known."""
        rows, lost = release.get("rows"), stated.get("people_not_at_all_parties")
        if type(rows) is not int or not isinstance(lost, dict):
            raise _differs("it does not say how many rows there are")
        if self.most_rows is not None and rows > self.most_rows:
            raise _differs("it counts more rows than the parties sent")
        groups = study.groups()
        joined: dict[str, int] = {}
        for group, names in groups.items():
            for name in names:
                if name not in self.rows:
                    continue
                number = self.rows[name] - (lost.get(name, -1) if study.joins else 0)
                if joined.setdefault(group, number) != number or not 0 <= number <= self.rows[name]:
                    raise _differs(f"it does not count the rows of {name} that this member knows")
        total = sum(joined.values())
        whole = len(joined) == len(groups) and study.plan.subset is None
        if (whole and rows != total) or (study.plan.subset is None and rows < total):
            raise _differs("it counts other rows than the parties have")


def study_facts(study: Study) -> dict[str, Any]:
    """What the certificate says about the study, whatever the release is."""
    return {
        "study": study.name,
        "study_sha256": study.fingerprint(),
        "protocol": str(study.protocol),
        "distribution": str(study.distribution),
        "parties": {
            member.name: {
                "role": "party" if member.name in study.parties else "helper",
                "certificate": member.certificate,
            }
            for member in study.members.values()
        },
        "result": list(study.receivers),
        "dummies": MIRRORED if study.mirrored else study.dummies,
        "rehearsal": study.rehearsal,
    }


def _shown(figures: Mapping[str, Any], frame: pl.DataFrame, plan: Plan) -> dict[str, object]:
    """The figures of a release, as those who have it can compare them.

    If it shows nothing but `*`, suppressed rows look like all others: the search and those who count the release can
    disagree about which rows are suppressed, but not about how many rows there are.
    """
    shown = {name: figures.get(name) for name in SHOWN}
    numbers = [shown[name] or 0 for name in ("smallest_class", "suppressed")]
    whole = all((frame[name] == SUPPRESSED).all() for name in plan.quasi_identifiers)
    if whole and all(type(number) is int and number >= 0 for number in numbers):
        one_at_most = shown["classes"] == int(bool(shown["smallest_class"]))
        shown |= {"smallest_class": sum(numbers), "suppressed": 0, "classes": 1 if one_at_most else None}
    return shown


def refuse_other_release(
    facts: Mapping[str, Any], sha256: str, frame: pl.DataFrame, verified: Verification, plan: Plan
) -> None:
    """Refuse a certificate of another release than the one that was received and verified."""
    if _part(facts, "output").get("sha256") != sha256:
        raise _differs("it is about another release than the one that was received")
    counted, certified = verified.to_dict(), _part(facts, "verification")
    if other := [name for name in COUNTED if certified.get(name) != counted[name]]:
        raise _differs(f"the release that was received has other figures: {listed(other, 'and')}")
    stated, seen = (_shown(figures, frame, plan) for figures in (_part(facts, "release"), counted))
    if other := [name for name in SHOWN if stated[name] != seen[name]]:
        raise _differs(f"the release that was received has other figures: {listed(other, 'and')}")
    for name, level in _part(facts["release"], "levels").items():
        if not _is_at(frame[name], level, plan.attributes[name].hierarchy, name):
            raise _differs(f"the release that was received does not show {name!r} at the level that it states")


def refuse_other_words(facts: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Refuse a certificate that says anything else than the one that this member made of the release."""
    expected = _as_json(own)
    if other := sorted(key for key in expected.keys() - OWN if facts.get(key) != expected[key]):
        raise _differs(f"the release that was received gives other parts: {listed(other, 'and')}")


def _is_at(shown: pl.Series, level: object, hierarchy: Builder | None, name: str) -> bool:
    """Whether a column can be at a level; of a hierarchy that depends on the values nobody knows all labels."""
    labels = set(shown.drop_nulls().unique()) - {SUPPRESSED}
    if hierarchy is None:
        return level == 0 or not labels
    if not hierarchy.independent:
        return True
    built = hierarchy.build([], attribute=name)
    return type(level) is int and 0 <= level <= built.top and labels <= set(built.labels[level])


def _refuse_other_parts(facts: Mapping[str, Any], stated: Mapping[str, Any], study: Study) -> None:
    """Refuse parts that no certificate has, and words that do not follow from the plan."""
    plan = study.plan
    joint = {*study_facts(study), "people_not_at_all_parties", "seconds"} | ({"dummy_rows"} if study.dummies else set())
    if set(facts) != PARTS or set(stated) != joint:
        raise _differs("it has other parts than a certificate")
    expected = _as_json(said_by_plan(plan))
    if other := [key for key, value in expected.items() if facts[key] != value]:
        raise _differs(f"it does not say what the plan says about {listed(other, 'and')}")
    warnings, verdict = facts["warnings"], _part(facts, "verdict")
    open_points = {*plan_warnings(plan), *plan_note(plan), *dummy_warnings(study, stated.get("dummy_rows"))}
    if not isinstance(warnings, list) or not open_points <= set(map(str, warnings)):
        raise _differs("it does not say what is open by the plan and the study")
    if verdict.get("standing") != str(Standing.AMBER if warnings else Standing.GREEN):
        raise _differs("its verdict does not follow from what is open")
    models = _part(facts, "verification").get("models")
    if not isinstance(models, list) or [_model(entry) for entry in models] != _as_json(
        [model.to_dict() for model in plan.models]
    ):
        raise _differs("it does not verify the models of the plan")
    if _part(facts, "release").get("metric") != plan.metric.name:
        raise _differs("it does not measure what the plan measures")
    if not _just_now(facts["created"]):
        raise _differs("it was not made in this run")


def _model(entry: object) -> dict[str, object] | None:
    """The model of a verdict, if it holds."""
    if (
        not isinstance(entry, dict)
        or entry.get("satisfied") is not True
        or not isinstance(entry.get("parameters"), dict)
    ):
        return None
    return {"model": entry.get("name"), **entry["parameters"]}


def _just_now(created: object) -> bool:
    try:
        return abs(datetime.now(UTC) - datetime.fromisoformat(str(created))) < CLOCKS
    except (ValueError, TypeError):
        return False


def _refuse_against_plan(facts: Mapping[str, Any], release: Mapping[str, Any], study: Study) -> None:
    """Refuse figures that no release of the plan can have."""
    plan, levels = study.plan, _part(release, "levels")
    if set(levels) != set(plan.quasi_identifiers):
        raise _differs("it does not state the levels of the plan's quasi-identifiers")
    rows, suppressed, smallest = (release.get(name) for name in ("rows", "suppressed", "smallest_class"))
    numbers = [*levels.values(), rows, suppressed]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise _differs("a figure is not a number")
    assert isinstance(rows, int), "it was checked"
    assert isinstance(suppressed, int), "it was checked"
    if any(levels[name] < least for name, least in plan.minimum_levels.items()):
        raise _differs("a level is below the minimum_level of the plan")
    if suppressed > plan.most_suppressed(rows):
        raise _differs("more rows are suppressed than the plan allows")
    if smallest is not None and (type(smallest) is not int or smallest < plan.smallest_class):
        raise _differs("a class is smaller than the plan allows")
    if _part(facts, "verification").get("satisfied") is not True:
        raise _differs("the release does not satisfy the plan")


def _part(facts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = facts.get(name)
    if not isinstance(part, dict):
        raise _differs(f"it has no part {name!r}")
    return part


def _as_json(value: object) -> Any:
    """A value as it is after it was sent."""
    return json.loads(json.dumps(value))


def _differs(reason: str) -> ProtocolError:
    return ProtocolError(f"the certificate was not signed: {reason}", code="party-certificate-differs")
