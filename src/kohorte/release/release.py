"""A release: a candidate that has passed its verification."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import polars as pl

from kohorte.data import FrameKind, Role, from_polars, to_polars, without_marks
from kohorte.errors import InputError
from kohorte.hierarchies import SUPPRESSED
from kohorte.plans.columns import check_columns
from kohorte.plans.population import flagged_rows, without_flag
from kohorte.release.candidate import Candidate
from kohorte.release.verification import Verification, refuse_failed, verify_source
from kohorte.sources import FrameSource, SparkSource, TableSource, encode_rows


@dataclass(frozen=True, eq=False, repr=False)
class Release(Candidate):
    """A verified release: its rows in `data`, and the evidence for it. The repr shows no rows.

    A release cannot be created without passing its verification: the rows are counted again, the models must hold, and
    rows, classes and suppressed rows must be those that the search counted. Anything else would be a bug.
    """

    verification: Verification = field(kw_only=True)
    kind: FrameKind = field(kw_only=True, default=FrameKind.POLARS)

    def __post_init__(self) -> None:
        verification = self.verification
        counted = (verification.rows, verification.classes, verification.suppressed)
        same = counted == (self.rows, self.classes, self.suppressed)
        if self.all_starred:  # suppressed rows cannot be told from the others
            same = verification.rows == self.rows
        refuse_failed(verification, self.plan, same=same)

    @classmethod
    def verified(
        cls, candidate: Candidate, table: TableSource | None = None, kind: FrameKind = FrameKind.POLARS
    ) -> Release:
        """Verify a candidate, from its rows or from `table`, which was read from the written file."""
        checked = candidate.table if table is None else table
        verification = verify_source(
            checked, candidate.plan, candidate.populations, levels=candidate.levels, people=candidate.people
        )
        known = {part.name: getattr(candidate, part.name) for part in fields(Candidate)}
        return cls(**known, verification=verification, kind=kind)

    @property
    def open_points(self) -> tuple[str, ...]:
        """What the rows of a person tell together, and what the suppressed rows do."""
        return (*super().open_points, *self.verification.open_points)

    @cached_property
    def data(self) -> Any:
        """The rows, as a frame of the same library as the input."""
        if isinstance(self.table, SparkSource):
            return self.table.data
        return from_polars(self.table.in_memory("a release as a frame"), self.kind)

    def transform(self, new_rows: object) -> Any:
        """Apply the levels of the release to later rows with the same columns.

        Values that a hierarchy does not contain are refused. A row whose class the release does not keep is suppressed.
        So `transform` of the original table gives the release again.
        """
        if self.node is None:
            raise InputError(
                f"a release by {self.plan.search.algorithm} generalizes each row in its own way and says nothing about "
                "later rows; anonymize all rows together instead",
                code="transform-recoded",
            )
        if self.plan.decorrelate is not None:
            raise InputError(
                "a plan with decorrelate suppresses values by chance: doing it again for the same people would show "
                "what was suppressed before; anonymize all rows together instead",
                code="transform-decorrelate",
            )
        if self.plan.pseudonyms:
            raise InputError(
                "a plan with pseudonyms needs the keys of its domains for later rows; anonymize all rows together "
                "instead",
                code="release-pseudonyms",
            )
        if self.plan.unit.judges_sets:
            raise InputError(
                "a release that judges people by all their rows together suppresses people, not classes, and says "
                "nothing about later rows; anonymize all rows together instead",
                code="transform-person",
            )
        table, kind = to_polars(new_rows)
        check_columns(table.columns, self.plan, may_lack=(Role.IDENTIFYING,))
        table = without_marks(table, self.plan.missing_values)
        table = without_flag(flagged_rows(table, self.plan), self.plan)
        if table.height == 0:
            raise InputError("the table has no rows", code="table-no-rows")
        fixed = {
            name: (self.plan.attributes[name].hierarchy or hierarchy).fixed(hierarchy)
            for name, hierarchy in self.hierarchies.items()
        }
        encoded = encode_rows(table, fixed, missing=self.plan.missing, finest=self.plan.minimum_levels)
        shown = pl.DataFrame(
            [column.generalized(level) for column, level in zip(encoded.columns, self.node, strict=True)]
        )
        known = shown.join(
            self.kept_classes.with_columns(pl.lit(value=True).alias("\0kept")),
            on=shown.columns,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )["\0kept"].fill_null(value=False)
        kept = known & pl.Series(encoded.included)
        stars = pl.Series([SUPPRESSED]).new_from_index(0, shown.height)
        masked = [column.zip_with(kept, stars) for column in shown.get_columns()]
        if not self.suppressed and kept.all():  # as in the release: columns at level 0 keep their type
            masked = [column for column, level in zip(masked, self.levels.values(), strict=True) if level]
        present = [name for name in self.plan.names(Role.IDENTIFYING) if name in table.columns]
        source = FrameSource(table, merged=False)
        replaced = source.released(source.distinct(()), pl.DataFrame(masked), without=present, shuffled=self.shuffled)
        return from_polars(replaced.in_memory("transform"), kind)
