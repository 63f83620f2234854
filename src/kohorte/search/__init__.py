"""Finding the best node."""

from __future__ import annotations

from kohorte.errors import member_named
from kohorte.search.base import Evaluation, Problem, Progress, ProgressCallback, Search, SearchResult
from kohorte.search.evaluator import Evaluator
from kohorte.search.exhaustive import Exhaustive
from kohorte.search.flash import Flash, FlashDepthFirst, FlashTwoPhase
from kohorte.search.flash_parallel import FlashParallel
from kohorte.search.incognito import Incognito
from kohorte.search.ola import Ola
from kohorte.search.optimal import Optimal
from kohorte.search.samarati import Samarati
from kohorte.search.traversals import BreadthFirst, DepthFirst

SEARCHES: tuple[type[Search], ...] = (
    Optimal,
    Flash,
    FlashDepthFirst,
    FlashTwoPhase,
    FlashParallel,
    Ola,
    Incognito,
    Samarati,
    BreadthFirst,
    DepthFirst,
    Exhaustive,
)

__all__ = [
    "SEARCHES",
    "BreadthFirst",
    "DepthFirst",
    "Evaluation",
    "Evaluator",
    "Exhaustive",
    "Flash",
    "FlashDepthFirst",
    "FlashParallel",
    "FlashTwoPhase",
    "Incognito",
    "Ola",
    "Optimal",
    "Problem",
    "Progress",
    "ProgressCallback",
    "Samarati",
    "Search",
    "SearchResult",
    "search_named",
]


def search_named(name: str) -> Search:
    """Return the search of a plan's name."""
    return member_named(name, SEARCHES, what="algorithm", code="algorithm-unknown")()
