"""The share of information kept is true, also if rows are recoded one by one, and in the bands of the public."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.data import as_text
from kohorte.report.attributes_part import AttributesPart
from kohorte.report.figures.rounding import Figures
from kohorte.report.write import report_of

PUBLIC = Figures(least=5, exact=False)
ALGORITHMS = ["mondrian", "mondrian_relaxed", "optimal"]


def entropy(cells: Sequence[Hashable]) -> float:
    return -sum(rows / len(cells) * math.log2(rows / len(cells)) for rows in Counter(cells).values())


def kept(before: Sequence[str], after: Sequence[str], suppressed: Sequence[bool]) -> float:
    """The oracle: what the cell of a row tells about its value, in rows that are not suppressed; rows correspond."""
    pairs = [(value, cell) for value, cell, gone in zip(before, after, suppressed, strict=True) if not gone]
    values, cells = [value for value, _ in pairs], [cell for _, cell in pairs]
    told = entropy(values) + entropy(cells) - entropy(pairs) if pairs else 0.0
    return told * len(pairs) / len(before) / entropy(before)


def table(seed: int, rows: int = 120) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    ages = np.minimum(random.geometric(0.06, rows), 60).astype(str)
    return pl.DataFrame({"age": ages, "ward": random.choice(list("abcd"), rows), "d": random.choice(list("xyz"), rows)})


def plan(algorithm: str, order: str = "input") -> ko.Plan:
    widths = {"lower": 0, "upper": 64, "widths": [4, 8, 16], "integer": True}
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {
                "age": {"role": "quasi-identifying", "hierarchy": {"intervals": widths}},
                "ward": {"role": "quasi-identifying", "hierarchy": {"tree": {"A": ["a", "b"], "B": ["c", "d"]}}},
                "d": {"role": "sensitive"},
            },
            "models": [{"model": "k-anonymity", "k": 5}],
            "suppression_limit": 0.1,
            "search": {"algorithm": algorithm},
            "output": {"order": order},
        }
    )


def told(frame: pl.DataFrame, release: ko.Release, view: str) -> dict[str, str]:
    lines = AttributesPart(report_of(frame, release.plan, release=release, view=view)).kept
    return {line[0]: line[-1] for line in lines}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(6))
def test_what_is_told_is_what_the_cells_of_the_same_rows_tell(algorithm: str, seed: int) -> None:
    frame = table(seed)
    release = ko.anonymize(frame, plan(algorithm))
    text = {name: as_text(release.data[name]).to_list() for name in ("age", "ward")}
    starred = [cells == ("*", "*") for cells in zip(text["age"], text["ward"], strict=True)]
    internal, public = told(frame, release, "internal"), told(frame, release, "public")
    for name, cells in text.items():
        true = kept(frame[name].to_list(), cells, starred)
        if internal[name] == "over 99.9 %":
            assert true > 0.999
        else:
            assert float(internal[name].removesuffix(" %")) == pytest.approx(100 * true, rel=0.006, abs=1e-9)
        assert (internal[name] == "100 %") == (public[name] == "100 %") == (cells == frame[name].to_list())
        assert holds(public[name], true)


def holds(words: str, share: float) -> bool:
    """Whether what the public reads about a share is true."""
    if words.endswith(("to 50 %", "to 90 %")):
        low, high = (float(end.strip(" %")) / 100 for end in words.split("to"))
        return low - 1e-9 <= share <= high + 1e-9
    if words.startswith("less than "):
        return share < float(words[10:].strip(" %")) / 100
    if words.startswith("over "):
        return share > float(words[5:].strip(" %")) / 100
    return math.isclose(share, float(words.strip(" %")) / 100)


@given(st.one_of(st.floats(0, 1), st.sampled_from([0.1, 0.5, 0.9, math.nextafter(1, 0), math.nextafter(0, 1)])))
def test_every_band_is_true_and_only_a_whole_is_100_percent(share: float) -> None:
    assert holds(PUBLIC.kept(share), share)
    assert (PUBLIC.kept(share) == "100 %") == (share == 1)
    assert (PUBLIC.kept(share) == "0 %") == (share == 0)


def test_the_order_of_the_rows_does_not_matter() -> None:
    frame = table(1)
    assert told(frame, ko.anonymize(frame, plan("mondrian", "shuffled")), "internal") == told(
        frame, ko.anonymize(frame, plan("mondrian")), "internal"
    )


def test_two_tables_alone_do_not_tell_it_where_levels_differ_from_row_to_row() -> None:
    frame = table(1)
    for algorithm, known in (("mondrian", False), ("optimal", True)):
        release = ko.anonymize(frame, plan(algorithm, "shuffled"))
        facts = report_of(frame, release.plan, release=release.data, view="public")
        compared = {line[0]: line[-1] for line in AttributesPart(facts).kept}
        assert (compared == told(frame, release, "public")) is known
        assert known or compared["age"] == "not known"
