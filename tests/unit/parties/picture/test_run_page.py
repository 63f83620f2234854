"""The picture of a run shows every message once, with its size and time, and what each member learnt."""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.parties.picture import run_page, write_run_page
from kohorte.parties.picture.arrows import arrows
from kohorte.parties.picture.drawing import NARROW, sequence
from kohorte.parties.picture.kinds import KINDS, PHASES
from kohorte.parties.picture.learnt import SUBJECTS, learnt, leaves_open, roles_of, source
from kohorte.parties.picture.timeline import timeline
from kohorte.parties.study import Study
from kohorte.parties.transport.messages import Message
from support.joint_studies import written_study

SOURCES = Path(__file__).parents[4] / "src" / "kohorte" / "parties"
PARTIES = ("clinic-a", "clinic-b", "clinic-c")
PLAN = {
    "kohorte": 1,
    "attributes": {"age": {"role": "quasi-identifying"}, "diagnosis": {"role": "sensitive"}},
    "models": [{"model": "k-anonymity", "k": 3}],
}
FIGURES = {
    "rows": 1234,
    "suppressed": 12,
    "classes": 99,
    "smallest_class": 3,
    "cost": 0.25,
    "quality": "optimal: no other combination of levels loses less",
    "levels_in_words": {"age": "decade (1 of 3)"},
    "verdict": {"standing": "amber", "reasons": ["one point is open"]},
    "seconds": {"encrypt": 0.5, "anonymize": 2.0},
    "elapsed": 3.0,
}
COUNTED = 52


def messages() -> list[Message]:
    """The messages of a small run of protocol C: an exchange, three tables, and many questions with their answers."""
    pairs = [(one, other) for one in PARTIES for other in PARTIES if one != other]
    sent = [(one, other, "key", 32, "encrypt") for one, other in pairs]
    sent += [(one, "helper", "table", 50_000, "encrypt") for one in PARTIES]
    for _ in range(COUNTED):
        sent += [("clinic-a", "helper", "ask", 60, "anonymize"), ("helper", "clinic-a", "counted", 60_000, "")]
        sent += [("clinic-a", "clinic-b", "decrypt", 20_000, "anonymize")]
        sent += [("clinic-b", "clinic-a", "decrypted", 1_000, "encrypt")]
    sent += [("helper", "clinic-a", "release", 40_000, ""), ("clinic-a", "helper", "certificate", 4_000, "decrypt")]
    sent += [("helper", "clinic-a", "signature", 100, "")]
    return [
        Message(one, other, kind, size, 0.1 * number, phase)
        for number, (one, other, kind, size, phase) in enumerate(sent, start=1)
    ]


def study_with(folder: Path, protocol: str) -> Study:
    return written_study(folder, PLAN, protocol=protocol)


@pytest.fixture
def page(tmp_path: Path) -> str:
    return run_page(study_with(tmp_path, "B"), messages(), FIGURES)


# Messages as arrows


def test_every_kind_of_message_that_a_role_sends_is_explained() -> None:
    folders = ("*.py", "roles/*.py", "counting/*.py")
    source = "".join(path.read_text(encoding="utf-8") for folder in folders for path in SOURCES.glob(folder))
    sent = set(re.findall(r'\.send\(\s*[^"()]+?,\s*"([a-z-]+)"', source))
    sent |= set(re.findall(r'\.exchange\(channel, "([a-z-]+)"', source))
    assert len(sent) > 15
    assert sorted(sent - set(KINDS)) == []


def test_many_equal_messages_are_one_arrow_with_their_number_and_size() -> None:
    (counted,) = [arrow for arrow in arrows(timeline(messages())) if arrow.kind == "counted"]
    assert counted.label == "counted, 52 messages, 3.12 MB"
    assert counted.sentence.startswith("helper to clinic-a: counted, 52 messages, 3.12 MB, after ")


def test_an_exchange_between_all_parties_is_one_arrow() -> None:
    drawn = arrows(timeline(messages()))
    assert [(arrow.kind, arrow.exchange, arrow.messages) for arrow in drawn[:2]] == [
        ("key", PARTIES, 6),
        ("table", (), 1),
    ]


def test_an_incomplete_exchange_is_drawn_message_by_message() -> None:
    assert [arrow.messages for arrow in arrows(timeline(messages()[:5]))] == [1] * 5


def test_arrows_are_in_the_order_of_their_first_message_and_count_all_of_them() -> None:
    drawn = arrows(timeline(messages()))
    places = [(list(PHASES).index(arrow.phase), arrow.first) for arrow in drawn]
    assert places == sorted(places)
    assert sum(arrow.messages for arrow in drawn) == len(messages())
    assert sum(arrow.size for arrow in drawn) == sum(message.size for message in messages())


