"""The search at the party that decrypts counters: the ordinary search, with an engine that asks another member."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.errors import InputError, NoSolution
from kohorte.groups import Groups
from kohorte.hierarchies import SUPPRESSED
from kohorte.kernels.arrays import Bools, Codes, Counts
from kohorte.lattice import Node
from kohorte.parties.ciphers.counters import PublicCounters
from kohorte.parties.counting.counter_engine import CounterEngine, TrueDomain
from kohorte.parties.sealed import Cells, malformed, pack, unpack
from kohorte.parties.transport.channel import Channel
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback
from kohorte.release.anonymization import run_to_the_end
from kohorte.release.explain import no_solution
from kohorte.release.preparation import check_models
from kohorte.search import Evaluator, Goal, Problem, SearchResult, lattice_problem, search_named


@dataclass(frozen=True, eq=False)
class Found:
    """The best node, which of its classes are kept (in the order of the last answer about it), and the figures.

    `exposed` dummy rows are known for certain; `unmatched_classes` is the share of the classes that have no dummy row.
    """

    node: Node
    kept: Bools = field(repr=False)
    result: SearchResult
    domain: TrueDomain = field(repr=False)
    lattice: int
    plan: Plan = field(repr=False)
    exposed: int = 0
    unmatched_classes: float = 0.0

    def figures(self, opened: pl.DataFrame) -> dict[str, object]:
        """The figures of the release; `opened` are its rows."""
        best, columns = self.result.best, self.domain.marginals.columns
        assert best is not None, "there is a solution"
        bound = self.result.lower_bound
        return {
            "levels": {column.name: column.finest + level for column, level in zip(columns, self.node, strict=True)},
            "cost": best.cost,
            "suppressed": best.suppressed,
            "classes": best.classes,
            "smallest_class": best.smallest_class,
            "rows": self.domain.marginals.rows,
            "optimal": self.result.optimal,
            "lower_bound": bound if np.isfinite(bound) else None,
            "checked": self.result.checked,
            "tagged": self.result.tagged,
            "heuristic": self.result.heuristic,
            "lattice": self.lattice,
            "tops": dict(self.domain.tops),
            "all_starred": self.domain.starred
            and all(column.top == level for column, level in zip(columns, self.node, strict=True)),
            "lost_values": self._lost_labels(opened) if best.suppressed and best.classes else {},
            "dummy_rows_told": self.domain.told,
            "dummy_rows_exposed": self.exposed,
            "values_unmatched": dict(self.domain.unmatched),
            "classes_unmatched": self.unmatched_classes,
        }

    def _lost_labels(self, opened: pl.DataFrame) -> dict[str, int]:
        """How many labels of each quasi-identifier no kept row shows any more; only columns that lost some."""
        names = list(self.plan.quasi_identifiers)
        kept = opened.filter(~pl.all_horizontal(pl.col(names).eq_missing(pl.lit(SUPPRESSED))))
        found = {}
        for column, level in zip(self.domain.marginals.columns, self.node, strict=True):
            before = len(np.unique(column.maps[level][column.counts > 0]))
            found[column.name] = before - kept[column.name].n_unique()
        return {name: number for name, number in found.items() if number > 0}


class Remembering:
    """Decrypts each counter once: a class that stays the same at several nodes has the same counter at all of them."""

    def __init__(self, decrypt: Callable[[Cells], Counts]) -> None:
        self._decrypt = decrypt
        self._known: dict[bytes, int] = {}

    def __call__(self, counters: Cells) -> Counts:
        """Decrypt counters."""
        keys = [counter.tobytes() for counter in counters]
        unknown = [place for place, key in enumerate(keys) if key not in self._known]
        if unknown:
            found = self._decrypt(counters[unknown]).tolist()
            self._known.update(zip((keys[place] for place in unknown), found, strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Lead:
    """The party that searches: it asks `counting`, which knows the classes, and decrypts the answers."""

    channel: Channel = field(repr=False)
    plan: Plan = field(repr=False)
    counting: str
    decrypt: Callable[[Cells], Counts] = field(repr=False)
    public: PublicCounters = field(repr=False)

    def add(self, counters: Cells, group_of: Codes, groups: int) -> Cells:
        """Add up the encrypted counters of each group."""
        return self.public.sum_groups(counters, group_of, groups)

    def ask(self, node: Node, exact: Sequence[str]) -> bytes:
        """Ask for the counters of a node."""
        self.channel.send(self.counting, "ask", pack({"node": list(node), "exact": list(exact)}))
        return self.channel.receive(self.counting, "counted")

    def search(self, progress: ProgressCallback | None) -> Found:
        """Find the best node."""
        plan = self.plan
        domain = TrueDomain.read(self.channel.receive(self.counting, "domain"), plan, self.decrypt)
        check_models(plan, domain.domains)
        engine = CounterEngine(domain, self, max(1, plan.smallest_class))
        goal = Goal(
            models=plan.judging_models,
            metric=plan.metric,
            weights={},
            limit=plan.most_suppressed(domain.marginals.rows),
            options=plan.search.options,
            time_limit=plan.search.time_limit,
            progress=progress,
        )
        evaluator, problem = lattice_problem(
            domain.marginals, goal, engine, starred=domain.starred, excluded=domain.excluded
        )
        result = _searched(plan, problem)
        if result.best is None:
            raise _nothing_found(plan, domain, evaluator, engine.groups(problem.lattice.top), optimal=result.optimal)
        node = result.best.node
        groups = engine.groups(node)
        kept = evaluator.kept(groups)
        real, rows = engine.kept_order[node]
        people_only = rows[real[kept]] == groups.sizes[kept]
        shown = _shown(plan, real[kept], real[~kept], len(rows))
        few = shown & (rows < plan.smallest_class)  # nobody is there, or the class would not be shown
        return Found(
            node=node,
            kept=shown,
            result=result,
            domain=domain,
            lattice=problem.lattice.size,
            plan=plan,
            exposed=int(rows[few].sum()),
            unmatched_classes=float(people_only.mean()) if len(people_only) else 0.0,
        )

    def choose(self, found: Found) -> None:
        """Ask for the rows of the best node."""
        self.channel.send(self.counting, "ask", pack({"node": list(found.node), "exact": []}, {"kept": found.kept}))

    def veiled(self, found: Found) -> bytes:
        """Ask for the rows of all classes of the best node, sealed, without saying which are kept."""
        self.channel.send(self.counting, "ask", pack({"node": list(found.node), "exact": [], "veiled": True}))
        return self.channel.receive(self.counting, "release")

    def released(self, found: Found) -> tuple[bytes, Cells]:
        """Ask for the rows of the best node; return them, and a counter for each."""
        self.choose(found)
        return read_release(self.channel.receive(self.counting, "release"))


def _nothing_found(plan: Plan, domain: TrueDomain, evaluator: Evaluator, top: Groups, *, optimal: bool) -> NoSolution:
    """The error of a search without a result, with what would help; in which columns values lack is not known."""
    if not optimal:
        return NoSolution("the search was stopped before any release was found; give it more time", code="time-limit")
    rows = domain.marginals.rows
    kept = replace(evaluator, limit=rows).kept(top)  # as if all rows could be suppressed; costs may need hidden labels
    return no_solution(plan, rows - int(top.sizes[kept].sum()), top, rows=rows, excluded=domain.excluded)


def _shown(plan: Plan, kept: Counts, suppressed: Counts, classes: int) -> Bools:
    """Which classes are shown to the member that counts; it must not learn which have only dummy rows.

    If rows may be suppressed, these classes are treated as the small ones that they are. If not, every class is shown.
    """
    shown = np.full(classes, plan.suppression_limit == 0)
    shown[kept] = True
    shown[suppressed] = False
    return shown


def read_release(message: bytes) -> tuple[bytes, Cells]:
    """Read a release with counters: its rows as a message, and a counter for each."""
    _, arrays = unpack(message)
    release, counters = arrays.get("release"), arrays.get("counters")
    if release is None or counters is None:
        raise malformed("it is not a release with counters")
    return release.tobytes(), counters


def _searched(plan: Plan, problem: Problem) -> SearchResult:
    algorithm = search_named(plan.search.algorithm)
    if (reason := algorithm.refuse(problem)) is not None:
        raise InputError(f"algorithm {algorithm.name} cannot solve this plan: {reason}", code="algorithm-unfit")
    if algorithm.lists_nodes:
        problem.lattice.refuse_listing("take another algorithm (best_first can), ")
    return run_to_the_end(algorithm, problem)
