"""Domains: made, listed, rotated, damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domains, definition_of
from kohorte.pseudonyms.kinds.one_way import values_before_coincidence
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import KeyFile, Keys


@pytest.fixture
def domains(tmp_path: Path) -> Domains:
    return Domains(TrustFolder.opened(tmp_path / "trust", create=True))


def code_of(caught: pytest.ExceptionInfo[InputError]) -> str:
    return caught.value.code


def test_a_domain_is_a_definition_and_a_key_that_only_the_owner_reads(domains: Domains) -> None:
    domain = domains.create(definition_of("study", "one-way", prefix="S-"), actor="anna")
    files = {path.name: path.stat().st_mode & 0o777 for path in domains.folder.path.iterdir()}
    assert files == dict.fromkeys(
        ["folder.key", "domain-study.json", "domain-study.key", "log.jsonl", "log.head"], 0o600
    )
    assert domains.open("study").definition == domain.definition
    assert domain.definition.keys == {1: domain.keys.current.fingerprint}
    assert domain.keys.current.secret.hex() not in (domains.folder.path / "domain-study.json").read_text()


def test_every_change_is_in_the_log(domains: Domains) -> None:
    domains.create(definition_of("study", "one-way"), actor="anna")
    domains.rotate_key("study", actor="otto")
    assert [(entry["actor"], entry["action"], entry["about"]) for entry in domains.folder.log.entries()] == [
        ("anna", "create domain", "domain study"),
        ("otto", "rotate key", "domain study"),
    ]
    assert domains.folder.log.verify().whole


def test_a_domain_is_made_once(domains: Domains) -> None:
    domains.create(definition_of("study", "one-way"), actor="anna")
    before = domains.key_path("study").read_bytes()
    with pytest.raises(InputError) as caught:
        domains.create(definition_of("study", "list"), actor="anna")
    assert code_of(caught) == "pseudonym-domain-exists"
    assert domains.key_path("study").read_bytes() == before


def test_a_key_that_is_there_already_is_used_and_never_replaced(domains: Domains) -> None:
    """A process that was killed may have left it, or the definition was lost: its pseudonyms can be made again."""
    first = domains.create(definition_of("study", "one-way"), actor="anna")
    made = first.kind.pseudonyms(["4711"], first.keys.current).pseudonyms
    (domains.folder.path / "domain-study.json").unlink()
    again = domains.create(definition_of("study", "one-way"), actor="anna")
    assert again.kind.pseudonyms(["4711"], again.keys.current).pseudonyms == made


def test_an_unknown_domain_is_refused_with_the_nearest(domains: Domains) -> None:
    with pytest.raises(InputError, match="has none yet") as caught:
        domains.open("study")
    assert code_of(caught) == "pseudonym-domain-unknown"
    domains.create(definition_of("study", "one-way"), actor="anna")
    with pytest.raises(InputError, match="did you mean 'study'"):
        domains.open("studie")


@pytest.mark.parametrize("name", ["", "A", "a b", "../x", "a/b", "-a", ".a", "ä", "x" * 64, "a\n"])
def test_a_name_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(InputError) as caught:
        definition_of(name, "one-way")
    assert code_of(caught) == "pseudonym-domain-name"


def test_a_parent_must_exist_and_be_another_domain(domains: Domains) -> None:
    with pytest.raises(InputError) as caught:
        domains.create(definition_of("export", "one-way", parent="study"), actor="anna")
    assert code_of(caught) == "pseudonym-domain-unknown"
    with pytest.raises(InputError) as caught:
        definition_of("study", "one-way", parent="study")
    assert code_of(caught) == "pseudonym-parent"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"kind": "hash"}, "pseudonym-kind"),
        ({"kind": "one-way", "length": 6}, "pseudonym-length"),
        ({"kind": "one-way", "length": 64}, "pseudonym-length"),
        ({"kind": "one-way", "numbered": True}, "pseudonym-kind-option"),
        ({"kind": "one-way", "keep_format": True}, "pseudonym-kind-option"),
        ({"kind": "one-way", "check": "pid"}, "pseudonym-length"),
        ({"kind": "one-way", "check": "luhn"}, "pseudonym-check"),
        ({"kind": "reversible", "length": 8}, "pseudonym-kind-option"),
        ({"kind": "reversible", "numbered": True}, "pseudonym-kind-option"),
        ({"kind": "list", "keep_format": True}, "pseudonym-kind-option"),
        ({"kind": "list", "check": "pid", "length": 9}, "pseudonym-check"),
        ({"kind": "list", "alphabet": "aab"}, "pseudonym-alphabet"),
        ({"kind": "list", "prefix": "=x"}, "pseudonym-prefix"),
    ],
)
def test_what_a_kind_cannot_do_is_refused_and_nothing_is_made(
    domains: Domains, options: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        domains.create(definition_of("study", **options), actor="anna")  # type: ignore[arg-type]
    assert code_of(caught) == code
    assert domains.names() == []
    assert not domains.key_path("study").exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: "[]",
        lambda data: "{",
        lambda data: json.dumps(data | {"kohorte": 2}),
        lambda data: json.dumps(data | {"colour": "red"}),
        lambda data: json.dumps({key: data[key] for key in data if key != "length"}),
        lambda data: json.dumps(data | {"length": "x"}),
        lambda data: json.dumps(data | {"alphabet": "aa"}),
        lambda data: json.dumps(data | {"name": "other"}),
        lambda data: json.dumps(data | {"keys": []}),
    ],
    ids=["list", "no json", "format", "unknown key", "missing key", "type", "alphabet", "name", "keys"],
)
def test_a_damaged_definition_is_refused(domains: Domains, change: object) -> None:
    domains.create(definition_of("study", "list"), actor="anna")
    path = domains.folder.path / "domain-study.json"
    path.write_text(change(json.loads(path.read_text())))  # type: ignore[operator]
    with pytest.raises(InputError) as caught:
        domains.open("study")
    assert code_of(caught) == "pseudonym-domain-damaged"


def test_a_rotation_that_was_killed_between_key_and_definition_is_harmless(domains: Domains) -> None:
    domain = domains.create(definition_of("study", "one-way"), actor="anna")
    old = domain.kind.pseudonyms(["4711"], domain.keys.current).pseudonyms
    domains._key_file("study").rotate()
    opened = domains.open("study")
    assert opened.keys.current.version == 2
    assert opened.kind.pseudonyms(["4711"], opened.key(1)).pseudonyms == old
    assert domains.rotate_key("study", actor="anna").keys.current.version == 3


def test_an_old_version_cannot_be_chosen_for_a_list(domains: Domains) -> None:
    domains.create(definition_of("study", "list"), actor="anna")
    domain = domains.rotate_key("study", actor="anna")
    with pytest.raises(InputError) as caught:
        domain.key(1)
    assert code_of(caught) == "pseudonym-kind-option"
    assert domain.key(2) == domain.key(None)


def test_the_birthday_bound_is_that_of_the_exact_probability() -> None:
    """For a year of 365 days: 22 people stay below one half, 23 do not."""
    assert values_before_coincidence(365, 0.5) == 22
    space = 1 << 40
    most = values_before_coincidence(space)
    exact = 1.0
    for number in range(most):
        exact *= 1 - number / space
    assert 0.99e-6 < 1 - exact <= 1.01e-6


def test_a_definition_that_was_changed_is_not_used(domains: Domains) -> None:
    domains.create(definition_of("study", "one-way", exact=True), actor="anna")
    path = domains.folder.path / "domain-study.json"
    path.write_text(path.read_text().replace('"exact": true', '"exact": false'))
    with pytest.raises(InputError) as caught:
        domains.open("study")
    assert caught.value.code == "pseudonym-domain-damaged"


def test_a_key_from_before_a_rotation_is_not_used(domains: Domains) -> None:
    domains.create(definition_of("study", "one-way"), actor="anna")
    files = {path: path.read_bytes() for path in domains.folder.path.glob("domain-*")}
    domains.rotate_key("study", actor="anna")
    for path, content in files.items():
        path.write_bytes(content)
    with pytest.raises(InputError, match="version 2") as caught:
        domains.open("study")
    assert caught.value.code == "trust-key-lost"


@pytest.mark.parametrize("step", ["key", "definition"])
def test_a_rotation_that_was_killed_is_ended_by_the_next_command(domains: Domains, step: str) -> None:
    """Whether the definition or only the log lacks it: a key file from before is not used after that."""
    domains.create(definition_of("study", "one-way"), actor="anna")
    files = {path: path.read_bytes() for path in domains.folder.path.glob("domain-*")}
    killed = domains._key_file("study").rotate()
    if step == "definition":
        domains._stored(
            replace(domains.definition("study"), keys={key.version: key.fingerprint for key in killed.versions})
        )
    for _ in range(2):
        domains.open("study")
    assert domains.definition("study").keys[2] == killed.current.fingerprint
    rotations = [entry for entry in domains.folder.log.entries() if entry["action"] == "rotate key"]
    assert [entry["details"]["version"] for entry in rotations] == [2]
    for path, content in files.items():
        path.write_bytes(content)
    with pytest.raises(InputError, match="version 2") as caught:
        domains.open("study")
    assert caught.value.code == "trust-key-lost"


def test_a_rotation_does_not_bring_back_what_was_destroyed_meanwhile(
    domains: Domains, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A version that somebody destroys while the key is rotated stays destroyed, and the domain can be used."""
    domains.create(definition_of("study", "one-way"), actor="anna")
    domains.rotate_key("study", actor="anna")
    rotate = KeyFile.rotate

    def rotate_and_destroy(file: KeyFile) -> Keys:
        rotated = rotate(file)
        domains.destroy_key("study", 1, actor="ben")
        return rotated

    monkeypatch.setattr(KeyFile, "rotate", rotate_and_destroy)
    domains.rotate_key("study", actor="anna")
    assert domains.definition("study").destroyed == (1,)
    assert sorted(domains.open("study").definition.keys) == [2, 3]


