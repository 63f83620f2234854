"""What the drawings of a comparison share: two kinds of algorithms, told by colour and by shape."""

from __future__ import annotations

from kohorte.drawing import svg
from kohorte.drawing.svg import text
from kohorte.release.comparison.outcome import Outcome

RULES = """\
.levels{fill:@shade1}
.cells{fill:@mark}
"""


def kind_of(outcome: Outcome) -> str:
    """The kind of an algorithm, as the rules name it."""
    return "cells" if outcome.recodes else "levels"


def mark(x: float, y: float, kind: str, hint: str = "") -> str:
    """A point: a circle for one level in all rows, a diamond where cells differ from row to row."""
    return svg.mark(x, y, kind, hint, diamond=kind == "cells")


def legend(x: float, y: float) -> str:
    """Which mark is which kind of algorithm."""
    return (
        mark(x, y, "levels")
        + text(x + 12, y + 4, "one level for each attribute", "small soft")
        + mark(x + 190, y, "cells")
        + text(x + 202, y + 4, "cells differ from row to row", "small soft")
    )
