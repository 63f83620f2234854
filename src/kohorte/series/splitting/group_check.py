"""Checking groups of rows against the models of a plan, which count people if the plan says whom a row is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.groups import different_people
from kohorte.kernels.arrays import Bools, Integers
from kohorte.models import PrivacyModel
from kohorte.plans.plan import Plan
from kohorte.sources import (
    FrameSource,
    PersonColumns,
    Persons,
    SensitiveColumn,
    classes_of_rows,
    encode_sensitive,
)


@dataclass(frozen=True, eq=False)
class GroupCheck:
    """The models of a plan, and the sensitive values and the persons of the rows that are checked."""

    models: Sequence[PrivacyModel]
    rows: int
    attributes: int
    columns: tuple[SensitiveColumn, ...] = field(repr=False)
    hopeless: bool = False
    persons: Persons | None = field(default=None, repr=False)

    @classmethod
    def of(cls, frame: pl.DataFrame, plan: Plan) -> GroupCheck:
        """Prepare the models for groups of these rows, which together are the table.

        If the rows have too few values for a model to hold in any group, the check is `hopeless`; more rows may help.
        """
        columns = tuple(
            encode_sensitive(as_text(frame[name]), plan.attributes[name].hierarchy) for name in plan.histograms
        )
        persons = persons_of(frame, plan)
        persons = None if persons is None else persons.with_domains(columns)
        domains = {column.name: column.domain for column in columns} if persons is None else persons.domains
        hopeless = False
        for model in plan.judging_models:
            try:
                model.check(domains)
            except InputError as error:
                if error.code != "model-beyond-values":
                    raise
                hopeless = True
        attributes = len(plan.quasi_identifiers)
        return cls(plan.judging_models, frame.height, attributes, columns, hopeless, persons)

    @property
    def least(self) -> int:
        """The fewest rows, or people, that a group can have."""
        return max(1, *(model.smallest_class for model in self.models))

    def satisfied(self, class_of: Integers, classes: int, rows: Integers | Bools | None = None) -> Bools:
        """Tell for each class whether it satisfies all models; an empty class does not."""
        if self.hopeless:
            return np.zeros(classes, dtype=bool)
        sizes = np.bincount(class_of, minlength=classes)
        full = sizes > 0
        renumber = np.cumsum(full) - 1
        groups = classes_of_rows(
            self.columns,
            renumber[class_of],
            int(full.sum()),
            rows=rows,
            attributes=self.attributes,
            persons=self.persons,
        )
        verdicts = np.zeros(classes, dtype=bool)
        verdicts[full] = np.logical_and.reduce([model.satisfied(groups.judged) for model in self.models])
        return verdicts

    def sizes(self, group_of: Integers, groups: int, rows: Integers | Bools | None = None) -> Integers:
        """The size of each group of these rows, as the models count it: in people or in rows."""
        if self.persons is None:
            return np.bincount(group_of, minlength=groups)
        whom = self.persons.codes if rows is None else self.persons.codes[rows]
        return different_people(group_of, whom, groups)


def persons_of(frame: pl.DataFrame, plan: Plan) -> Persons | None:
    """Whom each row is about; None if the plan counts rows. A row that does not say it is refused."""
    if not plan.unit.counts_people:
        return None
    source = FrameSource(frame, merged=False)
    return PersonColumns(plan.unit.columns).numbered(source, source.distinct(plan.unit.columns))[0]