def test_a_lost_key_is_told_and_what_else_is_wrong_with_keys(domains: Domains) -> None:
    for name in ("here", "lost", "older", "other", "destroyed"):
        domains.create(definition_of(name, "one-way"), actor="anna")
    before = domains.key_path("older").read_bytes()
    domains.rotate_key("older", actor="anna")
    domains.key_path("older").write_bytes(before)
    domains.key_path("lost").unlink()
    domains.key_path("other").write_bytes(domains.key_path("here").read_bytes())
    domains.destroy_key("destroyed", actor="anna")
    assert {one.name: str(domains.key_state(one)) for one in domains.definitions()} == {
        "here": "usable",
        "lost": "lost",
        "older": "lost",
        "other": "refused",
        "destroyed": "destroyed",
    }


def test_a_domain_whose_files_are_lost_says_what_is_lost_and_is_not_made_again(domains: Domains) -> None:
    """Otherwise everybody would silently get another pseudonym under the same name of the domain."""
    domains.create(definition_of("study", "one-way"), actor="anna")
    definition, key = domains.folder.path / "domain-study.json", domains.key_path("study")
    kept = definition.read_bytes(), key.read_bytes()
    definition.unlink()
    assert domains.lost() == ["study"]
    with pytest.raises(InputError, match="its key is there") as caught:
        domains.open("study")
    assert code_of(caught) == "pseudonym-domain-damaged"
    with pytest.raises(InputError, match="differently") as caught:
        domains.create(definition_of("study", "one-way", length=20), actor="anna")
    assert code_of(caught) == "pseudonym-domain-damaged"
    key.unlink()
    for attempt in (
        lambda: domains.open("study"),
        lambda: domains.verify("study"),
        lambda: domains.create(definition_of("study", "one-way"), actor="anna"),
        lambda: domains.create(definition_of("export", "one-way", parent="study"), actor="anna"),
    ):
        with pytest.raises(InputError, match="no pseudonym of the domain 'study'") as caught:
            attempt()
        assert code_of(caught) == "trust-key-lost"
    assert not key.exists()
    definition.write_bytes(kept[0])
    key.write_bytes(kept[1])
    key.chmod(0o600)
    assert domains.lost() == []
    domains.open("study")
