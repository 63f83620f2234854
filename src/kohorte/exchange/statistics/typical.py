"""What is typical for people of an age and a sex, and what is conspicuous: a drug of old age at 20, a man as a midwife.

A value is compared with the people among whom it is most frequent. Only tables with figures for narrower groups can
say this; where there are none, nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from kohorte.exchange.statistics.entries import Entry, StatisticsTable, comparable, one_sex
from kohorte.exchange.statistics.lookup import Statistics, covers, fits, known_people

TYPICAL_FROM = 0.5
"""From this share of the highest one a value is typical."""
ALIKE = ("age", "sex")


class Fit(StrEnum):
    """How a value fits people."""

    TYPICAL = "typical"
    UNUSUAL = "unusual"
    CONSPICUOUS = "conspicuous"


@dataclass(frozen=True)
class Typicality:
    """How frequent a value is among some people, and among those of whom most have it; 0: known of others only."""

    fit: Fit
    share: float
    highest: float
    table: str
    date: str
    name: str = ""

    def to_dict(self) -> dict[str, object]:
        """The figures as plain data."""
        return {**vars(self), "fit": str(self.fit)}


def typicality(
    statistics: Statistics, kind: str, value: str, by: Mapping[str, str | int], *, conspicuous: float
) -> Typicality | None:
    """Compare a value among people of this age and sex with the people of whom most have it.

    It is conspicuous below the share `conspicuous` of the highest one, and where the statistics have it for other
    people only. None: no table tells ages or sexes apart, or neither is known.
    """
    if kind in ALIKE or not any(name in by for name in ALIKE):
        return None
    key = one_sex(value) if kind == "sex" else comparable(value)
    known = known_people(by)
    country = {name: part for name, part in known.items() if name == "country"}
    found = [_compared(table, entries, known) for table, entries in statistics.by_table(kind, key, country)]
    judged = [one for one in found if one is not None]
    if not judged:
        return None
    share, best, table = max(judged, key=lambda one: (one[2].origin.date, -one[0] / one[1].share))
    highest = best.share
    relative = share / highest
    fit = Fit.CONSPICUOUS if relative < conspicuous else Fit.TYPICAL if relative >= TYPICAL_FROM else Fit.UNUSUAL
    return Typicality(fit, share, highest, table.title_of(best), table.origin.date, table.origin.name)


def _compared(
    table: StatisticsTable, entries: Sequence[Entry], known: Mapping[str, object]
) -> tuple[float, Entry, StatisticsTable] | None:
    """The share among these people and the highest entry of a table; None if it does not tell them from others.

    Figures by the same of age and sex are compared with each other.
    """
    best: tuple[float, Entry, StatisticsTable] | None = None
    for parts in ({"age", "sex"}, {"age"}, {"sex"}):
        if not parts <= set(known):
            continue
        alike = [entry for entry in entries if _parts(entry) == parts]
        if not alike:
            continue
        own = [entry.share for entry in alike if fits(entry, known) and covers(entry, known)]
        compared = (min(own, default=0.0), max(alike, key=lambda entry: entry.share), table)
        if best is None or compared[0] * best[1].share < best[0] * compared[1].share:
            best = compared
    return best


def _parts(entry: Entry) -> set[str]:
    return {name for name, part in (("age", entry.ages), ("sex", entry.sex)) if part is not None}
