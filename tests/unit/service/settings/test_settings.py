"""Settings: from the file, the environment and arguments; what is wrong is refused by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import InputError
from kohorte.risks import RiskPolicy
from kohorte.service.settings import Settings

SECRET = "Quastenflosser"


def load(folder: Path, text: str | None = None, environment: dict[str, str] | None = None, **given: Any) -> Settings:
    if text is not None:
        (folder / "service.yaml").write_text(text)
    return Settings.load(folder, environment or {}, **given)


def refusal(folder: Path, text: str | None = None, **given: Any) -> str:
    with pytest.raises(InputError) as caught:
        load(folder, text, **given)
    assert caught.value.code == "service-settings"
    return str(caught.value)


def test_without_anything_the_service_is_in_its_folder(tmp_path: Path) -> None:
    settings = load(tmp_path)
    assert settings.database_address == f"sqlite:///{tmp_path}/service.db"
    assert settings.key_path == tmp_path / "keys" / "master.key"
    assert settings.vault_folder == tmp_path / "files"
    assert settings.access_minutes == 15
    assert settings.refresh_days == 7


def test_arguments_count_more_than_the_environment_and_that_more_than_the_file(tmp_path: Path) -> None:
    text = "database: sqlite:///file.db\nmetrics_token: file\nkey_file: /file\n"
    environment = {"KOHORTE_DATABASE": "sqlite:///environment.db", "KOHORTE_KEY_FILE": "/environment"}
    settings = load(tmp_path, text, environment, database="sqlite:///argument.db", key_file=None)
    assert settings.database_address == "sqlite:///argument.db"
    assert settings.key_path == Path("/environment")
    assert settings.metrics_token == "file"


def test_a_relative_key_file_counts_from_the_folder(tmp_path: Path) -> None:
    assert load(tmp_path, "key_file: own.key\n").key_path == tmp_path / "own.key"
    assert load(tmp_path, "key_file: /run/own.key\n").key_path == Path("/run/own.key")


def test_all_parts_are_served_or_those_that_are_named(tmp_path: Path) -> None:
    assert load(tmp_path).parts == {"research", "patients", "pseudonyms", "exchange"}
    assert load(tmp_path, "only: [patients]\n").parts == {"patients"}
    assert load(tmp_path, "only: [patients]\n", only=("pseudonyms",)).parts == {"pseudonyms"}
    assert "did you mean 'patients'" in refusal(tmp_path, "only: [patient]\n")
    assert "only" in refusal(tmp_path, "only: patients\n")


def test_operations_for_two_people_are_named_or_refused(tmp_path: Path) -> None:
    assert load(tmp_path).two_people == ()
    assert load(tmp_path, "two_people: [delete_dataset, change_user]\n").two_people == ("delete_dataset", "change_user")
    assert "did you mean 'delete_dataset'" in refusal(tmp_path, "two_people: [delete_datasets]\n")
    for wrong in ("two_people: delete_dataset\n", "two_people: [list_jobs]\n", "two_people: [4]\n"):
        assert "two_people" in refusal(tmp_path, wrong)


def test_all_kinds_can_be_set(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        "upload_limit: 1000\nsynchronous_seconds: 1\naccess_minutes: 2.5\nbehind_proxy: true\n"
        "policy: {kohorte: 1, weights: {highest_prosecutor_risk: 2}, limit: 0.1}\n",
    )
    assert (settings.upload_limit, settings.synchronous_seconds, settings.access_minutes) == (1000, 1, 2.5)
    assert settings.behind_proxy is True
    assert settings.policy == RiskPolicy({"highest_prosecutor_risk": 2}, 0.1)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("upload_limit", "0", "a whole number above 0"),
        ("upload_limit", "-5", "a whole number above 0"),
        ("upload_limit", "1.5", "a whole number above 0"),
        ("upload_limit", "true", "a whole number above 0"),
        ("upload_limit", "1 GB", "a whole number above 0"),
        ("upload_limit", "", "a whole number above 0"),
        ("upload_limit", "[1]", "a whole number above 0"),
        ("upload_limit", "9" * 40, "a whole number above 0"),
        ("access_minutes", "1e999", "a number above 0"),
        ("access_minutes", "soon", "a number above 0"),
        ("behind_proxy", "1", "true or false"),
        ("behind_proxy", "yes", "true or false"),
        ("database", "5", "a text"),
        ("database", "{a: b}", "a text"),
        ("metrics_token", "12345", "a text"),
        ("key_file", "5", "a path"),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused_by_its_name(tmp_path: Path, name: str, value: str, words: str) -> None:
    assert refusal(tmp_path, f"{name}: {value}\n") == f"{name} is {words}"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "x", True, 0])
def test_an_argument_of_the_wrong_kind_is_refused_by_its_name(tmp_path: Path, value: Any) -> None:
    assert refusal(tmp_path, access_minutes=value) == "access_minutes is a number above 0"


def test_an_unknown_setting_is_refused_with_the_nearest(tmp_path: Path) -> None:
    message = refusal(tmp_path, "upload_limits: 5\n")
    assert message == "service.yaml: there is no setting 'upload_limits' (did you mean 'upload_limit'?)"
    (tmp_path / "service.yaml").unlink()
    assert "'nothing'" in refusal(tmp_path, nothing=5)
    assert "'folder'" in refusal(tmp_path, "folder: /\n")


@pytest.mark.parametrize("text", ["", "- a\n", "just text\n", "a: b: c\n", "upload_limit: 1\nupload_limit: 2\n"])
def test_a_file_that_is_no_list_of_settings_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, text).startswith("service.yaml: ")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    settings = load(tmp_path, f"metrics_token: {SECRET}\ndatabase: postgresql://a:{SECRET}@b/c\n")
    assert settings.metrics_token == SECRET
    assert SECRET not in repr(settings)
    assert SECRET not in refusal(tmp_path, f"database: {{a: {SECRET}}}\n")


def test_a_service_has_one_disclosure_ledger_beside_its_requests(tmp_path: Path) -> None:
    assert Settings(tmp_path).ledger_folder == tmp_path / "exchange"
