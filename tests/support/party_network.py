"""Parties on the loopback address of this machine, each with a folder and a port of its own."""

from __future__ import annotations

import atexit
import contextlib
import functools
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import mkdtemp

from kohorte.errors import KohorteError
from kohorte.parties.transport.channel import RunChannel
from kohorte.parties.transport.folder import PartyFolder
from kohorte.parties.transport.https import Contact, Invitation, PartyServer, Patience, RunTerms

STUDY = "5" * 64
NAMES = ("clinic-a", "clinic-b", "helper")
STEADY = Patience(reach=20, agree=20, beat=0.05, silent=30, message=20)
QUICK = Patience(reach=20, agree=20, beat=0.05, silent=1.5, message=20)
"""For tests in which a party is lost; elsewhere a busy machine must not lose one."""


@functools.cache
def folder_of(name: str, key: int = 0) -> PartyFolder:
    """The folder of a party; one for all tests of a process, because keys take time. Another `key`, another folder."""
    place = Path(mkdtemp(prefix="party-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    return PartyFolder.create(place / f"{name}-{key}", name)


class Network:
    """Several parties that know each other's certificates."""

    def __init__(self, servers: dict[str, PartyServer]) -> None:
        self.servers = servers
        self.contacts = {name: Contact(server.address, server.folder.fingerprint) for name, server in servers.items()}
        self.told: list[str] = []

    def terms(self, name: str, /, **changes: object) -> RunTerms:
        return replace(RunTerms(STUDY, name, self.contacts, STEADY), **changes)

    def wait_in_background(
        self, *names: str, decide: Callable[[Invitation], bool] = lambda _: True, **changes: object
    ) -> None:
        """Let parties wait for a run, in threads that end with their ports."""

        def wait(name: str) -> None:
            with contextlib.suppress(KohorteError):
                self.servers[name].wait_for_run([self.terms(name, **changes)], decide)

        for name in names:
            threading.Thread(target=wait, args=(name,), daemon=True).start()
        until(lambda: all(self.servers[name]._desk._waiting for name in names))

    def start(
        self,
        name: str = "clinic-a",
        *,
        decide: Callable[[Invitation], bool] = lambda _: True,
        patience: Patience = STEADY,
    ) -> dict[str, RunChannel]:
        """Begin a run that `name` starts and the others wait for."""

        def begin(party: str) -> RunChannel:
            server, terms = self.servers[party], self.terms(party, patience=patience)
            return server.start_run(terms) if party == name else server.wait_for_run([terms], decide)

        return together({party: functools.partial(begin, party) for party in self.servers})


def until(condition: Callable[[], object], seconds: float = 10) -> None:
    """Wait until something is true."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def together(calls: dict[str, Callable[[], object]], seconds: float = 20) -> dict[str, object]:
    """Call all functions at the same time and return what they return, or raise the first error at once."""
    results: queue.Queue[tuple[str, object, BaseException | None]] = queue.Queue()

    def run(name: str, call: Callable[[], object]) -> None:
        try:
            results.put((name, call(), None))
        except BaseException as error:  # noqa: BLE001 - raised by the caller
            results.put((name, None, error))

    for name, call in calls.items():
        threading.Thread(target=run, args=(name, call), daemon=True).start()
    found: dict[str, object] = {}
    while len(found) < len(calls):
        name, result, error = results.get(timeout=seconds)
        if error is not None:
            raise error
        found[name] = result
    return found


@contextlib.contextmanager
def network(names: Sequence[str] = NAMES, **options: object) -> Iterator[Network]:
    """Parties that listen; their ports are closed at the end."""
    with contextlib.ExitStack() as stack:
        servers = {name: stack.enter_context(PartyServer(folder_of(name), "127.0.0.1:0", **options)) for name in names}
        yield Network(servers)
