"""The nine tables of M. Rauterberg, "Wie anonym sind anonymisierte Datensätze wirklich?", as printed.

Of table 4 nothing could be read, of table 7 only the observed columns, so that its frequencies are not known. None
stands for a line that could not be read.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import kohorte as ko
from kohorte.survey import Question

PEOPLE = (10, 20, 30, 40, 50, 60, 100, 130)
THIRDS = [Fraction(1, 3)] * 3
TABLES: dict[int, tuple[Sequence[float | Fraction], ...]] = {
    1: ([0.5, 0.5], THIRDS, [0.25] * 4),
    2: ([0.5, 0.5], THIRDS, [0.4, 0.3, 0.2, 0.1]),
    3: ([0.5, 0.5], [0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]),
    5: ([0.8, 0.2], [0.5, 0.3, 0.2], [0.4, 0.3, 0.2, 0.1]),
    6: ([0.8, 0.2], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]),
    8: ([1], [0.6, 0.3, 0.1], [0.6, 0.3, 0.1]),
    9: ([1], [1], [1]),
}
FG = {1: 12, 2: 12, 3: 12, 5: 12, 6: 8, 8: 4, 9: 0}
OR = {1: 24.0, 2: 21.577, 3: 20.139, 5: 16.608, 6: 9.937, 8: 6.025, 9: 1.0}
PRINTED_OR = {1: 24, 2: 22, 3: 20, 5: 16, 6: 10, 8: 6, 9: 1}
PRINTED_RT = {
    1: (0, 0, 24, 24, 0, 0, 0, 0),
    2: (0, 6, 12, 12, 6, 6, 6, 0),
    3: (2, 6, 8, 8, 8, 8, 4, 4),
    5: (2, 4, 5, 6, 5, 6, 6, 4),
    6: (2, 2, 4, 4, 4, 3, 3, 3),
    8: (2, 3, 2, 2, 2, 2, 1, 1),
    9: (0,) * 8,
}
PRINTED_RR = {
    1: (0, 24, 24, 0, 0, 0, 0, 0),
    2: (6, 18, 12, 12, 6, 6, 0, 0),
    3: (8, 14, 12, 10, 8, 6, 2, 2),
    5: (5, 8, 10, 8, 9, 9, 5, 4),
    6: (4, 6, 7, 3, 5, 5, 5, 3),
    8: (3, 4, 2, 2, 1, 1, 1, 1),
    9: (0,) * 8,
}
OTHERWISE_RT = {(2, 20): 12, (2, 40): 6, (3, 40): 10}
"""In table 2 the source has 0.33 for a third; in table 3, N = 40, two cells hold exactly 1 (a rounding error there)."""
OTHERWISE_RR = {(2, 10): 12, (6, 40): 5}
UNFAVOURABLE = {
    1: (10, 20, 16, 14, 12, None, 12, 12),
    2: (10, 16, 13, 14, 14, 14, 12, 12),
    3: (10, 16, 16, 14, 13, 14, 14, 12),
    5: (10, 12, 12, 15, 14, 14, 13, 13),
    6: (7, 7, 9, 11, 9, 7, 9, 8),
    8: (4, 5, 6, 4, 4, 4, 4, 4),
    9: (0,) * 8,
}
"""The worst tables that the source found by hand."""

FAVOURABLE = {
    1: (6, 6, 2, 0, 0, None, 0, 0),
    2: (4, 2, 3, 0, 0, 0, 0, 0),
    3: (6, 2, 1, 0, 0, 0, 0, 0),
    5: (5, 2, 2, 1, 1, 0, 0, 0),
    6: (3, 3, 0, 1, 1, 1, 0, 0),
    8: (1, 0, 0, 0, 0, 0, 0, 0),
    9: (0,) * 8,
}
"""The favourable tables of the source. It does not say how they were chosen; they are not the best ones."""

FIGURES = {2: 1, 4: 3, 6: 5}
"""The figures and the tables that they draw. For figures 4 and 6 this is read from their places beside the tables."""


def survey(table: int) -> ko.Survey:
    """The survey of a table."""
    names = ("sex", "school", "age")
    questions = {
        name: Question(
            [f"{name} {place}" for place in range(len(frequencies))], [Fraction(str(share)) for share in frequencies]
        )
        for name, frequencies in zip(names, TABLES[table], strict=True)
    }
    return ko.Survey(questions=questions)
