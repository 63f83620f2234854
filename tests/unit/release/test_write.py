"""Writing a release: all of it or nothing, and never over a file that it was made from."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import kohorte as ko
from kohorte.data import files
from kohorte.errors import EngineError
from kohorte.hierarchies import CsvFile, Intervals, Ordering
from kohorte.metrics import Loss
from kohorte.models import KAnonymity


@pytest.fixture
def hospital(tmp_path: Path) -> Path:
    (tmp_path / "zip.csv").write_text("11;1*;*\n12;1*;*\n", encoding="utf-8")
    (tmp_path / "sex.yaml").write_text("person: [f, m]\n", encoding="utf-8")
    return tmp_path


def plan_of(folder: Path) -> ko.Plan:
    attributes = {
        "zip": {"role": "quasi-identifying", "hierarchy": {"csv": "zip.csv"}},
        "sex": {"role": "quasi-identifying", "hierarchy": {"tree": "sex.yaml"}},
    }
    models = [{"model": "k-anonymity", "k": 2}]
    return ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": models}, folder=folder)


def release_of(folder: Path) -> ko.Release:
    return ko.anonymize(pl.DataFrame({"zip": ["11", "11", "12", "12"], "sex": ["f"] * 4}), plan_of(folder))


def test_a_release_is_written_from_python_with_its_certificate(hospital: Path) -> None:
    certificate = ko.write_release(release_of(hospital), hospital / "out.csv")
    assert ko.verify(ko.read_table(hospital / "out.csv").frame, plan_of(hospital)).satisfied
    assert (hospital / "out.certificate.json").read_text(encoding="utf-8") == certificate.to_json()


@pytest.mark.parametrize("name", ["zip.csv", "sex.yaml"])
def test_a_hierarchy_of_the_plan_is_never_replaced(hospital: Path, name: str) -> None:
    before = (hospital / name).read_bytes()
    with pytest.raises(ko.InputError) as caught:
        ko.write_release(release_of(hospital), hospital / name, force=True)
    assert caught.value.code == "output-is-input"
    assert (hospital / name).read_bytes() == before


@pytest.mark.parametrize("force", [False, True])
def test_when_the_table_cannot_get_its_name_the_certificates_are_as_before(
    hospital: Path, monkeypatch: pytest.MonkeyPatch, *, force: bool
) -> None:
    output = hospital / "out.csv"
    if force:
        ko.write_release(release_of(hospital), output)
    before = {path.name: path.read_bytes() for path in hospital.iterdir()}
    publish = files._publish

    def fail_for_the_table(temporary: Path, target: Path, **options: object) -> None:
        if target.name == "out.csv":
            raise OSError(5, "input/output error")
        publish(temporary, target, **options)

    monkeypatch.setattr(files, "_publish", fail_for_the_table)
    with pytest.raises(EngineError):
        ko.write_release(release_of(hospital), output, force=force)
    assert {path.name: path.read_bytes() for path in hospital.iterdir()} == before


def test_a_later_change_of_a_hierarchy_file_does_not_change_what_transform_does(hospital: Path) -> None:
    release = release_of(hospital)
    (hospital / "zip.csv").write_text("11;other;*\n12;other;*\n", encoding="utf-8")
    assert release.transform(pl.DataFrame({"zip": ["11"], "sex": ["f"]})).rows() == [("11", "f")]


def test_a_column_of_one_value_and_missing_cells_loses_everything_at_the_star() -> None:
    plan = ko.Plan(attributes={"a": ko.Attribute("quasi-identifying")}, models=[KAnonymity(k=2)])
    assert ko.anonymize(pl.DataFrame({"a": ["x", "x", "x", None]}), plan).cost == 1.0


def test_labels_made_of_values_are_warned_of() -> None:
    plan = ko.Plan(
        attributes={"age": ko.Attribute("quasi-identifying", Ordering(by="number", fanouts=[2]))},
        models=[KAnonymity(k=2)],
    )
    release = ko.anonymize(pl.DataFrame({"age": ["30", "31", "80", "107"]}), plan)
    assert release.levels == {"age": 1}
    assert "disclose some of them" in ko.certify(release).to_text().replace("\n    ", " ")


@pytest.mark.parametrize("part", [{"metric": Loss}, {"models": [KAnonymity]}])
def test_a_class_in_place_of_an_object_is_refused(part: dict[str, object]) -> None:
    parts = {"attributes": {"a": ko.Attribute("quasi-identifying")}, "models": [KAnonymity(k=2)]} | part
    with pytest.raises(ko.InputError, match="not the class"):
        ko.Plan(**parts)


@pytest.mark.parametrize("threads", [0, 2.0, True, "2", 257])
def test_threads_are_a_whole_number_from_1_to_256(threads: object) -> None:
    with pytest.raises(ko.InputError, match="threads must be a whole number"):
        ko.SearchOptions(threads=threads)


def test_the_certificate_has_no_hash_of_a_hierarchy_that_is_made_of_the_data(hospital: Path) -> None:
    attributes = {
        "zip": {"role": "quasi-identifying", "hierarchy": {"csv": "zip.csv"}},
        "age": {"role": "quasi-identifying", "hierarchy": {"intervals": {"lower": 0, "upper": 100, "widths": [10]}}},
        "sex": {"role": "quasi-identifying"},
    }
    models = [{"model": "k-anonymity", "k": 2}]
    plan = ko.Plan.from_dict({"kohorte": 1, "attributes": attributes, "models": models}, folder=hospital)
    release = ko.anonymize(pl.DataFrame({"zip": ["11", "11"], "age": [34, 35], "sex": ["f", "f"]}), plan)
    assert list(ko.certify(release).facts["hierarchies_sha256"]) == ["zip"]


def test_minus_zero_and_zero_are_one_value_in_the_output_too() -> None:
    plan = ko.Plan(attributes={"x": ko.Attribute("quasi-identifying")}, models=[KAnonymity(k=2)])
    release = ko.anonymize(pl.DataFrame({"x": [0.0, -0.0, 1.5, 1.5]}), plan)
    assert release.levels == {"x": 0}
    assert sorted(str(value) for value in release.data["x"]) == ["0.0", "0.0", "1.5", "1.5"]


def test_very_small_and_very_large_numbers_find_their_interval() -> None:
    plan = ko.Plan(
        attributes={"x": ko.Attribute("quasi-identifying", Intervals(lower=0, upper=10, widths=[5]))},
        models=[KAnonymity(k=2)],
    )
    assert ko.anonymize(pl.DataFrame({"x": [1e-7, 2.0]}), plan).levels == {"x": 1}


def test_missing_values_are_starred_at_every_level_that_is_all_stars(tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("m;*;*\nw;*;*\n", encoding="utf-8")
    plan = ko.Plan(
        attributes={"sex": ko.Attribute("quasi-identifying", CsvFile("sex.csv", folder=tmp_path))},
        models=[KAnonymity(k=2)],
        suppression_limit=0.2,
        metric="height",
    )
    release = ko.anonymize(pl.DataFrame({"sex": ["m", "m", "m", "w", None]}), plan)
    assert release.levels == {"sex": 1}
    assert release.data["sex"].to_list() == ["*"] * 5
