"""Noise: its distribution, its cost by OpenDP's maps, and the guarantee on neighbouring tables, counted."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import polars as pl
import pytest
from scipy import stats

from kohorte.dp.budget.budget import Composition
from kohorte.dp.noise.derived import Deriver
from kohorte.dp.noise.exact import ExactTable
from kohorte.dp.noise.measurements import Kind, measurements_of
from kohorte.dp.noise.mechanisms import Noise, Share, ThresholdedNoise, shares
from kohorte.dp.noise.quantiles import QuantileChoice
from kohorte.dp.noise.releasing import Releaser, releaser
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import typed_table
from kohorte.dp.sql.parse import parse_query
from kohorte.errors import InputError
from support.questions import AGGREGATES, metadata, patients

PURE, ZCDP = Composition.PURE, Composition.ZCDP


@pytest.mark.parametrize("composition", list(Composition))
@pytest.mark.parametrize("sensitivity", [1, 3, 120, 2**31])
@pytest.mark.parametrize("amount", [1e-6, 0.01, 1 / 3, 10.0])
def test_the_cost_by_opendps_map_is_within_the_share_and_uses_it_up(
    composition: Composition, sensitivity: int, amount: float
) -> None:
    noise = Noise(Share(composition, amount), sensitivity)
    assert amount * (1 - 1e-9) <= noise.cost <= amount
    pure = composition is PURE
    assert noise.scale == pytest.approx(sensitivity / amount if pure else sensitivity / math.sqrt(2 * amount))


@pytest.mark.parametrize("composition", list(Composition))
@pytest.mark.parametrize("contributions", [1, 4])
def test_quantiles_and_thresholds_cost_what_they_may(composition: Composition, contributions: int) -> None:
    share = Share(composition, 0.3)
    choice = QuantileChoice(share, 0.25, tuple(range(50)), contributions)
    assert 0.3 * (1 - 1e-9) <= choice.cost <= 0.3
    keys = ThresholdedNoise(share, 1e-6, contributions)
    amount, delta = keys.cost
    assert 0.3 * (1 - 1e-9) <= amount <= 0.3
    assert 1e-8 < delta <= 1e-6


def test_shares_never_sum_to_more_than_the_whole() -> None:
    for count in range(1, 50):
        share = shares(Fraction(1, 10), count, PURE)
        assert Fraction(share.amount) * count <= Fraction(1, 10)


@pytest.mark.parametrize("composition", list(Composition))
@pytest.mark.parametrize("aggregates", [("COUNT(*)",), AGGREGATES])
@pytest.mark.parametrize("keys", [("", 0.0), (" GROUP BY sex", 0.0), (" GROUP BY diagnosis", 1e-6)])
def test_all_mechanisms_of_a_question_together_cost_what_is_declared(
    composition: Composition, aggregates: tuple[str, ...], keys: tuple[str, float]
) -> None:
    told = metadata(max_contributions=3, budget={"epsilon": 1, "delta": 1e-5, "composition": composition})
    sql = f"SELECT {', '.join(aggregates)} FROM PRIORI{keys[0]}"
    ready = releaser(parse_query(sql, told), told, epsilon=0.7, delta=keys[1])
    costs = [mechanism.cost for mechanism in ready.mechanisms.values()]
    amounts = [cost[0] if isinstance(cost, tuple) else cost for cost in costs]
    assert float(ready.cost.amount) * (1 - 1e-6) <= sum(amounts) <= float(ready.cost.amount) * (1 + 1e-12)
    assert float(ready.cost.delta) == keys[1]
    assert len(ready.mechanisms) == len(ready.measurements)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 10.0])
def test_figure_5_4_the_error_of_a_count_of_10_000_is_discrete_laplace(epsilon: float) -> None:
    noise = Noise(Share(PURE, epsilon), 1)
    errors = np.abs(np.array(noise.release([10_000] * 4_000)) - 10_000)
    law = stats.dlaplace(1 / noise.scale)
    for share in (0.5, 0.9, 0.99):
        bound = int(law.ppf((1 + share) / 2))
        expected = law.cdf(bound) - law.cdf(-bound - 1)
        inside = int((errors <= bound).sum())
        low, high = stats.binom.ppf([1e-6, 1 - 1e-6], len(errors), expected)
        assert low <= inside <= high
    assert noise.half_width(0.05) >= law.ppf(0.974)


def test_the_spread_falls_with_epsilon_as_in_figure_5_4() -> None:
    epsilons = [10 ** (0.01 * x) for x in range(-200, 101, 50)]
    medians = [
        float(np.median(np.abs(np.array(Noise(Share(PURE, epsilon), 1).release([0] * 2_000))))) for epsilon in epsilons
    ]
    assert medians == sorted(medians, reverse=True)
    assert medians[0] == pytest.approx(100 * math.log(2), rel=0.2)


def test_gaussian_noise_has_its_scale_and_its_half_width() -> None:
    for scale_of in (0.5, 1e-9):
        noise = Noise(Share(ZCDP, scale_of), 1)
        drawn = np.array(noise.release([0] * 4_000), dtype=float)
        assert drawn.std() == pytest.approx(noise.scale, rel=0.1)
        assert (np.abs(drawn) > noise.half_width(0.05)).mean() < 0.08


# The guarantee on neighbouring tables

RUNS = 6_000
EPSILON = 1.0


def samples(ready: Releaser, frame: pl.DataFrame, aggregate: str, runs: int) -> np.ndarray:
    """The answer of many runs of the mechanisms on the exact values of a table, which are the same in all runs."""
    plan, told = ready.plan, ready.metadata
    exact = ExactTable(typed_table(frame, told), plan, told)
    deriver = Deriver(plan.aggregates[0], ready)
    if aggregate.startswith(("MIN", "MAX", "MEDIAN", "QUANTILE")):
        choice = ready.mechanisms[deriver.parts[0]]
        assert isinstance(choice, QuantileChoice)
        values = exact.values("age").get((), np.empty(0, dtype=np.int64))
        return np.array([choice.release(values) for _ in range(runs)], dtype=float)
    found = exact.measure(deriver.parts)
    drawn = []
    for part, noise in zip(deriver.parts, deriver.mechanisms, strict=True):
        assert isinstance(noise, Noise)
        drawn.append(noise.release([found[part][()]] * runs))
    values = [deriver.derive(list(numbers)).value for numbers in zip(*drawn, strict=True)]
    return np.array([-1.0 if value is None else float(value) for value in values])


def proven_epsilon(first: np.ndarray, second: np.ndarray) -> float:
    """An epsilon that the two mechanisms exceed with a confidence of 99.99 % for each of the events that are tried."""
    edges = np.unique(np.quantile(np.concatenate([first, second]), [0.02, 0.1, 0.25, 0.5, 0.75, 0.9, 0.98]))
    found = 0.0
    for edge in edges:
        for more, less in ((first, second), (second, first)):
            for event in (np.less_equal, np.greater_equal, np.equal):
                hits, others = int(event(more, edge).sum()), int(event(less, edge).sum())
                lower = stats.beta.ppf(5e-5, hits, len(more) - hits + 1) if hits else 0.0
                upper = stats.beta.ppf(1 - 5e-5, others + 1, len(less) - others) if others < len(less) else 1.0
                found = max(found, math.log(lower / upper) if lower > 0 else 0.0)
    return found


def neighbours(told: QueryMetadata) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A small table of people at the lower bound, and the same with one more person at the upper bound."""
    del told
    few = patients(4).with_columns(age=pl.Series([0, 0, 0, 1]))
    more = patients(5).with_columns(age=pl.Series([0, 0, 0, 1, 999]))
    return few, more


