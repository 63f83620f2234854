"""The distinct tuples of a frame."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest

from kohorte.engines import LocalEngine
from kohorte.hierarchies import Ordering
from kohorte.kernels.arrays import Codes
from kohorte.sources import FrameSource, Missing, encode, frame


def tuples_of(table: pl.DataFrame) -> Counter[tuple[str | None, ...]]:
    tuples = FrameSource(table).distinct(table.columns)
    texts = zip(*(tuples.text(name) for name in table.columns), strict=True)
    return Counter(dict(zip(texts, tuples.counts.tolist(), strict=True)))


@pytest.mark.parametrize("few", [0, 3, 10_000])
def test_values_that_a_sample_lacks_are_found(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    monkeypatch.setattr(frame, "SAMPLE", 10)
    monkeypatch.setattr(frame, "FEW_VALUES", few)
    random = np.random.default_rng(3)
    values = [None, "", *(f"{number:03}" for number in range(40))]
    table = pl.DataFrame(
        {name: [values[at] for at in (random.integers(0, 42, 500) ** 2 // 41)] for name in ("a", "b")},
        schema={"a": pl.String, "b": pl.String},
    )
    wanted = Counter((a or None, b or None) for a, b in table.rows())
    assert tuples_of(table) == wanted
    assert FrameSource(table).distinct(["a"]).values[0].to_list() == sorted({a for a in table["a"] if a})


def test_the_codes_of_a_column_lie_together() -> None:
    codes: Codes = FrameSource(pl.DataFrame({"a": ["x", "y", "x"], "b": ["u", "u", "u"]})).distinct(["a", "b"]).codes
    assert codes.tolist() == [[0, 0], [1, 0]]
    assert codes[:, 1].flags.c_contiguous


def test_a_table_of_quasi_identifiers_only_is_released() -> None:
    source = FrameSource(pl.DataFrame({"a": ["x", "y"]}))
    shown = source.released(source.distinct(["a"]), pl.DataFrame({"a": ["*", "*"]}), shuffled=True)
    assert shown.in_memory("").rows() == [("*",), ("*",)]


@pytest.mark.parametrize(("values", "merged"), [(["1", "2", "2"], True), (["1", "1.0", "2"], False)])
def test_tuples_are_merged_unless_two_texts_are_one_sensitive_value(values: list[str], merged: bool) -> None:
    source = FrameSource(pl.DataFrame({"a": ["x", "x", "x"], "s": values}))
    table = encode(
        source, source.distinct(["a", "s"]), {"a": Ordering()}, missing=Missing.REFUSE, sensitive={"s": None}
    )
    assert table.merged is merged
    engine = LocalEngine(table)
    assert engine.distinct_rows == 2
    assert engine.groups((0,)).histograms["s"].counts.tolist() == ([1, 2] if merged else [2, 1])
    sizes = engine.sizes((0,))
    assert sizes is None or sizes.sizes.tolist() == [3]
