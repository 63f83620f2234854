"""Anonymize a table without knowing its values: labels are replaced by tokens, then the ordinary search runs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from kohorte.data import Role
from kohorte.hierarchies import SUPPRESSED, Builder, Hierarchy
from kohorte.hierarchies.builder import Labels
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.parties.integration import random_order
from kohorte.parties.sealed import MISSING, STAR, SealedColumn, SealedTable
from kohorte.parties.sealed_release import SealedRelease
from kohorte.plans.parts import Attribute
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback
from kohorte.release.anonymization import SearchSetup, nothing_found, search, set_up_search
from kohorte.release.preparation import EncodedProblem, encode_problem
from kohorte.release.telling.losses import lost_labels
from kohorte.search import SearchResult, all_starred
from kohorte.sources import FrameSource

ROW = "row of the encrypted table"
"""A column beside the tokens: the number of the row in the encrypted table."""

HIDDEN = "shows nothing"
"""The value of a column of which the parties show nothing but `*`."""


@dataclass(frozen=True)
class TokenHierarchy(Builder):
    """A hierarchy of tokens, already built."""

    name: ClassVar[str] = "tokens"
    hierarchy: Hierarchy = field(compare=False, repr=False)

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:
        """The labels of all tokens."""
        del values, attribute
        return Labels(self.hierarchy.table())

    def build(self, values: Sequence[str], *, attribute: str) -> Hierarchy:
        """The hierarchy itself."""
        del values, attribute
        return self.hierarchy


@dataclass(frozen=True)
class Figures:
    """What the search found, in numbers only: the same at every party."""

    levels: Mapping[str, int]
    cost: float
    suppressed: int
    classes: int
    smallest_class: int | None
    rows: int
    optimal: bool
    lower_bound: float
    checked: int
    tagged: int
    heuristic: bool
    lattice: int
    tops: Mapping[str, int]
    all_starred: bool
    lost_values: Mapping[str, int]
    seconds: float
    empty_classes: int = 0

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        bound = self.lower_bound if np.isfinite(self.lower_bound) else None
        return {**vars(self), "levels": dict(self.levels), "tops": dict(self.tops), "lower_bound": bound} | {
            "lost_values": dict(self.lost_values)
        }


@dataclass(frozen=True, eq=False)
class BlindRelease:
    """The release in cells: for each row of it, the row of the encrypted table, and what its quasi-identifiers show.

    `shown[name][i]` is the index of a cell of the column, or stands for missing or `*`. If a subset of the rows is
    released, `people[i]` counts all people of the table who look like row i.
    """

    rows: Codes = field(repr=False)
    shown: Mapping[str, Codes] = field(repr=False)
    figures: Figures
    people: Counts | None = field(default=None, repr=False)

    def sealed(self, table: SealedTable, plan: Plan, facts: Mapping[str, object]) -> SealedRelease:
        """The cells of the release, as they travel to the party that opens it, with the figures and more facts."""
        released = {name: column for name, column in table.columns.items() if name != subset_of(plan)}
        whole = {**self.figures.to_dict(), **facts}
        return SealedRelease.of(SealedTable(released), self.rows, self.shown, whole, people=self.people)


def anonymize_blindly(table: SealedTable, plan: Plan, *, progress: ProgressCallback | None = None) -> BlindRelease:
    """Find the best release of an encrypted table; only equality of cells and hierarchies are used.

    The figures are those that the same rows in plain text would have.
    """
    started = time.perf_counter()
    tokens, token_plan = tokens_of(table, plan)
    encoded = encode_problem(FrameSource(tokens), token_plan, progress=progress)
    setup = set_up_search(encoded)
    result = search(setup)
    if result.best is None:
        raise nothing_found(setup, result)
    node = result.best.node
    class_of, groups = setup.engine.classes(node)
    kept_classes = setup.evaluator.kept(groups)
    kept = _of_tuples(encoded, class_of, kept_classes)
    figures = _figures(setup, encoded, result, kept, time.perf_counter() - started)
    rows, tuple_of = _rows(encoded, _row_column(plan))
    shown = {}
    for column, level in zip(encoded.table.columns, node, strict=True):
        cells = table.columns[column.name].at(level + column.finest)[rows]
        shown[column.name] = np.where(kept[tuple_of], cells, STAR).astype(np.uint32)
    if plan.subset is None:
        return BlindRelease(rows, shown, figures)
    people = np.where(kept_classes, groups.populations[plan.subset.key].counts, 0)
    return BlindRelease(rows, shown, figures, _of_tuples(encoded, class_of, people)[tuple_of])


def _of_tuples(encoded: EncodedProblem, class_of: Codes, of_class: NDArray[Any]) -> NDArray[Any]:
    """What holds for the class of each tuple; 0 for a tuple that is in no class."""
    found = np.zeros(len(encoded.table.weights), dtype=of_class.dtype)
    found[encoded.table.included] = of_class[class_of]
    return found


def _rows(encoded: EncodedProblem, row: str) -> tuple[Codes, Counts]:
    """The rows of the release in random order: the number of each in the encrypted table, and of its tuple."""
    name = encoded.plan.quasi_identifiers[0]
    numbers = pl.DataFrame({name: pl.int_range(len(encoded.table.weights), eager=True)})
    numbered = encoded.released(numbers, shuffled=False).in_memory("the tuples of the rows")
    order = random_order(numbered.height)
    return numbered[row].to_numpy()[order], numbered[name].to_numpy()[order]


def subset_of(plan: Plan) -> str | None:
    """The column that flags the rows to release, if only some are."""
    return None if plan.subset is None else plan.subset.name


def _figures(setup: SearchSetup, encoded: EncodedProblem, result: SearchResult, kept: Bools, seconds: float) -> Figures:
    best = result.best
    assert best is not None, "there is a solution"
    columns = encoded.table.columns
    return Figures(
        levels={column.name: column.finest + level for column, level in zip(columns, best.node, strict=True)},
        cost=best.cost,
        suppressed=best.suppressed,
        classes=best.classes,
        smallest_class=best.smallest_class,
        rows=encoded.table.rows,
        optimal=result.optimal,
        lower_bound=result.lower_bound,
        checked=result.checked,
        tagged=result.tagged,
        heuristic=result.heuristic,
        lattice=setup.problem.lattice.size,
        tops={column.name: column.hierarchy.top for column in columns},
        all_starred=all_starred(encoded.table, best.node),
        lost_values=lost_labels(encoded, kept, best.node),
        seconds=seconds,
        empty_classes=0 if encoded.plan.subset is None else _empty_classes(setup, best.node),
    )


def _empty_classes(setup: SearchSetup, node: Node) -> int:
    """How many kinds of people of the whole table have no row in the release."""
    subset = setup.encoded.plan.subset
    assert subset is not None, "a subset is released"
    return setup.engine.classes(node)[1].populations[subset.key].empty_classes


def tokens_of(table: SealedTable, plan: Plan) -> tuple[pl.DataFrame, Plan]:
    """The table as tokens that stand for cells, and the plan for it."""
    row = _row_column(plan)
    frame = {row: pl.int_range(table.rows, dtype=pl.UInt32, eager=True)}
    attributes: dict[str, Attribute] = {row: Attribute(Role.INSENSITIVE)}
    for name, attribute in plan.attributes.items():
        if name in plan.quasi_identifiers or name in plan.counted_attributes:
            column = table.columns[name]
            has_hierarchy = name in plan.quasi_identifiers or attribute.hierarchy is not None
            frame[name] = _texts(column, 0 if has_hierarchy else column.levels.shape[1] - 1)
            builder = TokenHierarchy(token_hierarchy(name, column)) if has_hierarchy else None
            attributes[name] = replace(attribute, hierarchy=builder)
        elif name == subset_of(plan):
            flagged = table.columns[name].at(0) == STAR
            frame[name] = pl.Series(flagged).cast(pl.UInt8)
            attributes[name] = attribute
    return pl.DataFrame(frame), replace(plan, attributes=attributes, order="shuffled", missing_values=())


def _row_column(plan: Plan) -> str:
    """A name that no column of the plan has."""
    name = ROW
    while name in plan.attributes:
        name += "_"
    return name


def _texts(column: SealedColumn, level: int) -> pl.Series:
    """The tokens of a column; missing values are null."""
    own = tokens(column.levels[:, level])
    return (own if level else _as_values(own)).gather(column.codes)


def _as_values(own: pl.Series) -> pl.Series:
    """Tokens as values of a table: `*`, if nothing of a column is shown, is a value that is never released."""
    return own.replace(SUPPRESSED, HIDDEN)


def tokens(cells: Codes) -> pl.Series:
    """The token of each cell: c and its number; `*` stays `*`, and missing is null."""
    numbers = pl.Series(cells, dtype=pl.UInt32)
    texts = pl.select(pl.concat_str(pl.lit("c"), numbers.cast(pl.String))).to_series()
    stars = pl.Series([SUPPRESSED]).new_from_index(0, len(cells))
    return texts.zip_with(numbers != int(STAR), stars).set(numbers == int(MISSING), None)


def token_hierarchy(name: str, column: SealedColumn) -> Hierarchy:
    """The hierarchy of the tokens of a column.

    A missing value is in it, as the empty text, only if the hierarchy gives it a label of its own. Shares that depend
    on the data are counted from the values that occur.
    """
    used = np.unique(column.codes)
    levels = column.levels[used]
    missing = levels[:, 0] == MISSING
    stated = missing & (levels[:, 1:-1] < STAR).any(axis=1)
    chosen = ~missing | stated
    labels = [tokens(levels[chosen, level]).fill_null("") for level in range(levels.shape[1])]
    labels[0] = _as_values(labels[0])
    if not chosen.any():  # every value is missing
        return Hierarchy.from_columns([[] for _ in labels], attribute=name)
    shares = None if column.shares is None else [column.shares[used][chosen, level] for level in range(len(labels))]
    hierarchy = Hierarchy.from_columns([own.to_list() for own in labels], attribute=name, shares=shares)
    if shares is None:
        return hierarchy
    return replace(hierarchy, shares=(*hierarchy.shares[:-1], shares[-1][:1]))
