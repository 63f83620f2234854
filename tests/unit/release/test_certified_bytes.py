"""A release as bytes: no exit without verification."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import parse_table, sha256_of
from kohorte.errors import InternalError
from kohorte.models import KAnonymity
from kohorte.release.write import certified_bytes
from kohorte.sources import FrameSource

FRAME = pl.DataFrame({"zip": ["11", "11", "12", "12"], "sex": ["f", "f", "f", "m"]})
PLAN = ko.Plan({"zip": {"role": "quasi-identifying"}, "sex": {"role": "quasi-identifying"}}, [KAnonymity(2)])  # type: ignore[dict-item]


def test_the_certificate_is_about_the_bytes() -> None:
    release = ko.anonymize(FRAME, PLAN)
    content, _, certificate = certified_bytes(release, "release.csv")
    assert certificate.facts["output"]["sha256"] == sha256_of(content)  # type: ignore[index]
    assert "sha256" not in certificate.facts["input"]  # type: ignore[operator]
    assert ko.verify(parse_table(content, Path("release.csv")).frame, PLAN).satisfied


def test_a_release_that_does_not_hold_gets_no_bytes() -> None:
    release = replace(ko.anonymize(FRAME, PLAN), table=FrameSource(FRAME))
    with pytest.raises(InternalError):
        certified_bytes(release, "release.csv")
