"""The file with the set-up token: private, replaced, removed."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from kohorte.errors import EngineError
from kohorte.service import setup_token
from kohorte.service.accounts.setup import fresh_token
from kohorte.service.context import Service
from kohorte.service.settings import Settings

JOHN = {"email_address": "john@example.com", "name": "John Doe", "institution": "Example hospital"}


def test_only_the_owner_reads_the_file_and_a_newer_token_replaces_it(tmp_path: Path) -> None:
    settings = Settings(tmp_path)
    setup_token.write(settings, "first")
    path = setup_token.write(settings, "second")
    assert path.read_text() == "second\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [found.name for found in tmp_path.iterdir()] == ["setup-token"]


def test_a_file_that_others_could_read_before_is_replaced_by_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "setup-token").write_text("old")
    (tmp_path / "setup-token").chmod(0o644)
    assert stat.S_IMODE(setup_token.write(Settings(tmp_path), "new").stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_is_an_error_without_the_token(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        setup_token.write(Settings(tmp_path / "missing"), "Quastenflosser")
    assert "Quastenflosser" not in str(caught.value)


def test_the_file_is_removed_once_the_token_was_used(service: Service, client: TestClient) -> None:
    token = fresh_token(service)
    assert token is not None
    path = setup_token.write(service.settings, token)
    body = {**JOHN, "password": "three sparrows on a wire"}
    assert client.post("/api/v1/setup", json={**body, "token": "x" * 43}).status_code == 403
    assert path.exists()
    assert client.post("/api/v1/setup", json={**body, "token": path.read_text().strip()}).status_code == 201
    assert not path.exists()


def test_removing_a_file_that_is_gone_does_nothing(tmp_path: Path) -> None:
    setup_token.remove(Settings(tmp_path))
