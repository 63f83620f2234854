"""The kind of a plan's algorithm, and the algorithms that can solve a plan."""

from __future__ import annotations

from kohorte.algorithm_names import RECODER_NAMES
from kohorte.errors import member_named
from kohorte.recoding import RECODERS, Recoder, RecodingProblem
from kohorte.recoding.base import refuse_sets
from kohorte.search import SEARCHES, Problem, Search


def is_recoder(name: str) -> bool:
    """Whether an algorithm is a recoder; otherwise it is a search."""
    return name in RECODER_NAMES


def recoder_named(name: str) -> Recoder:
    """Return the recoder with this name, as a plan writes it."""
    return member_named(name, RECODERS, what="algorithm", code="algorithm-unknown")()


def search_refusal(algorithm: Search, problem: Problem) -> str | None:
    """Return why a search cannot solve a problem: its own reason, or too many nodes to list; None if it can."""
    return algorithm.refuse(problem) or (problem.lattice.too_large if algorithm.lists_nodes else None)


def able(search: Problem, recoding: RecodingProblem) -> str:
    """The names of the algorithms that can solve a plan, as text."""
    names = [one.name for one in SEARCHES if search_refusal(one(), search) is None]
    names += [one.name for one in RECODERS if refusal(one(), recoding) is None]
    return ", ".join(names)


def refusal(algorithm: Recoder, problem: RecodingProblem) -> str | None:
    """Return why a recoder cannot solve a problem; None if it can."""
    return refuse_sets(problem) or algorithm.refuse(problem)
