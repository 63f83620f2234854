"""Pseudonymize a column of a table, batch by batch; the output is written completely or not at all.

What a list remembers is on disk after each batch. If the process is killed, no output appears; the next run finds the
pseudonyms that were given, and adds the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.data import as_text, atomic_write, refuse_format, refuse_same_file
from kohorte.data.columns import quoted
from kohorte.data.files import refuse_output
from kohorte.errors import InputError, nearest
from kohorte.identifiers import Form, suspects
from kohorte.in_words import NOBODY, count
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.pseudonyms.coincidences import Coincidences
from kohorte.pseudonyms.dates import MOST_DAYS, DateColumn, dates_in_words, offsets
from kohorte.pseudonyms.domains import Domain
from kohorte.pseudonyms.made import Made, TextError
from kohorte.pseudonyms.texts import made, plain_texts
from kohorte.sources.batches import Batch, TableBatches, fill_table_in_batches

MEGABYTE = 1_000_000
NEARLY_FULL = 0.7
LOOKED_AT = 1000


@dataclass(frozen=True)
class Wish:
    """What is to be done with a table: the column of people, columns to drop, dates to shift."""

    column: str
    drop: tuple[str, ...] = ()
    shift_dates: tuple[str, ...] = ()
    within: int = 365
    date_format: str | None = None
    key_version: int | None = None
    only: pl.Series | None = field(default=None, repr=False, compare=False)
    """The only values of the column whose rows are written; all others are left out."""

    def __post_init__(self) -> None:
        if not 1 <= self.within <= MOST_DAYS:
            raise InputError(f"--within: is a number of days from 1 to {MOST_DAYS}", code="pseudonym-within")
        named = (self.column, *self.drop, *self.shift_dates)
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise InputError(
                f"{quoted(twice)}: is named twice in --column, --drop and --shift-dates", code="pseudonym-column"
            )

    def check(self, columns: list[str]) -> None:
        """Refuse names that the table does not have."""
        for name in (self.column, *self.drop, *self.shift_dates):
            if name not in columns:
                raise InputError(
                    f"the table has no column {name!r}{nearest(name, columns)}; it has {quoted(columns)}",
                    code="pseudonym-column",
                )


@dataclass
class Outcome:
    """What was done, in numbers; never a value."""

    domain: str
    kind: str
    key_version: int
    rows: int = 0
    left_out: int = 0
    pseudonymized: int = 0
    missing: int = 0
    new: int = 0
    dates_shifted: int = 0
    dates_removed: int = 0
    placeholders_removed: int = 0
    seconds: float = 0.0
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return asdict(self) | {"seconds": round(self.seconds, 3)}


def pseudonymize(
    table: TableBatches,
    output: Path,
    domain: Domain,
    wish: Wish,
    *,
    force: bool = False,
    actor: str,
    progress: ProgressCallback | None = None,
) -> Outcome:
    """Write the table with pseudonyms instead of the texts of one column.

    If the domain has a parent, the texts must have the shape of its pseudonyms, with the right check characters.
    """
    refuse_format(output)
    refuse_output(output, force=force)
    if table.content is None:
        refuse_same_file(table.path, output)
    bulk = _Bulk(table, domain, wish, progress)
    begun = time.monotonic()
    with atomic_write(output, force=force, private=True) as temporary:
        frames = bulk.frames()
        first = next(frames)  # says which separator the file has
        separator = "\t" if output.suffix.lower() == ".tsv" else bulk.separator or ","
        fill_table_in_batches(_again(first, frames), temporary, output, separator=separator)
        bulk.finish()
        figures = {name: getattr(bulk.outcome, name) for name in ("rows", "pseudonymized", "missing", "new")}
        domain.kind.folder.log.append(
            "pseudonymize",
            f"domain {domain.definition.name}",
            actor=actor,
            key_version=bulk.outcome.key_version,
            dates=len(wish.shift_dates),
            **figures,
        )
    bulk.outcome.seconds = time.monotonic() - begun
    return bulk.outcome


class _Bulk:
    """The state of one run."""

    def __init__(
        self,
        table: TableBatches,
        domain: Domain,
        wish: Wish,
        progress: ProgressCallback | None,
    ) -> None:
        self.table, self.domain, self.wish, self.progress = table, domain, wish, progress
        self.key = domain.key(wish.key_version)
        self.outcome = Outcome(domain.definition.name, domain.definition.kind, self.key.version)
        self.separator: str | None = None
        self._dates = [DateColumn(name, wish.date_format) for name in wish.shift_dates]
        self._coincidences = Coincidences() if domain.kind.may_coincide else None
        self._only = None if wish.only is None else self._texts(wish.only).drop_nulls().unique()
        self._numbers = pl.Series(dtype=pl.UInt32)

    def frames(self) -> Iterator[pl.DataFrame]:
        """The batches of the output."""
        total, unit = self.table.total, "MB" if self.table.format == "csv" else "rows"
        scale = MEGABYTE if unit == "MB" else 1
        name = self.table.path.name
        for number, batch in enumerate(self.table):
            if number == 0:
                self._begin(batch)
            yield self._pseudonymized(batch.frame)
            tell(
                self.progress,
                Stage.PSEUDONYMIZING,
                name,
                done=batch.done // scale,
                of=max(total // scale, 1),
                unit=unit,
            )

    def finish(self) -> None:
        """Refuse the table if two texts got the same pseudonym; count what happened to dates."""
        shared = self._coincidences.found() if self._coincidences is not None else 0
        if shared:
            raise InputError(
                f"{shared} different values of the column {self.wish.column!r} would share their pseudonym with "
                "another one; make a domain with longer pseudonyms (--length)",
                code="pseudonym-coincidence",
            )
        filled = self.domain.kind.filled
        if filled is not None and filled >= NEARLY_FULL:
            self.outcome.notes.append(
                f"the list is {filled:.0%} full; make a domain with longer pseudonyms before it is closed"
            )
        self.outcome.dates_shifted = sum(column.shifted for column in self._dates)
        self.outcome.dates_removed = sum(column.removed for column in self._dates)
        self.outcome.placeholders_removed = sum(column.placeholders for column in self._dates)
        self.outcome.notes += [note for column in self._dates for note in column.notes]

    def _begin(self, batch: Batch) -> None:
        self.wish.check(batch.frame.columns)
        self.separator = batch.separator
        self.outcome.notes += batch.notes
        gone = {self.wish.column, *self.wish.drop}
        sample = batch.frame.head(LOOKED_AT)
        for column in sample.iter_columns():
            if column.name not in gone:
                every = suspects(column, sample.height)
                found = [one for one in every if one.form is Form.DIRECT]
                if found:
                    self.outcome.notes.append(
                        f"column {column.name!r} may identify people ({found[0].name.lower()}, {found[0].why}) and "
                        "stays in the output; drop it with --drop"
                    )
                stays = bool(self.wish.shift_dates) and column.name not in self.wish.shift_dates
                if stays and any(one.form is Form.DATE for one in every):
                    self.outcome.notes.append(
                        f"column {column.name!r} has dates that are not shifted: beside the shifted ones they can tell "
                        "by how many days these moved; name it in --shift-dates, too, or drop it"
                    )

    def _pseudonymized(self, whole: pl.DataFrame) -> pl.DataFrame:
        texts, frame = self._texts(whole[self.wish.column]), whole
        if self._only is not None:
            chosen = texts.is_in(self._only.implode()).fill_null(value=False)
            texts, frame = texts.filter(chosen), whole.filter(chosen)
            self._numbers = chosen.arg_true()
        different = texts.drop_nulls().unique(maintain_order=True)
        originals = different.to_list()
        found = self._made(originals, texts)
        if self._coincidences is not None:
            self._coincidences.add(different, found.pseudonyms)
        changed = [_looked_up(texts, different, pl.Series(found.pseudonyms, dtype=pl.String)).alias(self.wish.column)]
        if self._dates:
            days = pl.Series(offsets(originals, found.versions, self.domain.keys, self.wish.within), dtype=pl.Int32)
            by_row = _looked_up(texts, different, days)
            changed += [column.shift(frame[column.name], by_row, self._row) for column in self._dates]
        self.outcome.rows += frame.height
        self.outcome.left_out += whole.height - frame.height
        self.outcome.missing += texts.null_count()
        self.outcome.pseudonymized += frame.height - texts.null_count()
        self.outcome.new += found.new
        return frame.with_columns(changed).drop(self.wish.drop)

    def _texts(self, column: pl.Series) -> pl.Series:
        return plain_texts(self.domain.definition, as_text(column))

    def _made(self, originals: list[str], texts: pl.Series) -> Made:
        try:
            return made(self.domain, originals, self.key)
        except TextError as error:
            row = self._row(int((texts == originals[error.place]).arg_max() or 0))
            raise InputError(f"column {self.wish.column!r}, row {row}: {error.message}", code=error.code) from None

    def _row(self, place: int) -> int:
        """The number of a row in the whole table, from its place in this batch."""
        before = self.outcome.rows + self.outcome.left_out
        return before + (place if self._only is None else int(self._numbers[place])) + 1


def _looked_up(texts: pl.Series, different: pl.Series, values: pl.Series) -> pl.Series:
    if not len(different):
        return pl.Series([None] * len(texts), dtype=values.dtype)
    return texts.replace_strict(different, values, default=None, return_dtype=values.dtype)


def _again(first: pl.DataFrame, others: Iterator[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    yield first
    yield from others


def summary(outcome: Outcome) -> list[str]:
    """What was done, in sentences."""
    lines = [
        f"{count(outcome.rows, 'row')}: {count(outcome.pseudonymized)} pseudonymized in the domain {outcome.domain!r} "
        f"({outcome.kind}, version {outcome.key_version} of its key)"
    ]
    if not outcome.rows:
        lines.append(NOBODY)
    if outcome.left_out:
        lines.append(f"{count(outcome.left_out, 'row')} left out, because --only does not name them")
    if outcome.missing:
        lines.append(f"{count(outcome.missing, 'row')} without a value in the column, and so without a pseudonym")
    if outcome.kind == "list":
        lines.append(f"{count(outcome.new, 'new entry', 'new entries')} in the list")
    lines += dates_in_words(
        outcome.dates_shifted, outcome.dates_removed, outcome.placeholders_removed, "their rows name nobody"
    )
    return lines
