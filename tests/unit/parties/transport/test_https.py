"""Runs over HTTPS between parties on the loopback address."""

from __future__ import annotations

import functools
import socket
import ssl
import threading
import time
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from kohorte.errors import InputError, ProtocolError
from kohorte.parties.transport import certificates
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.https import Contact, Invitation, Limits, PartyServer, Patience, RunTerms
from kohorte.parties.transport.https.answers import Answer, State
from kohorte.parties.transport.https.link import HttpsLink
from kohorte.parties.transport.https.run import Run
from support.party_network import NAMES, QUICK, STUDY, Network, folder_of, network, together, until

WAITERS = ("clinic-b", "helper")


@pytest.fixture
def parties() -> Network:
    with network() as found:
        yield found


def refused(code: str, call: object, *arguments: object) -> ProtocolError:
    with pytest.raises(ProtocolError) as caught:
        call(*arguments)
    assert caught.value.code == code, caught.value
    return caught.value


def test_messages_travel_between_all_parties_in_both_directions(parties: Network) -> None:
    channels = parties.start()
    for sender in NAMES:
        for receiver in channels[sender].peers:
            for number in range(3):
                channels[sender].send(receiver, "rows", f"{sender} {receiver} {number}".encode())
    for receiver in NAMES:
        for sender in channels[receiver].peers:
            found = [channels[receiver].receive(sender, "rows") for _ in range(3)]
            assert found == [f"{sender} {receiver} {number}".encode() for number in range(3)]


@pytest.mark.parametrize("payload", [b"", b"x", bytes(3_000_000), bytes(range(256)) * 5000])
def test_payloads_of_all_sizes_arrive_as_they_were_sent(parties: Network, payload: bytes) -> None:
    channels = parties.start()
    channels["clinic-a"].send("helper", "rows", payload)
    assert channels["helper"].receive("clinic-a", "rows") == payload


def test_messages_are_counted_as_they_were_sent(parties: Network) -> None:
    channels = parties.start()
    channels["clinic-a"].send("helper", "rows", bytes(1_000_000))
    channels["helper"].receive("clinic-a", "rows")
    [sent], [received] = channels["clinic-a"].messages, channels["helper"].messages
    assert 8 < sent.size < 10_000
    assert (sent.sender, sent.receiver, sent.kind, sent.size) == ("clinic-a", "helper", "rows", received.size)


def test_payloads_are_recorded_before_compression(parties: Network, tmp_path: Path) -> None:
    channels = together(
        {
            "clinic-a": lambda: parties.servers["clinic-a"].start_run(parties.terms("clinic-a", record=tmp_path / "r")),
            **{name: lambda name=name: _wait(parties, name) for name in WAITERS},
        }
    )
    channels["clinic-a"].send("helper", "rows", b"recorded")
    assert (tmp_path / "r" / "0001-clinic-a-to-helper-rows.bin").read_bytes() == b"recorded"


def _wait(parties: Network, name: str, **changes: object) -> object:
    return parties.servers[name].wait_for_run([parties.terms(name, **changes)], lambda _: True)


def test_a_party_can_take_part_in_one_run_after_another(parties: Network) -> None:
    for starter in ("clinic-a", "helper", "clinic-a"):
        channels = parties.start(starter)
        for channel in channels.values():
            channel.send(channel.peers[0], "rows", b"1")
        for channel in channels.values():
            channel.close()
            assert channel.stopped is None


def test_a_failed_run_can_be_started_again(parties: Network) -> None:
    channels = parties.start()
    with pytest.raises(KeyboardInterrupt), channels["clinic-a"]:
        raise KeyboardInterrupt
    for name in WAITERS:
        with pytest.raises(ProtocolError, match="clinic-a stopped the run; its reason: it was interrupted there"):
            channels[name].receive("clinic-a", "rows")
        channels[name].close()
    started = functools.partial(parties.servers["clinic-b"].start_run, parties.terms("clinic-b"))
    waiting = {name: functools.partial(wait_again, parties, name) for name in ("clinic-a", "helper")}
    again = together({"clinic-b": started, **waiting})
    again["clinic-b"].send("clinic-a", "rows", b"again")
    assert again["clinic-a"].receive("clinic-b", "rows") == b"again"


