"""The sealed list of a domain, in SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Executable, delete, event, select, update

from kohorte import InputError
from kohorte.errors import AccessDenied, EngineError
from kohorte.pseudonyms.domains import Domain, Domains, definition_of
from kohorte.pseudonyms.entries import Entries
from kohorte.pseudonyms.kinds import ReferenceList
from kohorte.pseudonyms.lists.rows import entries, lists
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT

NAMES = [f"Müller-Lüdenscheidt {number}" for number in range(30)]


@pytest.fixture
def domains(tmp_path: Path) -> Domains:
    return Domains(TrustFolder.opened(tmp_path / "trust", create=True))


def made(domains: Domains, **options: object) -> Domain:
    return domains.create(definition_of("study", "list", **options), actor="anna")  # type: ignore[arg-type]


def list_of(domain: Domain) -> Entries:
    assert isinstance(domain.kind, ReferenceList)
    return domain.kind.entries


@pytest.mark.usefixtures("database")
def test_entries_are_found_again_in_both_directions(domains: Domains) -> None:
    found = list_of(made(domains))
    first = found.pseudonyms(NAMES)
    assert (first.new, found.count()) == (30, 30)
    again = list_of(domains.open("study")).pseudonyms([*NAMES[::-1], "one more"])
    assert again.pseudonyms[:30] == first.pseudonyms[::-1]
    assert (again.new, found.count()) == (1, 31)
    assert found.originals([*first.pseudonyms, "0" * 14]) == [*NAMES, None]


def test_a_known_text_takes_one_question_to_the_database(domains: Domains) -> None:
    found = list_of(made(domains))
    first = found.pseudonyms(NAMES).pseudonyms
    asked: list[str] = []
    with found._store.reading() as connection:
        event.listen(connection.engine, "before_cursor_execute", lambda *parts: asked.append(parts[2]))
    assert found.pseudonyms(NAMES[:1]).pseudonyms == first[:1]
    assert len([one for one in asked if one.startswith("SELECT")]) == 1


@pytest.mark.usefixtures("database")
def test_rows_of_a_batch_are_not_in_the_order_of_their_numbers(domains: Domains) -> None:
    found = list_of(made(domains, numbered=True))
    found.pseudonyms(NAMES)
    with found._store.reading() as connection:
        rows = connection.execute(select(entries.c.original, entries.c.sealed).order_by(entries.c.id)).all()
    stored = [found._versions[0].opened(bytes(row.sealed), bytes(row.original)).pseudonym for row in rows]
    assert stored != sorted(stored)  # all orders are equally likely: 1 in 30! is this one


@pytest.mark.usefixtures("database")
def test_the_administrator_of_the_database_reads_neither_texts_nor_pseudonyms(domains: Domains) -> None:
    found = list_of(made(domains))
    pseudonyms = found.pseudonyms(NAMES).pseudonyms
    with found._store.reading() as connection:
        rows = connection.execute(select(entries)).all()
    stored = b"".join(bytes(cell) for row in rows for cell in row if isinstance(cell, bytes | memoryview))
    assert len(rows) == 30
    assert b"denscheidt" not in stored
    assert not any(pseudonym.encode() in stored for pseudonym in pseudonyms)
    assert len({len(row.sealed) for row in rows}) == 1


def test_the_file_itself_contains_neither_texts_nor_pseudonyms(
    domains: Domains, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    pseudonyms = list_of(made(domains)).pseudonyms(NAMES).pseudonyms
    disk = b"".join(path.read_bytes() for path in domains.folder.path.iterdir() if ".db" in path.name)
    assert len(disk) > 10_000
    assert b"denscheidt" not in disk
    assert not any(pseudonym.encode() in disk for pseudonym in pseudonyms)


@pytest.mark.usefixtures("database")
def test_entries_that_were_exchanged_are_noticed(domains: Domains) -> None:
    found = list_of(made(domains))
    found.pseudonyms(NAMES)
    with found._store.writing() as connection:
        one, two = connection.execute(select(entries.c.id, entries.c.sealed).limit(2)).all()
        connection.execute(update(entries).where(entries.c.id == one.id).values(sealed=two.sealed))
    with pytest.raises(EngineError) as caught:
        found.pseudonyms(NAMES)
    assert caught.value.code == "trust-damaged"


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("numbered", [False, True])
def test_several_processes_give_everybody_one_pseudonym(domains: Domains, numbered: bool) -> None:
    made(domains, numbered=numbered)
    batches = [NAMES[start : start + 20] for start in (0, 10, 5, 0)]

    def work(batch: list[str]) -> dict[str, str]:
        own = list_of(Domains(TrustFolder.opened(domains.folder.path)).open("study"))
        return dict(zip(batch, own.pseudonyms(batch).pseudonyms, strict=True))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(work, batches))
    together = {name: pseudonym for one in found for name, pseudonym in one.items()}
    assert all(together[name] == pseudonym for one in found for name, pseudonym in one.items())
    assert len(set(together.values())) == len(together) == list_of(domains.open("study")).count()


@pytest.mark.usefixtures("database")
def test_numbers_count_from_one_without_gaps(domains: Domains) -> None:
    found = list_of(made(domains, numbered=True, alphabet="digits", length=3, check="none"))
    assert found.pseudonyms(NAMES[:3]).pseudonyms == ["001", "002", "003"]
    assert found.pseudonyms(NAMES[2:5]).pseudonyms == ["003", "004", "005"]


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(("numbered", "most"), [(True, 99), (False, 50)])
def test_a_full_list_is_refused_and_changes_nothing(domains: Domains, numbered: bool, most: int) -> None:
    found = list_of(made(domains, numbered=numbered, alphabet="digits", length=2))
    texts = [str(number) for number in range(most + 1)]
    assert len(set(found.pseudonyms(texts[:most]).pseudonyms)) == most
    with pytest.raises(InputError, match=f"room for {most}") as caught:
        found.pseudonyms(texts)
    assert caught.value.code == "pseudonym-list-full"
    assert found.count() == most


def closed(found: Entries, texts: int, day: date = date(2026, 7, 1)) -> bool:
    try:
        found.refuse_nearly_full(texts, day)
    except AccessDenied:
        return True
    return False


def test_a_list_that_is_nearly_full_is_closed_however_many_texts_come(domains: Domains) -> None:
    """A list of 500: whoever could try out how many texts fit would learn after each call whether it added one."""
    found = list_of(made(domains, alphabet="digits", length=3))
    days = [date(2026, 7, 1) + timedelta(days=number) for number in range(31)]
    found.pseudonyms([str(number) for number in range(400)])
    assert not any(closed(found, texts, day) for texts in (1, 50) for day in days)
    assert closed(found, 51)
    found.pseudonyms([str(number) for number in range(425)])
    some = [[closed(found, texts, day) for texts in (1, 7, 50)] for day in days]
    assert all(len(set(answers)) == 1 for answers in some)
    assert {answers[0] for answers in some} == {False, True}  # the key draws for each day where it ends
    found.pseudonyms([str(number) for number in range(450)])
    assert all(closed(found, 1, day) for day in days)


@pytest.mark.usefixtures("database")
def test_work_for_known_texts_ends_with_a_commit_and_adds_nothing(domains: Domains) -> None:
    found = list_of(made(domains))
    commits: list[str] = []
    event.listen(found._store._engine, "commit", lambda _: commits.append("commit"))
    per_call = []
    for texts in (["new"], ["new"], ["new", "newer"]):  # new, known, one of each
        before = len(commits)
        new = found.pseudonyms(texts).new
        found.even_out(texts, new=new)
        per_call.append(len(commits) - before)
    assert per_call == [1, 1, 1]
    added = [one["details"]["entries"] for one in domains.folder.log.entries() if one["action"] == "add entries"]
    assert added == [1, 0, 1]  # an entry for each call: to write it takes time, too
    assert (found.count(), found.share_taken) == (2, pytest.approx(2 / (32**12 // 2)))


@pytest.mark.usefixtures("database")
def test_random_pseudonyms_stay_different_when_the_key_was_rotated(domains: Domains) -> None:
    """In a space of 100, new ones would often coincide with old ones that another version of the key hides."""
    made(domains, alphabet="digits", length=2)
    old = list_of(domains.open("study")).pseudonyms([f"old {number}" for number in range(25)]).pseudonyms
    rotated = domains.rotate_key("study", actor="anna")
    new = list_of(rotated).pseudonyms([f"new {number}" for number in range(25)])
    assert len({*old, *new.pseudonyms}) == 50
    assert set(new.versions) == {2}


def test_two_lists_of_one_name_with_different_keys_are_two_lists(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two folders may use one server, for example a test and the real one."""
    found = [list_of(made(Domains(TrustFolder.opened(tmp_path / name, create=True)))) for name in ("one", "two")]
    first, second = (one.pseudonyms(NAMES) for one in found)
    assert (first.new, second.new) == (30, 30)
    assert not set(first.pseudonyms) & set(second.pseudonyms)
    assert [one.count() for one in found] == [30, 30]


