"""`verify` says when a certificate is about another table than the one that it is given."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
POINT = "note: the certificate out.certificate.json is about another table"


@pytest.fixture
def release(hospital: Path, run: Run) -> Path:
    assert run("anonymize", "patients.csv", "--plan", "plan.yaml", "--output", "out.csv").code == 0
    return hospital / "out.csv"


@pytest.mark.parametrize("plan", ["plan.yaml", "out.certificate.json"])
def test_a_release_that_was_changed_after_it_was_certified_is_amber(release: Path, plan: str, run: Run) -> None:
    assert POINT not in run("verify", "out.csv", "--plan", plan).out
    release.write_bytes(b"\xef\xbb\xbf" + release.read_bytes())  # the same rows, with a byte order mark
    ran = run("verify", "out.csv", "--plan", plan)
    assert ran.code == 0
    assert ran.out.count(POINT) == 1
    assert "verdict: amber" in ran.out


def test_a_copy_of_a_release_fits_the_certificate_that_is_named_and_another_table_does_not(
    release: Path, run: Run
) -> None:
    copy = shutil.copy(release, "copy.csv")
    assert POINT not in run("verify", copy, "--plan", "out.certificate.json").out
    assert POINT in run("verify", "patients.csv", "--plan", "out.certificate.json").out


def test_a_file_beside_the_table_that_is_no_certificate_says_nothing(release: Path, run: Run) -> None:
    for text in ("", "[]", "{}", '{"output": {"sha256": 5}}', '{"output": null}'):
        release.with_suffix(".certificate.json").write_text(text, encoding="utf-8")
        ran = run("verify", "out.csv", "--plan", "plan.yaml")
        assert ran.code == 0
        assert POINT not in ran.out
