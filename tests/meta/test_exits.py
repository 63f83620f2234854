"""Every exit of a release or an answer passes the disclosure ledger; a new one is listed here with its ledger."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import kohorte
from support.parsed import nodes_of

PACKAGE = Path(kohorte.__file__).parent
WAYS_OUT = {"write_release", "certified_bytes", "publish", "publish_release", "StagedFiles", "query", "csv_chunks"}
"""Whatever brings rows or an answer to a reader calls one of these, or reads an encrypted release."""
READS_A_RELEASE = ("Content.RELEASE",)
LEDGER = {
    "cli/verbs/anonymize.py": "recording(",
    "cli/verbs/query.py": "memory.record(",
    "series/series.py": "gate.commit",
    "service/jobs/tasks.py": "keep_waiting(",
    "service/projects/released_files.py": "record_given(",
    "service/projects/queries.py": "memory.record(",
    "exchange/deciding/answers.py": "ledger.record(",
    "parties/joint.py": "signer.sign(unsigned)",  # a signer with a memory records first (parties/memory.py)
}
"""How each exit of an institution reaches the ledger."""
NO_EXIT = {
    "release/write.py": "the way itself; its callers are the exits",
    "series/releasing/publication.py": "part of series/series.py",
    "exchange/deciding/folder.py": "the draft of an answer, which only the house can read",
    "service/projects/tables.py": "made-up rows, to load libraries",
    "service/web/download_formats.py": "calls service/projects/released_files.py, also for the routes and screens",
    "service/integrity/verification.py": "compares files, and shows none",
    "service/assessments/assessment.py": "counts a release for its risk, and shows no row",
}
"""Modules that call a way out, and let nothing out by themselves."""


def calls_of(path: Path) -> set[str]:
    """The names of all functions that a module calls."""
    called = [node.func for node in nodes_of(path) if isinstance(node, ast.Call)]
    return {
        one.id if isinstance(one, ast.Name) else one.attr for one in called if isinstance(one, ast.Name | ast.Attribute)
    }


@cache
def exits() -> dict[str, str]:
    """The modules through which something can leave, and their source."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        if calls_of(path) & WAYS_OUT or any(text in source for text in READS_A_RELEASE):
            found[path.relative_to(PACKAGE).as_posix()] = source
    return found


def test_every_exit_has_a_ledger() -> None:
    assert sorted(name for name in exits() if name not in LEDGER and name not in NO_EXIT) == []


def test_what_is_said_to_reach_the_ledger_does() -> None:
    for name, how in LEDGER.items():
        assert how in (PACKAGE / name).read_text(encoding="utf-8"), name


def test_no_exit_is_listed_that_is_none() -> None:
    known = {*exits(), "exchange/deciding/answers.py"}  # writes bytes that were certified before
    assert sorted(name for name in (*LEDGER, *NO_EXIT) if name not in known) == []
