"""The draft of an answer: the release that the engine finds, without people who would stand out by any rule.

Rows are left out until every rule holds: rows that the engine would suppress, rows whose combination is rare in the
world, and people whom a comparison with earlier releases would single out. After each step the engine is asked again,
at the levels found before or above. So an answer has no row of stars, which would tell how many are missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.disclosures.candidate import LEFT_OUT, Alike, ReleaseKind
from kohorte.disclosures.candidate import Candidate as Disclosure
from kohorte.disclosures.findings import Findings
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError, NoSolution
from kohorte.exchange.checking.conditions.cells import values_of
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.checking.local_look import outstanding_rows
from kohorte.exchange.checking.presence import LookAlikes, largest_shares
from kohorte.exchange.checking.rows import Rows
from kohorte.exchange.checking.shown_labels import (
    label_shares,
    labels_of,
    numbered_classes,
    people_per_value,
    people_with,
    rare_rows,
)
from kohorte.exchange.checking.verdicts import Judged
from kohorte.exchange.checking.written_labels import without_lists
from kohorte.kernels.arrays import Bools, Integers
from kohorte.kernels.distinct import distinct_numbers
from kohorte.models import DistinctLDiversity, KAnonymity, PrivacyModel
from kohorte.plans import Plan
from kohorte.plans.parts import Attribute
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.search_options import SearchOptions
from kohorte.release import Candidate, find_candidate
from kohorte.sources import FrameSource

MOSTLY = 0.5
"""What more of all patients have is ordinary where a group follows from several answers only: our own choice."""
MOST_ROUNDS = 20
"""A draft that needs more rounds is given up: then nothing is released."""


@dataclass(frozen=True, eq=False)
class Draft:
    """What passed every rule, who is in it, and what the memory said on the way; it is verified when it is written.

    `disclosure` is what the ledger will remember. `findings` are those of the first comparison with earlier releases:
    why people were left out.
    """

    found: Candidate = field(repr=False)
    disclosure: Disclosure = field(repr=False)
    rows: Rows = field(repr=False)
    findings: Findings
    fewest_expected: int | None


@dataclass(frozen=True)
class NoDraft:
    """Why there is nothing that could be sent, for the people of the house only."""

    reason: str
    findings: Findings = field(default_factory=Findings)


class Drafting:
    """Makes the draft of an answer to one request."""

    def __init__(self, rows: Rows, judged: Judged, look: GlobalLook, ledger: Ledger) -> None:
        self._rows, self._judged, self._look, self._ledger = rows, judged, look, ledger
        self._policy, self._everybody = look.holding.policy, rows.count
        self._levels = {one.attribute: one.level for one in judged.kept() if one.role is not Role.SENSITIVE}
        self._found: Findings = Findings()

    def draft(self) -> Draft | NoDraft:
        """Return the draft, or why there is none."""
        if not self._levels:
            return NoDraft("no attribute is left by which people could be made to look alike")
        rows = self._rows.only(~self._judged.left_out)
        for _ in range(MOST_ROUNDS):
            if (reason := self._too_few(rows)) is not None:
                return NoDraft(reason, self._found)
            try:
                found = find_candidate(FrameSource(rows.frame), self._plan(), notes=False)
            except NoSolution:
                return NoDraft("no generalization satisfies the policy", self._found)
            except InputError as error:
                if error.code != "lattice-too-large":
                    raise
                return NoDraft("more attributes are asked for than can be generalized together", self._found)
            kept, left = self._examined(rows, found)
            if kept is None:
                return NoDraft("nobody is left whom a comparison with earlier answers does not single out", self._found)
            if isinstance(left, Draft):
                return left
            rows = rows.only(kept)
        return NoDraft("no draft satisfies all rules at the same time", self._found)

    def _too_few(self, rows: Rows) -> str | None:
        """Why too many people were left out; judged before every round, so that a hopeless draft ends early."""
        if rows.count < self._look.needed:
            return f"fewer than {self._look.needed:,} people are left, the least for a condition as rare as this one"
        if rows.count < (1 - self._policy.most_removed) * self._everybody:
            return f"more than {self._policy.most_removed:.0%} of the people would have to be left out"
        return None

    def _plan(self) -> Plan:
        own, policy = self._look.holding.plan, self._policy
        attributes = {}
        for one in self._judged.kept():
            given = own.attributes[one.attribute]
            if one.role is Role.SENSITIVE:
                attributes[one.attribute] = Attribute(Role.SENSITIVE, given.hierarchy)
            else:
                level = self._levels[one.attribute]
                attributes[one.attribute] = Attribute(
                    Role.QUASI_IDENTIFYING, given.hierarchy, weight=given.weight, minimum_level=level
                )
        sensitive = [name for name, attribute in attributes.items() if attribute.role is Role.SENSITIVE]
        models: list[PrivacyModel] = [KAnonymity(policy.k)]
        if policy.l > 1:
            models += [DistinctLDiversity(name, l=policy.l) for name in sensitive]
        request = self._look.request
        return Plan(
            attributes=attributes,
            models=models,
            suppression_limit=policy.most_removed,
            search=SearchOptions(algorithm="optimal"),
            missing=own.missing,
            missing_values=own.missing_values,
            person=own.person,
            title=f"Answer of {self._look.holding.institution}",
            recipient=request.requester.institution,
        )

    def _examined(self, rows: Rows, found: Candidate) -> tuple[Bools | None, Draft | None]:
        """Which rows stay, and the draft if all of them do; None if nobody can stay."""
        names = [name for name in found.levels if name in self._levels]
        self._levels = {name: max(found.levels[name], self._levels[name]) for name in names}
        labels = labels_of(rows.frame, found.hierarchies, {name: found.levels[name] for name in names})
        kept = self._shown(labels, found)
        shares = self._shares(found)
        rare, fewest = rare_rows(labels, shares, self._look)
        kept &= ~rare & ~self._outstanding(rows) & ~self._unknown(rows, labels, found)
        kept &= ~self._unequal(rows, labels)
        looks = LookAlikes(labels, rows, found, self._levels)
        if rows.facts:
            kept &= ~looks.told_too_much(self._policy.largest_share)
        if not kept.all():
            self._raise_if_needed(rows, kept, found)
            return kept, None
        disclosure = self._disclosure(rows, labels, found, looks)
        k, together = self._policy.k, self._policy.together
        findings = self._ledger.examine(disclosure, k, together)
        if not findings:
            notes = person_notes(FrameSource(rows.frame), found.plan)
            noted = replace(found, plan=without_lists(found.plan), person_notes=notes)
            return kept, Draft(noted, disclosure, rows, self._found, fewest)
        self._found = self._found if self._found else findings
        repaired = self._ledger.repaired(disclosure, k, together)
        return (None if repaired is None else np.asarray(repaired.classes != LEFT_OUT)), None

    def _shown(self, labels: pl.DataFrame, found: Candidate) -> Bools:
        """Which rows the engine does not suppress."""
        if not found.suppressed:
            return np.ones(labels.height, dtype=bool)
        known = found.kept_classes.select(labels.columns).with_columns(pl.lit(value=True).alias("\0kept"))
        joined = labels.join(known, on=labels.columns, how="left", nulls_equal=True, maintain_order="left")
        return joined["\0kept"].fill_null(value=False).to_numpy().copy()

    def _outstanding(self, rows: Rows) -> Bools:
        """Which rows have a sensitive value that fewer than k of the people have who are left."""
        found = np.zeros(rows.frame.height, dtype=bool)
        for one in self._judged.kept():
            if one.role is Role.SENSITIVE:
                found |= outstanding_rows(as_text(rows.frame[one.attribute]), rows.people, self._policy.k)
        return found

    def _unequal(self, rows: Rows, labels: pl.DataFrame) -> Bools:
        """Which rows are in a class of which too many people have one sensitive value: it is that of anybody in it."""
        classes = numbered_classes(labels)
        sizes = people_per_value(classes, rows.people)
        unequal = np.zeros(labels.height, dtype=bool)
        for one in self._judged.kept():
            if one.role is Role.SENSITIVE:
                text = as_text(rows.frame[one.attribute])
                told, values = text.is_not_null().to_numpy(), numbered_classes(text.to_frame())
                shares = largest_shares(classes[told], values[told], rows.people[told], sizes)
                unequal |= (shares > self._policy.largest_share)[classes]
        return unequal

    def _unknown(self, rows: Rows, labels: pl.DataFrame, found: Candidate) -> Bools:
        """Which rows show a text that may name somebody, or more detail than the policy allows, at the levels found."""
        unknown = np.zeros(labels.height, dtype=bool)
        for one in self._judged.kept():
            name, values = one.attribute, self._judged.known[one.attribute]
            if one.role is Role.SENSITIVE:
                unknown |= values.unknown_rows(as_text(rows.frame[name]))
            elif found.levels[name] < found.hierarchies[name].top:
                hierarchy, level = found.hierarchies[name], found.levels[name]
                fine = values.in_detail(hierarchy, level)
                known = {label: is_known and fine[label] for label, is_known in values.labels(hierarchy, level).items()}
                unknown |= values.unknown_rows(labels[name], known)
        return unknown

    def _shares(self, found: Candidate) -> Mapping[str, Mapping[str, float | None]]:
        """How frequent the labels of each attribute with statistics are in the world."""
        return {
            name: label_shares(found.hierarchies[name], level, self._look, name)
            for name, level in found.levels.items()
            if name in self._look.holding.statistics and level < found.hierarchies[name].top
        }

    def _raise_if_needed(self, rows: Rows, kept: Bools, found: Candidate) -> None:
        """If leaving out rows would remove too many people, show less detail of an attribute instead."""
        lost = self._everybody - people_with(kept, rows.people)
        if lost <= self._policy.most_removed * self._everybody:
            return
        tops = {name: found.hierarchies[name].top for name in self._levels}
        below = [name for name in self._levels if self._levels[name] < tops[name]]
        if not below:
            return
        finest = max(below, key=lambda name: len(found.hierarchies[name].labels[self._levels[name]]))
        self._levels[finest] += 1
        kept[:] = True  # the rows get another chance at the coarser level

    def _disclosure(self, rows: Rows, labels: pl.DataFrame, found: Candidate, looks: LookAlikes) -> Disclosure:
        request, plan = self._look.request, found.plan
        sensitive = {
            name: numbered_classes(as_text(rows.frame[name]).to_frame()) for name in plan.names(Role.SENSITIVE)
        }
        columns = {name: f"level {level}" for name, level in found.levels.items()}
        return Disclosure(
            people=rows.people,
            classes=numbered_classes(labels),
            recipient=request.requester.institution,
            kind=ReleaseKind.EXCHANGE,
            columns=columns | dict.fromkeys(sensitive, "as it is"),
            condition=request.condition.in_words[:2000],
            purpose=request.purpose,
            table=distinct_numbers(rows.table),
            sensitive=sensitive,
            alike=tuple(self._alike(rows, looks)),
        )

    def _alike(self, rows: Rows, looks: LookAlikes) -> Iterator[Alike]:
        """How people look in the answer: those of whom it tells that they are in it, and those whose values it tells.

        If the condition selects people by what others know, everybody knows who is in it, and the values are told of
        all who look alike. That few of some people get a drug that few others get is not learned by subtraction only.
        Who is in an answer is compared whatever the attribute: two can say the same, a name and a code.
        """
        most, inside = self._policy.largest_share, np.zeros(len(rows.table), dtype=bool)
        inside[rows.at] = True
        if has := tuple(chain.from_iterable((rows.facts or self._values).values())):
            yield Alike("has", rows.table, looks.everybody, looks.own, has, most, MOSTLY)
        for name in dict.fromkeys((*self._values, *rows.told)):
            told = inside & (name in self._values) | rows.told.get(name, False)
            look, ordinary = np.where(told, looks.everybody, LEFT_OUT), most if name in self._values else MOSTLY
            facts = rows.facts.get(name, self._values.get(name, ()))
            yield Alike(f"shown:{name}", rows.table, look, looks.own, facts, most, ordinary)

    @cached_property
    def _values(self) -> dict[str, tuple[Integers, ...]]:
        """The values of each sensitive attribute that the answer shows, of the whole table."""
        names = [one.attribute for one in self._judged.kept() if one.role is Role.SENSITIVE]
        return {name: (values_of(self._rows.whole[name]),) for name in names}
