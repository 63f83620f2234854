"""What a kind of pseudonym is: it makes pseudonyms of texts, and some kinds can find the texts again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from kohorte.pseudonyms.definition import Definition
from kohorte.pseudonyms.made import Made
from kohorte.trust.folder import TrustFolder
from kohorte.trust.keys import Key, Keys


class PseudonymKind(ABC):
    """Makes the pseudonyms of one domain; the same text gets the same pseudonym, under one key.

    A subclass declares its `name`, and `default_length`, the characters of a pseudonym if nothing else is said.
    """

    name: ClassVar[str]
    default_length: ClassVar[int]
    chooses_version: ClassVar[bool] = True
    """Whether an old version of the key can be chosen for new pseudonyms."""

    may_coincide: ClassVar[bool] = False
    """Whether two texts can get the same pseudonym."""

    def __init__(self, definition: Definition, keys: Keys, folder: TrustFolder) -> None:
        self.definition, self.keys, self.folder = definition, keys, folder

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.definition.name!r}>"

    @classmethod
    @abstractmethod
    def check(cls, definition: Definition) -> None:
        """Refuse a definition that this kind cannot keep."""

    @property
    def in_words(self) -> str:
        """How the pseudonyms look."""
        return self.definition.shape.in_words

    @property
    def notes(self) -> list[str]:
        """What people should know who make such a domain."""
        return []

    @property
    def filled(self) -> float | None:
        """How much of a list is taken, from 0 to 1; None where there is no list."""
        return None

    @property
    @abstractmethod
    def after_rotation(self) -> str:
        """What a new version of the key means for pseudonyms, in words."""

    @abstractmethod
    def pseudonyms(self, originals: Sequence[str], key: Key) -> Made:
        """Return the pseudonyms of different texts, made with this version of the key unless they exist."""

    def known(self, originals: Sequence[str], key: Key) -> Sequence[str | None]:
        """Return the pseudonyms of different texts and add nothing; None for one that has none yet."""
        return self.pseudonyms(originals, key).pseudonyms

    def refuse_telling(self, texts: int) -> None:
        """Refuse so many texts of somebody who must not learn who is known, if an answer or an error would tell."""
        del texts  # only a list knows anybody

    def even_out(self, originals: Sequence[str], *, new: int) -> None:
        """Do, after so many of the texts were new, the work that the others would have been if they were new, too."""
        del originals, new

    @abstractmethod
    def originals(self, pseudonyms: Sequence[str], version: int | None = None) -> list[str | None]:
        """Return the texts of pseudonyms, None for one that is not known; old versions of the key are tried, too."""
