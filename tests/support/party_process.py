"""A helper in a process of its own that takes part in a run and computes for a minute: python -m support.party_process.

It prints its address, reads the contacts from standard input, prints `begun` when the run has begun, and in the end the
code of the error that ended the run.
"""

from __future__ import annotations

import json
import sys
import time

from kohorte.errors import ProtocolError
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.https import Contact, PartyServer, Patience, RunTerms

PATIENCE = Patience(beat=0.2)


def main(folder: str) -> None:
    with PartyServer(PartyFolder.open(folder), "127.0.0.1:0", interrupts=True) as server:
        print(server.address, flush=True)
        study, contacts = json.loads(sys.stdin.readline())
        terms = RunTerms(study, "helper", {name: Contact(*contact) for name, contact in contacts.items()}, PATIENCE)
        with server.wait_for_run([terms], lambda _: True) as channel:
            channel.phase = "anonymize"
            print("begun", flush=True)
            compute()


def compute() -> None:
    """A computation that does not look at the run."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        sum(range(100_000))


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except ProtocolError as error:
        print(error.code, error, flush=True)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
