"""The disclosure ledger: everything that left, and what a new release would tell together with it.

Guarantee
    If every release to recipients who may compare was recorded with nothing found, then every group of people that
    they can derive from the sets of people that they were told, by union, intersection, complement and arithmetic with
    their sizes, is empty or has at least k people. A release that was deleted from the ledger or changed is noticed.
Leaves open
    What a refusal tells; what recipients know from elsewhere; values of columns whose codes were not given. A whole
    folder that is replaced by an older copy is noticed only by a head that was noted elsewhere.
Source
    Denning: Cryptography and Data Security, 1982, chapter 6 (inference controls; atoms are its elementary sets).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
import polars as pl

from kohorte.data import spelling_keys
from kohorte.disclosures.alike import Looks, looks_shown
from kohorte.disclosures.atoms import joined, refined, signatures
from kohorte.disclosures.candidate import PUBLIC, Candidate
from kohorte.disclosures.examining import examine
from kohorte.disclosures.findings import Findings
from kohorte.disclosures.history import History
from kohorte.disclosures.people import distinct_prints, found_in
from kohorte.disclosures.repairing import repaired
from kohorte.disclosures.storage import START, WITHDRAWN, Books, ShownAtoms, Storage
from kohorte.disclosures.view import View
from kohorte.errors import InputError, PrivacyViolation
from kohorte.kernels.arrays import Bools, Integers
from kohorte.trust.folder import TrustFolder
from kohorte.trust.libraries import refuse_missing_libraries
from kohorte.trust.log import account

Together: TypeAlias = str | Sequence[Collection[str]]
"""Who may compare what they got: "all" together, each "alone", or groups of recipients by their names."""
ALL, ALONE = "all", "alone"


@dataclass(frozen=True, eq=False)
class _Group:
    atoms: Integers
    known_to: Callable[[str], bool]


class Ledger:
    """The disclosure ledger of a folder; `actor` is named in its log."""

    def __init__(self, folder: TrustFolder, *, create: bool = False, actor: str | None = None) -> None:
        self._folder = folder
        self._storage = Storage(folder, create=create, actor=actor or account())

    @classmethod
    def open(cls, folder: str | Path | TrustFolder, *, create: bool = False, actor: str | None = None) -> Self:
        """Open the ledger of a folder; with `create` a missing one is made."""
        refuse_missing_libraries()
        opened = folder if isinstance(folder, TrustFolder) else TrustFolder.opened(folder, create=create)
        return cls(opened, create=create, actor=actor)

    def __repr__(self) -> str:
        return "<Ledger of disclosures>"

    def close(self) -> None:
        """Close the connections to the database."""
        self._storage.close()

    def fingerprints(self, people: pl.Series | Sequence[str]) -> Integers:
        """Return an index for the person of each row, the same whenever the person appears; new people are added.

        Give all people of a table, not only those who satisfy a condition: who is never shown counts, too. Spellings of
        an identifier are one person, as everywhere.
        """
        prints, row_of = distinct_prints(people, self._storage.secrets.people)
        with self._storage.reading() as books:
            known = found_in(books.prints(), prints)
        if (known < 0).any():
            with self._storage.writing() as books:
                before = books.prints()
                new = prints[found_in(before, prints) < 0]
                if len(new):
                    books.add_people(np.sort(new))
                    books.save({"action": "add people", "people": len(new)})
                known = found_in(books.prints(), prints)
        return known[row_of]

    def examine(self, candidate: Candidate, k: int, together: Together = ALL) -> Findings:
        """Return what the recipient, or all who may compare, could derive; nothing is recorded."""
        with self._storage.reading() as books:
            return _examined(books, candidate, k, together)

    def repaired(self, candidate: Candidate, k: int, together: Together = ALL) -> Candidate | None:
        """Return the candidate without the people who would stand out, or None if nobody would be left.

        The recipient must get no row of those people, not even one of stars, and must not be told how many there are.
        """
        with self._storage.reading() as books:
            view, _ = _viewed(books, candidate, k, together)
            order = books.prints().argsort(kind="stable").argsort(kind="stable")
        return repaired(view, order)

    def record(
        self,
        candidate: Candidate,
        certificate_hash: str = "",
        *,
        k: int | None = None,
        together: Together = ALL,
        again: bool = False,
    ) -> int:
        """Record a release, before it is given away; returns its number.

        With `k` it is examined in the same transaction and refused if anything is found, so that two releases at the
        same time cannot both pass. Without, it is recorded as it is: it has left already, or people decided so. With
        `again`, after an attempt that may have been killed, a release that is in the ledger keeps its number.
        """
        with self._storage.writing() as books:
            if k is not None and (findings := _examined(books, candidate, k, together)):
                raise refused(findings)
            if again and (known := [one for one in books.all_facts() if _is_of(one, candidate, certificate_hash)]):
                return int(known[-1]["number"])
            number = _record(books, candidate, certificate_hash)
            books.save({"action": "record", "release": number, "code": books.head.code})
        return number

    def record_all(self, candidates: Iterable[Candidate]) -> list[int]:
        """Record releases that left before there was a ledger, all of them or none; returns their numbers."""
        with self._storage.writing() as books:
            numbers = [_record(books, candidate, "") for candidate in candidates]
            if numbers:
                books.save({"action": "record all", "releases": len(numbers), "code": books.head.code})
        return numbers

    def withdraw(self, people: pl.Series | Sequence[str]) -> int:
        """Note that people have withdrawn; they must be in no later release. Returns how many are new."""
        indices = self.fingerprints(people)
        with self._storage.writing() as books:
            withdrawn = books.withdrawn()
            before = int(withdrawn.sum())
            withdrawn[indices] = True
            new = int(withdrawn.sum()) - before
            if new:
                books.set_withdrawn(withdrawn)
                books.save({"action": "withdraw", "people": new})
        return new

    def have_withdrawn(self, people: pl.Series | Sequence[str]) -> Bools:
        """Whether the person of each row has withdrawn; nobody is added."""
        with self._storage.reading() as books:
            withdrawn = books.withdrawn()
            if not withdrawn.any():
                return np.zeros(len(people), dtype=bool)
            known = books.prints()
        prints, row_of = distinct_prints(people, self._storage.secrets.people)
        index = found_in(known, prints)
        return ((index >= 0) & withdrawn[np.maximum(index, 0)])[row_of]

    @property
    def withdrawals(self) -> int:
        """A number that changes whenever somebody has withdrawn."""
        with self._storage.reading() as books:
            return books.head.states.get(WITHDRAWN, 0)

    def withdrawn(self, people: Integers) -> Bools:
        """Which of some people, by index, have withdrawn."""
        with self._storage.reading() as books:
            return books.withdrawn()[people]

    def releases(self) -> list[dict[str, Any]]:
        """Return the facts of all releases, in their order."""
        with self._storage.reading() as books:
            return list(books.all_facts())

    def release(self, number: int) -> dict[str, Any]:
        """Return the facts of one release."""
        with self._storage.reading() as books:
            return books.facts(number)

    def releases_of(self, person: str) -> list[int]:
        """Return the numbers of the releases that showed a person."""
        prints, _ = distinct_prints([person], self._storage.secrets.people)
        with self._storage.reading() as books:
            index = int(found_in(books.prints(), prints)[0])
            return [] if index < 0 else sorted(History(books, books.atoms(), lambda _: True).releases_of(index))

    @property
    def head(self) -> str:
        """Number and code of the last release; noted elsewhere, it proves that the ledger still has all until then."""
        with self._storage.reading() as books:
            return f"{books.head.releases}:{books.head.code}"

    def refuse_changed(self, noted: str | None = None) -> None:
        """Check the whole ledger and its log; refuse if anything was changed or removed.

        `noted` is a `head` of before, from another place: all releases until then must still be there.
        """
        number, _, code = (f"0:{START}" if noted is None else noted.strip()).partition(":")
        if not number.isdecimal() or not code:
            raise InputError("a head is a number, a colon and a code", code="disclosure-options")
        self._storage.refuse_changed((int(number), code))


def _is_of(facts: Mapping[str, Any], candidate: Candidate, certificate_hash: str) -> bool:
    same = facts["recipient"] == candidate.recipient and facts["kind"] == str(candidate.kind)
    return bool(certificate_hash) and same and facts["certificate"] == certificate_hash


def refused(findings: Findings) -> PrivacyViolation:
    """The error for the holder of the data; a requester must not get it."""
    reasons = "; ".join(finding.in_words for finding in findings)
    return PrivacyViolation(f"the release was refused by the disclosure ledger: {reasons}", code="disclosure-refused")


def _examined(books: Books, candidate: Candidate, k: int, together: Together) -> Findings:
    view, groups = _viewed(books, candidate, k, together)
    leaves = books.atoms()
    return examine(view, [History(books, leaves, group.known_to) for group in groups])


def _viewed(books: Books, candidate: Candidate, k: int, together: Together) -> tuple[View, list[_Group]]:
    if k < 2:
        raise InputError("k: is at least 2", code="disclosure-k", field="k")
    _refuse_unknown(books, candidate)
    groups = list(_groups(books, candidate.recipient, together))
    looks = Looks({one.about: books.looks(one.about) for one in candidate.alike})
    return View(candidate, k, [group.atoms for group in groups], books.withdrawn(), looks), groups


def _refuse_unknown(books: Books, candidate: Candidate) -> None:
    for people in (candidate.people, candidate.table):
        if people is not None and people.max(initial=-1) >= books.head.people:
            raise InputError(
                "a person of the candidate is not in the ledger; Ledger.fingerprints adds people",
                code="disclosure-candidate",
            )


def _groups(books: Books, recipient: str, together: Together) -> Iterator[_Group]:
    """The atoms of each group that would compare what the recipient gets."""
    if together == ALL or _spelling(recipient) == PUBLIC:
        yield _Group(books.atoms(), lambda _: True)
        return
    if isinstance(together, str) and together != ALONE:
        raise InputError("together: is all, alone, or groups of recipients", code="disclosure-together")
    groups = [] if isinstance(together, str) else [{_spelling(member) for member in group} for group in together]
    own, known = _spelling(recipient), {recipient, PUBLIC, *(facts["recipient"] for facts in books.all_facts())}
    for group in [group for group in groups if own in group] or [{own}]:
        members = sorted(name for name in known if _spelling(name) in {*group, own, PUBLIC})
        atoms = books.recipient(members[0])
        for member in members[1:]:
            atoms = refined(atoms, books.recipient(member))
        yield _Group(atoms, frozenset(members).__contains__)


def _spelling(name: str) -> str:
    """One text for all spellings of a recipient, so that nobody begins again by capital letters or blanks."""
    return str(spelling_keys(pl.Series([name], dtype=pl.String))[0])


def _record(books: Books, candidate: Candidate, certificate_hash: str) -> int:
    _refuse_unknown(books, candidate)
    shown = signatures(candidate.people, candidate.classes, size=books.head.people)
    facts = candidate.facts() | {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "people": int((shown >= 0).sum()),
        "known": books.head.people,
        "certificate": certificate_hash,
    }
    if not candidate.tells_sets:
        nobody = np.zeros(0, dtype=np.int64)
        return books.add_release(facts, ShownAtoms(books.head.atoms, nobody, nobody))
    first = books.head.atoms
    atoms, before, signature = joined(books.atoms(), shown, first=first)
    books.set_atoms(atoms)
    own = books.recipient(candidate.recipient)
    books.set_atoms(joined(own, shown, first=int(own.max(initial=0)) + 1)[0], candidate.recipient)
    books.head.atoms = first + len(before)
    for one in candidate.alike:
        groups, looks = books.looks(one.about), looks_shown(candidate, one, books.head.people)
        books.set_looks(joined(groups, looks, first=int(groups.max(initial=0)) + 1)[0], one.about)
    return books.add_release(facts, ShownAtoms(first, before, signature))
