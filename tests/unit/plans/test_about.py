"""What a release is for: stated by the plan or by who makes it, and told by certificate and report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.errors import InputError
from kohorte.plans.parts import About
from support.growing import SETTINGS, patients, plan
from support.minority import minority, plan_for

STATED = {"title": "Registry of gout", "purpose": "study 7", "recipient": "University of Kiel"}


def test_title_purpose_and_recipient_stand_in_the_certificate() -> None:
    about = About("Registry of gout", "study 7", "University of Kiel")
    certificate = ko.certify(ko.anonymize(minority(), plan_for()), about=about)
    assert certificate.facts["about"] == about.to_dict()
    for line in ("Title       Registry of gout", "Purpose     study 7", "Recipient   University of Kiel"):
        assert line in certificate.to_text()


@pytest.mark.parametrize("text", ["", "  ", "two\nlines", "x" * 501, "turn\u202earound", 7])
def test_what_is_not_one_line_of_text_is_refused(text) -> None:
    with pytest.raises(InputError) as caught:
        About(purpose=text)
    assert caught.value.code == "about-text"


def test_a_plan_states_what_its_releases_are_for_and_who_makes_one_can_say_otherwise() -> None:
    release = ko.anonymize(minority(), replace(plan_for(), **STATED))
    assert ko.certify(release).facts["about"] == STATED
    told = ko.certify(release, about=About(recipient="University of Jena")).facts["about"]
    assert told == STATED | {"recipient": "University of Jena"}


def test_a_plan_that_states_nothing_is_written_as_before() -> None:
    assert not {*STATED} & {*plan_for().to_dict()}
    assert list(replace(plan_for(), **STATED).to_dict())[:4] == ["kohorte", *STATED]
    assert replace(plan_for(), **STATED).fingerprint() != plan_for().fingerprint()


@pytest.mark.parametrize("text", ["", "two\nlines", 2022, ["study"]])
def test_a_plan_with_anything_but_a_line_of_text_is_refused(text) -> None:
    with pytest.raises(InputError) as caught:
        ko.Plan.from_dict(plan_for().to_dict() | {"purpose": text})
    assert caught.value.code == "about-text"
    assert caught.value.message.startswith("purpose: ")


def test_the_report_says_what_the_plan_states_unless_it_is_told_otherwise(tmp_path: Path) -> None:
    stated = replace(plan_for(), **STATED)
    ko.write_report(tmp_path / "report.html", minority(), stated, recipient="University of Jena")
    text = (tmp_path / "report.html").read_text()
    assert all(said in text for said in ("Registry of gout", "study 7", "University of Jena"))
    assert "University of Kiel" not in text


def test_a_release_of_a_series_is_for_what_the_plan_states(tmp_path: Path) -> None:
    certificate = ko.Series.start(tmp_path / "series", plan(**STATED), SETTINGS).release(patients(150)).certificate
    assert certificate is not None
    assert certificate.facts["about"] == STATED
    assert "Recipient   University of Kiel" in certificate.to_text()
