"""Reversible pseudonyms: the text itself, encrypted deterministically; nothing is stored.

Guarantee
    Without the key a pseudonym shows only which texts are equal and, in steps of 16 bytes, how long they are. With
    AES-SIV a pseudonym that was changed is recognised as none.
Leaves open
    The holder of the key can turn every pseudonym back. With `keep_format` (FF1) the length is shown exactly, a changed
    pseudonym leads to another text, and it must be known with which version of the key it was made.
Source
    Harkins: Synthetic Initialization Vector (SIV) Authenticated Encryption Using the Advanced Encryption Standard,
    RFC 5297, 2008; for FF1 see `kohorte.pseudonyms.ff1`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from kohorte.errors import InputError
from kohorte.pseudonyms.definition import Definition
from kohorte.pseudonyms.ff1 import FF1
from kohorte.pseudonyms.kinds.base import PseudonymKind
from kohorte.pseudonyms.made import Made, TextError
from kohorte.pseudonyms.padding import BLOCK, padded, unpadded
from kohorte.pseudonyms.shape import Check
from kohorte.trust.keys import Key

SIV_KEY_BYTES = 64
TAG_BYTES = 16
LONGEST_TEXT = 1024
"""Bytes; longer texts are no identifiers."""


class Reversible(PseudonymKind):
    """AES-SIV of the text, or FF1 if the format must be kept."""

    name: ClassVar[str] = "reversible"
    default_length: ClassVar[int] = 1

    @classmethod
    def check(cls, definition: Definition) -> None:
        """Refuse what has no meaning for encrypted texts."""
        if definition.numbered or definition.check == Check.PID:
            raise InputError("a reversible domain is neither numbered nor made of PIDs", code="pseudonym-kind-option")
        if definition.length != cls.default_length:
            raise InputError(
                "length: the length of a reversible pseudonym follows from its text; give none",
                code="pseudonym-kind-option",
            )

    @property
    def in_words(self) -> str:
        """How the pseudonyms look; their length follows from the text."""
        alphabet = self.definition.shape.alphabet
        how = "as long as the value" if self.definition.keep_format else f"{self._shortest} characters or more"
        return f"{how}, of {alphabet.size} characters"

    @property
    def _shortest(self) -> int:
        return len(self.definition.shape.text(0, self._lengths[TAG_BYTES + BLOCK]))

    @property
    def after_rotation(self) -> str:
        """New pseudonyms differ; old ones stay resolvable."""
        return "the same value gets another pseudonym from now on, and old pseudonyms can still be turned back"

    def pseudonyms(self, originals: Sequence[str], key: Key) -> Made:
        """Encrypt every text."""
        make = self._kept if self.definition.keep_format else self._sealed
        return Made(make(originals, key), [key.version] * len(originals))

    def originals(self, pseudonyms: Sequence[str], version: int | None = None) -> list[str | None]:
        """Decrypt every pseudonym; with `keep_format` and several versions of the key, one must be given."""
        if self.definition.keep_format:
            if version is None and len(self.keys.versions) > 1:
                raise InputError(
                    "the key was rotated, and pseudonyms that keep a format do not show which version made them; "
                    "give the version of the key",
                    code="pseudonym-version-needed",
                )
            key = self.keys.current if version is None else self.keys.version(version)
            return [*self._crypted([self._body(one) for one in pseudonyms], key, backwards=True)]
        versions = self.keys.versions if version is None else (self.keys.version(version),)
        ciphers = [self._siv(key) for key in reversed(versions)]
        return [self._opened(one, ciphers) for one in pseudonyms]

    # AES-SIV

    def _siv(self, key: Key) -> AESSIV:
        return AESSIV(key.derived("reversible", length=SIV_KEY_BYTES))

    def _sealed(self, originals: Sequence[str], key: Key) -> list[str]:
        shape, lengths = self.definition.shape, self._lengths
        encrypt, number = self._siv(key).encrypt, int.from_bytes
        made = []
        for place, original in enumerate(originals):
            data = padded(original.encode())
            if len(data) > LONGEST_TEXT:
                raise TextError(
                    f"a text has more than {LONGEST_TEXT - 1} bytes, too many for an identifier",
                    code="pseudonym-text-long",
                    place=place,
                )
            sealed = encrypt(data, None)
            made.append(shape.text(number(sealed, "big"), lengths[len(sealed)]))
        return made

    def _opened(self, pseudonym: str, ciphers: Sequence[AESSIV]) -> str | None:
        body = self.definition.shape.body(pseudonym, any_length=True)
        size = next((size for size, length in self._lengths.items() if length == len(body)), None)
        number = self.definition.shape.alphabet.number(body)
        if size is None or number >> 8 * size:
            return None
        sealed = number.to_bytes(size, "big")
        for cipher in ciphers:
            try:
                return unpadded(cipher.decrypt(sealed, None)).decode()
            except InvalidTag:
                continue
        return None

    @cached_property
    def _lengths(self) -> dict[int, int]:
        """The characters of a pseudonym by the bytes that it stands for."""
        alphabet = self.definition.shape.alphabet
        sizes = range(TAG_BYTES + BLOCK, TAG_BYTES + LONGEST_TEXT + 1, BLOCK)
        return {size: alphabet.length_for(1 << 8 * size) for size in sizes}

    # FF1

    def _kept(self, originals: Sequence[str], key: Key) -> list[str]:
        alphabet, shortest = self.definition.shape.alphabet, self._ff1(key).shortest
        for place, original in enumerate(originals):
            if (strange := alphabet.first_strange(original)) is not None:
                raise TextError(
                    f"character {strange} is not one of the alphabet, so that the format cannot be kept",
                    code="pseudonym-text-format",
                    place=place,
                )
            if len(original) < shortest:
                raise TextError(
                    f"a text of {len(original)} characters is too short to keep its format; "
                    f"with {alphabet.size} characters at least {shortest} are needed",
                    code="pseudonym-text-format",
                    place=place,
                )
        return [self.definition.shape.checked(body) for body in self._crypted(originals, key, backwards=False)]

    def _body(self, pseudonym: str) -> str:
        return self.definition.shape.body(pseudonym, any_length=True)

    def _crypted(self, texts: Sequence[str], key: Key, *, backwards: bool) -> list[str]:
        alphabet, cipher = self.definition.shape.alphabet, self._ff1(key)
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for place, text in enumerate(texts):
            by_length[len(text)].append(place)
        found = [""] * len(texts)
        for length, places in by_length.items():
            numbers = [alphabet.number(texts[place]) for place in places]
            results = cipher.decrypt(numbers, length) if backwards else cipher.encrypt(numbers, length)
            for place, number in zip(places, results, strict=True):
                found[place] = alphabet.text(number, length)
        return found

    def _ff1(self, key: Key) -> FF1:
        return FF1(key.derived("keep format"), self.definition.shape.alphabet.size)
