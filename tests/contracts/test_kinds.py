"""What every kind of pseudonym promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domain, Domains, definition_of
from kohorte.pseudonyms.kinds import KINDS
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT

EXAMPLES = {
    "one-way": {"kind": "one-way"},
    "one-way, digits": {"kind": "one-way", "alphabet": "digits", "length": 20, "prefix": "P-", "check": "none"},
    "reversible": {"kind": "reversible"},
    "reversible, letters": {"kind": "reversible", "alphabet": "letters", "prefix": "R"},
    "keep format": {"kind": "reversible", "keep_format": True, "alphabet": "0123456789äöü"},
    "list": {"kind": "list"},
    "list, numbered": {"kind": "list", "numbered": True, "alphabet": "digits", "length": 5, "check": "none"},
    "list of PIDs": {"kind": "list", "check": "pid"},
}
TEXTS = ["0000012345", "0000012346", "1234567", "12345678901234567890", "00ä00ö00", "999999"]
Make = Callable[..., Domain]


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> dict[str, object]:
    return EXAMPLES[request.param]


@pytest.fixture
def domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Domains:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    return Domains(TrustFolder.opened(tmp_path / "trust", create=True))


@pytest.fixture
def make(domains: Domains, example: dict[str, object]) -> Make:
    def made(name: str) -> Domain:
        return domains.create(definition_of(name, **example), actor="anna")  # type: ignore[arg-type]

    return made


def pseudonyms(domain: Domain, texts: list[str] = TEXTS) -> list[str]:
    return domain.kind.pseudonyms(texts, domain.keys.current).pseudonyms


def test_every_kind_has_an_example() -> None:
    assert {kind.name for kind in KINDS} == {example["kind"] for example in EXAMPLES.values()}


def test_the_same_text_gets_the_same_pseudonym_in_every_order_and_every_process(make: Make, domains: Domains) -> None:
    domain = make("study")
    first = pseudonyms(domain)
    assert len(set(first)) == len(TEXTS)
    assert pseudonyms(domain, TEXTS[::-1]) == first[::-1]
    assert [pseudonyms(domain, [text]) for text in TEXTS] == [[one] for one in first]
    assert pseudonyms(domains.open("study")) == first


def test_another_domain_gives_unrelated_pseudonyms(make: Make, example: dict[str, object]) -> None:
    if example.get("numbered"):
        pytest.skip("numbers count from 1 in every list")
    assert not set(pseudonyms(make("study"))) & set(pseudonyms(make("other")))


def test_no_pseudonym_contains_its_text(make: Make) -> None:
    assert not any(text in made for text, made in zip(TEXTS, pseudonyms(make("study")), strict=True))


def test_a_pseudonym_has_the_shape_of_its_domain(make: Make) -> None:
    domain = make("study")
    for made in pseudonyms(domain):
        assert made.startswith(domain.definition.prefix)
        assert domain.definition.shape.body(made, any_length=domain.definition.kind == "reversible")


def test_pseudonyms_lead_back_to_their_texts_unless_they_are_one_way(make: Make) -> None:
    domain = make("study")
    made = pseudonyms(domain)
    if domain.definition.kind == "one-way":
        with pytest.raises(InputError) as caught:
            domain.kind.originals(made)
        assert caught.value.code == "pseudonym-one-way"
    else:
        assert domain.kind.originals(made) == TEXTS


def test_old_pseudonyms_stay_resolvable_when_the_key_is_rotated(make: Make, domains: Domains) -> None:
    domain = make("study")
    old = pseudonyms(domain)
    domains.rotate_key("study", actor="anna")
    rotated = domains.rotate_key("study", actor="anna")
    new = pseudonyms(rotated)
    assert rotated.keys.current.version == 3
    if rotated.definition.kind == "list":
        assert new == old  # nobody gets a second pseudonym
        assert rotated.kind.originals(old) == TEXTS
    else:
        assert not set(new) & set(old)
        assert rotated.kind.pseudonyms(TEXTS, rotated.key(1)).pseudonyms == old
    if rotated.definition.kind == "reversible":
        assert rotated.kind.originals(old, version=1) == TEXTS
        assert rotated.kind.originals(new, version=3) == TEXTS
        if rotated.definition.keep_format:
            with pytest.raises(InputError) as caught:
                rotated.kind.originals(old)
            assert caught.value.code == "pseudonym-version-needed"
        else:
            assert rotated.kind.originals(old + new) == TEXTS * 2


def test_a_pseudonym_of_a_pseudonym_leads_back_step_by_step(make: Make, domains: Domains) -> None:
    first, second = make("study"), domains.create(definition_of("export", "reversible", parent="study"), actor="a")
    made = pseudonyms(first)
    assert second.kind.originals(pseudonyms(second, made)) == made


def test_no_texts_have_no_pseudonyms(make: Make) -> None:
    domain = make("study")
    assert pseudonyms(domain, []) == []


def test_a_lost_key_is_an_error_that_says_what_is_lost(make: Make, domains: Domains) -> None:
    made = pseudonyms(make("study"))
    domains.rotate_key("study", actor="anna")
    path = domains.key_path("study")
    whole = path.read_text()
    path.write_text(whole.splitlines(keepends=True)[1])
    with pytest.raises(InputError, match=r"version 1 .*no pseudonym of the domain 'study'") as caught:
        domains.open("study")
    assert caught.value.code == "trust-key-lost"
    path.unlink()
    with pytest.raises(InputError, match=r"key file .* is missing.*no pseudonym of the domain 'study'") as caught:
        domains.open("study")
    assert caught.value.code == "trust-key-lost"
    path.write_text(whole)
    path.chmod(0o600)
    if domains.open("study").definition.kind == "list":
        assert pseudonyms(domains.open("study")) == made


def test_a_pseudonym_that_was_changed_leads_nowhere(make: Make) -> None:
    domain = make("study")
    if domain.definition.kind == "one-way" or domain.definition.check == "none":
        pytest.skip("nothing to resolve, or nothing that notices it")
    [made] = pseudonyms(domain, TEXTS[:1])
    letters = domain.definition.shape.alphabet.characters
    wrong = made[:-1] + letters[(letters.index(made[-1]) + 1) % len(letters)]
    with pytest.raises(InputError) as caught:
        domain.kind.originals([wrong])
    assert caught.value.code in ("pseudonym-wrong", "trust-pid-wrong")


def test_nothing_that_is_printed_shows_a_text_or_a_pseudonym(make: Make) -> None:
    domain = make("study")
    made = domain.kind.pseudonyms(TEXTS, domain.keys.current)
    shown = (repr(domain) + repr(made) + repr(domain.kind)).replace(domain.definition.alphabet, "")
    assert not any(text in shown for text in [*TEXTS, *made.pseudonyms])
