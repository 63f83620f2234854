"""A task for a release: learn from its rows to predict one column of original rows that were held out."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import polars as pl

from kohorte.data import Role, as_text
from kohorte.engines import Missing, encode
from kohorte.errors import InputError, nearest
from kohorte.hierarchy import SUPPRESSED, Builder
from kohorte.kernels.arrays import Bools, Counts, Floats
from kohorte.recoding import Line, Recoding
from kohorte.release.comparison.outcome import Accuracy
from kohorte.release.comparison.shown import Shown, original, shown
from kohorte.release.plan import Plan
from kohorte.release.preparation import Prepared

TRAINING_SHARE = 0.7
MOST_ROWS = 50_000
"""Of larger tables so many rows are learnt from, and as many predicted; the same for all."""
MOST_CLASSES = 30
"""More values are predicted by the groups of their hierarchy; without one, rows of rare values are left out."""
MOST_MEASURES = 50
"""Numbers and dates with more places than this enter by their size."""
MOST_GROUPS = 100
"""Other values, where they are more than this, enter by the groups of their hierarchy."""
ITERATIONS = 300
LABEL, WEIGHT = "label", "weight"


def refuse_task(plan: Plan, column: str) -> None:
    """Refuse a column that the release does not show as it is, and a task where there is nothing to learn with."""
    fitting = (*plan.names(Role.SENSITIVE), *plan.names(Role.INSENSITIVE))
    if column not in fitting:
        raise InputError(
            f"task: {column!r} is not a sensitive or insensitive attribute of the plan{nearest(column, fitting)}; only "
            "those stand in a release as they are, so that a classifier can learn to predict them",
            code="task-column",
        )
    _linear_models()


def _linear_models() -> ModuleType:
    try:
        from sklearn import linear_model
    except ImportError:
        raise InputError(
            "the accuracy of a task needs scikit-learn: pip install 'kohorte[utility]', or leave the task out",
            code="utility-missing",
        ) from None
    module: ModuleType = linear_model
    return module


def _labels(frame: pl.DataFrame, column: str, builder: Builder | None) -> tuple[Counts, str]:
    """The class of every row, -1 where it has none, and in words how values were made classes."""
    values = as_text(frame[column])
    labels = values.rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
    if labels.max(initial=-1) < MOST_CLASSES:
        return labels, ""
    if builder is not None:
        encoded = encode(frame, {column: builder}, missing=Missing.CATEGORY).columns[0]
        fitting = [level for level in encoded.maps if 1 < len(np.unique(level)) <= MOST_CLASSES]
        if fitting:
            return np.where(labels < 0, -1, fitting[0][encoded.codes]), ", groups of its hierarchy"
    counts = np.bincount(labels[labels >= 0])
    frequent = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    return np.where(np.isin(labels, frequent), labels, -1), ": the most frequent values, other rows are left out"


def _one_thread() -> AbstractContextManager[object]:
    """Matrices this small are slowed down by threads, many times over where the cores are busy."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


@dataclass(frozen=True, eq=False)
class Features:
    """One quasi-identifier as a classifier sees it: shares of groups, or a middle and a width."""

    line: Line = field(repr=False)
    firsts: Counts | None = field(repr=False)  # the first and the last place of every group; None: a measure
    lasts: Counts | None = field(repr=False)

    @classmethod
    def of(cls, line: Line) -> Features:
        """Places by themselves as long as there are few; otherwise their measure, or groups of the hierarchy."""
        if line.measured and line.length > MOST_MEASURES:
            return cls(line, None, None)
        if line.length > MOST_GROUPS:
            wanted = [level for level, (firsts, _) in enumerate(line.ends) if 1 < len(firsts) <= MOST_GROUPS]
            firsts, lasts = line.ends[wanted[0] if wanted else -1]
            return cls(line, firsts.astype(np.int64), lasts.astype(np.int64))
        places = np.arange(line.length, dtype=np.int64)
        return cls(line, places, places)

    def matrix(self, lows: Counts, highs: Counts) -> Floats:
        """A line per cell: the share of its places in each group, or the middle of its interval and its width."""
        if self.firsts is None or self.lasts is None:
            begin, end = self.line.measures[lows], self.line.measures[highs]
            return np.stack([(begin + end) / 2, end - begin], axis=1)
        common = np.minimum(highs[:, None], self.lasts) - np.maximum(lows[:, None], self.firsts) + 1
        shares: Floats = np.maximum(common, 0) / (highs - lows + 1)[:, None]
        return shares


