"""A party in a process of its own that is interrupted, killed, or told to stop while it computes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.https import Contact
from support.party_network import STUDY, Network, folder_of, network, together
from support.party_process import PATIENCE

LONGEST = 10.0


@dataclass
class Computing:
    """A run of three parties, of which the helper is a process that computes."""

    process: subprocess.Popen[str]
    channels: dict[str, RunChannel]

    def ended_by(self) -> dict[str, ProtocolError]:
        """The errors at the clinics; each must come within ten seconds."""
        began = time.monotonic()
        found = {}
        for name, other in (("clinic-a", "clinic-b"), ("clinic-b", "clinic-a")):
            with pytest.raises(ProtocolError) as caught:
                self.channels[name].receive(other, "rows")
            found[name] = caught.value
        assert time.monotonic() - began < LONGEST
        return found


@pytest.fixture
def computing() -> Iterator[Computing]:
    command = [sys.executable, "-m", "support.party_process", str(folder_of("helper").path)]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process,
        network(("clinic-a", "clinic-b")) as parties,
    ):
        try:
            yield Computing(process, begin(process, parties))
        finally:
            process.kill()


def begin(process: subprocess.Popen[str], parties: Network) -> dict[str, RunChannel]:
    assert process.stdin is not None
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    parties.contacts["helper"] = Contact(address, folder_of("helper").fingerprint)
    contacts = {name: [contact.address, contact.fingerprint] for name, contact in parties.contacts.items()}
    print(json.dumps([STUDY, contacts]), file=process.stdin, flush=True)
    terms = {name: parties.terms(name, patience=PATIENCE) for name in parties.servers}
    channels = together(
        {
            "clinic-a": lambda: parties.servers["clinic-a"].start_run(terms["clinic-a"]),
            "clinic-b": lambda: parties.servers["clinic-b"].wait_for_run([terms["clinic-b"]], lambda _: True),
        }
    )
    assert process.stdout.readline() == "begun\n"
    return channels


def test_the_others_end_within_ten_seconds_when_a_process_is_killed(computing: Computing) -> None:
    computing.process.kill()
    errors = computing.ended_by()
    assert {error.code for error in errors.values()} == {"party-lost"}
    assert all("helper" in str(error) for error in errors.values())


def test_ctrl_c_at_one_party_ends_the_run_at_the_others(computing: Computing) -> None:
    computing.process.send_signal(signal.SIGINT)
    errors = computing.ended_by()
    text = "helper stopped the run in the phase anonymize; its reason: it was interrupted there"
    assert {str(error) for error in errors.values()} == {text}
    assert computing.process.wait(LONGEST) == 130


def test_a_long_computation_ends_when_another_party_stops_the_run(computing: Computing) -> None:
    computing.channels["clinic-a"].stop("columns-missing")
    assert computing.process.stdout is not None
    assert computing.process.stdout.readline() == (
        "party-stopped clinic-a stopped the run; its reason: columns-missing\n"
    )
    assert computing.process.wait(LONGEST) == 3
