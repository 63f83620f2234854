"""Pieces that the pages are made of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from benchmarks.reproduction.results import Results

COMMAND = "make reproduce"
SOURCE = (
    "Kohlmayer, *Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität*, dissertation, "
    "Technische Universität München, 2015"
)
UNMEASURED = "–"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose first column is text and whose others are numbers."""
    marks = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, marks, *rows))


def page(title: str, *blocks: str) -> str:
    """A page of blocks with an empty line between them."""
    return "\n\n".join([f"# {title}", *blocks]) + "\n"


def picture(name: str, text: str) -> str:
    """A picture of this folder."""
    return f"![{text}]({name}.svg)"


def made_by(results: Results) -> str:
    """How the page was made."""
    with_all = " `--full` was given." if results.full else ""
    return (
        f"**How.** `{COMMAND}` (`python -m benchmarks reproduce`) computes everything again and writes "
        f"[results.json](results.json) and, from it, this page; `--render-only` does only the last step.{with_all} "
        f"Machine of this run: {results.machine}."
    )


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean."""
    return sum(values) / len(values)


def geometric_mean(values: Iterable[float]) -> float:
    """The geometric mean."""
    logarithms = [math.log(value) for value in values]
    return math.exp(sum(logarithms) / len(logarithms))


def milliseconds(value: float) -> str:
    """A time with three digits at most."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
