"""Dates: decades are exchanged for neighbours, years within them, quarters, months, days and hours for each other."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from kohorte.hierarchies import Dates
from kohorte.parties.dummy_rows.patterns.drawing import LONGEST, drawn, invented, paired
from kohorte.parties.own_table import LabelledColumn, labels_of

Parts = Mapping[str, int]

IN_FULL = "%Y-%m-%d %H"
"""A format with all that levels can show."""

SHORTEST_MONTH = 28
DAYS = dt.date.max.toordinal()


@dataclass(frozen=True)
class CalendarPattern:
    """Every part of a date is exchanged by itself, from the century, which stays, down to the hour.

    The 29th to 31st stay if the other month has them; otherwise they get an invented partner, and so does a date that
    is written in an unusual way. If the plan shows weeks, weeks are exchanged instead of years, months and days.
    """

    builder: Dates

    longest = LONGEST

    @staticmethod
    def fits(builder: Dates) -> bool:
        """Whether no date is written like the label of another one, as with %Y-%d-%m and the level day."""
        some = [dt.date(2000, 1, 1) + dt.timedelta(days) for days in range(366)]
        clock = {"hour": 0, "minute": 0, "second": 0}
        written = [builder.reader.write({"year": one.year, "month": one.month, "day": one.day} | clock) for one in some]
        texts = {text for text in written if text is not None}
        rows = builder.label(sorted(texts), attribute="").columns.rows()
        labels = {label for row in rows for label in row[1:]}
        return all(row[0] in row[1:] for row in rows if row[0] in labels)

    def images(self, column: LabelledColumn, key: bytes) -> list[tuple[str | None, ...]]:
        """The labels of the partner of each value."""
        examples = [text for text in column.examples if text is not None]
        read = self.builder.reader.read(pl.Series(examples, dtype=pl.String))
        known = dict(zip(read["text"], read.drop("text").to_dicts(), strict=True))
        exchange = _Exchange.drawn(key, weeks="week" in self.builder.levels)
        partners = {text: exchange.partner(parts) for text, parts in known.items()}
        shown = self._shown(list(partners.values()))
        found = []
        for labels, example in zip(labels_of(column), column.examples, strict=True):
            if example is None or example not in known:
                found.append(labels)
                continue
            parts, partner = known[example], partners[example]
            texts = (self._value(example, parts, partner, key), *shown[_day(partner)])
            finest = self._finest(labels, example)
            image: list[str | None] = [texts[max(level, finest)] for level in range(len(labels))]
            if not _is_date(partner):
                image = self._with_invented(labels, image, finest, key)
            found.append(tuple(image))
        return found

    def _finest(self, labels: Sequence[str | None], example: str) -> int:
        """The level that is the finest one of the column: above 0 if values were generalized before."""
        if labels[0] == example:
            return 0
        row = self.builder.label([example], attribute="").columns.row(0)
        return row.index(labels[0])

    def _value(self, text: str, parts: Parts, partner: Parts, key: bytes) -> str:
        written = self.builder.reader.write(partner) if _is_date(partner) else None
        usual = self.builder.reader.write(parts) == text and written is not None and len(written) <= LONGEST
        return str(written) if usual else invented(key, text)

    def _shown(self, partners: Sequence[Parts]) -> dict[str, tuple[str, ...]]:
        """The labels of dates; of a day that its month does not have, those of the first of the month."""
        texts = sorted({_day(parts) for parts in partners})
        rows = replace(self.builder, format=IN_FULL).label(texts, attribute="").columns.rows()
        return {row[0]: row[1:] for row in rows}

    def _with_invented(
        self, labels: Sequence[str | None], image: Sequence[str | None], finest: int, key: bytes
    ) -> list[str | None]:
        """Labels of days and hours that the other month does not have are invented."""
        days = [0, *(number for number, name in enumerate(self.builder.levels, start=1) if name in ("hour", "day"))]
        return [
            invented(key, str(label)) if max(level, finest) in days else other
            for level, (label, other) in enumerate(zip(labels, image, strict=True))
        ]


def _is_date(parts: Parts) -> bool:
    try:
        dt.date(parts["year"], parts.get("month", 1), parts.get("day", 1))
    except ValueError:
        return False
    return True


def _day(parts: Parts) -> str:
    """Date and hour in full."""
    day = parts.get("day", 1) if _is_date(parts) else 1
    return f"{parts['year']:04}-{parts.get('month', 1):02}-{day:02} {parts.get('hour', 0):02}"


@dataclass(frozen=True)
class _Exchange:
    """The pairs of every part of a date."""

    decades: Mapping[int, int]
    fives: Mapping[int, int]
    years: Mapping[int, int]
    quarters: Mapping[int, int]
    months: Mapping[int, int]
    days: Mapping[int, int]
    hours: Mapping[int, int]
    weekdays: Mapping[int, int]
    weeks: int  # 0: weeks are not shown

    @classmethod
    def drawn(cls, key: bytes, *, weeks: bool) -> _Exchange:
        """Neighbouring decades are paired, because dates of a table are near each other; all else at random."""
        first, swap, apart = drawn(key, "calendar")[:3]
        decades = [(first + number) % 10 for number in range(10)] if first % 2 else list(range(10))
        neighbours = dict(zip(decades, [decades[number ^ 1] for number in range(10)], strict=True))
        return cls(
            decades=neighbours,
            fives={0: swap % 2, 1: 1 - swap % 2},
            years=paired(range(5), key, "year"),
            quarters=paired(range(4), key, "quarter"),
            months=paired(range(3), key, "month"),
            days=paired(range(1, SHORTEST_MONTH + 1), key, "day"),
            hours=paired(range(24), key, "hour"),
            weekdays=paired(range(7), key, "weekday"),
            weeks=1 + apart % 7 if weeks else 0,
        )

    def partner(self, parts: Parts) -> dict[str, int]:
        """The parts of the partner; its day may be one that the month does not have."""
        found = dict(parts)
        if "hour" in parts:
            found["hour"] = self.hours[parts["hour"]]
        if self.weeks:
            return found | self._other_week(parts)
        century, year = divmod(parts["year"], 100)
        if century:
            decade, five = self.decades[year // 10], self.fives[year % 10 // 5]
            found["year"] = 100 * century + 10 * decade + 5 * five + self.years[year % 5]
        if "month" in parts:
            quarter, month = divmod(parts["month"] - 1, 3)
            found["month"] = 3 * self.quarters[quarter] + self.months[month] + 1
        if "day" in parts:
            found["day"] = self.days.get(parts["day"], parts["day"])
        return found

    def _other_week(self, parts: Parts) -> dict[str, int]:
        week, weekday = divmod(dt.date(parts["year"], parts["month"], parts["day"]).toordinal() - 1, 7)
        number = 7 * (week ^ self.weeks) + self.weekdays[weekday] + 1
        if number > DAYS:  # the last weeks that can be written stay
            return {}
        day = dt.date.fromordinal(number)
        return {"year": day.year, "month": day.month, "day": day.day}
