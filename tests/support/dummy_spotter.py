"""A helper that keeps everything it saw, and tries to tell dummy rows from real ones by what can be counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

Scores = Mapping[str, NDArray[np.float64]]


def scores(rows: NDArray[np.integer]) -> Scores:
    """For each way to guess, a number for each row; by high or low numbers dummy rows might be told.

    Counted with polars: how often the row, its values, pairs and triples of values occur, how much its values go
    together, how many other rows differ in one value only, and when the row arrived.
    """
    frame = pl.DataFrame(rows, schema=[f"c{number}" for number in range(rows.shape[1])])
    names = frame.columns
    equal = _counts(frame, [names])
    values = _counts(frame, [[name] for name in names])
    found = {
        "equal rows": equal[:, 0],
        "rarest value": values.min(axis=1),
        "values": np.log(values).sum(axis=1),
        "arrival": np.arange(len(rows), dtype=np.float64),
    }
    if len(names) > 1:
        pairs = list(combinations(range(len(names)), 2))
        both = _counts(frame, [[names[one], names[other]] for one, other in pairs])
        alone = np.log(values)
        together = np.log(both) - alone[:, [one for one, _ in pairs]] - alone[:, [other for _, other in pairs]]
        found |= {
            "rarest pair": both.min(axis=1),
            "pairs": np.log(both).sum(axis=1),
            "least together": together.min(axis=1),
            "together": together.sum(axis=1),
        }
    if len(names) > 2:
        found["triples"] = np.log(_counts(frame, list(combinations(names, 3)))).sum(axis=1)
        others = _counts(frame, [[name for name in names if name != out] for out in names]) - equal
        found |= {"neighbours": others.sum(axis=1), "columns with neighbours": (others > 0).sum(axis=1).astype(float)}
    return found


def _counts(frame: pl.DataFrame, parts: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    counted = frame.select(pl.len().over(part).cast(pl.Float64).alias(str(place)) for place, part in enumerate(parts))
    return counted.to_numpy()


def told(score: NDArray[np.float64], dummy: NDArray[np.bool_]) -> float:
    """How well a score tells dummy rows: the chance that of a dummy and a real row the guess is right; 0.5 is chance.

    The area under the ROC curve, or one minus it if low numbers tell dummy rows.
    """
    ranks = pl.Series(score).rank("average").to_numpy()
    few, many = int(dummy.sum()), int((~dummy).sum())
    area = (ranks[dummy].sum() - few * (few + 1) / 2) / (few * many)
    return float(max(area, 1 - area))


def told_by_counts(rows: NDArray[np.integer], dummy: NDArray[np.bool_]) -> dict[str, float]:
    """How well each count tells dummy rows; not the order of arrival, for rows that are not yet shuffled."""
    return {name: told(score, dummy) for name, score in scores(rows).items() if name != "arrival"}


def told_by_training(rows: NDArray[np.integer], dummy: NDArray[np.bool_]) -> float:
    """How well somebody tells dummy rows who was told the answer for half of the rows, and learnt from it."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    features = np.stack([score for name, score in scores(rows).items() if name != "arrival"], axis=1)
    order = np.random.default_rng(0).permutation(len(rows))
    known, asked = order[: len(rows) // 2], order[len(rows) // 2 :]
    learnt = HistGradientBoostingClassifier(max_iter=100, random_state=0).fit(features[known], dummy[known])
    return told(learnt.predict_proba(features[asked])[:, 1], dummy[asked])