def wait_again(parties: Network, name: str) -> RunChannel:
    """Wait for a run some time after the other party has begun to ask."""
    time.sleep(0.2)
    return parties.servers[name].wait_for_run([parties.terms(name)], lambda _: True)


def test_a_party_whose_last_run_is_over_and_that_does_not_wait_is_named(parties: Network) -> None:
    channels = parties.start()
    for channel in channels.values():
        channel.stop("columns-missing")
    parties.wait_in_background("clinic-b")
    hasty = Patience(reach=0.2, beat=0.05)
    error = refused(
        "party-not-waiting", parties.servers["clinic-a"].start_run, parties.terms("clinic-a", patience=hasty)
    )
    assert "helper does not wait for runs" in str(error)


def test_a_party_that_has_done_its_part_is_not_missed(parties: Network) -> None:
    channels = parties.start()
    with channels["clinic-b"] as channel:
        channel.send("helper", "rows", b"last")
    parties.servers["clinic-b"].close()
    watches = {f"kohorte-watch-{name}-clinic-b" for name in ("clinic-a", "helper")}
    until(lambda: not watches & {thread.name for thread in threading.enumerate()})
    assert channels["helper"].receive("clinic-b", "rows") == b"last"
    channels["helper"].send("clinic-a", "rows", b"on")
    assert channels["clinic-a"].receive("helper", "rows") == b"on"
    refused("party-finished", channels["helper"].receive, "clinic-b", "rows")
    refused("party-finished", channels["helper"].send, "clinic-b", "rows", b"")


def test_a_run_that_was_stopped_is_not_a_success_of_a_party_that_did_its_part(parties: Network) -> None:
    channels = parties.start()
    channels["clinic-a"].stop("columns-missing")
    until(lambda: channels["helper"].stopped)
    with pytest.raises(ProtocolError, match="clinic-a stopped the run"), channels["helper"]:
        pass


# Before a run


def test_a_person_at_each_party_is_asked_about_starter_and_study(parties: Network) -> None:
    asked: list[Invitation] = []
    parties.start("clinic-b", decide=lambda invitation: asked.append(invitation) or True)
    assert {(one.starter, one.terms.study) for one in asked} == {("clinic-b", "5" * 64)}
    assert {one.terms.name for one in asked} == {"clinic-a", "helper"}
    assert len({one.run for one in asked}) == 1


def test_a_party_that_has_agreed_waits_as_long_as_another_thinks(parties: Network) -> None:
    def decide(invitation: Invitation) -> bool:
        time.sleep(QUICK.silent * 1.3 if invitation.terms.name == "helper" else 0)
        return True

    channels = parties.start(decide=decide, patience=QUICK)
    assert channels["clinic-b"].stopped is None


def test_a_refusal_ends_the_start_and_the_others_go_on_waiting(parties: Network) -> None:
    asked: list[str] = []

    def decide(invitation: Invitation) -> bool:
        asked.append(invitation.terms.name)
        return asked.count(invitation.terms.name) > 1 or invitation.terms.name == "clinic-b"

    def start_twice() -> object:
        error = refused("party-refused", parties.servers["clinic-a"].start_run, parties.terms("clinic-a"))
        assert "helper refuses" in str(error)
        return parties.servers["clinic-a"].start_run(parties.terms("clinic-a"))

    channels = together(
        {
            "clinic-a": start_twice,
            **{
                name: lambda name=name: parties.servers[name].wait_for_run([parties.terms(name)], decide)
                for name in WAITERS
            },
        }
    )
    assert asked.count("helper") == 2
    assert channels["clinic-b"].stopped is None


def test_a_party_with_another_version_of_the_study_is_refused_and_told() -> None:
    told: list[str] = []
    with network(("clinic-a", "clinic-b"), tell=told.append) as parties:
        parties.wait_in_background("clinic-b", study="6" * 64)
        error = refused("party-study", parties.servers["clinic-a"].start_run, parties.terms("clinic-a"))
        assert "clinic-b has another version of the study" in str(error)
        assert any("clinic-a asked for a run of a study that is not the one you have" in text for text in told)


