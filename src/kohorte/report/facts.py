"""The facts of a report: one or two tables, their risk, the verdict of the models, and the view."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.attacks import Attack
from kohorte.attacks.homogeneity import attack_by_homogeneity
from kohorte.attacks.rows_of_one_person import all_rows_known
from kohorte.attacks.tables.attacked import AttackedTable
from kohorte.comparison.recommendation import Instead, recoding_instead
from kohorte.data import TableFile, as_text, to_polars, without_quotes
from kohorte.errors import InputError, nearest
from kohorte.in_words import ROWS, Unit, count
from kohorte.kernels.arrays import Counts
from kohorte.languages import ENGLISH, Language
from kohorte.plans import Plan
from kohorte.plans.parts import About
from kohorte.plans.people.person_notes import identifiers
from kohorte.plans.population import flagged_rows, without_flag
from kohorte.release import Release, Verification, verify, warnings
from kohorte.release.certificate import FileFacts, table_warnings
from kohorte.release.shown_classes import all_starred
from kohorte.release.telling.certified_person import certified_person_points
from kohorte.release.telling.compared_losses import losses_between
from kohorte.release.telling.formulas import file_points
from kohorte.release.telling.losses import ColumnLoss
from kohorte.release.telling.one_person import RowsOfOnePerson
from kohorte.release.telling.people import LEAST, public_people
from kohorte.release.verification import verify_source
from kohorte.release.words import unit_named
from kohorte.release.write import certified_points, is_certified, only_certified
from kohorte.report.figures.alike_words import WORDS, AlikeWords
from kohorte.report.figures.contributions import Contribution, contributions
from kohorte.report.figures.distributions import one_value_each
from kohorte.report.figures.rounding import Figures
from kohorte.report.view import View
from kohorte.risks import RiskProfile
from kohorte.risks.shown.table import checked_table
from kohorte.risks.shown.whom import persons_of_original, released_rows
from kohorte.sources import FrameSource


def view_named(name: object) -> View:
    """Return a view by its name, or refuse an unknown one."""
    if name not in tuple(View):
        raise InputError(
            f"unknown view {str(name)!r}{nearest(str(name), View)}; known are {', '.join(View)}", code="report-view"
        )
    return View(str(name))


@dataclass(frozen=True, eq=False)
class Measured:
    """A table, its risk, the file that it is read from, if any, and what is open about that file.

    `certified` are the open points of the certificate next to the file, `unconfirmed` what no certificate confirms.
    """

    frame: pl.DataFrame = field(repr=False)
    profile: RiskProfile
    file: FileFacts | None = None
    open_points: tuple[str, ...] = ()
    certified: tuple[str, ...] = ()
    unconfirmed: tuple[str, ...] = ()

    @classmethod
    def of_file(cls, file: TableFile, profile: RiskProfile, plan: Plan) -> Measured:
        """A table that was read from a file, perhaps that of a release."""
        frame = without_quotes(file, plan.formulas)[0].frame
        points, certified = tuple(file_points(file, plan)), tuple(certified_points(file, plan))
        unconfirmed = tuple(certified_person_points(plan, frame.columns, certified=is_certified(file, plan)))
        return cls(frame, profile, FileFacts(file.path.name, file.sha256), points, certified, unconfirmed)

    @property
    def kept(self) -> int:
        """The rows that are not suppressed, or the people who have one: what the figures of risk are shares of."""
        return self.profile.counted

    @cached_property
    def suppressed_rows(self) -> pl.Series:
        """Tell for each row whether it is suppressed: whether it shows `*` in all quasi-identifiers."""
        names = list(self.profile.quasi_identifiers)
        return pl.DataFrame([as_text(self.frame[name]) for name in names]).select(all_starred(names)).to_series()

    @property
    def by_size(self) -> tuple[Counts, Counts]:
        """The sizes of the groups who look alike, and how many rows or people are at their highest risk in each."""
        groups = self.profile.alike
        return groups.sizes, groups.at_highest(np.asarray(1 / np.maximum(groups.sizes, 1), dtype=np.float64))

    @cached_property
    def contributions(self) -> tuple[Contribution, ...]:
        """What each quasi-identifier contributes."""
        return contributions(self.profile)


@dataclass(frozen=True, eq=False)
class Facts:
    """All facts of a report.

    Without `after` it is about one table, raw or released. `made` is the release of `after`, if it was just made;
    `original` is the table of which a part is released, or that says whom the rows of a release are about. The internal
    view lists `listed` rows at the highest risk. `plan_sha256` replaces the plan's own hash if readers see only a part
    of the plan. `about` says what the release is for, before what the plan states; `certificate_sha256` is the hash of
    its certificate, if there is one. `language` is that of the reader; all texts here are English until they are shown.
    """

    plan: Plan
    view: View
    table: Measured
    after: Measured | None = None
    made: Release | None = None
    original: pl.DataFrame | None = field(default=None, repr=False)
    listed: int = 10
    plan_sha256: str | None = None
    about: About = field(default_factory=About)
    certificate_sha256: str | None = None
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    language: Language = ENGLISH

    def told(self, said: str) -> str:
        """A text of the program in the language of the reader."""
        return self.language.tell(said)

    @property
    def judged(self) -> Measured:
        """The table that the verdict is about: the release, if there is one."""
        return self.after or self.table

    @property
    def sides(self) -> tuple[Measured, ...]:
        """The table, and its release if there is one."""
        return (self.table,) if self.after is None else (self.table, self.after)

    @property
    def internal(self) -> bool:
        """Whether only the institution may read the report."""
        return self.view is View.INTERNAL

    @property
    def threshold(self) -> float:
        """The highest accepted risk of a row or person."""
        return self.judged.profile.attackers.threshold

    @property
    def least(self) -> int:
        """The smallest size of a group that may be named."""
        return max(self.plan.smallest_class, LEAST)

    @property
    def figures(self) -> Figures:
        """How figures of risk are written."""
        return Figures(self.least, exact=self.internal, unit=self.unit)

    @property
    def model_figures(self) -> Figures:
        """How figures of models are written, which count people only if the verification knows whom rows are about."""
        found = self.verification
        return replace(self.figures, unit=ROWS if found is None else unit_named(found.unit))

    @property
    def everyone_judged(self) -> int:
        """How many rows or people the models are asked about."""
        found = self.verification
        return 0 if found is None else found.rows if found.people is None else found.people

    @property
    def people_told(self) -> str:
        """How many people the judged table is about; empty if that is unknown."""
        profile = self.judged.profile
        if profile.people is None:
            return ""
        if self.internal:
            return count(profile.people)
        return public_people(profile.people, rows=profile.rows, classes=profile.classes)

    @property
    def row_figures(self) -> Figures:
        """How figures are written that always count rows: values, and what is suppressed."""
        return Figures(self.least, exact=self.internal)

    @cached_property
    def _checked(self) -> tuple[Verification | None, str]:
        """The verification, or why there is none."""
        try:
            return _verified(self), ""
        except InputError as error:
            return None, error.message

    @property
    def verification(self) -> Verification | None:
        """The verdict of the models, counted again; None if it cannot be given."""
        return self._checked[0]

    @property
    def unverified(self) -> str:
        """Why there is no verdict of the models; in the public view without the row numbers of an error."""
        return self._checked[1] if self.internal else "the internal view says why"

    @property
    def unit(self) -> Unit:
        """What the figures of risk count, before and after: rows or people."""
        return self.judged.profile.unit

    @property
    def words(self) -> AlikeWords:
        """Sentences about who looks alike."""
        return WORDS[self.judged.profile.judged_by]

    @property
    def whom(self) -> pl.DataFrame | None:
        """The table that says whom the judged rows are about; None if the plan counts rows, or it is unknown."""
        known = (self.original, self.table.frame)
        needed = set(self.plan.unit.needed_columns)
        return next((frame for frame in known if frame is not None and needed and needed <= set(frame.columns)), None)

    def says_about_people(self, original: pl.DataFrame) -> bool:
        """Whether another table than the judged one says whom its rows are about, or if identifiers repeat in it."""
        if self.plan.unit.counts_people:
            return self.whom is not None and self.whom is not self.judged.frame
        columns = set(identifiers(self.plan))
        return original is not self.judged.frame and bool(columns) and columns <= set(original.columns)

    @cached_property
    def _persons(self) -> tuple[pl.DataFrame, pl.Series] | None:
        """The raw rows of the judged table, and whom each is about; None if that is not known."""
        if self.whom is None:
            return None
        try:
            rows = released_rows(self.whom, self.plan)
            return rows, pl.Series(persons_of_original(rows, self.plan).codes)
        except InputError:
            return None

    def one_value_each(self, side: Measured, name: str) -> pl.Series | None:
        """One value of each person in a column, as a side shows it; None if it is not known whom the rows are about."""
        if name in self.plan.quasi_identifiers:
            shown = side.profile.shown
            if shown.people is None:
                return None
            return one_value_each(shown.text_of(name, shown.people.class_of), pl.Series(shown.people.person))
        if self._persons is None or name not in self._persons[0].columns:
            return None
        return one_value_each(self._persons[0][name], self._persons[1])

    def rows_of(self, people: int) -> int:
        """So many rows are about at least so many people in any case."""
        most = 1 if self._persons is None else self._persons[1].to_frame("person").group_by("person").len()["len"].max()
        return (people - 1) * (most if isinstance(most, int) else 1) + 1

    @cached_property
    def one_person(self) -> RowsOfOnePerson | None:
        """Whom an attacker hurts who knows all rows of a person; None if the plan counts rows, or it is unknown."""
        if self.made is not None:
            return self.made.rows_of_one_person
        if self.whom is None or self.whom is self.judged.frame:
            return None
        try:
            return all_rows_known(checked_table(self.judged.frame, self.plan), self.plan, self.whom)
        except InputError:
            return None

    @cached_property
    def losses(self) -> tuple[ColumnLoss, ...] | None:
        """The values that the release lost, column by column; None if that is not known."""
        if self.after is None:
            return ()
        if self.made is not None:
            return self.made.losses
        return losses_between(self.table.frame, self.after.frame, self.plan)

    @cached_property
    def recoding_instead(self) -> Instead | None:
        """What a recoding would keep where this release loses clearly more; only the institution has a choice."""
        if not self.internal or self.made is None or self.original is None:
            return None
        return recoding_instead(self.original, self.made)

    @property
    def warnings(self) -> tuple[str, ...]:
        """The open points of the assessed table, as the command and the certificate name them."""
        if self.made is not None:
            return warnings(self.made)
        if self.verification is None:
            return ()
        found = table_warnings(self.judged.frame, self.plan, self.verification)
        said = tuple(dict.fromkeys((*found, *self.judged.profile.open_points, *self.judged.open_points)))
        alone = self.after is None and self.original is None  # an original tells it by itself
        if not alone:
            return said
        return (*said, *self.judged.unconfirmed, *only_certified(self.judged.certified, said))

    @cached_property
    def homogeneity(self) -> Attack | None:
        """The homogeneity attack on the assessed table; None without sensitive attributes.

        It counts people if it is known whom the rows, and their sensitive values, are about; otherwise rows.
        """
        try:
            attacked = AttackedTable.of(self.judged.frame, self.plan, original=self.whom)
            return attack_by_homogeneity(attacked)
        except InputError:
            pass
        try:
            return attack_by_homogeneity(AttackedTable.of(self.judged.frame, self.plan).in_rows())
        except InputError:
            return None

    @property
    def not_suppressed(self) -> str:
        """What to add to sentences about this attack, if it leaves suppressed rows out."""
        attack, suppressed = self.homogeneity, self.judged.profile.suppressed
        left_out = attack is not None and attack.rows_tried < self.judged.profile.rows
        return " in rows that are not suppressed" if suppressed and left_out else ""

    @property
    def known_values(self) -> bool:
        """Whether a sensitive value of some person is known without finding the row."""
        return self.homogeneity is not None and self.homogeneity.hurt > 0

    @property
    def holds(self) -> bool:
        """Whether the assessed table satisfies a plan that guarantees something."""
        promised = not all(model.promises_nothing for model in self.plan.models)
        return promised and self.verification is not None and self.verification.satisfied

    @property
    def suspected_problems(self) -> int:
        """The number of columns that seem to identify people and are not treated as identifying."""
        return len({found.attribute for found in self.judged.profile.suspected_identifiers if found.problem})


def _verified(facts: Facts) -> Verification:
    if facts.made is not None:
        made = facts.made
        rows = FrameSource(to_polars(made.data)[0])
        return verify_source(rows, facts.plan, made.populations, levels=made.levels, people=made.people)
    original = facts.table.frame if facts.original is None else facts.original
    needed = facts.plan.subset is not None or facts.says_about_people(original)
    return verify(facts.judged.frame, facts.plan, population=original if needed else None)


def rows_to_release(frame: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    """The rows of a raw table that are part of its release."""
    return without_flag(flagged_rows(frame, plan), plan)