@dataclass(frozen=True, eq=False)
class Task:
    """Predict `column`: 70 % of the rows are learnt from, as a release shows them; the other rows are the test.

    `majority` is the accuracy of always guessing the most frequent class, `best` that of a classifier that has learnt
    from the original rows.
    """

    column: str
    classes: int
    coarsened: str
    labels: Counts = field(repr=False)
    training: Bools = field(repr=False)
    test: Bools = field(repr=False)
    features: tuple[Features, ...] = field(repr=False)
    originals: Shown = field(repr=False)

    @classmethod
    def prepare(cls, prepared: Prepared, lines: Sequence[Line], column: str, seed: int) -> Task:
        """Divide the rows by chance, the same way for the same seed. Rows without a class are left out."""
        labels, coarsened = _labels(prepared.frame, column, prepared.plan.attributes[column].hierarchy)
        usable = np.flatnonzero(prepared.table.included & (labels >= 0))
        if len(usable) < 2:
            raise InputError(f"task: {column!r} has no values to learn from and to predict", code="task-column")
        shuffled = np.random.default_rng(seed).permutation(usable)
        learnt = min(len(usable) - 1, max(1, round(TRAINING_SHARE * len(usable))))
        training, test = np.zeros(len(labels), dtype=bool), np.zeros(len(labels), dtype=bool)
        training[shuffled[:learnt][:MOST_ROWS]] = True
        test[shuffled[learnt:][:MOST_ROWS]] = True
        features = tuple(Features.of(line) for line in lines)
        classes = len(np.unique(labels[usable]))
        return cls(column, classes, coarsened, labels, training, test, features, original(lines))

    @property
    def majority(self) -> float:
        """The accuracy of the most frequent class of the training rows."""
        most_frequent = np.bincount(self.labels[self.training]).argmax()
        return float((self.labels[self.test] == most_frequent).mean())

    def best(self) -> Accuracy:
        """The accuracy of a classifier that has learnt from the original rows."""
        return self._learnt(self.originals, self.training)

    def accuracy(self, recoding: Recoding, released: pl.Series) -> Accuracy:
        """The accuracy after learning from a release; its suppressed rows and classes are left out."""
        told = ~as_text(released).eq_missing(SUPPRESSED).to_numpy() if released.dtype == pl.String else True
        return self._learnt(shown(recoding), self.training & recoding.kept & told)

    def _learnt(self, table: Shown, rows: Bools) -> Accuracy:
        """Learn from these rows of a table, predict the test rows."""
        kinds = {str(axis): column[rows] for axis, column in enumerate(table.kinds)}
        frame = pl.DataFrame({**kinds, LABEL: self.labels[rows]}).group_by(pl.all(), maintain_order=True).len(WEIGHT)
        labels = frame[LABEL].to_numpy()
        if frame[LABEL].n_unique() < 2:
            why = "only one class is left to learn from" if len(labels) else "no rows are left to learn from"
            return Accuracy(self.majority, guessed=why)
        weights = frame[WEIGHT].to_numpy().astype(np.float64)
        learnt = self._design(table, [frame[name].to_numpy() for name in kinds])
        asked = self._design(self.originals, [column[self.test] for column in self.originals.kinds])
        widths = self._widths()
        asked[:, widths] = (learnt[:, widths] * weights[:, None]).sum(axis=0) / weights.sum()
        model = _linear_models().LogisticRegression(max_iter=ITERATIONS)
        with warnings.catch_warnings(), _one_thread():
            warnings.simplefilter("ignore")  # enough iterations for a comparison, if not for the last digit
            model.fit(learnt, labels, sample_weight=weights)
            predicted = model.predict(asked)
        return Accuracy(float((predicted == self.labels[self.test]).mean()))

    def _design(self, table: Shown, kinds: Sequence[Counts]) -> Floats:
        """The features of rows that show these cells."""
        parts = zip(self.features, table.lows, table.highs, kinds, strict=True)
        return np.concatenate([feature.matrix(lows, highs)[of_rows] for feature, lows, highs, of_rows in parts], axis=1)

    def _widths(self) -> list[int]:
        """The features that are widths: an original value has none, and gets that of a cell of average width.

        With none it would be beyond all that was learnt, and the prediction a wild guess.
        """
        ends = np.cumsum([2 if feature.firsts is None else len(feature.firsts) for feature in self.features])
        return [int(end) - 1 for feature, end in zip(self.features, ends, strict=True) if feature.firsts is None]
