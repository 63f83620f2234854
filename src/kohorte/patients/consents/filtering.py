"""Export the rows of a table whose people agreed to a purpose, and list the people who did.

The output is checked again, row by row, when it is written and before it gets its name. If a consent ended or changed
in the meantime, nothing is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import polars as pl

from kohorte.data import as_text, atomic_write, refuse_format, refuse_same_file
from kohorte.data.columns import quoted
from kohorte.data.files import sha256_of
from kohorte.errors import InputError, nearest
from kohorte.patients.consents.consent import checked_words
from kohorte.patients.consents.coverage import Coverage, Covered
from kohorte.patients.consents.register import Consents
from kohorte.patients.table_with_pids import PID
from kohorte.sources.batches import TableBatches, fill_table_in_batches
from kohorte.trust.pid import number_of, pid_of


@dataclass(frozen=True)
class Purpose:
    """For what and for whom an export is."""

    purpose: str
    project: str

    def __post_init__(self) -> None:
        checked_words([self.purpose], "--purpose")
        checked_words([self.project], "--project")


class Agreed(Protocol):
    """Says who agreed, and notes exports: the patient list of this house, or that of another one."""

    def covered(self, pids: Iterable[str], purpose: str) -> Covered:
        """Which of the PIDs are covered for a purpose now."""
        ...

    def note_export(
        self, expected: Covered, *, purpose: str, project: str, rows: int, columns: Sequence[str], sha256: str
    ) -> int:
        """Check again that everybody in an export is covered, and note it."""
        ...


@dataclass
class Outcome:
    """What was exported, in numbers; never a value."""

    rows: int = 0
    exported: int = 0
    people: int = 0
    cells_removed: int = 0
    contradicted: int = 0
    export: int = 0
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {
            "rows": self.rows,
            "exported": self.exported,
            "left_out": self.rows - self.exported,
            "people": self.people,
            "cells_removed": self.cells_removed,
            "contradicted": self.contradicted,
            "export": self.export,
        }


def categories_given(given: Sequence[str]) -> dict[str, str]:
    """The kind of data of each column, from texts such as lab=crp,hb."""
    kinds: dict[str, str] = {}
    for text in given:
        kind, sign, names = text.partition("=")
        checked_words([kind], "--category")
        for name in names.split(","):
            if not sign or not name or name in kinds:
                raise InputError(
                    "--category: is a kind of data and its columns, such as lab=crp,hb, each column once",
                    code="consent-category",
                )
            kinds[name] = kind
    return kinds


def export_table(
    consents: Consents,
    table: TableBatches,
    output: Path,
    wish: Purpose,
    *,
    column: str = PID,
    categories: Mapping[str, str] | None = None,
    force: bool = False,
) -> Outcome:
    """Write the rows of the people who agreed.

    `categories` says of which kind the data of a column is. Where a consent is for some kinds only, cells of other
    kinds, and of columns without a kind, are removed; a row that keeps nothing is left out.
    """
    refuse_format(output)
    if table.content is None:
        refuse_same_file(table.path, output)
    run = _Export(consents, wish, column, categories or {})
    separator = next(iter(table)).separator
    with atomic_write(output, force=force, private=True) as temporary:
        frames = run.frames(table)
        fill_table_in_batches(
            frames, temporary, output, separator="\t" if output.suffix.lower() == ".tsv" else separator or ","
        )
        run.finish(temporary, consents)
    return run.outcome


def list_people(
    consents: Consents, output: Path, wish: Purpose, *, categories: Sequence[str] = (), force: bool = False
) -> Outcome:
    """Write the PIDs of all people who agreed to a purpose and to all these kinds of data; it is noted as an export."""
    refuse_format(output)
    people, contradicted = _chosen(consents, wish, None, categories or (None,))
    outcome = Outcome(len(people), len(people), len(people), contradicted=contradicted)
    frame = pl.DataFrame({PID: sorted(people)}, schema={PID: pl.String})
    with atomic_write(output, force=force, private=True) as temporary:
        fill_table_in_batches([frame], temporary, output, separator=",")
        outcome.export = _noted(consents, wish, people, rows=len(people), columns=[PID], sha256=sha256_of(temporary))
    return outcome


def note_people(
    consents: Consents, wish: Purpose, pids: Sequence[str] | None = None, *, categories: Sequence[str] = ()
) -> tuple[int, Mapping[str, Coverage]]:
    """Note an export of the people, or of all people, who agreed to a purpose and to all these kinds of data.

    Returns its number and the people.
    """
    people, _ = _chosen(consents, wish, pids, categories)
    names = "".join(f"{pid}\n" for pid in sorted(people)).encode()
    return _noted(consents, wish, people, rows=len(people), columns=[PID], sha256=sha256_of(names)), people


def _chosen(
    consents: Consents, wish: Purpose, pids: Sequence[str] | None, kinds: Sequence[str | None]
) -> tuple[dict[str, Coverage], int]:
    """People who agreed to a purpose and to all these kinds of data, and for how many the log is contradicted."""
    checked_words([kind for kind in kinds if kind is not None], "--category")
    found = consents.covered(pids, wish.purpose)
    people = {pid: one for pid, one in found.people.items() if all(one.includes(kind) for kind in kinds)}
    return people, len(found.contradicted)


def _noted(
    consents: Agreed, wish: Purpose, people: Mapping[str, Coverage], *, rows: int, columns: Sequence[str], sha256: str
) -> int:
    return consents.note_export(
        Covered(people), purpose=wish.purpose, project=wish.project, rows=rows, columns=columns, sha256=sha256
    )


class FrameExport:
    """An export of a table in memory: it is filtered first, and noted when the output is made of it."""

    def __init__(self, wish: Purpose, column: str, categories: Mapping[str, str]) -> None:
        self._wish, self._column, self._categories = wish, column, categories
        self._run: _Export | None = None

    def filtered(self, consents: Agreed, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows and cells of the people who agreed."""
        self._run = _Export(consents, self._wish, self._column, self._categories)
        return self._run.filtered(frame)

    def note(self, consents: Agreed, content: bytes) -> int:
        """Check again that everybody is covered, and note the export with the content that leaves."""
        assert self._run is not None
        self._run.finish(content, consents)
        return self._run.outcome.export


