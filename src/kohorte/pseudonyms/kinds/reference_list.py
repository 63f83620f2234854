"""Reference lists: each text gets a random or the next number, and a list remembers it.

Guarantee
    A pseudonym has nothing to do with its text: without the list nobody finds the text, not even with all computers.
    The list is sealed: a person who has the database but not the key file reads neither texts nor pseudonyms.
Leaves open
    The number of entries. Numbered pseudonyms tell the order in which people arrived.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import ClassVar

from kohorte.errors import AccessDenied, InputError
from kohorte.in_words import count
from kohorte.pseudonyms.definition import Definition
from kohorte.pseudonyms.entries import Entries, most_entries
from kohorte.pseudonyms.kinds.base import PseudonymKind
from kohorte.pseudonyms.made import Made
from kohorte.trust.keys import Key


class ReferenceList(PseudonymKind):
    """Random or numbered pseudonyms, remembered in the database."""

    name: ClassVar[str] = "list"
    default_length: ClassVar[int] = 12
    chooses_version: ClassVar[bool] = False

    @classmethod
    def check(cls, definition: Definition) -> None:
        """Refuse options of other kinds."""
        if definition.keep_format:
            raise InputError("only a reversible domain keeps a format", code="pseudonym-kind-option")

    @property
    def notes(self) -> list[str]:
        """How many people fit."""
        shape = self.definition.shape
        order = "; numbers tell the order in which people arrived" if self.definition.numbered else ""
        return [f"the list has room for {count(most_entries(self.definition, shape.space))} people{order}"]

    @property
    def filled(self) -> float:
        """How much of the list is taken."""
        return self.entries.share_taken

    @property
    def after_rotation(self) -> str:
        """Nobody gets another pseudonym."""
        return "entries keep their pseudonyms, and new ones are sealed with the new version"

    @cached_property
    def entries(self) -> Entries:
        """The list."""
        return Entries(self.folder, self.definition, self.keys)

    def pseudonyms(self, originals: Sequence[str], key: Key) -> Made:
        """Look every text up, and add those that are not there; on disk when this returns."""
        del key  # entries keep the version they were made with; new ones have the current one
        return self.entries.pseudonyms(originals)

    def known(self, originals: Sequence[str], key: Key) -> Sequence[str | None]:
        """Look every text up."""
        del key
        return self.entries.known(originals)

    def refuse_telling(self, texts: int) -> None:
        """Refuse numbers, of which the highest are those of new people, and a list that is nearly full."""
        if self.definition.numbered:
            raise AccessDenied(
                f"the domain {self.definition.name!r} counts: a new number would tell that somebody was not in its "
                "list; a trustee asks for these pseudonyms, or the domain has random ones",
                code="pseudonym-numbered",
            )
        self.entries.refuse_nearly_full(texts, datetime.now(UTC).date())

    def even_out(self, originals: Sequence[str], *, new: int) -> None:
        """Draw, seal and commit for texts that were in the list."""
        self.entries.even_out(originals, new=new)

    def originals(self, pseudonyms: Sequence[str], version: int | None = None) -> list[str | None]:
        """Look every pseudonym up."""
        del version
        for pseudonym in pseudonyms:
            self.definition.shape.body(pseudonym)
        return self.entries.originals(pseudonyms)

    def unchecked(self) -> Entries:
        """The list, also if its database is older than the log, to repair or to end it."""
        return Entries(self.folder, self.definition, self.keys, unchecked=True)

    def forget(self, pseudonyms: Sequence[str]) -> int:
        """Destroy the entries of these pseudonyms; return how many there were."""
        for place, pseudonym in enumerate(pseudonyms, start=1):
            try:
                self.definition.shape.body(pseudonym)
            except InputError as error:
                raise InputError(f"pseudonym {place}: {error.message}", code=error.code) from None
        return self.entries.forget(pseudonyms)
