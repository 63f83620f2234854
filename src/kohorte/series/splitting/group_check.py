"""Checking groups of rows against the models of a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from kohorte.data import as_text
from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools, Integers
from kohorte.models import PrivacyModel
from kohorte.plans.plan import Plan
from kohorte.sources import SensitiveColumn, classes_of_rows, encode_sensitive


@dataclass(frozen=True, eq=False)
class GroupCheck:
    """The models of a plan, and the sensitive values of the rows that are checked."""

    models: Sequence[PrivacyModel]
    rows: int
    attributes: int
    columns: tuple[SensitiveColumn, ...] = field(repr=False)
    hopeless: bool = False

    @classmethod
    def of(cls, frame: pl.DataFrame, plan: Plan) -> GroupCheck:
        """Prepare the models for groups of these rows, which together are the table.

        If the rows have too few values for a model to hold in any group, the check is `hopeless`; more rows may help.
        """
        columns = tuple(
            encode_sensitive(as_text(frame[name]), plan.attributes[name].hierarchy) for name in plan.histograms
        )
        hopeless = False
        for model in plan.models:
            try:
                model.check({column.name: column.domain for column in columns})
            except InputError as error:
                if error.code != "model-beyond-values":
                    raise
                hopeless = True
        return cls(plan.models, frame.height, len(plan.quasi_identifiers), columns, hopeless)

    @property
    def least(self) -> int:
        """The fewest rows that a group can have."""
        return max(1, *(model.smallest_class for model in self.models))

    def satisfied(self, class_of: Integers, classes: int, rows: Integers | Bools | None = None) -> Bools:
        """Tell for each class whether it satisfies all models; an empty class does not."""
        if self.hopeless:
            return np.zeros(classes, dtype=bool)
        sizes = np.bincount(class_of, minlength=classes)
        full = sizes > 0
        renumber = np.cumsum(full) - 1
        groups = classes_of_rows(
            self.columns, renumber[class_of], int(full.sum()), rows=rows, attributes=self.attributes
        )
        verdicts = np.zeros(classes, dtype=bool)
        verdicts[full] = np.logical_and.reduce([model.satisfied(groups) for model in self.models])
        return verdicts