class _Export:
    """The state of one export."""

    def __init__(self, consents: Agreed, wish: Purpose, column: str, categories: Mapping[str, str]) -> None:
        self._consents, self._wish, self._column, self._categories = consents, wish, column, categories
        self._exported: dict[str, Coverage] = {}
        self._contradicted: frozenset[int] = frozenset()
        self._columns: list[str] = []
        self.outcome = Outcome()

    def frames(self, table: TableBatches) -> Iterator[pl.DataFrame]:
        for number, batch in enumerate(table):
            if number == 0:
                self._begin(batch.frame.columns)
                self.outcome.notes += batch.notes
            yield self._filtered(batch.frame)

    def filtered(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a whole table."""
        self._begin(frame.columns)
        return self._filtered(frame)

    def finish(self, written: Path | bytes, consents: Agreed) -> None:
        """Check again and note the export; the file is whole, and has no name yet."""
        self.outcome.contradicted = len(self._contradicted)
        self.outcome.people = len({one.holder for one in self._exported.values()})
        self.outcome.export = _noted(
            consents,
            self._wish,
            self._exported,
            rows=self.outcome.exported,
            columns=self._columns,
            sha256=sha256_of(written),
        )

    def _begin(self, columns: list[str]) -> None:
        for name in (self._column, *self._categories):
            if name not in columns:
                raise InputError(
                    f"the table has no column {name!r}{nearest(name, columns)}; it has {quoted(columns)}",
                    code="consent-column",
                )
        if self._column in self._categories:
            raise InputError(f"--category: {self._column!r} is the column of PIDs", code="consent-category")
        self._columns = columns

    def _filtered(self, frame: pl.DataFrame) -> pl.DataFrame:
        pids = self._pids(as_text(frame[self._column]))
        found = self._consents.covered({pid for pid in pids if pid is not None}, self._wish.purpose)
        self._contradicted |= found.contradicted
        coverage = [None if pid is None else found.people.get(pid) for pid in pids]
        kept = self._without_other_kinds(frame, coverage)
        self.outcome.rows += frame.height
        self.outcome.exported += kept.height
        return kept

    def _without_other_kinds(self, frame: pl.DataFrame, coverage: list[Coverage | None]) -> pl.DataFrame:
        """Remove rows without consent, and cells of kinds that a consent does not include."""
        keep = pl.Series([one is not None for one in coverage], dtype=pl.Boolean)
        others = [name for name in frame.columns if name != self._column]
        changed, anything = [], pl.Series([not others] * frame.height, dtype=pl.Boolean)
        by_kind = {
            kind: pl.Series([one is not None and one.includes(kind) for one in coverage], dtype=pl.Boolean)
            for kind in {self._categories.get(name) for name in others}
        }
        for name in others:
            allowed = by_kind[self._categories.get(name)]
            self.outcome.cells_removed += int((keep & ~allowed & frame[name].is_not_null()).sum())
            changed.append(pl.select(pl.when(allowed).then(frame[name])).to_series().alias(name))
            anything |= allowed
        keep &= anything
        for pid, one, kept in zip(as_text(frame[self._column]), coverage, keep, strict=True):
            if kept and one is not None:
                self._exported[pid_of(number_of(pid))] = one
        return frame.with_columns(changed).filter(keep)

    def _pids(self, texts: pl.Series) -> list[str | None]:
        """The PIDs in one spelling; wrong check characters are refused with their row."""
        spelt: dict[str | None, str | None] = {None: None}
        for place, text in enumerate(texts, start=self.outcome.rows + 1):
            if text not in spelt:
                try:
                    spelt[text] = pid_of(number_of(text))
                except InputError as error:
                    raise InputError(f"row {place}: {error.message}", code=error.code) from None
        return [spelt[text] for text in texts]
