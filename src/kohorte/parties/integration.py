"""Put the encrypted tables of several parties together, without knowing a value."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InputError, ProtocolError
from kohorte.kernels.arrays import Codes, Counts
from kohorte.parties.sealed import STAR, Cells, SealedColumn, SealedTable, malformed


def append(tables: Sequence[SealedTable]) -> SealedTable:
    """Return the rows of all tables; equal ciphertexts become one cell, and parts of hierarchies are merged.

    Tables without rows have no part of a hierarchy and add nothing.
    """
    names = list(tables[0].columns)
    for table in tables:
        if set(table.columns) != set(names):
            raise malformed("it does not have the columns of the study")
    with_rows = [table for table in tables if table.rows]
    if not with_rows:
        raise InputError("the table has no rows: no party of the study has any", code="table-no-rows")
    columns = {name: _append_column(name, [table.columns[name] for table in with_rows]) for name in names}
    return SealedTable(
        columns,
        _stacked([table.identifiers for table in tables]),
        _stacked([table.counters for table in tables]),
    )


def _stacked(parts: Sequence[Cells | None]) -> Cells | None:
    given = [part for part in parts if part is not None]
    if not given:
        return None
    if len(given) < len(parts) or len({part.shape[1] for part in given}) > 1:
        raise malformed("not all parts have identifiers or counters of the same kind")
    return np.concatenate(given)


def _append_column(name: str, parts: Sequence[SealedColumn]) -> SealedColumn:
    if len({part.levels.shape[1] for part in parts}) > 1:
        raise InputError(
            f"column {name!r}: the hierarchies of the parties have different numbers of levels",
            code="study-hierarchies-differ",
        )
    if len({part.cells.shape[1] for part in parts}) > 1 or len({part.shares is None for part in parts}) > 1:
        raise malformed("its cells are not like those of the others")
    different, number = np.unique(_as_items(np.concatenate([part.cells for part in parts])), return_inverse=True)
    cells = different.view(np.uint8).reshape(len(different), parts[0].cells.shape[1])
    starts = np.cumsum([0, *(len(part.cells) for part in parts)])
    levels = np.concatenate(
        [_renumbered(part.levels, number[start:]) for part, start in zip(parts, starts[:-1], strict=True)]
    )
    shares = (
        None if parts[0].shares is None else np.concatenate([part.shares for part in parts if part.shares is not None])
    )
    _, first, value_of = np.unique(levels[:, 0], return_index=True, return_inverse=True)
    _refuse_contradictions(name, levels, levels[first][value_of])
    if shares is not None and not np.array_equal(shares, shares[first][value_of]):
        raise InputError(
            f"column {name!r}: the hierarchies of the parties give values different shares",
            code="study-hierarchies-differ",
        )
    offsets = np.cumsum([0, *(len(part.levels) for part in parts)])
    codes = np.concatenate(
        [value_of[offset:][part.codes] for part, offset in zip(parts, offsets[:-1], strict=True)]
    ).astype(np.uint32)
    return SealedColumn(codes, levels[first], cells, None if shares is None else shares[first])


def _as_items(cells: Cells) -> NDArray[np.void]:
    """Each ciphertext as one item, which can be sorted and compared."""
    whole = np.ascontiguousarray(cells)
    return whole.view(np.dtype((np.void, max(1, whole.shape[1])))).reshape(len(whole))


def _renumbered(levels: Codes, number: NDArray[np.intp]) -> Codes:
    special = levels >= STAR
    renumbered: Codes = np.where(special, levels, number[np.where(special, 0, levels)] if len(number) else levels)
    return renumbered.astype(np.uint32)


def _refuse_contradictions(name: str, levels: Codes, merged: Codes) -> None:
    """Refuse parts of a hierarchy in which the same value, or the same label, has different labels above it."""
    for level in range(1, levels.shape[1]):
        if not np.array_equal(levels[:, level], merged[:, level]):
            raise _contradiction(name, level)
        below, above = merged[:, level - 1], merged[:, level]
        _, first, of = np.unique(below, return_index=True, return_inverse=True)
        if not np.array_equal(above[first][of], above):
            raise _contradiction(name, level)


def _contradiction(name: str, level: int) -> InputError:
    return InputError(
        f"column {name!r}: the hierarchies of the parties contradict each other at level {level}",
        code="study-hierarchies-differ",
    )


def join(tables: Mapping[str, SealedTable]) -> tuple[SealedTable, dict[str, int]]:
    """Return the rows whose identifiers all tables have, and how many rows each party lost.

    Counters of the parties are kept one after another, to be added up.
    """
    items = {name: _as_items(_identifiers(table)) for name, table in tables.items()}
    if len({own.dtype for own in items.values()}) > 1:
        raise malformed("identifiers have different lengths")
    common: NDArray[np.void] | None = None
    for own in items.values():
        if len(np.unique(own)) < len(own):
            raise ProtocolError("a party sent the same identifier twice", code="party-message-malformed")
        common = np.sort(own) if common is None else np.sort(common[np.isin(common, own)])
    assert common is not None, "there are parties"
    lost = {name: len(own) - len(common) for name, own in items.items()}
    columns: dict[str, SealedColumn] = {}
    counters = []
    for name, table in tables.items():
        order: Counts = np.argsort(items[name], kind="stable").astype(np.int64)
        rows = order[np.searchsorted(items[name][order], common)]
        part = table.chosen(rows)
        columns |= part.columns
        counters += [] if part.counters is None else [part.counters]
    whole = common.view(np.uint8).reshape(len(common), common.dtype.itemsize)
    return SealedTable(columns, whole, None if not counters else np.concatenate(counters, axis=1)), lost


def refuse_nobody(tables: Sequence[SealedTable]) -> None:
    """Refuse joined tables of which none has rows; one of several groups may have nobody, and adds nothing."""
    if not any(table.rows for table in tables):
        where = " of any group" if len(tables) > 1 else ""
        raise InputError(
            f"no person is at all parties{where}: the identifiers do not match", code="study-nobody-in-common"
        )


def refuse_lost(lost: Mapping[str, int], common: int, *, dummies: bool) -> None:
    """Refuse rows that are not at all parties, if the study says that all have the same people."""
    if not any(lost.values()):
        return
    counts = ", ".join(f"{name} has {number:,} others" for name, number in lost.items() if number)
    which = "rows (dummy rows included)" if dummies else "rows"
    raise InputError(
        f"the study says that all parties have the same people, but only {common:,} of their {which} are at all of "
        f"them; {counts}",
        code="study-people-differ",
    )


def _identifiers(table: SealedTable) -> Cells:
    if table.identifiers is None:
        raise malformed("its rows have no identifiers")
    return table.identifiers


def permuted(table: SealedTable) -> SealedTable:
    """The same table in a random order of rows, values and cells, which cannot be reproduced."""
    chosen = table.chosen(random_order(table.rows))
    columns = {}
    for name, column in chosen.columns.items():
        values, cells = random_order(len(column.levels)), random_order(len(column.cells))
        number, place = np.empty(len(values), dtype=np.uint32), np.empty(len(cells), dtype=np.uint32)
        number[values], place[cells] = np.arange(len(values)), np.arange(len(cells))
        columns[name] = SealedColumn(
            number[column.codes],
            _renumbered(column.levels[values], place.astype(np.intp)),
            column.cells[cells],
            None if column.shares is None else column.shares[values],
        )
    return SealedTable(columns, chosen.identifiers, chosen.counters)


def random_order(length: int) -> Counts:
    """A random order that cannot be reproduced."""
    order: Counts = np.random.Generator(np.random.PCG64(secrets.randbits(128))).permutation(length)
    return order
