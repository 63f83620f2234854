"""What the models of a plan say of groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.data import as_text
from kohorte.engines import encode_sensitive
from kohorte.engines.sensitive import SensitiveColumn, classes_of_rows
from kohorte.errors import InputError
from kohorte.kernels.arrays import Bools
from kohorte.models import PrivacyModel
from kohorte.release.plan import Plan

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Judge:
    """The models, and the sensitive values of the rows that they are asked about."""

    models: Sequence[PrivacyModel]
    rows: int
    attributes: int
    columns: tuple[SensitiveColumn, ...] = field(repr=False)
    hopeless: bool = False

    @classmethod
    def of(cls, frame: pl.DataFrame, plan: Plan) -> Judge:
        """Make the models ready to judge groups of these rows; all of them together are the table.

        Where the rows have too few values for a model to hold for any group, it is `hopeless`: more rows may help.
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

    def satisfied(self, class_of: Numbers, classes: int, rows: Numbers | Bools | None = None) -> Bools:
        """Tell for each class whether it satisfies all models; one without rows does not."""
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
