"""The state: chained by hashes, so that no byte of it can change unnoticed."""

from __future__ import annotations

from dataclasses import replace

import pytest

import kohorte as ko
from kohorte.series.domain.regions import Split
from kohorte.series.memory.state import Entry, Head, Pending, State

HEAD = Head(
    created="2026-01-01T00:00:00+00:00",
    plan={"kohorte": 1, "attributes": {"größe": {"role": "quasi-identifying"}}},
    plan_sha256="ab",
    files_sha256={},
    settings={"kohorte": 1},
    axes={"größe": {"pieces": [[0, 9]], "step": 1}},
    target=None,
    key_check="cd",
)


def entry(number: int, previous: str) -> Entry:
    return Entry(
        number=number,
        time="2026-01-01T00:00:00+00:00",
        rows=100 * number,
        shown=90,
        held=10,
        new=90,
        corrected=0,
        withdrawn=0,
        withheld=0,
        departed=0,
        regions=2,
        waited=0,
        loss=0.1 + 0.2,
        smallest_region=5,
        splits=(Split(0, 0, 5),),
        content_sha256="ef",
        output_sha256=None,
        rows_file="rows-0001.bin",
        rows_sha256="01",
        previous=previous,
    )


def state(releases: int = 2, *, pending: tuple[Pending, ...] = ()) -> State:
    found = State(HEAD)
    for _ in range(releases):
        found = replace(found, releases=(*found.releases, entry(found.number, found.hash)))
    return replace(found, pending=pending)


@pytest.mark.parametrize("releases", [0, 1, 3])
def test_a_state_is_read_back_as_it_was_written(releases: int) -> None:
    written = state(releases, pending=(Pending("/tmp/.x.tmp", "/tmp/x.csv", replaces=True),))
    assert State.from_text(written.to_text()) == written
    assert written.number == releases + 1


def test_a_change_of_any_character_is_noticed() -> None:
    text = state(2, pending=(Pending("a", "b", replaces=False),)).to_text()
    for position in range(len(text)):
        for other in ("0" if text[position] != "0" else "1", " ", ""):
            changed = text[:position] + other + text[position + 1 :]
            if changed == text:
                continue
            with pytest.raises(ko.InputError) as refused:
                State.from_text(changed)
            assert refused.value.code in ("series-damaged", "series-version"), position


def test_releases_cannot_be_left_out_swapped_or_rewritten_with_a_new_seal() -> None:
    whole = state(3)
    first, second, third = whole.releases
    for releases in ((second, third), (first, third), (second, first, third), (replace(first, rows=1), second, third)):
        with pytest.raises(ko.InputError, match="damaged"):
            State.from_text(replace(whole, releases=releases).to_text())
    with pytest.raises(ko.InputError, match="damaged"):
        State.from_text(replace(whole, head=replace(HEAD, key_check="other")).to_text())


@pytest.mark.parametrize("text", ["", "null", "[]", "{}", "{", "[" * 100_000, '{"kohorte_series": 1}', "\0"])
def test_what_is_no_state_is_refused(text: str) -> None:
    with pytest.raises(ko.InputError, match="damaged"):
        State.from_text(text)


def test_a_state_of_a_newer_version_is_refused_as_such() -> None:
    text = state().to_text().replace('"kohorte_series": 1', '"kohorte_series": 2', 1)
    with pytest.raises(ko.InputError, match="newer version") as refused:
        State.from_text(text)
    assert refused.value.code == "series-version"
