"""The chained log: what is added, what is noticed, and what a crash leaves."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kohorte.errors import EngineError, InputError
from kohorte.trust.keys import Key
from kohorte.trust.log import Log, account
from kohorte.trust.records.heads import Head


@pytest.fixture
def log(tmp_path: Path) -> Log:
    return Log(tmp_path / "log.jsonl", Key(1, bytes(32)))


@pytest.fixture
def filled(log: Log) -> Log:
    for number in range(5):
        log.append("pseudonymize", "domain study", actor="anna", rows=number)
    return log


def lines(log: Log) -> list[bytes]:
    return log.path.read_bytes().splitlines(keepends=True)


def test_an_entry_says_who_did_what_and_when(log: Log) -> None:
    head = log.append("pseudonymize", "domain study", actor="anna", rows=3)
    [entry] = log.entries()
    assert (entry["actor"], entry["action"], entry["about"], entry["details"]) == (
        "anna",
        "pseudonymize",
        "domain study",
        {"rows": 3},
    )
    assert head == Head(1, entry["code"])
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_an_untouched_log_is_whole(filled: Log) -> None:
    check = filled.verify()
    assert (check.whole, check.entries, check.first_wrong) == (True, 5, None)
    assert filled.verify(check.head).whole


def test_a_log_without_entries_is_whole(log: Log) -> None:
    assert log.verify().to_dict() == {
        "whole": True,
        "entries": 0,
        "head": "0:" + "0" * 64,
        "first_at": None,
        "last_at": None,
        "first_wrong": None,
    }


@pytest.mark.parametrize("number", range(5))
def test_the_first_changed_line_is_named(filled: Log, number: int) -> None:
    content = lines(filled)
    content[number] = content[number].replace(b"anna", b"otto")
    filled.path.write_bytes(b"".join(content))
    assert filled.verify().first_wrong == number + 1


@pytest.mark.parametrize("number", range(4))
def test_a_removed_line_is_noticed_at_its_place(filled: Log, number: int) -> None:
    content = lines(filled)
    del content[number]
    filled.path.write_bytes(b"".join(content))
    assert filled.verify().first_wrong == number + 1


def test_swapped_and_repeated_and_foreign_lines_are_noticed(filled: Log, tmp_path: Path) -> None:
    one, two, *others = lines(filled)
    filled.path.write_bytes(b"".join([two, one, *others]))
    assert filled.verify().first_wrong == 1
    filled.path.write_bytes(b"".join([one, one, two, *others]))
    assert filled.verify().first_wrong == 2
    foreign = Log(tmp_path / "other.jsonl", Key(1, bytes([1]) * 32))
    foreign.append("pseudonymize", "domain study", actor="anna", rows=0)
    filled.path.write_bytes(b"".join([*lines(foreign), two]))
    assert filled.verify().first_wrong == 1
    filled.path.write_bytes(b"".join([one, b"no json\n", two]))
    assert filled.verify().first_wrong == 2


def test_a_log_and_its_head_put_back_together_are_noticed_with_a_head_that_was_noted(log: Log) -> None:
    for number in range(3):
        log.append("pseudonymize", "domain study", actor="anna", rows=number)
    before, after = log.path.read_bytes(), log.path.with_suffix(".head").read_bytes()
    log.append("pseudonymize", "domain study", actor="anna")
    head = log.append("pseudonymize", "domain study", actor="anna")
    log.path.write_bytes(before)
    log.path.with_suffix(".head").write_bytes(after)
    assert log.verify().whole
    assert log.verify(head).first_wrong == 4


def test_removed_last_lines_are_noticed_and_nothing_is_read_or_added(filled: Log) -> None:
    filled.path.write_bytes(b"".join(lines(filled)[:3]))
    assert filled.verify().first_wrong == 4
    for use in (filled.checked, lambda: list(filled.verified_entries()), lambda: filled.append("a", "b", actor="c")):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-log-cut"
    filled.path.unlink()
    assert filled.verify().first_wrong == 1
    with pytest.raises(EngineError, match="last entries are missing"):
        filled.append("pseudonymize", "domain study", actor="anna")


@pytest.mark.parametrize("content", [None, b"", b"3:abc def\n", "of another log"])
def test_a_log_whose_head_is_missing_or_was_changed_is_refused(filled: Log, content: bytes | str | None) -> None:
    file = filled.path.with_suffix(".head")
    if content is None:
        file.unlink()
    elif isinstance(content, str):
        other = Log(filled.path.with_name("other.jsonl"), Key(1, bytes([1]) * 32))
        other.append("pseudonymize", "domain study", actor="anna")
        other.path.with_suffix(".head").replace(file)
    else:
        file.write_bytes(content)
    assert filled.verify().first_wrong == 6
    for use in (filled.checked, lambda: filled.append("a", "b", actor="c")):
        with pytest.raises(EngineError) as caught:
            use()
        assert caught.value.code == "trust-log-cut"


def test_a_process_notices_that_log_and_head_were_put_back_together(filled: Log) -> None:
    before, head = filled.path.read_bytes(), filled.path.with_suffix(".head").read_bytes()
    filled.append("show way back", "request 1", actor="ada")
    assert filled.checked().head.number == 6
    filled.path.write_bytes(before)
    filled.path.with_suffix(".head").write_bytes(head)
    with pytest.raises(EngineError) as caught:
        filled.checked()
    assert caught.value.code == "trust-log-cut"


def test_an_entry_that_a_killed_process_did_not_note_in_the_head_is_an_entry(filled: Log) -> None:
    file = filled.path.with_suffix(".head")
    before = file.read_bytes()
    filled.append("pseudonymize", "domain study", actor="anna")
    file.write_bytes(before)
    assert filled.checked().head.number == 6
    filled.append("pseudonymize", "domain study", actor="anna")
    assert filled.verify().whole


def test_a_log_that_was_cut_is_accepted_with_a_reason_and_the_reason_is_in_it(filled: Log) -> None:
    filled.path.write_bytes(b"".join(lines(filled)[:3]))
    with pytest.raises(InputError, match="--reason"):
        filled.confirm(reason=" ", actor="otto")
    filled.confirm(reason="the disk was lost", actor="otto")
    *_, last = filled.verified_entries()
    assert (last["number"], last["actor"], last["details"]) == (4, "otto", {"reason": "the disk was lost"})
    assert filled.verify().whole


def test_a_log_with_a_changed_line_is_not_accepted_with_any_reason(filled: Log) -> None:
    filled.path.write_bytes(filled.path.read_bytes().replace(b"anna", b"otto", 1))
    with pytest.raises(EngineError) as caught:
        filled.confirm(reason="the disk was lost", actor="otto")
    assert caught.value.code == "trust-log-broken"


def test_a_head_of_another_log_is_noticed(filled: Log) -> None:
    assert filled.verify(Head(3, "f" * 64)).first_wrong == 3


def test_a_line_that_a_crash_left_unfinished_is_no_entry(filled: Log) -> None:
    whole, head = filled.path.read_bytes(), filled.path.with_suffix(".head").read_bytes()
    for cut in (1, 20, len(lines(filled)[-1]) - 1):
        filled.path.write_bytes(whole + lines(filled)[-1][:cut])
        assert filled.verify().entries == 5
        filled.append("pseudonymize", "domain study", actor="anna")
        check = filled.verify()
        assert (check.whole, check.entries) == (True, 6)
        filled.path.write_bytes(whole)
        filled.path.with_suffix(".head").write_bytes(head)


def test_nothing_is_added_to_a_log_whose_last_line_is_wrong(filled: Log) -> None:
    content = lines(filled)
    content[-1] = content[-1].replace(b"anna", b"otto")
    filled.path.write_bytes(b"".join(content))
    with pytest.raises(EngineError) as caught:
        filled.append("pseudonymize", "domain study", actor="anna")
    assert caught.value.code == "trust-log-broken"


def test_several_writers_make_one_chain(log: Log) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: log.append("act", "domain", actor="a", number_of=number), range(40)))
    check = log.verify()
    assert (check.whole, check.entries) == (True, 40)
    assert {entry["details"]["number_of"] for entry in log.entries()} == set(range(40))


def test_a_fingerprint_recognises_a_text_and_does_not_show_it(log: Log) -> None:
    assert log.fingerprint("4711") == log.fingerprint("4711") != log.fingerprint("4712")
    assert "4711" not in json.dumps(log.fingerprint("4711"))


def test_a_log_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "log.jsonl"
    folder.mkdir()
    with pytest.raises(EngineError) as caught:
        Log(folder, Key(1, bytes(32))).verify()
    assert caught.value.code == "trust-log-failed"


def test_an_account_without_a_name_can_work(monkeypatch: pytest.MonkeyPatch) -> None:
    assert account()

    def nameless() -> str:
        raise KeyError

    monkeypatch.setattr("kohorte.trust.log.getpass.getuser", nameless)
    assert account() == "unknown account"
