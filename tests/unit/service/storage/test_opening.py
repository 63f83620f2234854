"""Opening a service: the key must be the one that everything was locked with."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.service.context import Service
from kohorte.service.settings import Settings
from support.service import on_sqlite


def refusal(settings: Settings, *, create: bool) -> InputError:
    with pytest.raises(InputError) as caught, Service.opened(settings, create=create):
        pass
    return caught.value


@pytest.mark.parametrize("create", [True, False])
def test_a_lost_key_is_not_replaced_by_a_new_one(service: Service, create: bool) -> None:
    settings = service.settings
    settings.key_path.unlink()
    assert refusal(settings, create=create).code == "service-key"
    assert not settings.key_path.exists()


@pytest.mark.parametrize("create", [True, False])
def test_the_key_of_another_service_is_refused(service: Service, tmp_path: Path, create: bool) -> None:
    with Service.opened(Settings.load(tmp_path / "other", {}), create=True) as other:
        service.settings.key_path.write_bytes(other.settings.key_path.read_bytes())
    error = refusal(service.settings, create=create)
    assert error.code == "service-key"
    assert "not the key of this database" in str(error)


def test_a_service_opens_again_with_its_key(service: Service) -> None:
    sealed = service.vault.seal("text", label="a")
    with Service.opened(service.settings, create=False) as again:
        assert again.vault.unseal(sealed, label="a") == b"text"


def test_the_folder_is_for_the_owner_alone(service_settings: Settings) -> None:
    folder = service_settings.folder
    with Service.opened(service_settings, create=True):
        paths = [folder, *folder.rglob("*")]
        assert (folder / "service.db" in paths) != bool(service_settings.database)
        for path in paths:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert refusal(Settings.load(tmp_path / "file" / "folder", {}), create=True).code == "service-folder"


@on_sqlite
def test_a_service_shows_no_secret(service: Service) -> None:
    shown = repr(service)
    assert service.settings.key_path.read_text().strip() not in shown
    assert service.settings.database_address not in shown
