"""The end of a link: entries of a list, and keys that are destroyed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select, update

from kohorte import InputError
from kohorte.errors import EngineError
from kohorte.pseudonyms.domains import Domain, Domains, definition_of
from kohorte.pseudonyms.lists.rows import ROOM, entries, lists
from kohorte.trust import log as log_module
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import KeyFile
from kohorte.trust.store import ties

PEOPLE = ["anna", "ben", "cleo"]


@pytest.fixture
def domains(tmp_path: Path, database: str) -> Domains:
    del database
    return Domains(TrustFolder.opened(tmp_path / "trust", create=True))


def made(domain: Domain, people: list[str] = PEOPLE) -> list[str]:
    return domain.kind.pseudonyms(people, domain.keys.current).pseudonyms


def test_a_forgotten_entry_is_gone_and_all_others_stay(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    first, second, third = made(domain)
    domains.rotate_key("samples", actor="anna")
    assert domains.forget("samples", [second, second, made_up(domain)], actor="dora") == 1
    domain = domains.open("samples")
    assert domain.kind.originals([first, second, third]) == ["anna", None, "cleo"]
    assert domain.kind.known(PEOPLE, domain.keys.current) == [first, None, third]
    assert domains.forget("samples", [second], actor="dora") == 0
    entries = [one for one in domains.folder.log.verified_entries() if one["action"] == "forget"]
    assert entries[0]["details"] == {"kind": "entries of a list", "entries": 1, "asked_for": 3}
    assert entries[0]["actor"] == "dora"
    again = made(domain)
    assert again[1] not in (first, second, third)


def made_up(domain: Domain) -> str:
    return domain.definition.shape.text(4711)


def test_numbers_of_forgotten_entries_are_not_given_again(domains: Domains) -> None:
    domain = domains.create(
        definition_of("numbers", "list", numbered=True, alphabet="digits", length=5, check="none"), actor="anna"
    )
    assert made(domain) == ["00001", "00002", "00003"]
    domains.forget("numbers", ["00003"], actor="dora")
    assert made(domains.open("numbers")) == ["00001", "00002", "00004"]


def test_pseudonyms_of_forgotten_entries_are_not_drawn_again(domains: Domains) -> None:
    """Two digits make 100 pseudonyms, so that 30 draws would meet one of the 20 that were forgotten."""
    domain = domains.create(definition_of("short", "list", alphabet="digits", length=2, check="none"), actor="anna")
    gone = made(domain, [f"gone {number}" for number in range(20)])
    domains.forget("short", gone[:10], actor="dora")
    domains.rotate_key("short", actor="anna")
    domains.forget("short", gone[10:], actor="dora")
    people = [f"new {number}" for number in range(30)]
    drawn = made(domains.open("short"), people)
    assert not {*drawn} & {*gone}
    assert made(domains.open("short"), people) == drawn


def test_a_mistyped_pseudonym_is_refused_with_its_place_and_nothing_is_forgotten(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    first, *_ = made(domain)
    with pytest.raises(InputError, match="pseudonym 2") as refused:
        domains.forget("samples", [first, first[:-1]], actor="dora")
    assert refused.value.code == "pseudonym-wrong"
    assert domain.kind.originals([first]) == ["anna"]


def test_a_domain_without_a_list_has_nothing_to_forget(domains: Domains) -> None:
    domains.create(definition_of("study", "one-way"), actor="anna")
    with pytest.raises(InputError, match="destroy-key") as refused:
        domains.forget("study", ["X"], actor="dora")
    assert refused.value.code == "pseudonym-no-list"


@pytest.mark.parametrize("kind", ["one-way", "reversible", "list"])
def test_without_its_key_nothing_of_a_domain_can_be_made_or_resolved(domains: Domains, kind: str) -> None:
    domain = domains.create(definition_of("study", kind), actor="anna")
    made(domain)
    domains.rotate_key("study", actor="anna")
    path = domains.key_path("study")
    secret = path.read_text()
    assert domains.destroy_key("study", actor="dora") == (1, 2)
    assert not path.exists()
    left = b"".join(file.read_bytes() for file in domains.folder.path.iterdir() if file.is_file())
    assert not any(line.split()[1].encode() in left for line in secret.splitlines())
    for use in (domains.open, lambda name: domains.destroy_key(name, actor="dora")):
        with pytest.raises(InputError) as refused:
            use("study")
        assert refused.value.code == "pseudonym-key-destroyed"
    with pytest.raises(InputError) as exists:
        domains.create(definition_of("study", kind), actor="anna")
    assert exists.value.code == "pseudonym-domain-exists"
    [_, last] = [one for one in domains.folder.log.verified_entries() if one["action"] == "destroy key"]
    assert (last["actor"], last["details"]["version"], last["details"]["kind"]) == ("dora", 2, kind)
    assert domains.definition("study").destroyed == (1, 2)
    assert last["details"]["entries"] == (3 if kind == "list" else 0)


def test_an_old_version_is_destroyed_and_the_current_one_stays(domains: Domains) -> None:
    domain = domains.create(definition_of("study", "reversible"), actor="anna")
    old = made(domain)
    domains.rotate_key("study", actor="anna")
    new = made(domains.open("study"))
    with pytest.raises(InputError) as current:
        domains.destroy_key("study", 2, actor="dora")
    assert current.value.code == "pseudonym-key-current"
    assert domains.destroy_key("study", 1, actor="dora") == (1,)
    domain = domains.open("study")
    assert domain.kind.originals(new) == PEOPLE
    assert domain.kind.originals(old) == [None] * 3
    for use in (lambda: domain.key(1), lambda: domains.destroy_key("study", 1, actor="dora")):
        with pytest.raises(InputError) as refused:
            use()
        assert refused.value.code == "pseudonym-key-destroyed"
    assert domains.rotate_key("study", actor="anna").keys.current.version == 3


def test_a_list_needs_all_versions(domains: Domains) -> None:
    domains.create(definition_of("samples", "list"), actor="anna")
    domains.rotate_key("samples", actor="anna")
    with pytest.raises(InputError) as refused:
        domains.destroy_key("samples", 1, actor="dora")
    assert refused.value.code == "pseudonym-kind-option"


def test_what_was_killed_in_the_middle_is_ended_by_the_next_run(
    domains: Domains, monkeypatch: pytest.MonkeyPatch
) -> None:
    domains.create(definition_of("study", "reversible"), actor="anna")
    domains.rotate_key("study", actor="anna")

    def killed(file: KeyFile, version: int | None = None) -> None:
        del file, version
        raise KeyboardInterrupt

    for version in (1, None):
        with monkeypatch.context() as patched:
            patched.setattr(KeyFile, "destroy", killed)
            with pytest.raises(KeyboardInterrupt):
                domains.destroy_key("study", version, actor="dora")
        assert domains.destroy_key("study", version, actor="dora") == ((1,) if version else (2,))
    assert not domains.key_path("study").exists()


def older(domains: Domains, change: Callable[[], object]) -> Callable[[], None]:
    """Copy the database, make a change, and return what puts the copy back."""
    tables = [entries, lists, ties]
    store = domains.folder.store(ROOM)
    with store.reading() as connection:
        rows = {table: [row._asdict() for row in connection.execute(select(table))] for table in tables}
    change()

    def put_back() -> None:
        with store.writing() as connection:
            for table in tables:
                connection.execute(delete(table))
            for table in reversed(tables):
                if rows[table]:
                    connection.execute(insert(table), rows[table])

    return put_back


def test_an_older_database_does_not_bring_forgotten_people_back(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    first, second, third = made(domain)

    def change() -> None:
        domains.forget("samples", [second], actor="dora")
        made(domain, ["dora"])

    older(domains, change)()
    domain = domains.open("samples")
    for use in (
        lambda: domain.kind.originals([first]),
        lambda: domain.kind.known(PEOPLE, domain.keys.current),
        lambda: made(domain),
        lambda: domains.forget("samples", [third], actor="dora"),
    ):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-database-older"
    assert domains.complete() == 1
    assert domains.open("samples").kind.originals([first, second, third]) == ["anna", None, "cleo"]


def test_a_forgetting_that_was_killed_before_the_database_had_it_is_ended_by_the_next_process(
    domains: Domains,
) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    first, second, third = made(domain)
    older(domains, lambda: domains.forget("samples", [second], actor="dora"))()
    assert domains.open("samples").kind.originals([first, second, third]) == ["anna", None, "cleo"]
    assert made(domains.open("samples"), ["dora"])


def test_numbers_that_a_lost_database_gave_are_not_given_again(domains: Domains) -> None:
    domain = domains.create(definition_of("numbers", "list", numbered=True, alphabet="digits"), actor="anna")
    made(domain)
    put_back = older(domains, lambda: made(domain, ["dora", "emil"]))
    lost = domain.kind.known(["dora", "emil"], domain.keys.current)
    put_back()
    with pytest.raises(EngineError, match="older than the log"):
        made(domains.open("numbers"), ["frida"])
    domains.complete()
    assert set(made(domains.open("numbers"), ["frida", "gustav"])).isdisjoint(lost)


def test_rows_of_forgotten_people_that_are_put_back_one_by_one_are_refused(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    first, second, _ = made(domain)
    store = domains.folder.store(ROOM)
    with store.reading() as connection:
        before = [row._asdict() for row in connection.execute(select(entries))]
    domains.forget("samples", [second], actor="dora")
    with store.writing() as connection:
        connection.execute(delete(entries))
        connection.execute(insert(entries), before)
    kind = domains.open("samples").kind
    assert kind.originals([first]) == ["anna"]
    for use in (lambda: kind.originals([second]), lambda: made(domain, ["ben"])):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-forgotten-back"
    assert domains.complete() == 1
    assert kind.originals([second]) == [None]


def test_exchanged_indexes_do_not_let_somebody_else_be_forgotten(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    first, second, third = made(domain)
    store = domains.folder.store(ROOM)
    with store.writing() as connection:
        (one, index), (other, another), *_ = connection.execute(select(entries.c.id, entries.c.pseudonym)).all()
        for number, value in ((one, b"-"), (other, index), (one, another)):
            connection.execute(update(entries).where(entries.c.id == number).values(pseudonym=value))
    kind = domains.open("samples").kind
    every = [first, second, third]
    for use in (lambda: kind.originals(every), lambda: domains.forget("samples", every, actor="dora")):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-damaged"


def test_a_log_that_is_older_than_the_database_is_refused(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    files = [domains.folder.log.path, domains.folder.log.path.with_suffix(".head")]
    before = [path.read_bytes() for path in files]
    made(domain)
    domains.forget("samples", made(domain)[:1], actor="dora")
    made(domain, ["dora"])
    for path, content in zip(files, before, strict=True):
        path.write_bytes(content)
    folder = TrustFolder(domains.folder.path)
    log_module._FOLLOWED.clear()  # as in a new process
    with pytest.raises(EngineError) as caught:
        Domains(folder).open("samples").kind.known(PEOPLE, domain.keys.current)
    assert caught.value.code == "trust-log-cut"


@pytest.mark.parametrize("kind", ["one-way", "reversible", "list"])
def test_a_destroyed_key_that_is_put_back_with_everything_but_the_log_is_not_used(domains: Domains, kind: str) -> None:
    domain = domains.create(definition_of("study", kind), actor="anna")
    made(domain)
    files = {path: path.read_bytes() for path in domains.folder.path.glob("domain-*")}

    put_back = older(domains, lambda: domains.destroy_key("study", actor="dora"))
    put_back()
    for path, content in files.items():
        path.write_bytes(content)
        path.chmod(0o600)
    for use in (
        lambda: domains.open("study"),
        lambda: domains.rotate_key("study", actor="dora"),
    ):
        with pytest.raises(InputError) as caught:
            use()
        assert caught.value.code == "pseudonym-key-put-back"
    (domains.folder.path / "domain-study.json").unlink()
    with pytest.raises(InputError) as caught:
        domains.create(definition_of("study", kind), actor="anna")
    assert caught.value.code == "pseudonym-key-put-back"
    (domains.folder.path / "domain-study.json").write_bytes(files[domains.folder.path / "domain-study.json"])
    assert domains.destroy_key("study", actor="dora") == (1,)
    assert not (domains.folder.path / "domain-study.key").exists()


def test_the_log_of_forgetting_names_nobody(domains: Domains) -> None:
    domain = domains.create(definition_of("samples", "list"), actor="anna")
    pseudonyms = made(domain)
    with domains.folder.store(ROOM).reading() as connection:
        rows = connection.execute(select(entries)).all()
    domains.forget("samples", pseudonyms, actor="dora")
    text = domains.folder.log.path.read_text()
    for secret in (*PEOPLE[1:], *pseudonyms, *(bytes(row.pseudonym).hex() for row in rows)):
        assert secret not in text
    [begun] = [one for one in domains.folder.log.entries() if one["action"] == "forget begins"]
    assert len(begun["details"]["marks"].split()) == begun["details"]["entries"] == 3
