"""Backups of folders of keys and lists: what is in them, what a restore needs, and what it says."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from kohorte.errors import EngineError, InputError
from kohorte.exchange.peers.identity import Identity
from kohorte.pseudonyms.domains import Domains, definition_of
from kohorte.trust.copies.folder_backup import back_up_folder, restore_folder
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT, address_of
from kohorte.trust.way_back import WayBack
from support.trust import KINDS, database_of


@pytest.fixture(params=KINDS)
def domains(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Domains]:
    with database_of(request, monkeypatch):
        found = Domains(TrustFolder.opened(tmp_path / "trust", create=True))
        found.create(definition_of("study", "list"), actor="anna")
        WayBack(found.folder).all()
        yield found


def pseudonyms(domains: Domains, *people: str) -> list[str]:
    domain = domains.open("study")
    return domain.kind.pseudonyms(people, domain.keys.current).pseudonyms


def new_place(domains: Domains, path: Path) -> Path:
    """A folder with copies of keys and log, and a database without tables."""
    path.mkdir(mode=0o700)
    for file in (*domains.folder.path.glob("*.key"), *domains.folder.path.glob("log.*")):
        shutil.copy(file, path / file.name)
    if (url := address_of(os.environ.get(ENVIRONMENT))) is not None:
        engine = create_engine(url.set(drivername="postgresql+psycopg"))
        with engine.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE"))
            connection.execute(text("CREATE SCHEMA public"))
        engine.dispose()
    return path


def test_a_backup_has_neither_keys_nor_log_and_brings_the_list_back(domains: Domains, tmp_path: Path) -> None:
    made = pseudonyms(domains, "ben", "cleo")
    backup = back_up_folder(domains.folder, tmp_path / "backup")
    names = {path.name for path in (tmp_path / "backup").rglob("*")}
    assert not any(name.endswith(".key") or name.startswith("log.") for name in names)
    assert {path.stat().st_mode & 0o077 for path in (tmp_path / "backup").rglob("*")} == {0}
    secrets = [line.split()[1] for file in domains.folder.path.glob("*.key") for line in file.read_text().splitlines()]
    stored = b"".join(path.read_bytes() for path in (tmp_path / "backup").rglob("*") if path.is_file())
    for secret in (*secrets, *made, "cleo"):
        assert secret.encode() not in stored
    assert set(backup.keys) == {"folder.key", "domain-study.key"}
    place = new_place(domains, tmp_path / "new")
    assert restore_folder(place, tmp_path / "backup") == (backup, ())
    restored = Domains(TrustFolder.opened(place))
    assert restored.open("study").kind.originals(made) == ["ben", "cleo"]
    assert pseudonyms(restored, "cleo") == made[1:]


def test_who_was_forgotten_after_the_backup_does_not_come_back_with_it(domains: Domains, tmp_path: Path) -> None:
    ben, cleo = pseudonyms(domains, "ben", "cleo")
    back_up_folder(domains.folder, tmp_path / "backup")
    domains.forget("study", [ben], actor="dora")
    pseudonyms(domains, "emil")
    place = new_place(domains, tmp_path / "new")
    restore_folder(place, tmp_path / "backup")
    restored = Domains(TrustFolder.opened(place))
    with pytest.raises(EngineError) as caught:
        restored.open("study").kind.originals([ben, cleo])
    assert caught.value.code == "trust-database-older"
    assert restored.complete() == 1
    assert restored.open("study").kind.originals([ben, cleo]) == [None, "cleo"]


def test_a_restore_needs_the_keys_and_says_that_the_log_is_older(domains: Domains, tmp_path: Path) -> None:
    older = tmp_path / "log"
    older.mkdir()
    for file in domains.folder.path.glob("log.*"):
        shutil.copy(file, older / file.name)
    pseudonyms(domains, "ben")
    pseudonyms(domains, "cleo")
    back_up_folder(domains.folder, tmp_path / "backup")
    place = new_place(domains, tmp_path / "new")
    (place / "domain-study.key").rename(tmp_path / "kept.key")
    with pytest.raises(InputError, match=r"domain-study\.key") as caught:
        restore_folder(place, tmp_path / "backup")
    assert caught.value.code == "folder-restore-keys"
    (tmp_path / "kept.key").rename(place / "domain-study.key")
    for file in older.iterdir():
        shutil.copy(file, place / file.name)
    _, (problem,) = restore_folder(place, tmp_path / "backup")
    assert "the log is older than the backup" in problem
    with pytest.raises(EngineError) as refused:
        pseudonyms(Domains(TrustFolder.opened(place)), "ben")
    assert refused.value.code == "trust-log-cut"


def test_nothing_is_overwritten_and_half_a_backup_is_refused(domains: Domains, tmp_path: Path) -> None:
    pseudonyms(domains, "ben")
    back_up_folder(domains.folder, tmp_path / "backup")
    with pytest.raises(InputError) as caught:
        back_up_folder(domains.folder, tmp_path / "backup")
    assert caught.value.code == "backup-output"
    with pytest.raises(InputError) as caught:
        restore_folder(domains.folder.path, tmp_path / "backup")
    assert caught.value.code == "folder-restore-target"
    (tmp_path / "backup" / "content" / "domain-study.json").unlink()
    for source in (tmp_path / "backup", tmp_path):
        with pytest.raises(InputError) as caught:
            restore_folder(domains.folder.path, source)
        assert caught.value.code == "folder-backup"


def test_the_key_with_which_a_house_signs_is_in_no_backup_and_is_needed_to_restore_it(tmp_path: Path) -> None:
    house = TrustFolder.opened(tmp_path / "house", create=True)
    own = Identity.create(house, "Hospital B", actor="anna")
    waiting = house.path / "waiting" / "7.npz"
    waiting.parent.mkdir()
    waiting.write_bytes(b"who is in a release that was not given out yet")
    back_up_folder(house, tmp_path / "backup")
    stored = b"".join(path.read_bytes() for path in (tmp_path / "backup").rglob("*") if path.is_file())
    assert b"PRIVATE KEY" not in stored
    place = tmp_path / "place"
    place.mkdir(mode=0o700)
    for file in (*house.path.glob("*.key"), *house.path.glob("log.*")):
        shutil.copy(file, place / file.name)
    with pytest.raises(InputError, match=r"identity/key\.pem"):
        restore_folder(place, tmp_path / "backup")
    (place / "identity").mkdir(mode=0o700)
    shutil.copy(own.key_file, place / "identity" / "key.pem")
    assert restore_folder(place, tmp_path / "backup")[1] == ()
    restored = TrustFolder.opened(place)
    assert Identity.of(restored).fingerprint == own.fingerprint
    assert (place / "waiting" / "7.npz").read_bytes() == waiting.read_bytes()
