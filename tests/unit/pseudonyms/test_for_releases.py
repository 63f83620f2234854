"""Pseudonyms for the columns of a release."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domains, definition_of
from kohorte.pseudonyms.for_releases import ReleasePseudonyms
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT

TEXTS = pl.Series(["4711", " 4711 ", "4712", "  "])


@pytest.fixture
def domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Domains:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    found = Domains(TrustFolder.opened(tmp_path / "trust", create=True))
    for kind in ("one-way", "reversible", "list"):
        found.create(definition_of(kind, kind), actor="anna")
    found.create(definition_of("child", "list", parent="list"), actor="anna")
    return found


@pytest.mark.parametrize("kind", ["one-way", "reversible", "list"])
def test_texts_get_the_pseudonyms_of_their_domain_and_the_log_says_how_many(domains: Domains, kind: str) -> None:
    first, same, second, blank = ReleasePseudonyms(domains, actor="dora")(kind, TEXTS)
    domain = domains.open(kind)
    assert [first, second] == domain.kind.pseudonyms(["4711", "4712"], domain.keys.current).pseudonyms
    assert (same, blank) == (first, None)
    [entry] = [one for one in domains.folder.log.entries() if one["action"] == "pseudonymize for a release"]
    assert (entry["actor"], entry["about"]) == ("dora", f"domain {kind}")
    assert entry["details"] == {"key_version": 1, "values": 2, "new": 2 if kind == "list" else 0}


def test_a_dry_run_adds_nobody_to_a_list(domains: Domains) -> None:
    first, same, second, blank = ReleasePseudonyms(domains, actor="dora", remembered=False)("list", TEXTS)
    assert (first == same != second, blank) == (True, None)
    domain = domains.open("list")
    assert domain.kind.known(["4711", "4712"], domain.keys.current) == [None, None]
    assert not [one for one in domains.folder.log.entries() if one["action"].startswith("pseudonymize")]


def test_numbers_do_not_tell_the_order_of_the_rows(domains: Domains) -> None:
    domains.create(definition_of("numbers", "list", numbered=True, alphabet="digits", length=5), actor="anna")
    people = pl.Series([f"p{number}" for number in range(100)])
    found = ReleasePseudonyms(domains, actor="dora")("numbers", people).to_list()
    assert len(set(found)) == 100
    assert found != sorted(found)


def test_a_text_without_a_pseudonym_is_refused_without_being_shown(domains: Domains) -> None:
    with pytest.raises(InputError, match="has no pseudonym in the domain 'child'") as refused:
        ReleasePseudonyms(domains, actor="dora")("child", pl.Series(["canary"]))
    assert refused.value.code == "pseudonym-wrong"
    assert "canary" not in refused.value.message


def test_a_column_without_texts_has_no_pseudonyms(domains: Domains) -> None:
    assert ReleasePseudonyms(domains, actor="dora")("list", pl.Series(["", " "])).to_list() == [None, None]
