"""One order of steps from a candidate to its reader, and nothing is handed over that did not pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InternalError
from kohorte.release.certificate import Certificate
from kohorte.release.verification import verify_source
from kohorte.release.write import certified_bytes, publish, write_release
from kohorte.series.drafting import growing_table, region_table
from kohorte.sources import FrameSource, TableSource, Written
from support.growing import SETTINGS, patients, plan

TABLE = FrameSource(pl.DataFrame({"zip": ["1", "1"]}))
ZIP = ko.Plan.from_dict(
    {
        "kohorte": 1,
        "attributes": {"zip": {"role": "quasi-identifying"}},
        "models": [{"model": "k-anonymity", "k": 2}],
    }
)
GREEN, RED = (Certificate({"verdict": {"standing": standing, "reasons": []}}) for standing in ("green", "red"))


class Recorded:
    """A sink that records its steps."""

    name = "release.csv"

    def __init__(self) -> None:
        self.steps: list[str] = []

    def write(self, table: TableSource) -> Written:
        self.steps.append("write")
        return Written(table, "hash")

    def hand_over(self, certificate: Certificate) -> None:
        assert certificate is GREEN
        self.steps.append("hand over")

    def verify(self, table: TableSource) -> int:
        self.steps.append("verify")
        return table.rows

    def certify(self, verified: int, written: Written) -> Certificate:
        assert (verified, written.sha256) == (2, "hash")
        self.steps.append("certify")
        return GREEN


def test_a_release_is_written_verified_and_certified_before_it_is_handed_over() -> None:
    sink, told = Recorded(), []
    found = publish(
        TABLE, sink, verify=sink.verify, certify=sink.certify, progress=lambda step: told.append(step.stage)
    )
    assert found == (2, GREEN)
    assert sink.steps == ["write", "verify", "certify", "hand over"]
    assert [str(stage) for stage in told] == ["writing", "verifying"]


def test_what_fails_its_verification_is_not_handed_over() -> None:
    def failing(_: TableSource) -> int:
        raise InternalError("not this one", code="not-verified")

    sink = Recorded()
    with pytest.raises(InternalError):
        publish(TABLE, sink, verify=failing, certify=sink.certify)
    assert sink.steps == ["write"]


def test_a_red_certificate_is_not_handed_over() -> None:
    sink = Recorded()
    with pytest.raises(InternalError) as refused:
        publish(TABLE, sink, verify=sink.verify, certify=lambda *_: RED)
    assert refused.value.code == "not-verified"
    assert sink.steps == ["write", "verify"]


def as_files(release: ko.Release, folder: Path) -> None:
    write_release(release, folder / "release.csv")


def as_bytes(release: ko.Release, _: Path) -> None:
    certified_bytes(release, "release.csv")


@pytest.mark.parametrize("way", [as_files, as_bytes])
def test_a_release_whose_rows_do_not_hold_comes_out_in_no_way(
    way: Callable[[ko.Release, Path], None], tmp_path: Path
) -> None:
    frame = pl.DataFrame({"zip": ["11", "11", "12", "13"]})
    release = ko.anonymize(frame, ZIP)
    with pytest.raises(InternalError):
        way(replace(release, table=FrameSource(frame)), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("output", [None, "release.csv"])
def test_a_release_of_a_series_whose_rows_do_not_hold_does_not_become_part_of_it(
    output: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first verification is blind; that of the pipeline is not."""
    series = ko.Series.start(tmp_path / "series", plan(), SETTINGS)
    shown, seen = region_table.RegionTable.data, verify_source(TABLE, ZIP, {})

    def one_by_one(self: region_table.RegionTable, *given: object) -> pl.DataFrame:
        data = shown(self, *given)  # type: ignore[arg-type]
        return data.with_columns(pl.Series("age", map(str, range(data.height))))

    monkeypatch.setattr(region_table.RegionTable, "data", one_by_one)
    monkeypatch.setattr(growing_table, "verified", lambda *_, **__: seen)
    with pytest.raises(InternalError) as refused:
        series.release(patients(200), None if output is None else tmp_path / output)
    assert refused.value.code == "not-verified"
    assert series.history == ko.Series.open(series.folder).history == ()
    assert [path.name for path in tmp_path.iterdir()] == ["series"]


def test_only_the_pipeline_hands_releases_over() -> None:
    """A joint release is the exception: every party verified its bytes before it signed their hash."""
    source = Path(ko.__file__).parent
    callers = [
        path.relative_to(source).as_posix() for path in source.rglob("*.py") if ".hand_over(" in path.read_text()
    ]
    assert sorted(callers) == ["parties/joint.py", "release/write.py"]