def ready_for(aggregate: str, composition: Composition) -> Releaser:
    told = metadata(budget={"epsilon": 10.0, "delta": 1e-5, "composition": composition})
    return releaser(parse_query(f"SELECT {aggregate} FROM PRIORI", told), told, epsilon=EPSILON, delta=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_no_event_tells_neighbouring_tables_apart_by_more_than_epsilon(aggregate: str) -> None:
    ready = ready_for(aggregate, PURE)
    few, more = neighbours(ready.metadata)
    assert proven_epsilon(samples(ready, few, aggregate, RUNS), samples(ready, more, aggregate, RUNS)) <= EPSILON


@pytest.mark.slow
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(age)", "AVG(age)", "MEDIAN(age)"])
def test_no_event_tells_neighbouring_tables_apart_by_more_than_epsilon_under_zcdp(aggregate: str) -> None:
    ready = ready_for(aggregate, ZCDP)
    few, more = neighbours(ready.metadata)
    assert proven_epsilon(samples(ready, few, aggregate, RUNS), samples(ready, more, aggregate, RUNS)) <= EPSILON


def test_the_count_of_events_finds_noise_that_is_too_small() -> None:
    weak = Noise(Share(PURE, 3 * EPSILON), 1)
    assert proven_epsilon(np.array(weak.release([4] * RUNS)), np.array(weak.release([5] * RUNS))) > 2 * EPSILON
    strong = Noise(Share(PURE, EPSILON), 1)
    found = proven_epsilon(np.array(strong.release([4] * RUNS)), np.array(strong.release([5] * RUNS)))
    assert 0.7 * EPSILON < found <= EPSILON


@pytest.mark.parametrize("composition", list(Composition))
def test_a_key_of_one_person_is_shown_with_a_probability_of_delta_at_most(composition: Composition) -> None:
    keys = ThresholdedNoise(Share(composition, 0.1), 0.04, 1)
    people = {(f"person {number}",): 1 for number in range(4_000)}
    shown = keys.release(people)
    assert 0 < len(shown) <= stats.binom.ppf(1 - 1e-6, len(people), keys.cost[1])
    assert keys.cost[1] <= 0.04
    assert min(shown.values()) >= keys.threshold


@pytest.mark.parametrize("contributions", [1, 3, 10])
@pytest.mark.parametrize("delta", [1e-9, 1e-3, 0.3])
def test_no_way_to_spread_rows_over_new_keys_shows_one_with_more_than_delta(contributions: int, delta: float) -> None:
    keys = ThresholdedNoise(Share(PURE, 0.4), delta, contributions)
    law = stats.dlaplace(1 / keys.scale)
    for new in range(1, contributions + 1):
        shown = law.sf(keys.threshold - contributions // new - 1)  # of one key with an equal part of the rows
        assert 1 - (1 - shown) ** new <= keys.cost[1] * (1 + 1e-9)
    assert keys.cost[1] <= delta
    sooner = law.sf(keys.threshold - 1 - contributions - 1)
    assert 1 - (1 - sooner) ** contributions > delta * 0.99  # the threshold is the least that hides


@pytest.mark.parametrize("quantile", [0.5, 0.01, 0.3333, 0.9999])
def test_one_row_changes_the_scores_of_a_quantile_by_no_more_than_opendps_map_says(quantile: float) -> None:
    scores = QuantileChoice(Share(PURE, 1.0), quantile, (0, 1, 2, 3), 1)._scores
    for size in range(4):
        for values in combinations_with_replacement(range(4), size):
            before = scores(list(values))
            for added in range(4):
                after = scores(sorted([*values, added]))
                assert max(abs(int(one) - int(other)) for one, other in zip(before, after, strict=True)) <= scores.map(
                    1
                )


def test_thresholded_keys_come_back_with_their_types_and_in_order() -> None:
    keys = ThresholdedNoise(Share(PURE, 10.0), 1e-3, 1)
    found = keys.release({("b", True, 3): 1_000, ("a", False, -1): 900})
    assert list(found) == [("a", False, -1), ("b", True, 3)]
    assert keys.release({}) == {}


def test_a_delta_that_no_threshold_reaches_is_refused() -> None:
    with pytest.raises(InputError, match="delta is too small"):
        _ = ThresholdedNoise(Share(ZCDP, 0.5), 1e-300, 1).threshold


def test_a_quantile_is_near_the_truth_and_off_by_no_more_ranks_than_stated() -> None:
    choice = QuantileChoice(Share(PURE, 1.0), 0.5, tuple(range(121)), 1)
    values = np.sort(np.arange(3_000, dtype=np.int64) % 121)
    picked = [choice.release(values) for _ in range(200)]
    ranks = [abs(np.searchsorted(values, found) - 1_500) for found in picked]
    assert sum(rank > choice.rank_error(0.05) + 25 for rank in ranks) < 25
    assert choice.release(np.empty(0, dtype=np.int64)) in range(121)


@pytest.mark.parametrize("composition", list(Composition))
@pytest.mark.parametrize("aggregate", ["COUNT(*)", "SUM(weight)", "AVG(age)", "VARIANCE(age)", "STDDEV(weight)"])
@pytest.mark.parametrize("rows", [40, 2_000])
def test_the_truth_is_within_the_half_width_at_least_as_often_as_stated(
    aggregate: str, composition: Composition, rows: int
) -> None:
    ready = ready_for(aggregate, composition)
    plan, told, frame = ready.plan, ready.metadata, patients(rows)
    deriver = Deriver(plan.aggregates[0], ready)
    exact = ExactTable(typed_table(frame, told), plan, told).measure(deriver.parts)
    true = deriver.derive([exact[part][()] for part in deriver.parts]).value
    assert true is not None
    runs = 400
    drawn = [
        noise.release([exact[part][()]] * runs)
        for part, noise in zip(deriver.parts, deriver.mechanisms, strict=True)
        if isinstance(noise, Noise)
    ]
    found = [deriver.derive(list(numbers)) for numbers in zip(*drawn, strict=True)]
    known = [one for one in found if one.value is not None and one.half_width is not None]
    inside = sum(abs(float(one.value or 0) - true) <= float(one.half_width or 0) + 1e-9 for one in known)
    assert len(known) > runs / 2
    assert inside >= stats.binom.ppf(1e-6, len(known), 0.95)


def test_the_measurements_of_aggregates_are_shared() -> None:
    told = metadata()
    plan = parse_query("SELECT COUNT(age), AVG(age), STDDEV(age), VARIANCE(age) FROM PRIORI", told)
    kinds = [part.kind for part in measurements_of(plan, thresholded=False)]
    assert sorted(kinds) == sorted([Kind.VALUES, Kind.CENTRED, Kind.SQUARES])


def test_a_table_without_any_group_takes_the_same_way_as_one_with_a_group() -> None:
    share = shares(Fraction(1), 1, Composition.PURE)
    noise = ThresholdedNoise(share, 1e-6, 1)
    asked: list[int] = []
    made, scale, threshold = noise._made
    object.__setattr__(noise, "_made", (lambda rows: asked.append(len(rows)) or made(rows), scale, threshold))
    assert noise.release({}) == {}
    assert noise.release({("x",): 10**9})[("x",)] > 10**8
    assert asked == [1, 2]
