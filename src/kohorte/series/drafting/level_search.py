"""The best node for the next release of a full-domain series: no level is higher than in the last release.

A node is admissible if the rows in classes that fail the models are within the suppression limit, and none of them was
shown before: rows that vanish would be a small group of their own. Failing classes are left out, and the models judge
the remaining rows alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from kohorte.engines import engine_for
from kohorte.groups import Domain, Groups, Histogram
from kohorte.hierarchies import Ordering
from kohorte.kernels.arrays import Bools, Integers
from kohorte.lattice import Lattice, Node
from kohorte.models import PrivacyModel
from kohorte.plans.plan import Plan
from kohorte.search import Evaluation, Evaluator, Optimal, Problem, ProgressCallback
from kohorte.sources import EncodedColumn, EncodedTable, Missing, SensitiveColumn, encode_rows

SHOWN_BEFORE = "\0shown before"
ARRIVAL = "\0arrival"


@dataclass(frozen=True, eq=False)
class Candidates:
    """The nodes that may follow a release: a table, its rows that were `shown_before`, and the `last` node.

    With `arrivals`, the rows of a class that arrived together are a class of their own.
    """

    table: EncodedTable = field(repr=False)
    plan: Plan
    last: Node
    shown_before: Bools = field(repr=False)
    arrivals: Integers | None = field(repr=False)

    def best(self, progress: ProgressCallback | None = None) -> Evaluation | None:
        """The best admissible node by the plan's metric, where held rows count as suppressed; None if there is none."""
        return Optimal().run(self.problem(progress)).best

    def problem(self, progress: ProgressCallback | None = None) -> Problem:
        """The search problem: the lattice ends with the last node, but the metric counts by the whole hierarchies."""
        plan, table = self.plan, self._below_last()
        weights = {name: plan.attributes[name].weight for name in plan.quasi_identifiers} | {ARRIVAL: 0.0}
        limit = plan.most_suppressed(table.rows)
        whole = replace(table, columns=(*self.table.columns, *table.columns[len(self.table.columns) :]))
        costing = plan.metric.costing(whole.marginals(weights), smallest_class=plan.smallest_class, limit=limit)
        costing.parts = tuple(part[:levels] for part, levels in zip(costing.parts, table.shape, strict=True))
        admission = Admission(
            engine_for(table), plan.judging_models, costing, limit, by_people=table.persons is not None
        )
        return Problem(
            lattice=Lattice(table.shape),
            count=admission,
            begin=admission.begin,
            costing=costing,
            marginals=table.marginals(weights),
            limit=limit,
            monotone=admission.monotone,
            time_limit=plan.search.time_limit,
            progress=progress,
        )

    def _below_last(self) -> EncodedTable:
        """The table without the levels above the last node, with columns for rows shown before and for arrivals."""
        columns = [_up_to(column, level) for column, level in zip(self.table.columns, self.last, strict=True)]
        if self.arrivals is not None:
            columns.append(_one_level(self.arrivals))
        sensitive = self.table.sensitive
        if self.shown_before.any():
            codes = self.shown_before.astype(np.uint32)
            sensitive = (*sensitive, SensitiveColumn(SHOWN_BEFORE, codes, Domain(np.bincount(codes, minlength=2))))
        persons = self.table.persons
        return replace(
            self.table,
            columns=tuple(columns),
            sensitive=sensitive,
            persons=None if persons is None else persons.with_domains(sensitive),
        )


def _up_to(column: EncodedColumn, level: int) -> EncodedColumn:
    end = level + 1
    return replace(column, maps=column.maps[:end], labels=column.labels[:end], shares=column.shares[:end])


def _one_level(arrivals: Integers) -> EncodedColumn:
    """Arrivals as one more quasi-identifier, which is never generalized."""
    texts = pl.DataFrame({ARRIVAL: arrivals}).cast(pl.String)
    (column,) = encode_rows(texts, {ARRIVAL: Ordering()}, missing=Missing.REFUSE).columns
    return _up_to(column, 0)


class Admission(Evaluator):
    """Evaluates nodes by the rules for the next release of a series."""

    def judge(self, groups: Groups) -> Evaluation:
        """Return the verdict and the cost of the classes of a node."""
        found = super().judge(groups)
        if found.suppressed == groups.excluded or SHOWN_BEFORE not in groups.histograms:
            return found if found.classes else self._refused(found, for_good=self.monotone)
        failing = ~self.kept(groups)
        if not _any_shown_before(groups, failing) and found.classes:
            return found
        for_good = self.monotone or _any_shown_before(groups, np.logical_or.reduce(self._lasting(groups)))
        return self._refused(found, for_good=for_good)

    def _refused(self, found: Evaluation, *, for_good: bool) -> Evaluation:
        """The verdict on a node that is not admissible; `for_good`: nor are those below it."""
        gone = max(found.gone, self.limit + 1) if for_good else found.gone
        return replace(found, solution=False, cost=math.inf, gone=gone)

    def kept(self, groups: Groups) -> Bools:
        """Tell for each class whether it satisfies all models, where the table is what is left.

        Where people are counted, all models are monotone (the definition of a series refuses others).
        """
        kept = self._satisfying(groups.judged)
        while not self.monotone and kept.any() and not kept.all():
            holding = self._satisfying(_left(groups, kept))
            if holding.all():
                break
            kept = kept.copy()
            kept[kept] = holding
        return kept

    def _gone(self, groups: Groups, suppressed: int) -> int:
        """The number of rows that are suppressed at every specialization."""
        if self.monotone:
            return suppressed
        return groups.excluded + int(groups.sizes[np.logical_or.reduce(self._lasting(groups))].sum())

    def _lasting(self, groups: Groups) -> list[Bools]:
        """For each model the classes whose rows fail it at every specialization, whatever table they are part of."""
        return [PrivacyModel.gone(model, groups) > 0 for model in self.models]


def _any_shown_before(groups: Groups, classes: Bools) -> bool:
    histogram = groups.histograms[SHOWN_BEFORE]
    return bool((np.repeat(classes, histogram.distinct) & (histogram.values == 1)).any())


def _left(groups: Groups, kept: Bools) -> Groups:
    """The kept classes as a table of their own."""
    histograms = {name: _only(histogram, kept) for name, histogram in groups.histograms.items()}
    return Groups(groups.node, groups.sizes[kept], groups.codes, histograms=histograms, attributes=groups.attributes)


def _only(histogram: Histogram, kept: Bools) -> Histogram:
    """The histograms of these classes; the domain has only the values that occur in them."""
    cells = np.repeat(kept, histogram.distinct)
    values, counts, domain = histogram.values[cells], histogram.counts[cells], histogram.domain
    overall = np.bincount(values, weights=counts, minlength=len(domain.overall)).astype(np.int64)
    occurs = overall > 0
    maps = tuple(np.unique(level[occurs], return_inverse=True)[1].astype(np.uint32) for level in domain.maps)
    starts = np.concatenate([[0], np.cumsum(histogram.distinct[kept])])
    renumbered = (np.cumsum(occurs) - 1)[values].astype(np.uint32)
    return Histogram(starts, renumbered, counts, Domain(overall[occurs], domain.ordered, maps))