def test_only_one_party_starts_a_run(parties: Network) -> None:
    start = {name: parties.servers[name].start_run for name in ("clinic-a", "clinic-b")}
    alone = {name: contact for name, contact in parties.contacts.items() if name != "helper"}
    parties.servers["clinic-b"]._desk.take(Run("0" * 32, parties.terms("clinic-b"), starter="clinic-b"))
    error = refused("party-busy", start["clinic-a"], parties.terms("clinic-a", contacts=alone))
    assert "only one party starts a run" in str(error)


def test_a_party_that_cannot_be_reached_is_named_with_its_address(parties: Network) -> None:
    parties.servers["helper"].close()
    parties.wait_in_background("clinic-b")
    error = refused(
        "party-unreachable",
        parties.servers["clinic-a"].start_run,
        parties.terms("clinic-a", patience=Patience(reach=0.2, beat=0.05)),
    )
    assert f"helper cannot be reached at {parties.contacts['helper'].address}" in str(error)


def test_a_party_whose_program_is_frozen_is_lost_before_a_run_as_during_one() -> None:
    """Its machine takes the connection, and nothing answers: people have time, programs answer at once."""
    with network(("clinic-a", "helper")) as parties, socket.socket() as frozen:
        frozen.bind(("127.0.0.1", 0))
        frozen.listen()
        address = f"127.0.0.1:{frozen.getsockname()[1]}"
        contacts = {**parties.contacts, "helper": replace(parties.contacts["helper"], address=address)}
        terms = parties.terms("clinic-a", contacts=contacts, patience=QUICK)
        error = refused("party-lost", parties.servers["clinic-a"].start_run, terms)
    assert "helper no longer answers in the phase agree" in str(error)


def test_people_who_do_not_answer_end_the_start(parties: Network) -> None:
    go_on = threading.Event()
    parties.wait_in_background("clinic-b")
    parties.wait_in_background("helper", decide=lambda _: go_on.wait(10))
    error = refused(
        "party-agreement",
        parties.servers["clinic-a"].start_run,
        parties.terms("clinic-a", patience=Patience(agree=0.3, beat=0.05)),
    )
    go_on.set()
    assert "helper" in str(error)


def test_a_party_that_agreed_and_ended_is_lost_before_the_run_begins() -> None:
    """Like a program that has not been started yet, it was asked for another minute."""
    told: list[str] = []
    with network(tell=told.append) as parties:
        parties.wait_in_background("clinic-b")
        parties.wait_in_background("helper", decide=lambda _: threading.Event().wait(15))
        start = functools.partial(parties.servers["clinic-a"].start_run, parties.terms("clinic-a"))

        def end() -> None:
            until(lambda: "clinic-b agrees" in told)
            parties.servers["clinic-b"]._port.close()

        with pytest.raises(ProtocolError, match="clinic-b no longer answers in the phase agree") as lost:
            together({"clinic-a": start, "clinic-b": end}, seconds=10)
    assert lost.value.code == "party-lost"


def test_a_party_that_agreed_notices_that_the_one_that_asked_has_ended() -> None:
    """It waited for the next invitation as long as for one that is late."""
    told: list[str] = []
    with network(tell=told.append) as parties:
        parties.wait_in_background("clinic-b")
        parties.servers["clinic-a"]._port.close()
        parties.servers["clinic-b"]._desk.invite(parties.contacts["clinic-a"].fingerprint, STUDY, "0" * 32)
        until(lambda: any("called off before it began: clinic-a no longer answers" in text for text in told))


def test_an_interrupt_while_others_are_asked_calls_the_run_off() -> None:
    told: list[str] = []

    def interrupt(text: str) -> None:
        told.append(text)
        if text == "clinic-b agrees":
            raise KeyboardInterrupt

    with network(("clinic-a", "clinic-b"), tell=interrupt) as parties:
        parties.wait_in_background("clinic-b")
        with pytest.raises(KeyboardInterrupt):
            parties.servers["clinic-a"].start_run(parties.terms("clinic-a"))
        until(lambda: any("called off before it began: clinic-a stopped the run" in text for text in told))


