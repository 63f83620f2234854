"""The sequence diagram of a run: a vertical line for each member, time downwards, an arrow for each message."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from kohorte.in_words import seconds
from kohorte.pages import Drawing, beside
from kohorte.pages.charts.rows import Kind as Mark
from kohorte.pages.charts.rows import legend
from kohorte.pages.charts.svg import LETTER, bar, cut_text, element, joined, line, mark, path, silent, text
from kohorte.parties.picture.arrows import Arrow
from kohorte.parties.picture.kinds import KINDS, PHASES, UNKNOWN, Content

GUTTER = 46
"""The column with the times, at the left."""

PITCH = 170
NARROW = 88
"""The distance between two lines, on a page and on a phone."""

ROW, TITLE = 36, 34
HEAD, BOX = 66, 22
TITLE_OF_ALL = "Who sent what to whom"
CAPTION = (
    "Each vertical line is a member of the study, and time runs downwards: the figure at the left says how long after "
    "the start of the run a message had arrived. Messages of the same kind between the same two members are one arrow, "
    "placed where the first of them arrived. A line with a dot for each party is an exchange: each party sent one "
    "message to each other. Sizes are those on the wire, after compression."
)


def sequence(arrows: Sequence[Arrow], members: Sequence[str], *, pitch: int = PITCH) -> Drawing:
    """Draw the arrows of a run between the members."""
    return _Sequence(arrows, members, pitch).drawing()


class _Sequence:
    """Draws from top to bottom; `y` is the height that it has reached."""

    def __init__(self, arrows: Sequence[Arrow], members: Sequence[str], pitch: int) -> None:
        self._arrows, self._pitch = arrows, pitch
        self._x = {name: GUTTER + pitch * (number + 0.5) for number, name in enumerate(members)}
        self._width = GUTTER + pitch * len(members)
        self._y = float(HEAD)

    def drawing(self) -> Drawing:
        """The whole diagram."""
        parts, phase = [], ""
        for arrow in self._arrows:
            if arrow.phase != phase:
                phase = arrow.phase
                parts.append(self._phase(phase))
            parts.append(self._arrow(arrow))
        bottom = self._y + 16
        lines = [line(x, HEAD, x, bottom, "life") for x in self._x.values()]
        body = joined([self._legend(), *lines, *self._names(), *parts])
        return Drawing("run", TITLE_OF_ALL, CAPTION, self._width, round(bottom), body, rules=rules())

    def _legend(self) -> Markup:
        used = {KINDS.get(arrow.kind, UNKNOWN).content for arrow in self._arrows}
        marks = [Mark(f"tone{content.tone}", content.words) for content in Content if content in used]
        rows = [marks] if self._pitch == PITCH else [marks[:2], marks[2:]]
        return joined(legend(row, 8, 10 + 16 * number) for number, row in enumerate(rows))

    def _names(self) -> list[Markup]:
        """The members, each in a box above its line."""
        most = int((self._pitch - 14) / LETTER)
        return [
            bar(x - self._pitch / 2 + 4, HEAD - BOX, self._pitch - 8, BOX, "member", rx=4)
            + cut_text(x, HEAD - BOX + 15, name, "small strong mid", most)
            for name, x in self._x.items()
        ]

    def _phase(self, phase: str) -> Markup:
        """The title of a phase, between two messages."""
        self._y += TITLE
        return line(0, self._y - 14, self._width, self._y - 14, "grid") + text(
            2, self._y + 1, PHASES[phase], "small strong halo"
        )

    def _arrow(self, arrow: Arrow) -> Markup:
        self._y += ROW
        tone = KINDS.get(arrow.kind, UNKNOWN).content.tone
        places = [self._x[name] for name in arrow.exchange or (arrow.sender, arrow.receiver)]
        start, end = (min(places), max(places)) if arrow.exchange else places
        parts = [line(start, self._y, end, self._y, f"stroke{tone}"), _head(end, start, self._y, f"tone{tone}")]
        if arrow.exchange:
            parts.append(_head(start, end, self._y, f"tone{tone}"))
            parts += [mark(x, self._y, f"tone{tone}") for x in sorted(places)[1:-1]]
        shape = element("g", {}, joined(parts), hint=arrow.sentence)
        when = text(GUTTER - 6, self._y + 4, seconds(arrow.first), "small soft end")
        return shape + silent(when + self._label(arrow.label, (start + end) / 2))

    def _label(self, words: str, x: float) -> Markup:
        """The label above an arrow, moved so that it stays in the drawing."""
        half = LETTER * 0.93 * len(words) / 2
        return text(min(max(x, half + 2), self._width - half - 2), self._y - 8, words, "small mid halo")


def _head(x: float, start: float, y: float, kind: str) -> Markup:
    """The head of an arrow that comes from `start`."""
    back = -9 if x > start else 9
    return path(f"M{x:.1f} {y:.1f}l{back} -4.5v9z", kind)


def rules() -> str:
    """The rules of the diagram."""
    return beside(__file__, "drawing.css")
