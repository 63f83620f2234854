"""The DIS-SUDA score of rows and files."""

from statistics import harmonic_mean

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.models import KAnonymity
from kohorte.risks.dis_suda import dis_suda, intrusion_score


class TestDisSuda:
    """Elliot and Manning's score, from sdcMicro's definition: 1 / (1 + (U / DIS - U) / (s^q A)), A the sum of s^-q."""

    def test_the_score_of_a_file_by_hand(self):
        """Three unique rows, two pairs, one of three; a tenth drawn: 0.3 / (0.3 + 4 * 0.9)."""
        sizes = np.array([1, 1, 1, 2, 2, 3])
        assert intrusion_score(sizes, sizes, 0.1) == pytest.approx(0.3 / 3.9)
        assert intrusion_score(sizes, sizes, 1.0) == 1
        assert intrusion_score(np.array([1, 3]), np.array([1, 3]), 0.1) == 1  # nothing speaks against a match
        assert intrusion_score(np.array([2, 3]), np.array([2, 3]), 0.1) is None

    def test_scores_of_rows_by_the_definition_of_sdcmicro(self):
        scores, dis, attributes = np.array([6.0, 2.0, 0.0, 1.0]), 0.25, 4
        q, uniques = 1 + (8 - attributes) / 20, 3
        total = sum(1 / s**q for s in scores if s)
        expected = [1 / (1 + (uniques / dis - uniques) / (s**q * total)) if s else 0 for s in scores]
        assert dis_suda(scores, np.array([1, 1, 5, 1]), dis, attributes) == pytest.approx(expected)

    def test_the_harmonic_mean_over_the_uniques_is_the_score_of_the_file(self):
        rng = np.random.default_rng(3)
        people = pl.DataFrame({name: rng.integers(4, size=120).astype(str) for name in "abcd"})
        plan = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in "abcd"}, models=[KAnonymity(2)])
        profile = ko.risk(people, plan, sampling_fraction=0.05)
        rows = [row for row in profile.riskiest_rows(120) if row.class_size == 1]
        assert len(rows) > 20
        assert harmonic_mean([row.dis_suda for row in rows]) == pytest.approx(profile.special_uniques.dis)
        assert sorted(rows, key=lambda row: row.score) == sorted(rows, key=lambda row: (row.dis_suda, row.score))

    def test_without_a_sampling_fraction_or_a_score_there_is_none(self):
        plan = ko.Plan(attributes={"a": {"role": "quasi-identifying"}}, models=[KAnonymity(2)])
        people = pl.DataFrame({"a": ["x", "y", "y"]})
        assert ko.risk(people, plan).special_uniques.dis is None
        assert [row.dis_suda for row in ko.risk(people, plan).riskiest_rows(3)] == [None] * 3
        rows = ko.risk(people, plan, population_size=12).riskiest_rows(3)
        assert [row.dis_suda for row in rows] == [pytest.approx(0.25 / (0.25 + 2 * 0.75)), None, None]
        assert ko.risk(people, plan, population_size=12).to_dict(rows=1)["riskiest_rows"][0]["dis_suda"] < 1