def test_an_interrupt_at_the_question_ends_the_start_at_once(parties: Network) -> None:
    def interrupt(_: Invitation) -> bool:
        raise KeyboardInterrupt

    def wait() -> None:
        with pytest.raises(KeyboardInterrupt):
            parties.servers["helper"].wait_for_run([parties.terms("helper")], interrupt)
        parties.servers["helper"].close()

    parties.wait_in_background("clinic-b")
    together(
        {
            "helper": wait,
            "clinic-a": lambda: refused(
                "party-stopped", parties.servers["clinic-a"].start_run, parties.terms("clinic-a")
            ),
        }
    )


def test_who_asks_again_before_it_is_told_of_an_interrupt_learns_it_as_well(
    parties: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was told that the party refuses to take part."""

    def interrupt(_: Invitation) -> bool:
        raise KeyboardInterrupt

    def wait() -> None:
        with pytest.raises(KeyboardInterrupt):
            parties.servers["helper"].wait_for_run([parties.terms("helper")], interrupt)

    monkeypatch.setattr(HttpsLink, "tell_stop", lambda *_: None)
    parties.wait_in_background("clinic-b")
    start = parties.servers["clinic-a"].start_run
    found = together({"helper": wait, "clinic-a": lambda: refused("party-stopped", start, parties.terms("clinic-a"))})
    assert "helper stopped the run in the phase agree; its reason: it was interrupted" in str(found["clinic-a"])


# Certificates


def test_a_party_with_another_certificate_than_pinned_is_refused_by_the_starter(parties: Network) -> None:
    other = folder_of("clinic-b", 1).fingerprint
    contacts = {**parties.contacts, "clinic-b": Contact(parties.contacts["clinic-b"].address, other)}
    error = refused(
        "party-certificate", parties.servers["clinic-a"].start_run, parties.terms("clinic-a", contacts=contacts)
    )
    assert f"clinic-b at {parties.contacts['clinic-b'].address} shows another certificate" in str(error)
    assert folder_of("clinic-b").fingerprint in str(error)
    assert other in str(error)


@pytest.mark.parametrize(("reached", "told"), [("helper", "leads to helper"), ("clinic-a", "leads to this party")])
def test_an_address_that_leads_to_another_member_is_told_apart_from_a_stranger(
    parties: Network, reached: str, told: str
) -> None:
    """The addresses of two members were exchanged in the study file, or all of them are this machine."""
    own = parties.contacts["clinic-b"].fingerprint
    contacts = {**parties.contacts, "clinic-b": Contact(parties.contacts[reached].address, own)}
    error = refused(
        "party-certificate", parties.servers["clinic-a"].start_run, parties.terms("clinic-a", contacts=contacts)
    )
    assert "the address of clinic-b in the study file" in str(error)
    assert told in str(error)


def test_a_starter_with_another_certificate_than_pinned_is_refused_by_the_others(parties: Network) -> None:
    contacts = {**parties.contacts, "clinic-a": Contact("127.0.0.1:1", folder_of("clinic-a", 1).fingerprint)}
    parties.wait_in_background(*WAITERS, contacts=contacts)
    terms = parties.terms("clinic-a", patience=Patience(reach=0.2, beat=0.05))
    error = refused("party-certificate-refused", parties.servers["clinic-a"].start_run, terms)
    assert "does not accept the certificate of this party" in str(error)


def test_a_pinned_certificate_that_has_expired_is_refused_with_its_dates(
    parties: Network, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "YEARS", -0.5 / 365)  # until half a day ago
    key, certificate = certificates.create_certificate("clinic-b")
    (tmp_path / "key.pem").write_bytes(key)
    (tmp_path / "certificate.pem").write_bytes(certificate)
    pin = certificates.fingerprint(ssl.PEM_cert_to_DER_cert(certificate.decode()))
    with PartyServer(PartyFolder(tmp_path, "clinic-b", pin), "127.0.0.1:0") as server:
        contacts = {**parties.contacts, "clinic-b": Contact(server.address, pin)}
        error = refused(
            "party-certificate", parties.servers["clinic-a"].start_run, parties.terms("clinic-a", contacts=contacts)
        )
    assert "the certificate of clinic-b is not valid today" in str(error)


def test_the_own_certificate_and_name_must_be_those_of_the_study(parties: Network) -> None:
    own = {**parties.contacts, "clinic-a": Contact("127.0.0.1:1", folder_of("clinic-a", 1).fingerprint)}
    for changes in ({"contacts": own}, {"name": "clinic-b"}):
        with pytest.raises(InputError) as caught:
            parties.servers["clinic-a"].start_run(parties.terms("clinic-a", **changes))
        assert caught.value.code in ("party-own-certificate", "party-terms")


def test_a_port_that_is_in_use_is_named(parties: Network) -> None:
    address = parties.servers["clinic-a"].address
    with pytest.raises(InputError, match=f"{address}: cannot wait for other parties there") as caught:
        PartyServer(folder_of("clinic-a"), address)
    assert caught.value.code == "party-port"


@pytest.mark.parametrize("address", ["a.example", "a.example:x", "a.example:99999", "http://a:1", "a b:1", "", ":1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError) as caught:
        Contact(address, "sha256:" + "0" * 64)
    assert caught.value.code == "party-address"


def test_terms_that_do_not_fit_together_are_refused() -> None:
    one, other = (Contact("a:1", "sha256:" + digit * 64) for digit in "01")
    for make in (
        lambda: RunTerms("x", "a", {"a": one, "b": other}),
        lambda: RunTerms("5" * 64, "c", {"a": one, "b": other}),
        lambda: RunTerms("5" * 64, "a", {"a": one}),
        lambda: RunTerms("5" * 64, "a", {"a": one, "b": one}),
        lambda: Contact("a:1", "0" * 64),
    ):
        with pytest.raises(InputError) as caught:
            make()
        assert caught.value.code == "party-terms"


def test_a_party_that_learns_of_its_studies_a_moment_later_is_waited_for(parties: Network) -> None:
    threading.Timer(0.3, lambda: parties.wait_in_background(*WAITERS)).start()
    channel = parties.servers["clinic-a"].start_run(parties.terms("clinic-a"))
    assert channel.stopped is None


# The end of a run


def test_a_party_whose_port_is_gone_ends_the_run_at_the_others(parties: Network) -> None:
    channels = parties.start(patience=QUICK)
    channels["clinic-a"].phase = "encrypt"
    channels["clinic-b"].phase = "decrypt"
    parties.servers["helper"]._port.close()
    for name, other in (("clinic-a", "clinic-b"), ("clinic-b", "clinic-a")):
        error = refused("party-lost", channels[name].receive, other, "rows")
        own = f"helper no longer answers in the phase {channels[name].phase}; the run has ended"
        assert own in str(error) or f"{other} stopped the run" in str(error)
        assert "helper" in str(error)


def test_a_party_that_is_silent_ends_the_run_at_the_others(parties: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    channels = parties.start(patience=QUICK)
    go_on = threading.Event()
    silence = lambda *_: Answer(State.RUNNING if go_on.wait(20) else State.UNKNOWN)  # noqa: E731
    monkeypatch.setattr(parties.servers["helper"]._desk, "ping", silence)
    began = time.monotonic()
    refused("party-lost", channels["clinic-a"].receive, "clinic-b", "rows")
    assert QUICK.silent * 0.5 < time.monotonic() - began < QUICK.silent + 5
    go_on.set()


def test_sending_to_a_party_that_is_gone_ends_the_run(parties: Network) -> None:
    channels = parties.start()
    parties.servers["helper"]._port.close()
    refused("party-lost", channels["clinic-a"].send, "helper", "rows", bytes(10))


def test_a_stop_is_passed_on_to_parties_that_the_first_one_cannot_reach(
    parties: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels = parties.start()
    link = channels["clinic-a"]._link
    tell = link.tell_stop
    monkeypatch.setattr(link, "tell_stop", lambda to, stop: None if to == "helper" else tell(to, stop))
    monkeypatch.setattr(channels["helper"]._link, "note", lambda *_: True)  # no news from signs of life
    channels["clinic-a"].stop("columns-missing")
    with pytest.raises(ProtocolError), channels["clinic-b"]:
        channels["clinic-b"].receive("clinic-a", "rows")
    error = refused("party-stopped", channels["helper"].receive, "clinic-a", "rows")
    assert "clinic-a stopped the run; its reason: columns-missing" in str(error)


def test_a_stop_that_got_lost_is_learnt_from_the_next_sign_of_life(
    parties: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    channels = parties.start()
    monkeypatch.setattr(channels["clinic-a"]._link, "tell_stop", lambda *_: None)
    channels["clinic-a"].phase = "decrypt"
    channels["clinic-a"].stop("columns-missing")
    error = refused("party-stopped", channels["helper"].receive, "clinic-b", "rows")
    assert "clinic-a stopped the run in the phase decrypt; its reason: columns-missing" in str(error)


def test_a_stop_ends_a_message_that_is_being_sent(parties: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    channels = parties.start()
    go_on = threading.Event()
    monkeypatch.setattr("kohorte.parties.transport.https.run.Run.put", lambda *_, **__: go_on.wait(20))
    threading.Timer(0.2, lambda: channels["clinic-b"].stop("columns-missing")).start()
    began = time.monotonic()
    refused("party-stopped", channels["clinic-a"].send, "helper", "rows", b"")
    assert time.monotonic() - began < 8
    go_on.set()


def test_a_message_above_the_limit_of_its_kind_ends_the_run(parties: Network) -> None:
    limits = Limits(message=1000, kinds={"rows": 10})
    channels = together(
        {
            "clinic-a": lambda: parties.servers["clinic-a"].start_run(parties.terms("clinic-a")),
            "clinic-b": lambda: _wait(parties, "clinic-b"),
            "helper": lambda: _wait(parties, "helper", limits=limits),
        }
    )
    channels["clinic-a"].send("helper", "other", bytes(1000))
    error = refused("party-stopped", channels["clinic-a"].send, "helper", "rows", bytes(11))
    assert "helper stopped the run; its reason: party-size" in str(error)
    refused("party-size", channels["helper"].receive, "clinic-b", "rows")
    refused("party-stopped", channels["clinic-b"].receive, "clinic-a", "rows")


def test_a_sender_cannot_fill_the_memory_with_messages_that_nobody_takes(parties: Network) -> None:
    channels = together(
        {
            "clinic-a": lambda: parties.servers["clinic-a"].start_run(parties.terms("clinic-a")),
            "clinic-b": lambda: _wait(parties, "clinic-b"),
            "helper": lambda: _wait(parties, "helper", limits=Limits(waiting=1000)),
        }
    )
    channels["clinic-a"].send("helper", "rows", bytes(600))
    refused("party-stopped", channels["clinic-a"].send, "helper", "rows", bytes(600))


def test_nothing_of_a_run_that_has_ended_is_kept_in_memory(parties: Network) -> None:
    channels = parties.start()
    channels["clinic-a"].send("helper", "rows", bytes(600))
    channels["helper"].close()
    assert channels["helper"]._inbox.waiting("clinic-a") == 0


def test_seconds_are_counted_from_the_beginning_of_the_run_and_not_from_the_invitation(parties: Network) -> None:
    began: list[float] = []

    def decide(_: Invitation) -> bool:
        time.sleep(0.3)
        began.append(time.monotonic())
        return True

    channels = parties.start(decide=decide)
    channels["clinic-a"].send("helper", "rows", b"")
    assert channels["clinic-a"].messages[0].seconds < time.monotonic() - began[0]


def test_a_large_payload_is_streamed_without_copies_of_it(parties: Network) -> None:
    channels = parties.start()
    size = 50_000_000
    payload = b"".join(number.to_bytes(8, "big") for number in range(size // 80)) * 10
    tracemalloc.start()
    try:
        channels["clinic-a"].send("helper", "rows", payload)
        arrived, most = tracemalloc.get_traced_memory()
        assert channels["helper"].receive("clinic-a", "rows") == payload
    finally:
        tracemalloc.stop()
    assert len(payload) == size
    assert size <= arrived < 1.02 * size
    assert most < 1.3 * size
