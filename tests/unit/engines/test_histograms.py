"""Histograms of sensitive attributes: counted by the engine and by the verification, against plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.engines import LocalEngine
from kohorte.hierarchies import Ordering, Redaction
from kohorte.models import PrivacyModel
from kohorte.release.anonymization import find_candidate
from kohorte.release.verification import verify_source, verify_table
from kohorte.sources import FrameSource, Missing, encode_rows, encode_sensitive

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["11", "12", "21", "22"]),
        st.sampled_from(["11", "21"]),
        st.sampled_from(["flu", "hiv", "tbc", None]),
        st.sampled_from(["a", "b"]),
    ),
    min_size=1,
    max_size=30,
)


def frame_of(rows):
    names = ["zip", "ward", "diagnosis", "blood"]
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def masked(value: str, level: int) -> str:
    return "*" if level == 2 else value[: 2 - level] + "*" * level


@given(
    rows=ROWS,
    first=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    second=st.tuples(st.integers(0, 2), st.integers(0, 2)),
)
def test_histograms_count_each_sensitive_value_in_each_class_whatever_was_asked_before(rows, first, second):
    frame = frame_of(rows)
    builders = {"zip": Redaction(length=2), "ward": Redaction(length=2)}
    table = encode_rows(frame, builders, missing=Missing.CATEGORY, sensitive={"diagnosis": None, "blood": None})
    engine = LocalEngine(table)
    for node in ((0, 0), first, second):
        groups = engine.groups(node)
        expected = defaultdict(Counter)
        for zip_, ward, diagnosis, _ in rows:
            expected[masked(zip_, node[0]), masked(ward, node[1])][diagnosis] += 1
        histogram = groups.histograms["diagnosis"]
        found = [histogram.counts[start:end].tolist() for start, end in pairwise(histogram.starts)]
        assert sorted(sorted(counts) for counts in found) == sorted(
            sorted(counter.values()) for counter in expected.values()
        )
        assert sorted(groups.sizes.tolist()) == sorted(counter.total() for counter in expected.values())
        assert np.array_equal(histogram.sizes, groups.sizes)
        assert np.array_equal(histogram.distinct, [len(counts) for counts in found])
        assert sorted(histogram.domain.overall.tolist()) == sorted(Counter(row[2] for row in rows).values())
        assert groups.histograms["blood"].distinct.max() <= 2


@given(rows=ROWS)
def test_classes_of_rows_agree_with_the_groups_when_there_are_sensitive_attributes(rows):
    builders = {"zip": Redaction(length=2), "ward": Redaction(length=2)}
    table = encode_rows(frame_of(rows), builders, missing=Missing.CATEGORY, sensitive={"diagnosis": None})
    classes, groups = LocalEngine(table).classes((1, 2))
    assert np.array_equal(np.bincount(classes), groups.sizes)
    labels = [masked(row[0], 1) for row in rows]
    assert len(set(zip(labels, classes.tolist(), strict=True))) == len(set(labels)) == len(groups)


@dataclass(frozen=True)
class AtLeastTwo(PrivacyModel):
    """A stranger's model: at least two different values in every class."""

    attribute: str
    name: ClassVar[str] = "at-least-two"
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True

    @property
    def smallest_class(self):
        return 2

    @property
    def sensitive(self):
        return (self.attribute,)

    def satisfied(self, groups):
        return groups.histograms[self.attribute].distinct >= 2

    def reached(self, groups):
        return int(groups.histograms[self.attribute].distinct.min())


def plan_with(model, limit=0.0):
    return ko.Plan(
        attributes={
            "zip": ko.Attribute("quasi-identifying", Redaction(length=2)),
            "ward": ko.Attribute("quasi-identifying", Redaction(length=2)),
            "diagnosis": ko.Attribute("sensitive"),
            "blood": ko.Attribute("insensitive"),
        },
        models=[model],
        suppression_limit=limit,
    )


def test_a_model_that_looks_at_histograms_is_searched_and_verified():
    rows = [("11", "11", "flu", "a"), ("11", "11", "hiv", "a"), ("12", "11", "flu", "a"), ("12", "11", "flu", "a")]
    plan = plan_with(AtLeastTwo("diagnosis"))
    assert not verify_table(frame_of(rows), plan, {}).satisfied
    release = find_candidate(FrameSource(frame_of(rows)), plan)
    assert release.levels == {"zip": 1, "ward": 0}
    verdict = verify_source(release.table, plan, release.populations)
    assert verdict.satisfied
    assert verdict.models[0].reached == 2


def test_a_model_may_only_look_at_sensitive_attributes_of_the_plan():
    with pytest.raises(ko.InputError, match="'blood', which is not a sensitive attribute") as caught:
        plan_with(AtLeastTwo("blood"))
    assert caught.value.code == "plan-model-attribute"


@pytest.mark.parametrize(
    ("values", "builder", "ordered", "counts"),
    [
        (["10", "9", "9", "100"], None, True, [2, 1, 1]),
        (["1", "1.0", "01", "2"], None, True, [3, 1]),
        (["2024-05-01", "2023-01-01", "2024-05-01"], None, True, [1, 2]),
        (["low", "high", "low"], None, False, [1, 2]),
        (["low", "high", "low"], Ordering(values=["low", "middle", "high"]), True, [2, 1]),
        (["1", None, "2"], None, False, [1, 1, 1]),
        (["1", "x"], None, False, [1, 1]),
        (["1", "1.0", "x", None], None, False, [2, 1, 1]),
    ],
)
def test_sensitive_values_are_numbered_in_their_order_where_they_have_one(values, builder, ordered, counts):
    column = encode_sensitive(pl.Series("s", values, dtype=pl.String), builder)
    assert column.domain.ordered is ordered
    assert column.domain.overall.tolist() == counts
    assert np.array_equal(np.bincount(column.codes, minlength=len(counts)), counts)
