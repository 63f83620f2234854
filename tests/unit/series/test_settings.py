"""What a settings file may say, and what is refused."""

from __future__ import annotations

import pickle
from datetime import date
from pathlib import Path

import pytest

import kohorte as ko
from kohorte.series.settings import settings_of


def test_settings_are_the_same_after_writing_and_reading(tmp_path: Path) -> None:
    settings = ko.SeriesSettings(
        regions={"age": {"lower": 0, "upper": 0.5, "step": 0.1}, "day": {"pieces": [[date(2020, 1, 1), "2021-01-01"]]}},
        identified_by="id",
        corrected="accept",
        arrivals="known",
        target={"expected_rows": 100, "marginals": {"age": {"0-1": 1.0}}},
    )
    (tmp_path / "series.yaml").write_text(settings.to_yaml())
    again = ko.SeriesSettings.from_yaml(tmp_path / "series.yaml")
    assert again.to_dict() == settings.to_dict()
    assert again.folder == tmp_path
    assert pickle.loads(pickle.dumps(again)) == again


def test_nothing_has_to_be_said() -> None:
    assert ko.SeriesSettings.from_dict({"kohorte": 1}) == ko.SeriesSettings() == settings_of(None)
    assert settings_of({"arrivals": "known"}).arrivals == "known"


@pytest.mark.parametrize(
    ("entry", "code", "named"),
    [
        ([], "series-settings-yaml", "mapping"),
        ({}, "series-settings", "kohorte: 1"),
        ({"kohorte": True}, "series-settings", "kohorte: 1"),
        ({"kohorte": 1, "region": {}}, "series-settings-unknown-key", "'regions'"),
        ({"kohorte": 1, "regions": []}, "series-settings", "regions"),
        ({"kohorte": 1, "regions": {"age": [1]}}, "series-settings", "regions: age"),
        ({"kohorte": 1, "regions": {"age": {"uper": 1}}}, "series-settings-unknown-key", "'upper'"),
        ({"kohorte": 1, "target": 5}, "series-settings", "target"),
        ({"kohorte": 1, "target": {"row": 5}}, "series-settings-unknown-key", "target"),
        ({"kohorte": 1, "kind": "boxes"}, "series-settings", "kind"),
        ({"kohorte": 1, "arrivals": "maybe"}, "series-settings", "arrivals"),
        ({"kohorte": 1, "withdrawn": True}, "series-settings", "withdrawn"),
        ({"kohorte": 1, "identified_by": 5}, "series-settings", "identified_by"),
        ({"kohorte": 1, "corrected": "accept"}, "series-settings", "identified_by"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(entry: object, code: str, named: str) -> None:
    with pytest.raises(ko.InputError) as refused:
        ko.SeriesSettings.from_dict(entry)
    assert refused.value.code == code
    assert named in refused.value.message


def test_files_that_are_no_settings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ko.InputError) as refused:
        ko.SeriesSettings.from_yaml(tmp_path / "none.yaml")
    assert refused.value.code == "series-settings-unreadable"
    (tmp_path / "twice.yaml").write_text("kohorte: 1\nkohorte: 1\n")
    with pytest.raises(ko.InputError) as refused:
        ko.SeriesSettings.from_yaml(tmp_path / "twice.yaml")
    assert refused.value.code == "series-settings-yaml"
    with pytest.raises(ko.InputError):
        settings_of(5)
