"""Parcels between institutions: proven, complete, once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import AccessDenied, InputError, KohorteError
from kohorte.exchange.peers.answers import ReceivedAnswers
from kohorte.exchange.peers.outbox import Outbox, State
from kohorte.exchange.peers.parcels import Kind, Parcel, SignedParcel
from kohorte.exchange.peers.sending import deliver, deliver_all, request_to
from support.institutions import Institution, acquainted
from testbed.hospital import request

TODAY = date(2026, 11, 17)
Houses = tuple[Institution, Institution]


@pytest.fixture
def houses(tmp_path: Path) -> Houses:
    a, b = Institution.at(tmp_path / "a", "Institute A"), Institution.at(tmp_path / "b", "Hospital B")
    acquainted(a, b)
    return a, b


def refused(code: str, act: Callable[[], object]) -> KohorteError:
    with pytest.raises(KohorteError) as caught:
        act()
    assert caught.value.code == code
    return caught.value


def signed_by(house: Institution, parcel: Parcel) -> bytes:
    return SignedParcel(parcel, house.own.sign(parcel.message)).header


@pytest.mark.parametrize("step", [1, 7, 100_000])
def test_a_request_is_kept_with_its_proof_however_it_is_cut_into_pieces(houses: Houses, step: int) -> None:
    a, b = houses
    item = request_to(a.folder, request(), "hospital b", today=TODAY)
    b.takes(item, shown=a.own.fingerprint, step=step)
    assert b.requests.numbers() == [1]
    assert b.requests.request(1) == request()
    origin = b.requests.origin(1)
    assert origin is not None
    assert (origin.sender, origin.parcel) == (a.own.fingerprint, item.parcel.number)
    assert (b.folder.path / "requests" / "0001" / "parcel.json").read_bytes() == item.signed.header


def test_the_same_parcel_again_is_the_same_request(houses: Houses) -> None:
    a, b = houses
    item = request_to(a.folder, request(), "Hospital B", today=TODAY)
    first = b.takes(item, shown=a.own.fingerprint)
    assert b.takes(item, shown=a.own.fingerprint) == first
    assert b.requests.numbers() == [1]


def test_another_request_under_a_used_number_is_refused(houses: Houses) -> None:
    a, b = houses
    item = request_to(a.folder, request(), "Hospital B", today=TODAY)
    b.takes(item, shown=a.own.fingerprint)
    other = replace(item.parcel, content={"request": request(name="Somebody Else").to_dict()})
    refused("exchange-replayed", lambda: b.takes_bytes(signed_by(a, other), shown=a.own.fingerprint))
    assert b.requests.numbers() == [1]
    assert b.actions()[-1] == "refuse parcel"


def test_a_peer_that_lies_about_its_identity_is_refused_and_logged(houses: Houses, tmp_path: Path) -> None:
    a, b = houses
    mallory = Institution.at(tmp_path / "m", "Mallory Ltd")
    acquainted(mallory, b)
    honest = request_to(a.folder, request(), "Hospital B", today=TODAY).parcel
    as_mallory = replace(honest, sender=mallory.own.fingerprint)
    lies = {
        "sends a parcel of another": signed_by(a, honest),
        "names another as the sender": signed_by(mallory, honest),
        "names another institution": signed_by(mallory, as_mallory),
        "names it in the request": signed_by(mallory, replace(as_mallory, institution="Mallory Ltd")),
    }
    for lie in lies.values():
        error = refused("exchange-peer-identity", lambda lie=lie: b.takes_bytes(lie, shown=mallory.own.fingerprint))
        assert isinstance(error, AccessDenied)
    refused("exchange-peer-identity", lambda: b.takes_bytes(signed_by(mallory, honest), shown=a.own.fingerprint))
    entries = [entry for entry in b.folder.log.verified_entries() if entry["action"] == "refuse parcel"]
    assert [entry["actor"] for entry in entries] == ["peer Mallory Ltd"] * 4 + ["peer Institute A"]
    assert b.requests.numbers() == []


def test_a_parcel_for_one_institution_is_refused_by_another(houses: Houses, tmp_path: Path) -> None:
    a, _ = houses
    c = Institution.at(tmp_path / "c", "Hospital C")
    acquainted(a, c)
    item = request_to(a.folder, request(), "Hospital B", today=TODAY)
    refused("exchange-peer-identity", lambda: c.takes(item, shown=a.own.fingerprint))


def test_strangers_and_those_who_were_removed_are_refused(houses: Houses, tmp_path: Path) -> None:
    a, b = houses
    item = request_to(a.folder, request(), "Hospital B", today=TODAY)
    before = b.actions()
    refused("exchange-peer-unknown", lambda: b.takes_bytes(item.signed.header, shown=None))
    assert b.actions() == before  # a stranger without a certificate does not fill the log
    b.book.remove("Institute A")
    refused("exchange-peer-unknown", lambda: b.takes(item, shown=a.own.fingerprint))
    assert b.actions()[-2:] == ["remove peer", "refuse parcel"]


def test_nothing_of_a_damaged_or_endless_parcel_is_kept(houses: Houses) -> None:
    a, b = houses
    header = request_to(a.folder, request(), "Hospital B", today=TODAY).signed.header
    shown = a.own.fingerprint
    changed = header.replace(b"Effect of the drug", b"Effekt of the drug")
    refused("exchange-peer-identity", lambda: b.takes_bytes(changed, shown=shown))
    refused("exchange-too-large", lambda: b.takes_bytes(b"x" * (1 << 19), shown=shown))
    for bytes_of_parcel in (header[:-20], header + b"more", b"\n", b"[]\n", b'{"parcel": 1, "signature": ""}\n', b""):
        refused("exchange-parcel", lambda sent=bytes_of_parcel: b.takes_bytes(sent, shown=shown))
    parts: dict[str, Any] = json.loads(header)["parcel"]
    for wrong in ({"kind": "gift"}, {"number": "1"}, {"files": [{"name": "../x", "bytes": 1, "sha256": "0" * 64}]}):
        sent = json.dumps({"parcel": parts | wrong, "signature": ""}).encode() + b"\n"
        refused("exchange-parcel", lambda sent=sent: b.takes_bytes(sent, shown=shown))
    assert b.requests.numbers() == []
    assert not list((b.folder.path).glob("arriving/*"))


def answer_of(a: Institution, b: Institution, number: str, files: Path, about: str) -> bytes:
    """A refusal as b would send it."""
    peer = b.book.named("Institute A")
    signed = SignedParcel.made(b.own, peer, Kind.ANSWER, {"request": about}, list(files.iterdir()), number=number)
    return b"".join(signed.pieces(files))


@pytest.fixture
def refusal(tmp_path: Path) -> Path:
    from kohorte.exchange.deciding.answers import REFUSAL

    facts = {"kohorte": 1, "request": request().fingerprint(), "at": "now", "answer": "refused", "text": REFUSAL}
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "answer.json").write_text(json.dumps(facts))
    return tmp_path / "files"


def test_an_answer_is_taken_once_from_the_institution_that_was_asked(houses: Houses, refusal: Path) -> None:
    a, b = houses
    number = request_to(a.folder, request(), "Hospital B", today=TODAY).parcel.number
    sent = answer_of(a, b, number, refusal, request().fingerprint())
    a.takes_bytes(sent, shown=b.own.fingerprint, step=13)
    a.takes_bytes(sent, shown=b.own.fingerprint)  # the receipt got lost: nothing changes
    found = ReceivedAnswers(a.folder).verified(number)
    assert (found.institution, found.released, len(found.files)) == ("Hospital B", False, 1)
    text = (refusal / "answer.json").read_text()
    (refusal / "answer.json").write_text(text.replace("now", "later"))
    another = answer_of(a, b, number, refusal, request().fingerprint())
    refused("exchange-replayed", lambda: a.takes_bytes(another, shown=b.own.fingerprint))
    assert ReceivedAnswers(a.folder).verified(number) == found


def test_an_answer_that_nobody_asked_for_is_refused(houses: Houses, refusal: Path, tmp_path: Path) -> None:
    a, b = houses
    c = Institution.at(tmp_path / "c", "Hospital C")
    acquainted(a, c)
    number = request_to(a.folder, request(), "Hospital B", today=TODAY).parcel.number
    unasked = answer_of(a, b, "0" * 32, refusal, request().fingerprint())
    other = answer_of(a, b, number, refusal, "0" * 64)
    refused("exchange-not-asked", lambda: a.takes_bytes(unasked, shown=b.own.fingerprint))
    refused("exchange-not-asked", lambda: a.takes_bytes(other, shown=b.own.fingerprint))
    from_c = answer_of(a, c, number, refusal, request().fingerprint())
    refused("exchange-not-asked", lambda: a.takes_bytes(from_c, shown=c.own.fingerprint))
    assert ReceivedAnswers(a.folder).numbers() == []


def test_an_answer_that_was_tampered_with_is_refused_on_the_way_and_later(houses: Houses, refusal: Path) -> None:
    a, b = houses
    number = request_to(a.folder, request(), "Hospital B", today=TODAY).parcel.number
    sent = answer_of(a, b, number, refusal, request().fingerprint())
    changed = sent.replace(b"That says nothing", b"That says much   ")
    refused("exchange-parcel-changed", lambda: a.takes_bytes(changed, shown=b.own.fingerprint))
    a.takes_bytes(sent, shown=b.own.fingerprint)
    kept = a.folder.path / "answers" / number / "files" / "answer.json"
    kept.write_bytes(kept.read_bytes().replace(b"nothing", b"a lot of"))
    refused("exchange-parcel-changed", lambda: ReceivedAnswers(a.folder).verified(number))
    shutil.rmtree(kept.parent)
    refused("exchange-parcel-changed", lambda: ReceivedAnswers(a.folder).verified(number))


def test_an_answer_whose_parts_do_not_belong_together_is_refused(houses: Houses, refusal: Path) -> None:
    a, b = houses
    number = request_to(a.folder, request(), "Hospital B", today=TODAY).parcel.number
    facts = json.loads((refusal / "answer.json").read_text())
    for wrong in (facts | {"answer": "released"}, facts | {"text": "nobody has it"}, facts | {"request": "0"}, {}):
        (refusal / "answer.json").write_text(json.dumps(wrong))
        sent = answer_of(a, b, number, refusal, request().fingerprint())
        refused("exchange-answer-parts", lambda sent=sent: a.takes_bytes(sent, shown=b.own.fingerprint))


def test_an_answer_over_the_limit_is_refused_before_its_files_are_read(houses: Houses, refusal: Path) -> None:
    a, b = houses
    number = request_to(a.folder, request(), "Hospital B", today=TODAY).parcel.number
    (refusal / "table.csv").write_bytes(b"1" * 2000)
    sent = answer_of(a, b, number, refusal, request().fingerprint())
    header = sent[: sent.index(b"\n") + 1]
    refused("exchange-too-large", lambda: a.takes_bytes(header, shown=b.own.fingerprint, most=1999))


def test_a_house_asks_in_its_own_name_and_only_those_it_knows(houses: Houses) -> None:
    a, _ = houses
    other = request(institution="Hospital B")
    refused("exchange-request-institution", lambda: request_to(a.folder, other, "Hospital B", today=TODAY))
    refused("exchange-peer-unknown", lambda: request_to(a.folder, request(), "Hospital X", today=TODAY))
    late = date(2027, 1, 1)
    refused("exchange-request-expired", lambda: request_to(a.folder, request(), "Hospital B", today=late))
    assert Outbox(a.folder).all() == []


def test_a_parcel_waits_while_the_other_house_cannot_be_reached(houses: Houses) -> None:
    a, _ = houses
    item = request_to(a.folder, request(), "Hospital B", today=TODAY)
    sent = deliver(a.folder, item)
    assert (sent.state, sent.reason, item.standing.attempts) == (State.WAITING, "trust-house-lost", 1)
    assert deliver_all(a.folder, only_due=True) == []  # its pause is not over
    assert [one.number for one in deliver_all(a.folder)] == [item.parcel.number]
    assert item.standing.attempts == 2


def test_a_parcel_that_another_process_sends_is_left_to_it(houses: Houses) -> None:
    a, _ = houses
    item = request_to(a.folder, request(), "Hospital B", today=TODAY)
    with item.held() as mine:
        assert mine
        assert deliver(a.folder, item).state is State.WAITING
    assert item.standing.attempts == 0


def test_the_address_book_compares_certificate_and_fingerprint(houses: Houses, tmp_path: Path) -> None:
    a, b = houses
    c = Institution.at(tmp_path / "c", "Hospital C")
    certificate, right = c.own.certificate, c.own.fingerprint
    wrong = b.own.fingerprint
    refused("exchange-peer-certificate", lambda: a.book.add("C", c.address, certificate, fingerprint=wrong))
    refused("exchange-peer-certificate", lambda: a.book.add("C", c.address, "no PEM", fingerprint=right))
    for address in ("http://c.example", "c.example:8470", "https://c.example/path", "https://me@c.example"):
        refused("exchange-peer-value", lambda at=address: a.book.add("C", at, certificate, fingerprint=right))
    refused("exchange-peer-exists", lambda: a.book.add("HOSPITAL  B", c.address, certificate, fingerprint=right))
    refused("exchange-peer-exists", lambda: a.book.add("Institute A", c.address, certificate, fingerprint=right))
    assert [peer.name for peer in a.book.all()] == ["Hospital B"]
    pinned = a.book.certificate_file(a.book.named("Hospital B"))
    pinned.write_text(certificate)
    refused("exchange-peer-certificate", lambda: a.book.certificate(a.book.named("Hospital B")))


def test_a_house_has_one_identity(houses: Houses, tmp_path: Path) -> None:
    from kohorte.exchange.peers.identity import Identity
    from kohorte.trust.folder import TrustFolder

    a, _ = houses
    refused("exchange-identity", lambda: Identity.create(a.folder, "Institute Z"))
    empty = TrustFolder.opened(tmp_path / "empty", create=True)
    refused("exchange-identity", lambda: Identity.of(empty))
    a.own.key_file.chmod(0o644)
    with pytest.raises(InputError):
        Identity.of(a.folder)
