"""All algorithms by name: searches of the lattice, and recodings whose cells may differ from row to row."""

from __future__ import annotations

from kohorte.errors import member_named
from kohorte.recoding import RECODERS, Recoder, RecodingProblem
from kohorte.release.preparation import Prepared
from kohorte.search import SEARCHES, Problem, full_domain


def is_recoder(name: str) -> bool:
    """Tell whether an algorithm recodes; otherwise it searches the lattice."""
    return name in {recoder.name for recoder in RECODERS}


def recoder_named(name: str) -> Recoder:
    """Return the recoding algorithm of a plan's name."""
    return member_named(name, RECODERS, what="algorithm", code="algorithm-unknown")()


def recoding_problem(prepared: Prepared) -> RecodingProblem:
    """The question to a recoding algorithm."""
    builders = {name: prepared.plan.attributes[name].hierarchy for name in prepared.plan.quasi_identifiers}
    return RecodingProblem(prepared.table, prepared.goal, builders)


def able(prepared: Prepared, problem: Problem | None = None) -> str:
    """The algorithms that can solve a plan, in words."""
    problem = problem or full_domain(prepared.table, prepared.goal).problem
    recoding = recoding_problem(prepared)
    names = [search.name for search in SEARCHES if search().refuse(problem) is None]
    names += [recoder.name for recoder in RECODERS if recoder().refuse(recoding) is None]
    return ", ".join(names)