def test_a_batch_that_fails_in_the_middle_leaves_nothing(domains: Domains, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    found = list_of(made(domains))
    found.pseudonyms(NAMES[:5])
    with sqlite3.connect(domains.folder.path / "pseudonyms.db") as connection:
        connection.execute(
            "CREATE TRIGGER stop BEFORE INSERT ON pseudonyms_entries "
            "WHEN (SELECT count(*) FROM pseudonyms_entries) = 15 BEGIN SELECT raise(ABORT, 'stop'); END"
        )
    with pytest.raises(EngineError):
        found.pseudonyms(NAMES)
    assert found.count() == 5


def administrator(found: Entries, *statements: Executable) -> None:
    """Change the database past the program, as somebody can who has no key."""
    with found._store.writing() as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize("rotated", [False, True])
def test_an_administrator_cannot_have_a_number_given_twice(domains: Domains, *, rotated: bool) -> None:
    """With a new version of the key no index of the database would notice that two people have one number."""
    found = list_of(made(domains, numbered=True))
    found.pseudonyms(NAMES[:3])
    if rotated:
        domains.rotate_key("study", actor="anna")
    open_before = list_of(domains.open("study"))
    administrator(found, update(lists).values(taken=0))
    for attempt in (lambda: open_before.pseudonyms(["new"]), lambda: list_of(domains.open("study"))):
        with pytest.raises(EngineError, match="nobody forgot") as caught:
            attempt()
        assert caught.value.code == "trust-list-changed"


@pytest.mark.usefixtures("database")
def test_an_administrator_cannot_hide_a_list(domains: Domains) -> None:
    """Everybody would get a second pseudonym from a list that seems to be new."""
    found = list_of(made(domains))
    found.pseudonyms(NAMES)
    administrator(found, update(lists).values(name="another"))
    with pytest.raises(EngineError) as caught:
        list_of(domains.open("study"))
    assert caught.value.code == "trust-list-changed"


@pytest.mark.usefixtures("database")
def test_entries_that_an_administrator_deletes_are_missed(domains: Domains) -> None:
    found = list_of(made(domains))
    given = found.pseudonyms(NAMES).pseudonyms
    domains.forget("study", given[:2], actor="anna")
    domains.verify("study")
    kept = select(entries.c.id).order_by(entries.c.id).limit(1).scalar_subquery()
    administrator(found, delete(entries).where(entries.c.id == kept))
    with pytest.raises(EngineError) as caught:
        domains.verify("study")
    assert caught.value.code == "trust-list-changed"
    domains.complete()  # the operator takes the database as it is
    domains.verify("study")
    list_of(domains.open("study")).pseudonyms([*NAMES, "one more"])
    domains.verify("study")
    administrator(found, delete(entries).where(entries.c.id == kept))
    with pytest.raises(EngineError):
        domains.verify("study")


@pytest.mark.usefixtures("database")
def test_rows_that_are_not_those_of_the_list_are_found_by_verify(domains: Domains) -> None:
    """Deleted, and replaced by another row so that their number is the same; or exchanged."""
    found = list_of(made(domains))
    found.pseudonyms(NAMES)
    domains.rotate_key("study", actor="anna")
    list_of(domains.open("study")).pseudonyms(["one more"])
    domains.verify("study")
    with found._store.reading() as connection:
        one, other = connection.execute(select(entries).limit(2)).all()
    for values in (
        {"original": b"o" * 16, "pseudonym": b"p" * 16, "sealed": b"s" * 88},
        {"sealed": other.sealed},
        {"pseudonym": b"p" * 16},
        {"version": 7},
    ):
        with found._store.writing() as connection:
            connection.execute(update(entries).where(entries.c.id == one.id).values(values))
        with pytest.raises(EngineError) as caught:
            domains.verify("study")
        assert caught.value.code == "trust-damaged"
        with found._store.writing() as connection:
            connection.execute(update(entries).where(entries.c.id == one.id).values(one._asdict()))
    domains.verify("study")
