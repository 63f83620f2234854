"""The definition of a series: its plan, the domains of its quasi-identifiers, its target and its key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import polars as pl

from kohorte.data import as_text, without_marks
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SUPPRESSED, SafeHarbor
from kohorte.models import SafeHarborRule
from kohorte.plans.columns import check_columns
from kohorte.plans.plan import Plan
from kohorte.recoding.base import refuse_models
from kohorte.series.domain.axes import initial_regions, make_axes
from kohorte.series.domain.axis import Axis
from kohorte.series.domain.ladders import Ladder, make_ladders
from kohorte.series.domain.regions import Positions, Regions
from kohorte.series.memory.fingerprints import Recognised
from kohorte.series.memory.folder import SeriesFolder
from kohorte.series.memory.record import Comparison, Record, refuse_changes
from kohorte.series.memory.state import State, damaged
from kohorte.series.settings import FULL_DOMAIN, SeriesSettings
from kohorte.series.splitting.group_check import persons_of
from kohorte.series.statistics.make_target import make_target
from kohorte.series.target.target import Target
from kohorte.sources import Missing, which_rows
from kohorte.sources.unknown_values import error_for


@dataclass(frozen=True, eq=False)
class Definition:
    """The parts of a series that never change: axes of regions, or the ladders of a full-domain series."""

    plan: Plan
    settings: SeriesSettings
    axes: Sequence[Axis]
    target: Target | None
    key: bytes = field(repr=False)
    ladders: Sequence[Ladder] = ()

    @classmethod
    def new(cls, plan: Plan, settings: SeriesSettings, key: bytes) -> Definition:
        """Make the definition of a new series."""
        _refuse_plan(plan)
        _refuse_people(plan, settings)
        _refuse_identity(plan, settings)
        if settings.kind == FULL_DOMAIN:
            return cls(plan, settings, (), None, key, make_ladders(plan, settings))
        bare = cls(plan, settings, make_axes(plan, settings), None, key)
        if settings.target is None:
            initial_regions(bare.axes)
            return bare
        target = make_target(
            settings.target,
            plan=plan,
            axes=bare.axes,
            initial=bare.initial,
            weights=bare.weights,
            folder=settings.folder,
        )
        return cls(plan, settings, bare.axes, target, key)

    @classmethod
    def read(cls, folder: SeriesFolder, state: State) -> Definition:
        """Read the definition from the state and the folder."""
        settings = SeriesSettings.from_dict(dict(state.head.settings), folder=folder.path)
        plan = folder.plan(state)
        by_levels = settings.kind == FULL_DOMAIN
        definition = cls(
            plan,
            settings,
            axes=() if by_levels else make_axes(plan, settings),
            target=None if state.head.target is None else Target.from_dict(state.head.target),
            key=folder.key(state),
            ladders=make_ladders(plan, settings) if by_levels else (),
        )
        if {domain.name: domain.to_dict() for domain in definition.domains} != state.head.axes:
            raise damaged("the plan and the settings do not lead to the domains with which the series was started")
        return definition

    @property
    def domains(self) -> Sequence[Axis | Ladder]:
        """The axes of the quasi-identifiers, or their ladders in a full-domain series."""
        return self.ladders or self.axes

    @cached_property
    def initial(self) -> Regions:
        """The regions before anything is split."""
        return initial_regions(self.axes)

    @property
    def weights(self) -> tuple[float, ...]:
        """The weight of each quasi-identifier."""
        return tuple(self.plan.attributes[domain.name].weight for domain in self.domains)

    @property
    def by_arrival(self) -> bool:
        """Whether the rows of each arrival are protected on their own."""
        return self.settings.arrivals == "known"

    def letting_leave(self) -> Definition:
        """The same definition for a table from which people had to be left out, whatever the settings say."""
        return replace(self, settings=replace(self.settings, withdrawn="accept"))

    def regions(self, state: State, number: int) -> Regions:
        """The regions of a release; of number 0 those before the first."""
        return self.initial.divided([split for entry in state.releases[:number] for split in entry.splits])

    def checked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Select the columns of the plan; refuse other columns, a table without rows, and `*` as a sensitive value."""
        check_columns(frame.columns, self.plan)
        if frame.height == 0:
            raise InputError("the table has no rows", code="table-no-rows")
        frame = without_marks(frame.select(pl.col(list(self.plan.attributes))), self.plan.missing_values)
        for name in self.plan.histograms:
            stars = as_text(frame[name]) == SUPPRESSED
            if stars.any():
                raise error_for(name, pl.Series([SUPPRESSED]), distinct=1, where=which_rows(stars))
        return frame

    def compared(self, frame: pl.DataFrame, record: Record) -> tuple[pl.DataFrame, Recognised, Comparison]:
        """The table in the columns of the plan, its fingerprints, and what the record says of its rows."""
        frame = self.checked(frame)
        persons_of(frame, self.plan)  # refuses rows that do not say whom they are about
        recognised = Recognised.of(
            frame, tuple(self.plan.attributes), identified_by=self.settings.identified_by, key=self.key
        )
        comparison = record.compare(recognised)
        refuse_changes(comparison, corrected=self.settings.corrected, withdrawn=self.settings.withdrawn)
        return frame, recognised, comparison

    def positions(self, frame: pl.DataFrame) -> Positions:
        """The positions of all rows; values outside the domain are refused, and missing ones where the plan says so."""
        texts = [as_text(frame[axis.name]) for axis in self.axes]
        for text in texts:
            if self.plan.missing is Missing.REFUSE and text.null_count():
                raise InputError(
                    f"column {text.name!r} has {which_rows(text.is_null())} without a value, and the plan says "
                    "'missing: refuse'",
                    code="missing-refused",
                )
        return np.stack([axis.positions(text) for axis, text in zip(self.axes, texts, strict=True)], axis=1)


