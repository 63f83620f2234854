"""The table of one party, as labels: checked against the study before anything leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

import numpy as np
import polars as pl

from kohorte.data import Role, as_text, without_marks
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SUPPRESSED, Builder, Hierarchy, Intervals, Redaction
from kohorte.kernels.arrays import Codes, Floats
from kohorte.metrics import Loss
from kohorte.parties.sealed import MISSING, STAR
from kohorte.parties.study import Distribution, Study
from kohorte.plans.columns import check_columns
from kohorte.plans.hierarchies import VALUE_OR_STAR
from kohorte.plans.plan import Plan
from kohorte.plans.population import flags
from kohorte.sources import EncodedColumn, FrameSource, Missing, counted_as, encode

LONGEST = 4096
"""The most bytes of a label or an identifier, and the most characters of a redacted value: cells are padded to the
longest of a column, so that one long value makes the tables of all parties large."""

NUMBER = "\0number "
"""Put before a number, so that 1 and 1.0 are counted as one value."""


@dataclass(frozen=True, eq=False)
class LabelledColumn:
    """One column: `codes[row]` is a value, `levels[value, level]` the index of its label in `texts`.

    `examples` has for each value a text of the table that has these labels; it is never sent.
    """

    codes: Codes = field(repr=False)
    levels: Codes = field(repr=False)
    texts: tuple[str, ...] = field(repr=False)
    shares: Floats | None = field(default=None, repr=False)
    examples: tuple[str | None, ...] = field(default=(), repr=False)

    @property
    def longest(self) -> int:
        """The length of the longest label, in bytes of UTF-8."""
        return max((len(text.encode()) for text in self.texts), default=0)


NO_ROWS = LabelledColumn(np.empty(0, dtype=np.uint32), np.empty((0, 1), dtype=np.uint32), ())
"""A column of a party without rows: it has no values, and no part of a hierarchy."""


@dataclass(frozen=True, eq=False)
class OwnTable:
    """The columns that a party brings, and the identifiers of its rows if they are to be joined."""

    columns: Mapping[str, LabelledColumn]
    identifiers: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())).codes)


def longest_values(frame: pl.DataFrame, study: Study, name: str) -> dict[str, int]:
    """The length of the longest value of each column whose redaction has no length in the plan.

    The parties agree on the longest of all, as if the rows were in one table.
    """
    found = {}
    for column in study.columns_of(name):
        builder = study.plan.attributes[column].hierarchy
        if isinstance(builder, Redaction) and builder.length is None and column in frame.columns:
            lengths = as_text(without_marks(frame, study.plan.missing_values)[column]).str.len_chars()
            found[column] = max(1, int(str(lengths.max() or 1)))
            _refuse_long(column, found[column])
    return found


def own_table(frame: pl.DataFrame, study: Study, name: str, *, lengths: Mapping[str, int]) -> OwnTable:
    """Check the table of a party against the study, and give each value its labels.

    `lengths` are the agreed lengths of redactions. Values that a hierarchy does not know are refused with their rows. A
    table without rows is refused if all rows are joined with it; otherwise it adds nothing to those of the others.
    """
    plan = study.plan
    _check(frame, study, name)
    if frame.height == 0 and not study.may_lack_rows:
        raise InputError("the table has no rows, so that no person is at all parties", code="table-no-rows")
    own = study.columns_of(name)
    if frame.height == 0:
        return OwnTable(dict.fromkeys(own, NO_ROWS), () if study.joins else None)
    frame = without_marks(frame, plan.missing_values)
    quasi = [column for column in own if column in plan.quasi_identifiers]
    encoded = _encoded(frame, plan, quasi, lengths)
    columns = {}
    for column in own:
        if column in encoded:
            finest = plan.attributes[column].minimum_level if study.pregeneralize else 0
            builder = plan.attributes[column].hierarchy
            counted = builder is None or not (builder.independent or isinstance(builder, Intervals))
            columns[column] = _labelled(
                encoded[column],
                finest,
                with_shares=isinstance(plan.metric, Loss) and not counted,
                keeps_missing=plan.missing is Missing.SUPPRESS,
            )
        elif plan.subset is not None and column == plan.subset.name:
            columns[column] = _flag(frame[column])
        else:
            columns[column] = _other_column(frame, plan, column, lengths)
    for column, labelled in columns.items():
        _refuse_long(column, labelled.longest)
    identifiers = _identifiers(frame, study)
    _refuse_long(str(study.identifier), max((len(text.encode()) for text in identifiers or ()), default=0))
    return OwnTable(columns, identifiers)


def _refuse_long(column: str, length: int) -> None:
    if length > LONGEST:
        raise InputError(
            f"column {column!r}: a value or label has a length of {length:,}; parties accept at most {LONGEST:,} bytes",
            code="party-cell-too-long",
        )


def _check(frame: pl.DataFrame, study: Study, name: str) -> None:
    if study.distribution is Distribution.HORIZONTAL:
        check_columns(frame.columns, study.plan, may_lack=(Role.IDENTIFYING,))
        return
    wanted = (str(study.identifier), *study.columns_of(name))
    identifying = study.plan.names(Role.IDENTIFYING)
    if absent := [column for column in wanted if column not in frame.columns]:
        hints = ", ".join(repr(column) + nearest(column, frame.columns) for column in absent)
        raise InputError(f"the table lacks these columns of the study: {hints}", code="study-columns-missing")
    if strangers := [column for column in frame.columns if column not in (*wanted, *identifying)]:
        hints = ", ".join(repr(column) for column in strangers)
        raise InputError(
            f"the study does not say that {name} brings these columns: {hints}; remove them, or name them in the plan "
            "as identifying",
            code="study-columns-unnamed",
        )


def _encoded(
    frame: pl.DataFrame, plan: Plan, names: Sequence[str], lengths: Mapping[str, int]
) -> dict[str, EncodedColumn]:
    builders = {name: _with_length(plan.attributes[name].hierarchy, lengths.get(name)) for name in names}
    if not builders:
        return {}
    source = FrameSource(frame.select(names), merged=False)
    table = encode(source, source.distinct(names), builders, missing=plan.missing)
    return {column.name: column for column in table.columns}


def _with_length(builder: Builder | None, length: int | None) -> Builder:
    if isinstance(builder, Redaction) and builder.length is None and length is not None:
        return replace(builder, length=length)
    return builder or VALUE_OR_STAR


def _labelled(column: EncodedColumn, finest: int, *, with_shares: bool, keeps_missing: bool = False) -> LabelledColumn:
    """The labels of all values at all levels; below `finest`, the labels of that level.

    With `keeps_missing`, a missing value stays missing at level 0, whatever its label: its row is suppressed.
    """
    tops = len(column.maps)
    if finest >= tops:
        column.from_level(finest)  # refuses a level that the hierarchy does not have
    shown = [max(level, finest) for level in range(tops)]
    labels = [[column.labels[level][group] for group in column.maps[level].tolist()] for level in shown]
    if keeps_missing:
        values = (column.labels[0][group] for group in column.maps[0].tolist())
        labels[0] = [None if value is None else label for value, label in zip(values, labels[0], strict=True)]
    shares = np.stack([column.shares[level][column.maps[level]] for level in shown], axis=1)
    rows = list(zip(*labels, strict=True))
    first: dict[tuple[str | None, ...], int] = {}
    for index, row in enumerate(rows):
        first.setdefault(row, index)
    number = {row: index for index, row in enumerate(first)}
    renumber = np.array([number[row] for row in rows], dtype=np.uint32)
    places = list(first.values())
    examples = [column.labels[0][group] for group in column.maps[0][places].tolist()]
    found = numbered(renumber[column.codes], list(first), shares[places] if with_shares else None)
    return replace(found, examples=tuple(examples))


def _other_column(frame: pl.DataFrame, plan: Plan, name: str, lengths: Mapping[str, int]) -> LabelledColumn:
    """A column that is released as it is; if models count it, with its hierarchy or its numbers as one value."""
    builder = plan.attributes[name].hierarchy if name in plan.counted_attributes else None
    if builder is not None:
        _refuse_spellings(as_text(frame[name]), name)
        return _labelled(_encoded(frame, plan, [name], lengths)[name], 0, with_shares=False)
    text = as_text(frame[name])
    distinct = text.unique(maintain_order=False).sort(nulls_last=True)
    codes = text.rank("dense").cast(pl.UInt32) - 1
    values: list[str | None] = distinct.to_list()
    rows: list[tuple[str | None, ...]] = [(value,) for value in values]
    if name in plan.counted_attributes:
        rows = [(value, counted) for value, counted in zip(values, _counted_as(distinct), strict=True)]
    return numbered(codes.fill_null(len(values) - 1).to_numpy(), rows, None)


def listed_values(study: Study, name: str) -> LabelledColumn | None:
    """All values of a column, if the plan lists them in its hierarchy, so that every party knows them."""
    builder = counted_builder(study, name)
    if builder is None or not builder.independent:
        return None
    return values_of(study, name, builder.build([], attribute=name))


def counted_builder(study: Study, name: str) -> Builder | None:
    """The hierarchy that the plan gives a column whose labels are counted."""
    plan = study.plan
    counted = name in plan.quasi_identifiers or name in plan.counted_attributes
    return plan.attributes[name].hierarchy if counted else None


def values_of(study: Study, name: str, hierarchy: Hierarchy) -> LabelledColumn:
    """The values of a hierarchy with their labels, as a table of the study has them."""
    plan, quasi = study.plan, name in study.plan.quasi_identifiers
    source = FrameSource(pl.DataFrame({name: hierarchy.values}, schema={name: pl.String}), merged=False)
    column = encode(source, source.distinct([name]), {name: hierarchy}, missing=Missing.CATEGORY).columns[0]
    finest = plan.attributes[name].minimum_level if quasi and study.pregeneralize else 0
    return _labelled(column, finest, with_shares=quasi and isinstance(plan.metric, Loss))


def labels_of(column: LabelledColumn) -> list[tuple[str | None, ...]]:
    """The labels of each value at all levels; missing is None."""
    texts = {**dict(enumerate(column.texts)), int(MISSING): None, int(STAR): SUPPRESSED}
    return [tuple(texts[label] for label in row) for row in column.levels.tolist()]


def _flag(column: pl.Series) -> LabelledColumn:
    """Which rows are to be released, as `*`, and which are only part of the population, as missing: no text."""
    codes = np.where(flags(column).to_numpy(), 0, 1).astype(np.uint32)
    return LabelledColumn(codes, np.array([[STAR], [MISSING]], dtype=np.uint32), ())


def _refuse_spellings(text: pl.Series, name: str) -> None:
    """Refuse several spellings of a value with a hierarchy, under which each would be counted as a value of its own."""
    distinct = text.drop_nulls().unique()
    keys = counted_as(distinct, numbers=False)
    if joined := len(keys) - len({key for key in keys if key is not None}):
        raise InputError(
            f"column {name!r}: {joined:,} of {len(keys):,} values differ from another one only in capital letters, "
            "blanks, invisible characters or the encoding of letters, or show nothing; write them alike",
            code="study-spellings",
        )


def _counted_as(values: pl.Series) -> list[str | None]:
    """The values, with equal numbers and all spellings written alike; missing if nothing can be seen of them."""
    return [
        NUMBER + format(counted.normalize() + 0, "f") if isinstance(counted, Decimal) else counted
        for counted in counted_as(values)
    ]


def numbered(codes: Codes, rows: Sequence[tuple[str | None, ...]], shares: Floats | None) -> LabelledColumn:
    """Number the different labels of all levels; missing values and `*` are not among them."""
    texts: dict[str, int] = {}
    levels = np.empty((len(rows), len(rows[0])), dtype=np.uint32)
    for index, row in enumerate(rows):
        for level, label in enumerate(row):
            if label is None or label == SUPPRESSED:
                levels[index, level] = MISSING if label is None else STAR
            else:
                levels[index, level] = texts.setdefault(label, len(texts))
    return LabelledColumn(codes.astype(np.uint32), levels, tuple(texts), shares)


def _identifiers(frame: pl.DataFrame, study: Study) -> tuple[str, ...] | None:
    if not study.joins:
        return None
    text = as_text(frame[str(study.identifier)])
    if lacking := text.null_count():
        raise InputError(
            f"column {study.identifier!r} ties the rows of the parties together and is missing in {lacking:,} rows",
            code="study-identifier-missing",
        )
    if (different := text.n_unique()) < len(text):
        raise InputError(
            f"column {study.identifier!r} ties the rows of the parties together, but {len(text) - different:,} rows "
            "repeat the identifier of another: every row must be another person",
            code="study-identifier-repeated",
        )
    return tuple(text.to_list())
