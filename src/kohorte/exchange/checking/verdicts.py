"""Step 7: a verdict on each attribute of a request: pass, generalize, suppress values, or drop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.errors import InputError, nearest
from kohorte.exchange.checking.conspicuous import conspicuous_rows
from kohorte.exchange.checking.forms import LIMITED, forms_of, too_fine
from kohorte.exchange.checking.global_look import GlobalLook, fixed_values
from kohorte.exchange.checking.known_values import KnownValues, rows_of, stated_content
from kohorte.exchange.checking.local_look import LocalLook, outstanding_rows
from kohorte.exchange.checking.rows import Rows
from kohorte.exchange.checking.shown_labels import label_shares, people_with, share_of_rows
from kohorte.exchange.contents import Content
from kohorte.hierarchies import Hierarchy
from kohorte.identifiers import Form
from kohorte.in_words import count, percent
from kohorte.kernels.arrays import Bools, Integers
from kohorte.plans.hierarchies import VALUE_OR_STAR

FEW = 0.05
"""So large a share of the people may be left out so that the others are shown in more detail: our own choice."""
DATES = {Form.DATE, Form.BIRTH}
"""Days may differ from person to person; the months or years that are shown do not."""
MOST_UNKNOWN = 0.2
"""If a larger share of the cells of a column is not known, nothing of it is, whatever the policy: our own choice."""
TOO_MANY = "together with other attributes, too many people would have to be left out"
NO_STATISTICS = "there are no statistics of it"
NOT_KNOWN = "a value that could name somebody, because nothing says what it is"
IMPORT = "import statistics that know more values"
LIST_VALUES = (
    "its groups are not shown, because their labels name values that people here have; list the values in the plan"
)
SAY_CONTENTS = "if the column is harmless, state its contents in the description of the table"


class Treatment(StrEnum):
    """What happens to an attribute."""

    PASS = "pass"  # noqa: S105 - not a password
    GENERALIZE = "generalize"
    SUPPRESS = "suppress values"
    DROP = "drop"


@dataclass(frozen=True)
class Verdict:
    """The treatment of an attribute, from which level on it may be shown, why, and what the house says it contains.

    `forms` are those of dates, ages and ZIP codes that it seems to have.
    """

    attribute: str
    treatment: Treatment
    role: Role
    level: int = 0
    reasons: tuple[str, ...] = ()
    content: Content = field(default_factory=Content)
    forms: tuple[Form, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        return {
            "attribute": self.attribute,
            "treatment": str(self.treatment),
            "role": str(self.role),
            "level": self.level,
            "reasons": list(self.reasons),
            "content": self.content.to_dict(),
            "forms": [str(form) for form in self.forms],
        }

    def with_level(self, level: int, *, top: int) -> Verdict:
        """The verdict after the engine chose a level; the top level shows nothing."""
        if level == top:
            why = (*self.reasons, "nothing finer lets enough people look alike")
            return replace(self, treatment=Treatment.DROP, level=level, reasons=why)
        why = (*self.reasons, "generalized so that enough people look alike") if level > self.level else self.reasons
        treatment = Treatment.GENERALIZE if self.treatment is Treatment.PASS and level > 0 else self.treatment
        return replace(self, treatment=treatment, level=level, reasons=why)


@dataclass(frozen=True)
class Judged:
    """The verdicts, which rows are left out because of a value that is rare in the world or not known, and which values
    of each attribute are known."""

    verdicts: tuple[Verdict, ...]
    left_out: Bools
    known: Mapping[str, KnownValues] = field(default_factory=dict, repr=False)

    def kept(self) -> tuple[Verdict, ...]:
        """The attributes that can be in an answer."""
        return tuple(one for one in self.verdicts if one.treatment is not Treatment.DROP)


def judge(rows: Rows, look: GlobalLook, local: LocalLook) -> Judged:
    """Judge each attribute of the request for the rows of the base set."""
    frame, people, told = rows.frame, rows.people, rows.with_condition()
    verdicts = []
    left_out, known = {}, {}
    for name in look.request.attributes:
        judged = _Attribute(name, rows, look, local)
        verdict = judged.verdict()
        if verdict.treatment is not Treatment.DROP:
            verdict = judged.with_conspicuous(verdict, conspicuous_rows(told, name, look))
        forms = tuple(form for form in judged.forms.forms if form in LIMITED)
        verdicts.append(replace(verdict, content=judged.known.content, forms=forms))
        left_out[name] = judged.left_out
        known[name] = judged.known
    always = np.zeros(frame.height, dtype=bool)
    for name in look.request.condition.attributes:  # whatever its form, a condition tells something of everybody
        always |= conspicuous_rows(told, name, look)
    most = look.holding.policy.most_removed * local.people
    return _without_costly(verdicts, left_out, always, people, most, known)


def _without_costly(
    verdicts: list[Verdict],
    left_out: dict[str, Bools],
    always: Bools,
    people: Integers,
    most: float,
    known: Mapping[str, KnownValues],
) -> Judged:
    """Drop attributes, the most costly first, until not too many people have to be left out because of all together."""
    while True:
        together = np.logical_or.reduce([always, *left_out.values()])
        costly = {name: rows for name, rows in left_out.items() if rows.any()}
        if not costly or people_with(together, people) <= most:
            return Judged(tuple(verdicts), together, known)
        worst = max(costly, key=lambda name: people_with(costly[name], people))
        left_out[worst] = np.zeros_like(always)
        verdicts = [
            replace(one, treatment=Treatment.DROP, reasons=(*one.reasons, TOO_MANY)) if one.attribute == worst else one
            for one in verdicts
        ]


class _Attribute:
    """One attribute of a request on its way to a verdict."""

    def __init__(self, name: str, rows: Rows, look: GlobalLook, local: LocalLook) -> None:
        plan, frame = look.holding.plan, rows.frame
        if name not in plan.attributes or name not in frame.columns:
            raise InputError(
                f"the request asks for the column {name!r}, which the table does not have"
                f"{nearest(name, plan.attributes)}",
                code="exchange-request-column",
            )
        self.name, self.look, self.people, self.policy = name, look, rows.people, look.holding.policy
        self.text, self.own, self.local = as_text(frame[name]), plan.attributes[name], local.attributes[name]
        self.left_out: Bools = np.zeros(frame.height, dtype=bool)
        self.everybody, self.rows = local.people, frame.height
        self.whole = as_text(rows.whole[name])
        found = forms_of(self.text, self.rows).and_of(forms_of(self.whole, len(self.whole)))
        self.forms = found.stated(stated_content(name, look).form)
        self.known = KnownValues(name, look, self.forms.forms)

    def verdict(self) -> Verdict:
        """The verdict; `left_out` then flags rows with values that are rare in the world, or not known."""
        found = self.forms
        forms = [form for form in found.forms if form in LIMITED]
        if DATES & set(forms) and self.own.role is not Role.SENSITIVE:
            found = found.without(Form.UNIQUE)
        if self.own.role is Role.IDENTIFYING:
            return self._dropped("it identifies people (role identifying)")
        if (why := found.first(self.policy.dropped)) is not None:
            return self._dropped(f"it can identify people: {why}")
        if self.name in fixed_values(self.look.request.condition):
            return self._dropped("the condition tells it already")
        if not self.local.values:
            return self._dropped("no row has a value")
        if self.own.role is Role.SENSITIVE:
            limited = too_fine(self.text, found.forms, self.policy)
            return self._sensitive() if limited is None else self._dropped(f"the policy allows no finer {limited}")
        return self._generalized(forms)

    def with_conspicuous(self, verdict: Verdict, rows: Bools) -> Verdict:
        """The verdict after people were found whose value is conspicuous for their age or sex: they are left out.

        If these are too many, the attribute is not shown at all.
        """
        number = people_with(rows, self.people)
        if not number:
            return verdict
        have = count(number, "person has", "people have")
        reason = f"{have} a value that is conspicuous for their age or sex"
        if self._too_many(rows):
            self.left_out = np.zeros(self.rows, dtype=bool)
            return replace(verdict, treatment=Treatment.DROP, reasons=(*verdict.reasons, reason))
        self.left_out = self.left_out | rows
        treatment = Treatment.SUPPRESS if verdict.treatment is Treatment.PASS else verdict.treatment
        return replace(verdict, treatment=treatment, reasons=(*verdict.reasons, f"{reason}: left out"))

    def _sensitive(self) -> Verdict:
        if self.local.largest_share > self.policy.largest_share:
            share = percent(self.local.largest_share)
            return self._dropped(f"unequal weight: one value is that of {share} of the people")
        few = self.local.outstanding_people
        if few > self.policy.most_removed * self.everybody:
            return self._dropped(f"{self._outstanding_in_words()}, so that it tells them apart")
        unknown = self.known.unknown_rows(self.text)
        if self._too_many(unknown) or self._mostly_unknown:
            return self._dropped(self._unknown_in_words(unknown), SAY_CONTENTS)
        reasons = []
        if few:
            self.left_out = outstanding_rows(self.text, self.people, self.policy.k)
            reasons.append(f"{self._outstanding_in_words()}: left out")
        if unknown.any():
            self.left_out = self.left_out | unknown
            reasons.append(f"{self._unknown_in_words(unknown)}: left out")
        if self.name not in self.look.holding.statistics:
            reasons.append(NO_STATISTICS)
        elif (rare := self._rare(VALUE_OR_STAR.build(self._values(), attribute=self.name), 0)).any():
            if self._too_many(rare):
                return self._dropped(self._rare_in_words(rare), IMPORT)
            self.left_out = self.left_out | rare
            reasons.append(f"{self._rare_in_words(rare)}: left out")
        treatment = Treatment.SUPPRESS if self.left_out.any() else Treatment.PASS
        return Verdict(self.name, treatment, Role.SENSITIVE, reasons=tuple(reasons))

    def _generalized(self, forms: list[Form]) -> Verdict:
        hierarchy = (self.own.hierarchy or VALUE_OR_STAR).build(self._values(), attribute=self.name)
        level, reasons = self._limited(hierarchy, forms)
        reasons += [LIST_VALUES] if self.name in self.look.grouped else []
        least = level
        level, unknown = self._lowest(hierarchy, level, self._unknown)
        if least < level == hierarchy.top:
            return self._dropped(*reasons, self._unknown_in_words(self._unknown(hierarchy, least)), SAY_CONTENTS)
        if unknown.any():
            self.left_out = self.left_out | unknown
            reasons.append(f"{self._unknown_in_words(unknown)}: left out")
        if self.name in self.look.holding.statistics:
            level, rare = self._lowest(hierarchy, level, self._rare)
            if rare.any():
                self.left_out = self.left_out | rare
                reasons.append(f"{self._rare_in_words(rare)}: left out")
        if level >= hierarchy.top:
            return self._dropped(*reasons, "no level of its hierarchy shows little enough")
        if self.local.outstanding_people:
            reasons.append(f"values that stand out here: {self._outstanding_in_words()}")
        if self.name not in self.look.holding.statistics:
            reasons.append(NO_STATISTICS)
        treatment = Treatment.GENERALIZE if level else Treatment.SUPPRESS if self.left_out.any() else Treatment.PASS
        return Verdict(self.name, treatment, Role.QUASI_IDENTIFYING, level, tuple(reasons))

    def _limited(self, hierarchy: Hierarchy, forms: list[Form]) -> tuple[int, list[str]]:
        """The lowest level that the policy allows for all but a few people, who are left out, and why."""
        level, reasons = self.own.minimum_level, []
        for form in forms:
            least, fine = self._lowest(hierarchy, level, partial(self._too_fine, form=form), most=FEW)
            if fine.any():
                self.left_out = self.left_out | fine
                have = count(people_with(fine, self.people), "person has", "people have")
                reasons.append(f"{have} a finer {form} than the policy allows: left out")
            if least > level:
                level = least
                reasons.append(f"the policy allows no finer {form}")
        return level, reasons

    def _lowest(
        self, hierarchy: Hierarchy, least: int, unfit: Callable[[Hierarchy, int], Bools], *, most: float = 1.0
    ) -> tuple[int, Bools]:
        """The lowest level at which not too many people have a label that is unfit, and their rows."""
        for level in range(least, hierarchy.top):
            rows = unfit(hierarchy, level)
            if not self._too_many(rows, most=most):
                return level, rows
        return hierarchy.top, np.zeros(self.rows, dtype=bool)

    def _too_many(self, rows: Bools, *, most: float = 1.0) -> bool:
        return people_with(rows, self.people) > min(most, self.policy.most_removed) * self.everybody

    def _too_fine(self, hierarchy: Hierarchy, level: int, *, form: Form) -> Bools:
        """Which rows show more of a date, an age or a ZIP code than the policy allows."""
        fine = [label for label, allowed in self.known.in_detail(hierarchy, level, [form]).items() if not allowed]
        return rows_of(self._shown(hierarchy, level), pl.Series(fine, dtype=pl.String))

    @cached_property
    def _mostly_unknown(self) -> bool:
        """Whether nothing tells of too many cells of the whole column that they name nobody."""
        unknown = self.known.unknown_rows(self.whole)
        return int(unknown.sum()) > MOST_UNKNOWN * max(1, len(self.whole) - self.whole.null_count())

    def _unknown(self, hierarchy: Hierarchy, level: int) -> Bools:
        """Which rows show a label of which nothing tells that it names nobody."""
        if level == 0 and self._mostly_unknown:
            return np.ones(self.rows, dtype=bool)
        return self.known.unknown_rows(self._shown(hierarchy, level), self.known.labels(hierarchy, level))

    def _rare(self, hierarchy: Hierarchy, level: int) -> Bools:
        """Which rows show a label that is rare in the world."""
        shares = label_shares(hierarchy, level, self.look, self.name)
        gap = 0.0 if self.policy.gaps == "rare" else 1.0
        return share_of_rows(self._shown(hierarchy, level), shares, gap=gap) < self.policy.rare_value

    def _shown(self, hierarchy: Hierarchy, level: int) -> pl.Series:
        codes = pl.Series(hierarchy.encode(self.text)).cast(pl.Int64)
        labels = pl.Series("label", list(hierarchy.column(level)), dtype=pl.String)
        return labels.gather(pl.select(pl.when(codes >= 0).then(codes)).to_series())

    def _outstanding_in_words(self) -> str:
        people = count(self.local.outstanding_people, "person has", "people have")
        return f"{people} a value that fewer than {self.policy.k} have"

    def _unknown_in_words(self, unknown: Bools) -> str:
        have = count(people_with(unknown, self.people), "person has", "people have")
        return f"{have} {NOT_KNOWN}"

    def _rare_in_words(self, rare: Bools) -> str:
        people = count(people_with(rare, self.people), "person has", "people have")
        return (
            f"{people} a value that fewer than {percent(self.policy.rare_value)} of the world have, or that the "
            "statistics do not know"
        )

    def _values(self) -> list[str]:
        return self.text.drop_nulls().unique().sort().to_list()

    def _dropped(self, *reasons: str) -> Verdict:
        return Verdict(self.name, Treatment.DROP, self.own.role, reasons=reasons)
