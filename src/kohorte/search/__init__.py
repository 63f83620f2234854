"""Finding the best node."""

from __future__ import annotations

from kohorte.errors import member_named
from kohorte.search.base import Evaluation, Problem, Progress, ProgressCallback, Search, SearchResult
from kohorte.search.evaluator import Evaluator
from kohorte.search.exhaustive import Exhaustive
from kohorte.search.flash import Flash, FlashDepthFirst
from kohorte.search.optimal import Optimal

SEARCHES: tuple[type[Search], ...] = (Optimal, Flash, FlashDepthFirst, Exhaustive)

__all__ = [
    "SEARCHES",
    "Evaluation",
    "Evaluator",
    "Exhaustive",
    "Flash",
    "FlashDepthFirst",
    "Optimal",
    "Problem",
    "Progress",
    "ProgressCallback",
    "Search",
    "SearchResult",
    "search_named",
]


def search_named(name: str) -> Search:
    """Return the search of a plan's name."""
    return member_named(name, SEARCHES, what="algorithm", code="algorithm-unknown")()
