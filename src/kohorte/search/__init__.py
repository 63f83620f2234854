"""Algorithms that choose one level per attribute for the whole table."""

from __future__ import annotations

from kohorte.algorithm_names import SEARCH_NAMES
from kohorte.errors import member_named
from kohorte.progress import Progress, ProgressCallback
from kohorte.search.base import (
    Evaluation,
    Options,
    OutOfTime,
    Problem,
    Recalled,
    Search,
    SearchResult,
)
from kohorte.search.best_first import BestFirst
from kohorte.search.datafly import Datafly
from kohorte.search.evaluator import Evaluator
from kohorte.search.exhaustive import Exhaustive, MinGen
from kohorte.search.flash import Flash, FlashDepthFirst, FlashTwoPhase
from kohorte.search.flash_parallel import FlashParallel
from kohorte.search.full_domain import Goal, all_starred, full_domain, lattice_problem
from kohorte.search.incognito import Incognito, IncognitoCube
from kohorte.search.ola import Ola
from kohorte.search.optimal import Optimal
from kohorte.search.samarati import Samarati
from kohorte.search.traversals import BreadthFirst, DepthFirst

SEARCHES: tuple[type[Search], ...] = (
    Optimal,
    BestFirst,
    Flash,
    FlashDepthFirst,
    FlashTwoPhase,
    FlashParallel,
    Ola,
    Incognito,
    IncognitoCube,
    Samarati,
    BreadthFirst,
    DepthFirst,
    Exhaustive,
    MinGen,
    Datafly,
)
assert tuple(search.name for search in SEARCHES) == SEARCH_NAMES, "algorithm_names lists the searches in this order"

__all__ = [
    "SEARCHES",
    "BestFirst",
    "BreadthFirst",
    "Datafly",
    "DepthFirst",
    "Evaluation",
    "Evaluator",
    "Exhaustive",
    "Flash",
    "FlashDepthFirst",
    "FlashParallel",
    "FlashTwoPhase",
    "Goal",
    "Incognito",
    "IncognitoCube",
    "MinGen",
    "Ola",
    "Optimal",
    "Options",
    "OutOfTime",
    "Problem",
    "Progress",
    "ProgressCallback",
    "Recalled",
    "Samarati",
    "Search",
    "SearchResult",
    "all_starred",
    "full_domain",
    "lattice_problem",
    "search_named",
]


def search_named(name: str) -> Search:
    """Return the search with this name, as a plan writes it."""
    return member_named(name, SEARCHES, what="algorithm", code="algorithm-unknown")()
