"""The people of a folder: names, roles and passwords."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest
from nacl.pwhash import argon2id

from kohorte import KohorteError
from kohorte.trust import passwords, people
from kohorte.trust.folder import TrustFolder
from kohorte.trust.people import People, Task

PASSWORD = "three sparrows on a wire"


@pytest.fixture(autouse=True)
def light_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passwords, "PASSES", argon2id.OPSLIMIT_MIN)
    monkeypatch.setattr(passwords, "MEMORY", argon2id.MEMLIMIT_MIN)


@pytest.fixture
def folder(tmp_path: Path) -> TrustFolder:
    return TrustFolder.opened(tmp_path / "trust", create=True)


@pytest.fixture
def everybody(folder: TrustFolder) -> People:
    found = People(folder)
    found.add("Ada", [Task.REQUESTER], PASSWORD, actor="account test")
    return found


def refused(code: str) -> pytest.RaisesContext[KohorteError]:
    return pytest.raises(KohorteError, check=lambda error: error.code == code)


def test_a_person_signs_in_with_their_password(everybody: People) -> None:
    assert everybody.signed_in("Ada", PASSWORD, tasks=[Task.REQUESTER]).name == "Ada"


def test_a_wrong_password_and_an_unknown_name_look_alike(everybody: People) -> None:
    messages = []
    for name in ("Ada", "Nobody"):
        with pytest.raises(KohorteError) as caught:
            everybody.signed_in(name, "something else entirely", tasks=[Task.REQUESTER])
        messages.append((caught.value.code, caught.value.message))
    assert messages[0] == messages[1]


def test_a_task_of_another_role_is_refused_and_logged(everybody: People, folder: TrustFolder) -> None:
    with refused("trust-person-task"):
        everybody.signed_in("Ada", PASSWORD, tasks=[Task.APPROVER])
    assert list(folder.log.entries())[-1]["action"] == "refuse way back"


def test_after_five_wrong_passwords_even_the_right_one_waits(
    everybody: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        with refused("trust-person-wrong"):
            everybody.signed_in("Ada", "something else entirely", tasks=[Task.REQUESTER])
    with refused("trust-person-locked"):
        everybody.signed_in("Ada", PASSWORD, tasks=[Task.REQUESTER])
    monkeypatch.setattr(people, "PAUSE", timedelta(0))
    assert everybody.signed_in("Ada", PASSWORD, tasks=[Task.REQUESTER])


def test_wrong_passwords_of_unknown_names_lock_these_names_and_nobody_else(
    everybody: People, folder: TrustFolder
) -> None:
    for _ in range(5):
        with refused("trust-person-wrong"):
            everybody.signed_in("Nobody", PASSWORD, tasks=[Task.REQUESTER])
    with refused("trust-person-locked"):
        everybody.signed_in("Nobody", PASSWORD, tasks=[Task.REQUESTER])
    assert everybody.signed_in("Ada", PASSWORD, tasks=[Task.REQUESTER])
    assert "Nobody" not in folder.log.path.read_text()


@pytest.mark.parametrize(
    ("name", "tasks", "password", "code"),
    [
        ("Ada", [Task.APPROVER], PASSWORD, "trust-person-exists"),
        ("ada  ", [Task.APPROVER], PASSWORD, "trust-person-exists"),
        ("", [Task.APPROVER], PASSWORD, "trust-person-name"),
        ("a\nb", [Task.APPROVER], PASSWORD, "trust-person-name"),
        ("Ben", [], PASSWORD, "trust-person-role"),
        ("Ben", [Task.APPROVER], "short", "password-weak"),
    ],
)
def test_what_makes_no_person_is_refused(
    everybody: People, name: str, tasks: list[Task], password: str, code: str
) -> None:
    with refused(code):
        everybody.add(name, tasks, password, actor="account test")
    assert [person.name for person in everybody.all()] == ["Ada"]


def test_a_removed_person_cannot_sign_in(everybody: People) -> None:
    everybody.remove("Ada", actor="account test")
    with refused("trust-person-wrong"):
        everybody.signed_in("Ada", PASSWORD, tasks=[Task.REQUESTER])
    with refused("trust-person-unknown"):
        everybody.remove("Ada", actor="account test")


def test_neither_file_nor_log_nor_repr_shows_a_password_or_its_hash(everybody: People, folder: TrustFolder) -> None:
    content = b"".join(path.read_bytes() for path in folder.path.rglob("*") if path.is_file())
    assert b"argon2" not in content
    assert PASSWORD.encode() not in content
    assert "argon2" not in repr(everybody.all())


def test_a_file_of_people_that_was_changed_is_refused(everybody: People, folder: TrustFolder) -> None:
    path = folder.path / people.FILE
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with refused("trust-damaged"):
        everybody.all()


def test_the_last_officer_stays_as_long_as_there_are_others(everybody: People) -> None:
    everybody.add("Dora", [Task.OFFICER], PASSWORD, actor="account test")
    with refused("trust-person-last-officer"):
        everybody.remove("Dora", actor="account test")
    everybody.add("Erik", [Task.OFFICER, Task.APPROVER], PASSWORD, actor="account test")
    everybody.remove("Dora", actor="account test")
    with refused("trust-person-last-officer"):
        everybody.remove("Erik", actor="account test")
    everybody.remove("Ada", actor="account test")
    everybody.remove("Erik", actor="account test")
    assert everybody.all() == []


def test_somebody_who_was_removed_does_not_come_back_with_an_older_file(everybody: People, folder: TrustFolder) -> None:
    everybody.add("Ben", [Task.APPROVER], PASSWORD, actor="account test")
    path = folder.path / people.FILE
    before = path.read_bytes()
    everybody.remove("Ben", actor="account test")
    path.write_bytes(before)
    for use in (everybody.all, lambda: everybody.signed_in("Ben", PASSWORD, tasks=[Task.APPROVER])):
        with refused("trust-people-older"):
            use()
    path.unlink()
    with refused("trust-people-older"):
        everybody.add("Otto", [Task.APPROVER], PASSWORD, actor="account test")
    path.write_bytes(before)
    everybody.confirm()
    assert [one.name for one in everybody.all()] == ["Ada", "Ben"]


def written_earlier(folder: TrustFolder) -> None:
    """Write the file as earlier versions did: without how often it was changed."""
    path, sealer = folder.path / people.FILE, folder.sealer(people.FILE)
    data = json.loads(sealer.unseal(path.read_bytes(), row=people.ROW))
    path.write_bytes(sealer.seal(json.dumps(data["people"]).encode(), row=people.ROW))


def test_people_of_an_earlier_version_are_read_if_the_log_has_exactly_them(
    everybody: People, folder: TrustFolder
) -> None:
    everybody.add("people", [Task.APPROVER, Task.OFFICER], PASSWORD, actor="account test")
    everybody.add("Bob", [Task.APPROVER], PASSWORD, actor="account test")
    everybody.remove("Bob", actor="account test")
    written_earlier(folder)
    assert [person.name for person in everybody.all()] == ["Ada", "people"]
    assert everybody.signed_in("Ada", PASSWORD, tasks=[Task.REQUESTER]).name == "Ada"
    everybody.add("Eve", [Task.APPROVER], PASSWORD, actor="account test")
    assert [person.name for person in everybody.all()] == ["Ada", "Eve", "people"]


def test_an_older_file_of_an_earlier_version_is_refused(everybody: People, folder: TrustFolder) -> None:
    """Somebody who was removed is in it, or somebody who was added again with another password."""
    path = folder.path / people.FILE
    everybody.add("Bob", [Task.APPROVER], PASSWORD, actor="account test")
    written_earlier(folder)
    older = path.read_bytes()
    everybody.remove("Bob", actor="account test")
    path.write_bytes(older)
    with refused("trust-people-older"):
        everybody.all()
    everybody.confirm()
    everybody.remove("Bob", actor="account test")
    everybody.add("Bob", [Task.APPROVER], PASSWORD[::-1], actor="account test")
    path.write_bytes(older)
    with refused("trust-people-older"):
        everybody.signed_in("Bob", PASSWORD, tasks=[Task.APPROVER])