def test_an_answer_belongs_to_the_phase_of_its_question() -> None:
    found = {message.kind: phase for phase, message in timeline(messages())}
    assert found == {
        "key": "encrypt",
        "table": "encrypt",
        "ask": "anonymize",
        "counted": "anonymize",
        "decrypt": "anonymize",
        "decrypted": "anonymize",
        "release": "decrypt",
        "certificate": "sign",
        "signature": "sign",
    }
    last = [Message("a", "b", "decrypt", 1, 1.0, "decrypt"), Message("b", "a", "decrypted", 1, 2.0, "encrypt")]
    assert [phase for phase, _ in timeline(last)] == ["decrypt", "decrypt"]


def test_a_member_that_joined_later_answers_after_it_was_asked() -> None:
    def slow(message: Message) -> Message:
        late = {"helper": 2.5, "clinic-b": 0.75}.get(message.sender, 0.0)
        return replace(message, seconds=message.seconds - late)

    true = [(phase, message.kind, message.sender) for phase, message in timeline(messages())]
    found = timeline(sorted(map(slow, messages()), key=lambda message: message.seconds))
    assert [(phase, message.kind, message.sender) for phase, message in found] == true
    moved = zip(found, timeline(messages()), strict=True)
    assert all(abs(one.seconds - other.seconds) < 0.11 for (_, one), (_, other) in moved)


def test_a_message_of_an_unknown_kind_and_phase_is_drawn_all_the_same(tmp_path: Path) -> None:
    strange = [Message("clinic-a", "clinic-b", "strange", 10, 0.5, "elsewhere")]
    assert "strange, 10 bytes" in run_page(study_with(tmp_path, "B"), strange, {})


# The page


def drawing_of(page: str) -> ET.Element:
    (first, *_) = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    return ET.fromstring(first)


def cells(page: str, title: str) -> list[list[str]]:
    """The rows of all tables under a title."""
    section = page.split(f">{title}</h2>")[1].split("</section>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section, flags=re.DOTALL)
    return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]


def test_the_page_needs_nothing_from_elsewhere(page: str) -> None:
    assert "default-src 'none'" in page
    assert not re.findall(r"(?:src|href)=\"(?!#)", page)
    assert "<script" not in page


def test_every_arrow_has_a_name_for_screen_readers_and_a_row_in_the_table(page: str) -> None:
    named = [part.get("aria-label") for part in drawing_of(page).iter("g") if part.get("role") == "img"]
    drawn = arrows(timeline(messages()))
    assert named == [arrow.sentence for arrow in drawn]
    _, *rows = cells(page, "The arrows as a table")
    assert [(row[3], row[4]) for row in rows] == [(arrow.kind, str(arrow.messages)) for arrow in drawn]


def test_the_tables_by_phase_and_by_pair_add_up_to_all_messages(page: str) -> None:
    rows = cells(page, "Bytes and seconds by phase")
    by_phase = [row for row in rows if len(row) == 4][1:]
    by_pair = [row for row in rows if len(row) == 7][1:]
    assert [row[0] for row in by_phase] == ["encrypt", "anonymize", "decrypt", "sign"]
    assert [row[3] for row in by_phase] == ["0.5 s", "2 s", "\u2013", "\u2013"]
    assert sum(int(row[1]) for row in by_phase) == sum(int(row[3]) for row in by_pair) == len(messages())
    assert ["encrypt", "clinic-a", "clinic-b", "1", "32 bytes", "0.1 s", "0.1 s"] in by_pair


def test_the_page_says_what_was_computed(page: str, tmp_path: Path) -> None:
    study = study_with(tmp_path, "B")
    assert study.fingerprint() in page
    assert "3 parties and a helper: 220 messages, 4.41 MB, 3 s." in page
    for said in (
        "1,234 rows, 12 of them suppressed; 99 classes, the smallest with 3 rows",
        "0.25 (optimal: no other combination of levels loses less)",
        "amber; one point is open",
        "decade (1 of 3)",
        "k-anonymity (k = 3)",
    ):
        assert said in page


def test_the_hash_of_a_rehearsal_stands_beside_that_of_the_study_file(page: str, tmp_path: Path) -> None:
    study = study_with(tmp_path, "B")
    rehearsed = run_page(study, messages(), {"study_sha256": "f" * 64})
    assert "f" * 64 in rehearsed
    assert study.fingerprint() in rehearsed
    assert page.count(study.fingerprint()) == 1


def test_a_page_without_figures_leaves_them_out(tmp_path: Path) -> None:
    page = run_page(study_with(tmp_path, "B"), [], {})
    assert "suppression limit" in page
    assert "<dt>release</dt>" not in page
    assert "<svg" not in page