def _refuse_plan(plan: Plan) -> None:
    """Refuse a plan that a series cannot keep across its releases."""
    if plan.decorrelate is not None:
        raise InputError(
            "decorrelate suppresses values at random; repeated in every release it would show what was suppressed "
            "before; leave it out of the plan of a series",
            code="series-plan",
        )
    if plan.search.levels:
        raise InputError(
            "a series chooses the levels of every release by itself; leave search: levels out of its plan",
            code="series-plan",
        )
    reason = refuse_models(plan.models)
    if reason is not None:
        raise InputError(f"a series cannot keep this plan: {reason}", code="series-plan")
    if any(isinstance(model, SafeHarborRule) for model in plan.models) or any(
        isinstance(attribute.hierarchy, SafeHarbor) for attribute in plan.attributes.values()
    ):
        raise InputError(
            "a series does not support the rules of Safe Harbor, which are about columns", code="series-plan"
        )


def _refuse_people(plan: Plan, settings: SeriesSettings) -> None:
    """Refuse people who are judged by all their rows, and in a full-domain series models that are not monotone."""
    if plan.pseudonyms:
        raise InputError(
            "a series does not release pseudonyms, which would tie the rows of several releases together: leave "
            "pseudonym out of its plan",
            code="series-plan",
        )
    if plan.unit.judges_sets:
        raise InputError(
            "a series cannot judge people by all their rows together, which arrive in different releases: leave "
            "attacker_knows: all_rows and linked_by out of its plan, and make the columns of person identifying",
            code="series-plan",
        )
    strangers = [model.name for model in plan.models if not model.monotone_for_people]
    if plan.unit.counts_people and settings.kind == FULL_DOMAIN and strangers:
        raise InputError(
            f"a full-domain series cannot count people for model {strangers[0]}, because its verdict on people is not "
            "monotone; use kind: regions, or k-anonymity alone",
            code="series-plan",
        )


def _refuse_identity(plan: Plan, settings: SeriesSettings) -> None:
    name = settings.identified_by
    if name is not None and name not in plan.attributes:
        raise InputError(
            f"identified_by: {name!r} is not a column of the plan{nearest(name, plan.attributes)}",
            code="series-settings",
        )
