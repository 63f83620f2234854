"""A program: pseudonymize a table in children that are killed (SIGKILL) at many moments, each time in a new folder.

    python killed_pseudonyms.py FOLDER

Prints one line per moment: how many entries the list had when the child was killed. Then the table is pseudonymized
whole, and the program checks that nobody who was in the list got another pseudonym, and that nobody has two.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kohorte.data import read_table
from kohorte.pseudonyms import bulk, entries
from kohorte.pseudonyms.domains import Domain, Domains, definition_of
from kohorte.pseudonyms.kinds import ReferenceList
from kohorte.sources import batches
from kohorte.trust import keys, log, sealing
from kohorte.trust.folder import TrustFolder

PEOPLE = [f"person {number}" for number in range(60)]
MOMENTS: list[tuple[Any, str, int]] = [
    *((sealing.Sealer, "seal", number) for number in (1, 8, 14, 25, 40, 60)),
    *((entries.Entries, "_added", number) for number in (1, 2, 4)),
    *((bulk, "_looked_up", number) for number in (1, 3, 5)),
    (log.Log, "append", 1),
    (batches, "write_csv", 2),
    (keys.Key, "derived", 3),
]


def main() -> None:
    """Try all moments; the parent uses the threads of polars only when it forks no more."""
    places = [Path(sys.argv[1]) / str(number) for number in range(len(MOMENTS))]
    for here, moment in zip(places, MOMENTS, strict=True):
        here.mkdir()
        (here / "table.csv").write_text("patient,value\n" + "".join(f"{one},x\n" for one in PEOPLE))
        domains = Domains(TrustFolder.opened(here / "trust", create=True))
        domains.create(definition_of("study", "list"), actor="anna")
        child = os.fork()
        if child == 0:
            _kill_at(*moment)
            _run(domains.open("study"), here)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, moment
        assert not (here / "out.csv").exists()
    for here in places:
        _continue(Domains(TrustFolder.opened(here / "trust")).open("study"), here)


def _continue(domain: Domain, here: Path) -> None:
    assert isinstance(domain.kind, ReferenceList)
    found = domain.kind.entries
    with found._store.reading() as connection:
        before = {name: one.pseudonym for name, one in found._by_original(connection, PEOPLE).items()}
    assert len(before) == found.count()
    print(len(before))
    _run(domain, here)
    assert not [path for folder in (here, here / "trust") for path in folder.glob(".*.tmp")]
    frame = read_table(here / "out.csv").frame
    after = dict(zip(PEOPLE, frame["patient"], strict=True))
    assert before.items() <= after.items()
    assert len(set(after.values())) == len(PEOPLE) == found.count()
    assert domain.kind.folder.log.verify().whole


def _run(domain: Domain, here: Path) -> None:
    table = batches.TableBatches(here / "table.csv", block=180)
    bulk.pseudonymize(table, here / "out.csv", domain, bulk.Wish("patient"), actor="anna")


def _kill_at(place: Any, name: str, number: int) -> None:
    """Kill this process right after the n-th call of a function."""
    original: Callable[..., Any] = getattr(place, name)
    calls = 0

    def counted(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        result = original(*arguments, **options)
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(place, name, counted)


if __name__ == "__main__":
    main()
