"""Postal codes around a fictitious hospital.

The first digits are those of a real region, so that generalizing from the right makes sensible areas; the
last digits are invented, so many of the codes do not exist.
"""

from __future__ import annotations

from functools import cache

import polars as pl

from kohorte.cohorts.draw import Dice, Table, falling, labelled, table

# First digits of an area, its number of codes and its parts among about 10,000 patients: the city, its
# surroundings, the neighbouring districts, and travellers from the rest of the country.
_CITY = (("041", 12, 2600), ("042", 12, 2000), ("043", 10, 1600))
_SURROUNDINGS = (
    ("044", 12, 620), ("045", 14, 480), ("046", 14, 400), ("047", 12, 330), ("048", 14, 420), ("049", 8, 110),
)  # fmt: skip
_DISTRICTS = tuple(
    (area, 14, part)
    for area, part in (
        ("061", 160), ("062", 120), ("064", 40), ("065", 30), ("066", 110), ("067", 90), ("075", 50),
        ("076", 30), ("077", 30), ("080", 20), ("086", 20), ("091", 50), ("092", 30), ("096", 30),
        ("010", 40), ("016", 50), ("017", 30), ("019", 20), ("031", 15), ("039", 15),
    )
)  # fmt: skip
_ELSEWHERE = tuple(
    (area, 6, 14)
    for area in (
        "101", "104", "107", "120", "130", "144", "180", "201", "223", "245", "281", "301", "331", "341",
        "370", "381", "390", "402", "441", "451", "506", "531", "603", "651", "681", "701", "761", "791",
        "803", "816", "861", "904", "930", "970", "985", "990", "994", "998",
    )
)  # fmt: skip


def live(dice: Dice) -> pl.Series:
    """A postal code for every row: half of the patients live in two dozen codes, few in the others."""
    codes, choices = _codes()
    return labelled(codes, dice.choose("zip", choices))


@cache
def _codes() -> tuple[tuple[str, ...], Table]:
    codes: list[str] = []
    weights: list[int] = []
    for area, count, part in (*_CITY, *_SURROUNDINGS, *_DISTRICTS, *_ELSEWHERE):
        falls = falling(count, start=2)
        codes += [f"{area}{(7 * number + 3 * int(area[2]) + 5) % 100:02}" for number in range(count)]
        weights += [part * 10_000 * fall // sum(falls) for fall in falls]
    return tuple(codes), table([weights])
