"""What happens to a ledger that somebody changes: deleted releases, old copies, two requests at the same time."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from sqlalchemy import delete, select, update

from kohorte import InputError
from kohorte.disclosures.ledger import Ledger
from kohorte.disclosures.tables import PEOPLE, RELEASES, STATES
from kohorte.errors import EngineError, PrivacyViolation
from kohorte.trust.folder import TrustFolder
from support.disclosures import K, asked


@pytest.fixture
def filled(ledger: Ledger) -> Ledger:
    ledger.record(asked(ledger, "abcdef", "000111", condition="drug is Secretol"), k=K)
    ledger.record(asked(ledger, "abcdef", "000111"), k=K)
    ledger.withdraw(["p11"])
    return ledger


def change(ledger: Ledger, *statements: object) -> None:
    with ledger._storage._store.writing() as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[call-overload]


def exchanged(ledger: Ledger) -> None:
    """Let the second release have the words of the first."""
    with ledger._storage._store.reading() as connection:
        facts = connection.execute(select(RELEASES.c.facts).where(RELEASES.c.number == 1)).scalar_one()
    change(ledger, update(RELEASES).where(RELEASES.c.number == 2).values(facts=facts))


ATTACKS: dict[str, Callable[[Ledger], None]] = {
    "the last release is deleted": lambda one: change(one, delete(RELEASES).where(RELEASES.c.number == 2)),
    "the first release is deleted": lambda one: change(one, delete(RELEASES).where(RELEASES.c.number == 1)),
    "a release is moved": lambda one: change(one, update(RELEASES).where(RELEASES.c.number == 2).values(number=3)),
    "releases are exchanged": exchanged,
    "people are deleted": lambda one: change(one, delete(PEOPLE)),
    "the atoms are deleted": lambda one: change(one, delete(STATES).where(STATES.c.name == "atoms")),
    "the withdrawn are deleted": lambda one: change(one, delete(STATES).where(STATES.c.name == "withdrawn")),
    "the head is deleted": lambda one: change(one, delete(STATES).where(STATES.c.name == "head")),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_changed_ledger_is_noticed(filled: Ledger, attack: str) -> None:
    filled.refuse_changed()
    ATTACKS[attack](filled)
    with pytest.raises(EngineError) as caught:
        filled.refuse_changed()
    assert caught.value.code in ("disclosure-ledger-broken", "trust-damaged")


@pytest.mark.parametrize("attack", [name for name in ATTACKS if "exchanged" not in name])
def test_a_ledger_with_something_deleted_repairs_nothing(filled: Ledger, attack: str) -> None:
    candidate = asked(filled, "abcdef", "000111")
    ATTACKS[attack](filled)
    with pytest.raises(EngineError):
        filled.repaired(candidate, K)


def test_a_database_that_is_replaced_by_an_older_copy_is_noticed(filled: Ledger, tmp_path: Path) -> None:
    filled.close()
    shutil.copy(tmp_path / "ledger" / "disclosures.db", tmp_path / "copy.db")
    again = Ledger.open(tmp_path / "ledger", actor="tester")
    again.record(asked(again, "abcdef", "000111"), k=K)
    again.close()
    shutil.copy(tmp_path / "copy.db", tmp_path / "ledger" / "disclosures.db")
    with pytest.raises(EngineError) as caught:
        Ledger.open(tmp_path / "ledger")
    assert caught.value.code == "disclosure-ledger-broken"


def test_a_ledger_without_its_database_is_not_begun_again(filled: Ledger, tmp_path: Path) -> None:
    filled.close()
    (tmp_path / "ledger" / "disclosures.db").unlink()
    for create in (False, True):
        with pytest.raises(EngineError) as caught:
            Ledger.open(tmp_path / "ledger", create=create)
        assert caught.value.code == "disclosure-ledger-broken"


def test_a_log_without_its_last_entries_is_noticed(filled: Ledger, tmp_path: Path) -> None:
    log = tmp_path / "ledger" / "log.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-2]))
    with pytest.raises(EngineError) as caught:
        Ledger.open(tmp_path / "ledger")
    assert caught.value.code == "trust-log-cut"


def test_a_folder_without_a_ledger_is_refused(tmp_path: Path) -> None:
    TrustFolder.opened(tmp_path / "trust", create=True)
    with pytest.raises(InputError) as caught:
        Ledger.open(tmp_path / "trust")
    assert caught.value.code == "disclosure-ledger-missing"


def test_neither_the_files_nor_the_repr_show_words_of_a_request(filled: Ledger, tmp_path: Path) -> None:
    filled.close()
    content = b"".join(path.read_bytes() for path in (tmp_path / "ledger").iterdir())
    assert b"Secretol" not in content
    assert b"Secretol" not in repr(asked(filled, "abc", "000", condition="drug is Secretol")).encode()
    assert filled.release(1)["condition"] == "drug is Secretol"


def test_a_ledger_works_in_every_database(database: str, tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "other", create=True, actor="tester")
    ledger.record(asked(ledger, "abcdef", "000000"), k=K)
    ledger.close()
    again = Ledger.open(tmp_path / "other", actor="tester")
    assert [found.releases for found in again.examine(asked(again, "abcde", "00000"), K)] == [(1,)]
    again.refuse_changed()
    again.close()


def test_of_two_requests_at_the_same_time_that_tell_too_much_together_one_passes(
    ledger: Ledger, tmp_path: Path
) -> None:
    ledgers = [Ledger.open(tmp_path / "ledger", actor="tester") for _ in range(4)]
    candidates = [asked(ledger, "abcdefgh"[: 8 - number], "0" * (8 - number)) for number in range(4)]
    start = Barrier(4)

    def record(number: int) -> bool:
        start.wait()
        try:
            ledgers[number].record(candidates[number], k=K)
        except PrivacyViolation:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        passed = sorted(number for number, done in enumerate(pool.map(record, range(4))) if done)
    assert len(passed) == 1 or passed == [0, 3]  # the first and the last differ in three people
    ledger.refuse_changed()


def test_people_whom_two_processes_add_at_the_same_time_are_added_once(ledger: Ledger, tmp_path: Path) -> None:
    ledgers = [Ledger.open(tmp_path / "ledger", actor="tester") for _ in range(4)]
    names = [[f"q{number}" for number in range(first, first + 20)] for first in (0, 5, 10, 15)]
    with ThreadPoolExecutor(4) as pool:
        indices = list(pool.map(lambda one: one[0].fingerprints(one[1]).tolist(), zip(ledgers, names, strict=True)))
    together = {
        name: index for some, found in zip(names, indices, strict=True) for name, index in zip(some, found, strict=True)
    }
    assert sorted(together.values()) == list(range(35))
    assert all(ledger.fingerprints(some).tolist() == found for some, found in zip(names, indices, strict=True))
