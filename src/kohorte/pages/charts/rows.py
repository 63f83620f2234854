"""Charts with one row per item, in several kinds: bars in columns, bars with a whisker, points between two limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from kohorte.pages.charts.axis import Axis
from kohorte.pages.charts.svg import LETTER, Drawing, Heading, bar, joined, line, mark, text

ROW, THICK, TOP = 24, 12, 64
COLUMN, GAP = 138, 12
ACROSS = 500
"""The length of the longest bar; the figure is written beside it."""

Shown = Callable[[float], str]


@dataclass(frozen=True)
class Kind:
    """A kind of items, shown by colour and shape; `style` is a CSS class of the page."""

    style: str
    words: str
    diamond: bool = False

    def mark(self, x: float, y: float, hint: str = "") -> Markup:
        """A point of this kind."""
        return mark(x, y, self.style, hint, diamond=self.diamond)


@dataclass(frozen=True)
class Row:
    """The name at the left, the whole name for the tooltip, and the kind."""

    label: str
    name: str
    kind: Kind


@dataclass(frozen=True)
class Rows:
    """Charts of the same rows; `rules` are the CSS rules that colour the kinds."""

    rows: Sequence[Row]
    kinds: Sequence[Kind]
    rules: str

    @property
    def left(self) -> float:
        """Where the names end."""
        return 24 + LETTER * max(len(row.label) for row in self.rows)

    @property
    def bottom(self) -> int:
        """Where the rows end."""
        return TOP + len(self.rows) * ROW

    def columns(self, heading: Heading, columns: Sequence[tuple[str, Sequence[float]]], shown: Shown) -> Drawing:
        """Bars in several columns with titles; the scale of each column ends at its largest figure."""
        parts = []
        for number, (title, values) in enumerate(columns):
            x = self.left + number * (COLUMN + GAP)
            parts.append(text(x, TOP - 14, title, "small strong"))
            for (y, row), value in zip(self._placed(), values, strict=True):
                width = share(value, values) * (COLUMN - 44)
                parts.append(bar(x, y, width, THICK, row.kind.style, f"{row.name}: {title} {shown(value)}"))
                parts.append(text(x + width + 4, y + 10, shown(value), "small soft"))
            parts.append(self._scale(Axis(0, max(values) or 1.0, x, x + COLUMN - 44), shown, 1))
        return self._drawing(heading, self.left + len(columns) * (COLUMN + GAP), parts)

    def whiskers(
        self, heading: Heading, spans: Sequence[tuple[float, float]], names: tuple[str, str], shown: Shown
    ) -> Drawing:
        """Bars up to the first figure of each row, with a line up to the second."""
        axis = Axis(0, max(end for _, end in spans) or 1.0, self.left, self.left + ACROSS)
        parts = []
        for (y, row), span in zip(self._placed(), spans, strict=True):
            (middle, end), told = map(axis.at, span), [shown(value) for value in span]
            hint = f"{row.name}: {names[0]} {told[0]}, {names[1]} {told[1]}"
            parts.append(bar(self.left, y, middle - self.left, THICK, row.kind.style, hint))
            parts.append(line(middle, y + THICK / 2, end, y + THICK / 2, "whisker"))
            parts.append(line(end, y + 1, end, y + THICK - 1, "whisker"))
            parts.append(text(end + 6, y + 10, " / ".join(told), "small soft"))
        parts.append(self._scale(axis, shown, 4))
        return self._drawing(heading, self.left + ACROSS + 120, parts)

    def points(
        self, heading: Heading, values: Sequence[float], limits: Sequence[tuple[str, float]], shown: Shown
    ) -> Drawing:
        """Points between two limits from 0 to 1, such as the accuracy of guessing and the best accuracy."""
        every = [*values, *(value for _, value in limits)]
        room = max(0.01, 0.08 * (max(every) - min(every)))
        axis = Axis(max(0.0, min(every) - room), min(1.0, max(every) + room), self.left, self.left + ACROSS)
        # The names of the limits are in two lines, because the limits may be close to each other.
        (low, least), (high, most) = limits
        parts = [
            line(axis.at(least), TOP - 10, axis.at(least), self.bottom, "axis dash"),
            text(axis.at(least), TOP - 14, f"{low} {shown(least)}", "small soft"),
            line(axis.at(most), TOP - 24, axis.at(most), self.bottom, "axis"),
            text(axis.at(most), TOP - 28, f"{high} {shown(most)}", "small soft end"),
        ]
        for (y, row), value in zip(self._placed(), values, strict=True):
            middle = y + THICK / 2
            parts.append(line(axis.at(least), middle, axis.at(value), middle, "axis"))
            parts.append(row.kind.mark(axis.at(value), middle, f"{row.name}: {shown(value)}"))
            parts.append(text(self.left + ACROSS + 20, middle + 4, shown(value), "small soft"))
        return self._drawing(heading, self.left + ACROSS + 80, parts)

    def _scale(self, axis: Axis, shown: Shown, steps: int) -> Markup:
        """The figures below the bars, from 0 to the end of the axis."""
        parts = []
        for step in range(steps + 1):
            value = axis.high * step / steps
            parts.append(line(axis.at(value), self.bottom, axis.at(value), self.bottom + 4, "axis"))
            parts.append(
                text(axis.at(value), self.bottom + 17, shown(value), "small soft mid" if step else "small soft")
            )
        return joined([line(axis.start, self.bottom, axis.end, self.bottom, "axis"), *parts])

    def _placed(self) -> Iterable[tuple[float, Row]]:
        return ((TOP + number * ROW, row) for number, row in enumerate(self.rows))

    def _drawing(self, heading: Heading, width: float, parts: Sequence[Markup]) -> Drawing:
        names = [text(self.left - 10, y + 10, row.label, "small end") for y, row in self._placed()]
        body = legend(self.kinds, self.left, 16) + joined([*names, *parts])
        return Drawing(
            heading.name, heading.title, heading.caption, round(width), self.bottom + 24, body, rules=self.rules
        )


def legend(kinds: Sequence[Kind], x: float, y: float) -> Markup:
    """The mark of each kind and its meaning, side by side."""
    parts = []
    for kind in kinds:
        parts.append(kind.mark(x, y) + text(x + 12, y + 4, kind.words, "small soft"))
        x += 16 + LETTER * len(kind.words)
    return joined(parts)


def share(value: float, values: Sequence[float]) -> float:
    """A value as a share of the largest."""
    largest = max(values)
    return value / largest if largest > 0 else 0.0
