"""Curves over k and the suppression limit: each point is the release that the plan would give with that value."""

from __future__ import annotations

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError, KohorteError
from kohorte.languages import language
from kohorte.tradeoff import tradeoff
from kohorte.tradeoff.settings import with_k, with_limit

ATTRIBUTES = {
    "patient": {"role": "identifying"},
    "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
    "sex": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
    "age": {"role": "quasi-identifying", "hierarchy": {"intervals": {"lower": 0, "upper": 90, "widths": [10, 30]}}},
    "diagnosis": {"role": "sensitive"},
}


def table(rows: int = 300, people: int = 300) -> pl.DataFrame:
    numbers = range(rows)
    return pl.DataFrame(
        {
            "patient": [f"p{number % people}" for number in numbers],
            "zip": [f"{100 + 37 * (number % people) % 90}" for number in numbers],
            "sex": ["fm"[(number % people) % 7 < 3] for number in numbers],
            "age": [str(20 + 13 * (number % people) % 61) for number in numbers],
            "diagnosis": ["abcd"[number % 4] for number in numbers],
        }
    )


def plan(**changes: object) -> ko.Plan:
    given = {"kohorte": 1, "attributes": ATTRIBUTES, "models": [{"model": "k-anonymity", "k": 5}], "person": "none"}
    return ko.Plan.from_dict({**given, "suppression_limit": 0.05, **changes})


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        (300, {}),
        (900, {"person": "patient"}),
        (300, {"metric": {"metric": "discernibility"}}),
        (300, {"search": {"algorithm": "mondrian"}}),
        (
            300,
            {
                "models": [
                    {"model": "k-anonymity", "k": 4},
                    {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2},
                ]
            },
        ),
    ],
    ids=["rows", "people", "another metric", "a recoder", "a second model"],
)
def test_every_point_is_the_release_of_the_plan_with_that_value(rows: int, changes: dict[str, object]) -> None:
    asked, frame = plan(**changes), table(rows)
    found = tradeoff(frame, asked, ks=[2, 5, 9], limits=[0, 0.05, 0.2])
    for curve, changed in zip(
        found.curves, (lambda value: with_k(asked, int(value)), lambda value: with_limit(asked, value)), strict=True
    ):
        for setting in curve.settings:
            release = ko.anonymize(frame, changed(setting.value))
            assert setting.cost == pytest.approx(release.cost, rel=1e-12)
            assert (setting.suppressed, setting.classes) == (release.suppressed, release.classes)
            assert setting.smallest_class == release.smallest_class
            assert setting.highest_risk == pytest.approx(1 / release.smallest_class)


def test_the_value_of_the_plan_is_marked_once_on_every_curve() -> None:
    found = tradeoff(table(), plan(models=[{"model": "k-anonymity", "k": 7}], suppression_limit=0.03))
    assert [[one.value for one in curve.settings if one.own] for curve in found.curves] == [[7], [0.03]]
    own = [curve.own for curve in found.curves]
    assert own[0] is not None
    assert own[1] is not None
    assert own[0].cost == own[1].cost


def test_a_value_without_a_release_stays_on_the_curve_with_the_error_that_anonymize_gives() -> None:
    diverse = {"model": "l-diversity_entropy", "attribute": "diagnosis", "l": 3.9}
    frame, asked = table(30), plan(models=[{"model": "k-anonymity", "k": 2}, diverse], suppression_limit=0)
    uneven = frame.with_columns(diagnosis=pl.Series(["abcd"[min(3, number)] for number in range(30)]))
    for rows, ks in ((frame, [2, 31]), (uneven, [2, 5])):
        for setting in tradeoff(rows, asked, ks=ks, limits=[]).curves[0].settings:
            if setting.released:
                assert ko.anonymize(rows, with_k(asked, int(setting.value))).cost == setting.cost
                continue
            with pytest.raises(KohorteError) as refused:
                ko.anonymize(rows, with_k(asked, int(setting.value)))
            assert (setting.refusal, setting.cost, setting.highest_risk) == (refused.value.code, None, None)
    assert [one.released for one in tradeoff(frame, asked, ks=[2, 31], limits=[]).curves[0].settings] == [True, False]
    assert not any(one.released for one in tradeoff(uneven, asked, ks=[2, 5], limits=[]).curves[0].settings)


def test_a_plan_without_k_anonymity_gets_it_added_and_the_curve_says_so() -> None:
    found = tradeoff(
        table(),
        plan(models=[{"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}]),
        ks=[2, 10],
        limits=[0.05],
    )
    assert [curve.added for curve in found.curves] == [True, False]
    assert [one.own for one in found.curves[0].settings] == [False, False]


def test_searches_that_run_out_of_time_are_not_called_optimal() -> None:
    found = tradeoff(table(), plan(search={"algorithm": "exhaustive"}), ks=[5], limits=[0.1], seconds=1e-9)
    assert not any(one.optimal for curve in found.curves for one in curve.settings)
    assert any(one.optimal for curve in tradeoff(table(), plan(), ks=[5], limits=[]).curves for one in curve.settings)


def test_the_error_of_a_count_falls_with_epsilon_and_matters_more_for_small_groups() -> None:
    noise = tradeoff(table(), plan(), ks=[5], limits=[0.05], epsilons=[0.1, 1, 10]).noise
    assert noise is not None
    assert noise.groups == (300, 30, 3)
    errors = [one.error for one in noise.settings]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] == pytest.approx(30, rel=0.05)  # Laplace noise of scale 10 exceeds 10 ln 20 in one of twenty
    assert [noise.relative(noise.settings[0], group) for group in noise.groups] == [errors[0] / 300, 1.0, 1.0]


def test_the_page_rounds_the_error_of_a_count_up_so_that_a_small_one_is_not_told_as_none() -> None:
    page = tradeoff(table(), plan(), ks=[5], limits=[0.05], epsilons=[0.3, 10]).to_html()
    assert "19 of 20 counts are off by at most 0.4, which is" in page
    assert "at most 0," not in page


@pytest.mark.parametrize(
    "wrong",
    [{"ks": [0]}, {"ks": [2.5]}, {"limits": [1.5]}, {"limits": [True]}, {"epsilons": [0]}, {"ks": list(range(1, 50))}],
)
def test_a_wrong_setting_is_refused(wrong: dict[str, list[float]]) -> None:
    with pytest.raises(InputError) as refused:
        tradeoff(table(), plan(), **wrong)  # type: ignore[arg-type]
    assert refused.value.code == "tradeoff-setting"


@pytest.mark.parametrize("code", ["en", "de"])
def test_the_page_has_a_sentence_for_every_value_and_no_cell_value(code: str) -> None:
    chosen = language(code)
    assert chosen is not None
    page = tradeoff(table(), plan(), ks=[2, 5], limits=[0, 0.05]).to_html(chosen)
    said = {"en": "Every row looks like at least 1 other row.", "de": "Jede Zeile gleicht mindestens 1 anderen Zeile."}
    assert said[code] in page
    assert page.count('class="sentence"') == 3 + 2 + 2 + 7
    assert "p17" not in page
    assert ">137<" not in page
