"""The certificate of a release tells no count of rows that is too small."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.series import SeriesRelease
from support.growing import SETTINGS, patients, plan


@pytest.fixture
def series(tmp_path: Path) -> ko.Series:
    """A series with one release of 200 patients, written."""
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    series.release(patients(200), tmp_path / "r1.csv")
    return series


def facts(release: SeriesRelease) -> dict[str, object]:
    assert release.certificate is not None
    found = release.certificate.facts["series"]
    assert isinstance(found, dict)
    return found


def with_held(rows: int, held: int) -> pl.DataFrame:
    """So many patients, of whom the first few lack a value, so that they are held back."""
    lacks = pl.int_range(pl.len()) < held
    return patients(rows).with_columns(age=pl.when(lacks).then(None).otherwise(pl.col("age")))


def test_a_certificate_does_not_tell_how_few_rows_are_held_back(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(missing="suppress"), SETTINGS)
    release = series.release(with_held(300, 3))
    told = facts(release)
    assert (release.held, release.rows, release.shown) == (3, 300, 297)
    assert (told["held"], told["rows"], told["loss"], told["shown"], told["least"]) == (None, None, None, 297, 5)
    assert release.certificate is not None
    text = release.certificate.to_text()
    assert release.certificate.facts["input"] == {"rows": None}
    assert "Rows        297 are shown (297 for the first time) and fewer than 5 held back" in text
    assert "Loss        not stated" in text


def test_a_certificate_does_not_tell_how_few_rows_are_new(series: ko.Series) -> None:
    release = series.release(patients(202))
    assert (release.new, facts(release)["new"], facts(release)["held"]) == (2, None, 0)
    assert release.certificate is not None
    assert "(fewer than 5 for the first time) and 0 held back" in release.certificate.to_text()
    assert facts(release)["rows"] == 202


def test_counts_that_are_large_enough_are_told(tmp_path: Path) -> None:
    series = ko.Series.start(tmp_path / "series", plan(missing="suppress"), SETTINGS)
    release = series.release(with_held(300, 5))
    assert (facts(release)["held"], facts(release)["rows"], facts(release)["loss"]) == (5, 300, release.loss)


def test_the_certificate_of_a_full_domain_series_speaks_of_classes(tmp_path: Path) -> None:
    attributes = dict(plan().to_dict()["attributes"])  # type: ignore[call-overload]
    attributes["zip"] = {"role": "quasi-identifying", "hierarchy": {"redaction": {"length": 3}}}
    series = ko.Series.start(tmp_path / "series", plan(attributes=attributes), {"kind": "full-domain"})
    release = series.release(patients(300))
    assert release.certificate is not None
    assert "region" not in release.certificate.to_text().lower()
    assert "came together into a class" in release.certificate.to_text()
