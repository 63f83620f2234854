"""The end of a link: entries of a list, and keys that are destroyed."""

from __future__ import annotations

from pathlib import Path

import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domain, Domains, definition_of
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import KeyFile

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
