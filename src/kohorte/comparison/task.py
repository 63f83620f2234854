"""A prediction task: a classifier learns from a release to predict one column of held-out original rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
import polars as pl

from kohorte.comparison.outcome import Accuracy
from kohorte.comparison.shown import Listed, Shown, original, shown
from kohorte.data import Role, as_text
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.kernels.arrays import Bools, Counts, Floats
from kohorte.plans.plan import Plan
from kohorte.recoding import Line, Recoding
from kohorte.release.preparation import EncodedProblem
from kohorte.sources import Missing, Persons, encode_rows

TRAINING_SHARE = 0.7
MOST_ROWS = 50_000
"""The most rows for training and for testing; the same rows for all algorithms."""
MOST_CLASSES = 30
"""More values than this are grouped by their hierarchy; without one, rows with rare values are left out."""
MOST_MEASURES = 50
"""Numbers and dates with more positions than this are numeric features."""
MOST_GROUPS = 100
"""Other attributes with more positions than this are grouped by their hierarchy."""
ITERATIONS = 300
LABEL, WEIGHT = "label", "weight"


def refuse_task(plan: Plan, column: str) -> None:
    """Refuse a column that the release does not show unchanged, or a task without scikit-learn."""
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
    """The class of every row (-1 if it has none), and how values were grouped into classes, as text."""
    values = as_text(frame[column])
    labels = values.rank("dense").fill_null(0).to_numpy().astype(np.int64) - 1
    if labels.max(initial=-1) < MOST_CLASSES:
        return labels, ""
    if builder is not None:
        encoded = encode_rows(frame, {column: builder}, missing=Missing.CATEGORY).columns[0]
        fitting = [level for level in encoded.maps if 1 < len(np.unique(level)) <= MOST_CLASSES]
        if fitting:
            return np.where(labels < 0, -1, fitting[0][encoded.codes]), ", groups of its hierarchy"
    counts = np.bincount(labels[labels >= 0])
    frequent = np.argsort(-counts, kind="stable")[:MOST_CLASSES]
    return np.where(np.isin(labels, frequent), labels, -1), ": the most frequent values, other rows are left out"


def _one_thread() -> AbstractContextManager[object]:
    """Use one thread: more threads slow down the multiplication of matrices this small."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits


def _divided(usable: Counts, persons: Persons | None, column: str, seed: int) -> tuple[Counts, Counts]:
    """The rows to learn from and those to predict; all rows of a person are in one part."""
    whom = np.arange(len(usable))
    if persons is not None:
        _, first, whom = np.unique(persons.codes[usable], return_index=True, return_inverse=True)
        whom = np.argsort(np.argsort(first))[whom]  # numbered as they appear: if every row is a person, by row
    people = int(whom.max()) + 1
    if people < 2:
        raise InputError(
            f"task: all rows with a value of {column!r} are about one person: one would have to be learnt from, and "
            "another predicted",
            code="task-column",
        )
    places = np.empty(people, dtype=np.int64)
    places[np.random.default_rng(seed).permutation(people)] = np.arange(people)
    learnt = min(people - 1, max(1, round(TRAINING_SHARE * people)))
    shuffled = np.argsort(places[whom], kind="stable")
    training = int((places[whom] < learnt).sum())
    return usable[shuffled[:training]], usable[shuffled[training:]]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of one quasi-identifier: shares of groups, or the middle and the width of an interval."""

    line: Line = field(repr=False)
    firsts: Counts | None = field(repr=False)  # the first and the last position of every group; None: a measure
    lasts: Counts | None = field(repr=False)

    @classmethod
    def of(cls, line: Line) -> Features:
        """One feature per position if there are few; otherwise the number itself, or groups of the hierarchy."""
        if line.measured and line.length > MOST_MEASURES:
            return cls(line, None, None)
        if line.length > MOST_GROUPS:
            wanted = [level for level, (firsts, _) in enumerate(line.ends) if 1 < len(firsts) <= MOST_GROUPS]
            firsts, lasts = line.ends[wanted[0] if wanted else -1]
            return cls(line, firsts.astype(np.int64), lasts.astype(np.int64))
        positions = np.arange(line.length, dtype=np.int64)
        return cls(line, positions, positions)

    def matrix(self, lows: Counts, highs: Counts, listed: Listed | None) -> Floats:
        """A row per cell: the share of its positions in each group, or the middle and the width of its interval."""
        if self.firsts is None or self.lasts is None:
            begin, end = self.line.measures[lows], self.line.measures[highs]
            return np.stack([(begin + end) / 2, end - begin], axis=1)
        if listed is not None:
            order = np.argsort(self.firsts)
            group_of = order[np.searchsorted(self.firsts[order], np.arange(self.line.length), side="right") - 1]
            return listed.by_group(group_of, len(order))
        common = np.minimum(highs[:, None], self.lasts) - np.maximum(lows[:, None], self.firsts) + 1
        shares: Floats = np.maximum(common, 0) / (highs - lows + 1)[:, None]
        return shares


@dataclass(frozen=True, eq=False)
class Task:
    """Predict `column`: 70 % of the rows (or people) are for training, as a release shows them, the others for testing.

    `majority` is the accuracy of always guessing the most frequent class, and `best` that of a classifier trained on
    the original rows.
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
    def prepare(cls, prepared: EncodedProblem, lines: Sequence[Line], column: str, seed: int) -> Task:
        """Divide the rows at random; the same seed gives the same division. Rows without a class are left out.

        If people are counted, people are divided, so that nothing about a test row is learnt from the same person.
        """
        labels, coarsened = _labels(
            prepared.source.in_memory("a task"), column, prepared.plan.attributes[column].hierarchy
        )
        usable = np.flatnonzero(prepared.table.included & (labels >= 0))
        if len(usable) < 2:
            raise InputError(f"task: {column!r} has no values to learn from and to predict", code="task-column")
        training, test = np.zeros(len(labels), dtype=bool), np.zeros(len(labels), dtype=bool)
        for part, rows in zip((training, test), _divided(usable, prepared.table.persons, column, seed), strict=True):
            part[rows[:MOST_ROWS]] = True
        features = tuple(Features.of(line) for line in lines)
        classes = len(np.unique(labels[usable]))
        return cls(column, classes, coarsened, labels, training, test, features, original(lines))

    @property
    def majority(self) -> float:
        """The accuracy of the most frequent class of the training rows."""
        most_frequent = np.bincount(self.labels[self.training]).argmax()
        return float((self.labels[self.test] == most_frequent).mean())

    def best(self) -> Accuracy:
        """The accuracy of a classifier trained on the original rows."""
        return self._learnt(self.originals, self.training)

    def accuracy(self, recoding: Recoding, released: pl.Series) -> Accuracy:
        """The accuracy of a classifier trained on a release, without suppressed rows and classes."""
        told = ~as_text(released).eq_missing(SUPPRESSED).to_numpy() if released.dtype == pl.String else True
        return self._learnt(shown(recoding), self.training & recoding.kept & told)

    def _learnt(self, table: Shown, rows: Bools) -> Accuracy:
        """Train on these rows of a table and predict the test rows."""
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
            warnings.simplefilter("ignore")  # convergence to the last digit is not needed for a comparison
            model.fit(learnt, labels, sample_weight=weights)
            predicted = model.predict(asked)
        return Accuracy(float((predicted == self.labels[self.test]).mean()))

    def _design(self, table: Shown, kinds: Sequence[Counts]) -> Floats:
        """The features of rows that show these cells."""
        cells = zip(table.lows, table.highs, table.listed, strict=True)
        parts = zip(self.features, cells, kinds, strict=True)
        return np.concatenate([feature.matrix(*of_cells)[of_rows] for feature, of_cells, of_rows in parts], axis=1)

    def _widths(self) -> list[int]:
        """The indices of the width features; an original value has no width and gets the training average.

        A width of 0 would lie outside the training data, and the prediction would be arbitrary.
        """
        ends = np.cumsum([2 if feature.firsts is None else len(feature.firsts) for feature in self.features])
        return [int(end) - 1 for feature, end in zip(self.features, ends, strict=True) if feature.firsts is None]
