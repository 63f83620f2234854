"""Lost values as sentences: with the values for the institution, without them for everybody else."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kohorte.in_words import PEOPLE, count, listed, roughly
from kohorte.release.telling.losses import ColumnLoss

LEAST_NAMED = 5
"""No value that fewer rows, or people where they are counted, have is named, not even inside the institution."""

MOST_NAMED = 5


def lost_publicly(losses: Iterable[ColumnLoss]) -> list[str]:
    """How many values each column lost, roughly and without naming one: they are values of suppressed people."""
    return [_unnamed(one) for one in losses if one.lost_values]


def lost_in_numbers(losses: Iterable[ColumnLoss]) -> list[str]:
    """How many values each column lost, without naming one, for the institution alone."""
    return [f"{_lost(one)} ({one.unit.count(one.lost_size)})" for one in losses if one.lost_values]


def lost_by_name(losses: Iterable[ColumnLoss], told: Callable[[str], str] = str) -> list[str]:
    """The lost values by name, for the institution alone; `told` writes everything but values in another language."""
    return [_named(one, told) for one in losses if one.lost_values]


def _unnamed(one: ColumnLoss) -> str:
    many = roughly(one.lost_values)
    few = many.startswith("fewer")
    size = roughly(one.lost_size)
    who = f"of {size} people" if one.unit is PEOPLE else f"in {size} rows"
    return (
        f"{one.attribute}: {'a rare value' if few else 'rare values'} {_fate(one, single=few)} ({many} values, {who})"
    )


def _named(one: ColumnLoss, told: Callable[[str], str]) -> str:
    named = [group for group in one.lost if group.size >= LEAST_NAMED][:MOST_NAMED]
    said = [f"{group.label} ({told(one.unit.count(group.size))})" for group in named]
    if rest := one.lost_values - len(named):
        others = f"{count(rest)} more" if named else "too rare to be named"
        if one.unit is PEOPLE:  # a person can have several of the values
            said.append(told(f"{others} ({one.unit.count(one.lost_size)} in all)"))
        else:
            said.append(told(f"{others} ({one.unit.count(one.lost_size - sum(group.size for group in named))})"))
    return f"{told(_lost(one))}: {listed(said, told('and'))}"


def _lost(one: ColumnLoss) -> str:
    values, single = count(one.lost_values, "value"), one.lost_values == 1
    if one.gone:
        return f"{one.attribute}: {values} no longer {'appears' if single else 'appear'}"
    return f"{one.attribute}: {values} {'appears' if single else 'appear'} in suppressed rows only"


def _fate(one: ColumnLoss, *, single: bool) -> str:
    """What became of the lost values."""
    if one.gone:
        return "no longer appears" if single else "no longer appear"
    return f"{'appears' if single else 'appear'} in suppressed rows only"