def test_text_from_outside_never_becomes_markup(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    page = run_page(study_with(tmp_path, "B"), messages(), {**FIGURES, "levels_in_words": {hostile: hostile}})
    assert hostile not in page
    assert html.escape(hostile) in page


def members(number: int) -> Sequence[str]:
    return [f"clinic-{letter}" for letter in "abcdefghij"[:number]]


def test_the_diagram_of_three_parties_and_a_helper_fits_on_a_phone(page: str) -> None:
    narrow = sequence(arrows(timeline(messages())), [*PARTIES, "helper"], pitch=NARROW)
    assert not narrow.scrolls
    assert page.count("<svg") == 2
    assert re.findall(r'class="run (\w+)"', page) == ["screen", "phone"]


def test_no_label_leaves_the_diagram() -> None:
    drawn = sequence(arrows(timeline(messages())), [*PARTIES, "helper"], pitch=NARROW)
    body = ET.fromstring(f"<svg>{drawn.body}</svg>")
    for part in body.iter("text"):
        width = 6.1 * len(part.text or "") if "mid" in part.get("class", "") else 0
        assert float(part.get("x", "0")) - width / 2 >= -1
        assert float(part.get("x", "0")) + width / 2 <= drawn.width + 1


def test_a_diagram_of_ten_parties_has_an_arrow_for_each_exchange() -> None:
    everybody = members(10)
    sent = [
        Message(one, other, kind, 64, float(number), "encrypt")
        for number, kind in enumerate(("key", "lengths"), start=1)
        for one in everybody
        for other in everybody
        if one != other
    ]
    assert [(arrow.kind, arrow.messages) for arrow in arrows(timeline(sent))] == [("key", 90), ("lengths", 90)]
    assert sequence(arrows(timeline(sent)), everybody).scrolls


def test_the_page_is_written_whole_and_replaces_nothing_without_being_asked(tmp_path: Path) -> None:
    study, path = study_with(tmp_path, "A"), tmp_path / "run.html"
    write_run_page(study, messages()[:6], FIGURES, path, force=False)
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(InputError) as refused:
        write_run_page(study, messages()[:6], FIGURES, path, force=False)
    assert refused.value.code == "output-exists"
    write_run_page(study, messages()[:6], FIGURES, path, force=True)
    with pytest.raises(InputError) as refused:
        write_run_page(study, messages()[:6], FIGURES, tmp_path / "run.pdf", force=False)
    assert refused.value.code == "page-format"


# What each member learnt


@pytest.mark.parametrize("protocol", ["A", "B", "C"])
def test_every_sentence_about_what_is_learnt_stands_at_a_member(protocol: str, tmp_path: Path) -> None:
    study = study_with(tmp_path, protocol)
    words = " ".join((import_module(f"kohorte.parties.roles.protocol_{protocol.lower()}").__doc__ or "").split())
    learns = words.partition(" Learns ")[2].partition(" Leaves open ")[0]
    found = learnt(study)
    assert [member.name for member in found] == list(study.members)
    for sentence in (own for member in found for own in member.sentences):
        assert sentence in learns
    shown = {sentence for member in found for sentence in member.sentences}
    assert sum(len(sentence) + 1 for sentence in shown) == len(learns) + 1
    assert all(member.sentences for member in found)
    page = html.unescape(run_page(study, [], {}))
    assert all(sentence in page for sentence in shown)
    assert all(sentence in page for sentence in leaves_open(study))
    assert "Kohlmayer" in source(study)
    assert source(study) in page


def test_what_is_learnt_goes_to_the_member_that_learns_it(tmp_path: Path) -> None:
    study = written_study(tmp_path, PLAN, protocol="A", result="clinic-b")
    assert roles_of(study, "clinic-a") == ("party", "other party")
    assert roles_of(study, "clinic-b") == ("party", "the party that opens the release")
    assert roles_of(study, "clinic-c") == ("party", "master")
    said = {member.name: member for member in learnt(study)}
    assert "does not get the release" in said["clinic-a"].roles
    assert [name for name in PARTIES if any(own.startswith("The master") for own in said[name].sentences)] == [
        "clinic-c"
    ]


def test_protocol_a_with_dummy_rows_says_what_protocol_c_says_as_well(tmp_path: Path) -> None:
    study = written_study(tmp_path, PLAN, protocol="A", dummies=0.25)
    opens, master, other = learnt(study)
    assert master.sentences[0] == "The master learns what the helper of protocol C learns."
    assert any(sentence.startswith("The helper learns ") for sentence in master.sentences)
    assert any(sentence.startswith("The party that opens the release learns, besides") for sentence in opens.sentences)
    assert [sentence.startswith("The other parties ") for sentence in other.sentences] == [True]
    assert "A and C" in source(study)


def test_a_helper_is_told_nothing_that_only_parties_learn(tmp_path: Path) -> None:
    (helper,) = [member for member in learnt(study_with(tmp_path, "B")) if member.name == "helper"]
    assert helper.sentences
    assert all(sentence.startswith("The helper ") for sentence in helper.sentences)


def test_subjects_and_phases_are_those_of_the_documentation() -> None:
    assert set(SUBJECTS.values()) == {"helper", "master", "other party", "party", "the party that opens the release"}
    assert list(PHASES) == ["encrypt", "integrate", "anonymize", "decrypt", "sign"]
