"""One table on which several plans are tried: what they have in common is computed once."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import replace

import numpy as np
import polars as pl

from kohorte.engines import RememberingEngine, engine_for
from kohorte.engines.remembering import ROWS
from kohorte.groups import LARGEST_SUMMARIZED
from kohorte.lattice import Node
from kohorte.metrics import Costing
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release.algorithms import is_recoder
from kohorte.release.anonymization import anonymize, searched, set_up_search
from kohorte.release.preparation import EncodedProblem, encode_problem, with_plan
from kohorte.release.release import Release
from kohorte.search import Recalled
from kohorte.sources import FrameSource

MOST_ENCODED = 4
"""A table is kept encoded in so many ways, those used last."""
MOST_REMEMBERED = 48 * 1024**2
"""So many bytes of counted nodes are remembered for each way. Both are our own choice."""
MOST_SOLVED = 16
"""So many solutions of earlier plans are tried first."""


class PreparedTable:
    """A polars frame and what plans that were tried on it have found; several threads may try plans at the same time.

    A plan gives the same release as with `anonymize`. Plans that differ only in the parameters of their models, in the
    suppression limit, the metric or texts share the encoded table, the notes about people and the counted nodes.
    """

    def __init__(self, frame: pl.DataFrame) -> None:
        self.frame = frame
        self._lock = threading.Lock()
        self._encoded: OrderedDict[int, _Encoded] = OrderedDict()
        self._next = 0

    @property
    def held_bytes(self) -> int:
        """About how much memory the table takes, with all that is remembered about it."""
        with self._lock:
            known = list(self._encoded.values())
        return int(self.frame.estimated_size()) + sum(one.held_bytes for one in known)

    def forget_counted(self) -> None:
        """Forget what was counted for earlier plans, and keep the encoded table; later plans only take longer."""
        with self._lock:
            known = list(self._encoded.values())
        for one in known:
            one.engine.forget()

    def anonymize(self, plan: Plan, *, progress: ProgressCallback | None = None) -> Release:
        """Return the best release that satisfies a plan, as `kohorte.release.anonymize` does."""
        if not _can_share(plan):
            return anonymize(self.frame, plan, progress=progress)
        started = time.perf_counter()
        known, encoded = self._encoded_for(plan, progress)
        tell(progress, Stage.SEARCHING, f"with {plan.search.algorithm}")
        setup = set_up_search(encoded, known.engine)
        setup.problem.recalled = known.recalled(setup.evaluator.costing)
        candidate = replace(searched(setup, started), person_notes=known.notes)
        known.note(candidate.node)
        tell(progress, Stage.VERIFYING, "the release")
        return Release.verified(candidate)

    def _encoded_for(self, plan: Plan, progress: ProgressCallback | None) -> tuple[_Encoded, EncodedProblem]:
        """The table encoded for a plan, by an earlier plan or now; further plans wait until it is encoded."""
        with self._lock:
            for number, one in self._encoded.items():
                if one.fits(plan):
                    self._encoded.move_to_end(number)
                    return one, with_plan(one.problem, plan, progress)
            encoded = encode_problem(FrameSource(self.frame), plan, progress=progress)
            notes = person_notes(encoded.source, plan)
            self._next += 1
            made = self._encoded[self._next] = _Encoded(encoded, notes)
            while len(self._encoded) > MOST_ENCODED:
                self._encoded.popitem(last=False)
            return made, encoded


class _Encoded:
    """A table encoded for plans with the same columns and kinds of models, the nodes counted so far, and solutions."""

    def __init__(self, problem: EncodedProblem, notes: tuple[str, ...]) -> None:
        self.problem, self.notes = problem, notes
        self.engine = RememberingEngine(engine_for(problem.table), MOST_REMEMBERED)
        self._solved: OrderedDict[Node, None] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def held_bytes(self) -> int:
        """About how much memory it takes: codes of the tuples, twice, rows of the engine, and counted nodes."""
        codes = self.problem.tuples.codes
        return 3 * int(codes.nbytes) + 24 * len(codes) + self.engine.held_bytes

    def fits(self, plan: Plan) -> bool:
        """Whether a plan encodes the table in the same way, and has the same notes about people."""
        return _what_encodes(plan) == _what_encodes(self.problem.plan)

    def recalled(self, costing: Costing) -> Recalled:
        """What earlier plans have found, for one that needs classes of this size."""
        nodes, summaries = self.engine.summaries()
        place = min(costing.smallest_class, LARGEST_SUMMARIZED)
        gone = np.array([one[ROWS][place] for one in summaries]) + self.problem.table.excluded
        added = np.array([costing.added_by_small(one) for one in summaries])
        with self._lock:
            return Recalled(nodes, gone, added, list(reversed(self._solved)))

    def note(self, node: Node | None) -> None:
        """Remember the solution of a plan, and forget counted nodes if they take too much memory."""
        if node is not None:
            with self._lock:
                self._solved[node] = None
                self._solved.move_to_end(node)
                while len(self._solved) > MOST_SOLVED:
                    self._solved.popitem(last=False)
        if self.engine.held_bytes > 2 * MOST_REMEMBERED:
            self.engine.forget()


def _can_share(plan: Plan) -> bool:
    """Whether what is computed for a plan can be used again: it reads no other file, and changes no cell by chance."""
    files = plan.populations or plan.files()
    return not (files or plan.pseudonyms or plan.decorrelate is not None or is_recoder(plan.search.algorithm))


def _what_encodes(plan: Plan) -> tuple[object, ...]:
    """All that decides how a table is encoded, and what is noted about people."""
    return (
        plan.search.algorithm,
        plan.missing,
        tuple(plan.missing_values),
        plan.person,
        plan.linked_by,
        plan.counted_attributes,
        tuple((type(model), tuple(model.sensitive)) for model in plan.models),
        dict(plan.attributes),
    )
