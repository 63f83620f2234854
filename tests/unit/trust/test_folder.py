"""The folder of keys and lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from kohorte import InputError
from kohorte.trust.folder import ENVIRONMENT, TrustFolder


def test_a_new_folder_is_private_and_has_a_log(tmp_path: Path) -> None:
    folder = TrustFolder.opened(tmp_path / "trust", create=True)
    assert folder.path.stat().st_mode & 0o777 == 0o700
    folder.log.append("create", "the folder", actor="anna")
    assert TrustFolder.opened(folder.path).log.verify().entries == 1


def test_an_empty_folder_becomes_private(tmp_path: Path) -> None:
    path = tmp_path / "trust"
    path.mkdir(mode=0o755)
    TrustFolder.opened(path, create=True)
    assert path.stat().st_mode & 0o777 == 0o700


def test_the_environment_names_the_folder_if_the_caller_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "trust"))
    assert TrustFolder.opened(None, create=True).path == tmp_path / "trust"
    assert TrustFolder.opened(tmp_path / "other", create=True).path == tmp_path / "other"


@pytest.mark.parametrize("value", [None, ""])
def test_without_a_folder_the_error_names_the_option(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    if value is not None:
        monkeypatch.setenv(ENVIRONMENT, value)
    with pytest.raises(InputError, match="--folder") as caught:
        TrustFolder.opened(None)
    assert caught.value.code == "trust-folder-missing"


def test_a_folder_that_is_not_there_is_made_only_if_asked(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        TrustFolder.opened(tmp_path / "trust")
    assert caught.value.code == "trust-folder-missing"
    assert not (tmp_path / "trust").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError) as caught:
        TrustFolder.opened(tmp_path / "file", create=True)
    assert caught.value.code == "trust-folder-missing"


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "documents"
    path.mkdir(mode=0o755)
    (path / "letter.txt").write_text("")
    for mode in (0o755, 0o700):
        path.chmod(mode)
        with pytest.raises(InputError) as caught:
            TrustFolder.opened(path, create=True)
        assert caught.value.code == ("trust-mode" if mode == 0o755 else "trust-folder-strange")
        assert path.stat().st_mode & 0o777 == mode
        assert [entry.name for entry in path.iterdir()] == ["letter.txt"]


def test_a_folder_whose_own_key_is_lost_says_what_is_lost(tmp_path: Path) -> None:
    folder = TrustFolder.opened(tmp_path / "trust", create=True)
    folder.log.append("create", "the folder", actor="anna")
    (folder.path / "folder.key").unlink()
    for create in (False, True):
        with pytest.raises(
            InputError, match=r"folder\.key is missing; restore it .* its lists cannot be opened"
        ) as caught:
            TrustFolder.opened(folder.path, create=create)
        assert caught.value.code == "trust-key-lost"
    assert not (folder.path / "folder.key").exists()


def test_a_folder_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    folder = TrustFolder.opened(tmp_path / "trust", create=True)
    folder.path.chmod(0o750)
    with pytest.raises(InputError, match="chmod 700") as caught:
        TrustFolder.opened(folder.path)
    assert caught.value.code == "trust-mode"


def test_a_folder_half_made_by_a_killed_process_can_be_made(tmp_path: Path) -> None:
    path = tmp_path / "trust"
    path.mkdir()
    (path / ".folder.key.0123.tmp").write_text("")
    assert TrustFolder.opened(path, create=True).log.verify().whole
