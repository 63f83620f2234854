"""The risk over the number of people, as numbers and as a picture."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import kohorte as ko
from kohorte.survey import JUDGES
from kohorte.survey.picture import refuse_plot, risk_over_people, write_plot
from support.surveys import of, skewed, solved_in_this_process


def test_every_point_of_a_curve_is_the_estimate_for_that_number_of_people() -> None:
    survey = of(2, 3, [0.4, 0.3, 0.2, 0.1])
    people = (10, 20, 60)
    curves = risk_over_people(survey, (60, 10, 20))
    assert curves.people == people
    assert tuple(curves.percents) == JUDGES
    for place, number in enumerate(people):
        found = ko.estimate_survey(survey, number, simulation=False)
        for by in ("expected", "OR", "FG", "RT", "RR"):
            assert curves.percents[by][place] == found.figures[by].deanonymizable_percent  # type: ignore[union-attr]
        with solved_in_this_process():
            assert 100 * found.worst_case.at_least / number <= curves.percents["worst"][place] <= 100


def test_without_numbers_the_curves_reach_three_times_as_far_as_the_survey() -> None:
    curves = risk_over_people(of(2, 3, people=50))
    assert (curves.people[0], curves.people[-1]) == (5, 150)
    assert 50 in curves.people
    assert risk_over_people(of(2, 3, people=1)).people == (1, 2, 3)


def test_a_curve_that_cannot_be_computed_is_left_out() -> None:
    curves = risk_over_people(skewed(20), (1000, 8 * 10**7))
    assert set(curves.percents) == {"expected", "worst", "OR", "FG"}


def test_the_picture_names_every_curve_and_never_exceeds_all_people(tmp_path: Path) -> None:
    write_plot(risk_over_people(of(2, 3, 4, people=50)), tmp_path / "risk.svg", force=False)
    text = (tmp_path / "risk.svg").read_text("utf-8")
    shown = [
        (element.text or "").replace("\u00a0", " ")
        for element in ET.fromstring(text).iter()
        if element.tag.endswith("text")
    ]
    for name in ("expected", "at worst", "OR (coefficient)", "RR (coefficient)", "number of people"):
        assert name in shown
    assert "100 %" in shown
    assert "150 %" not in shown


def test_the_page_has_a_table_of_all_points(tmp_path: Path) -> None:
    curves = risk_over_people(of(2, 3, 4, people=50))
    write_plot(curves, tmp_path / "risk.html", force=False)
    text = (tmp_path / "risk.html").read_text("utf-8")
    assert text.count("<tr>") == len(curves.people) + 1
    assert "neither probabilities nor numbers of people" in text


@pytest.mark.parametrize(("name", "code"), [("risk.png", "picture-format"), ("survey.svg", "output-is-input")])
def test_a_picture_that_cannot_be_written_is_refused(tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "survey.svg").write_text("people: 5")
    with pytest.raises(ko.InputError) as caught:
        refuse_plot(tmp_path / name, needed=(tmp_path / "survey.svg",), force=True)
    assert caught.value.code == code
