"""From pseudonyms back to what they stand for; `kohorte.trust.way_back` decides whether that may be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from kohorte.errors import InputError
from kohorte.pseudonyms.domains import Domain, Domains
from kohorte.pseudonyms.kinds.one_way import OneWay
from kohorte.pseudonyms.kinds.reversible import Reversible
from kohorte.trust.folder import TrustFolder


@dataclass(frozen=True)
class Source:
    """The domain that pseudonyms are from and, where it must be said, the version of the key that made them."""

    domain: str
    version: int | None = None

    def __str__(self) -> str:
        return f"domain {self.domain}" + ("" if self.version is None else f" version {self.version}")

    @classmethod
    def of(cls, text: str) -> Self:
        """Read what `str` wrote."""
        _, domain, *version = text.split(" ")
        return cls(domain, int(version[1]) if version else None)

    def check(self, folder: TrustFolder, pseudonyms: Sequence[str]) -> None:
        """Refuse pseudonyms that have no way back, or are not well written. The list of pseudonyms is not asked."""
        domain = Domains(folder).open(self.domain)
        if isinstance(domain.kind, OneWay):
            domain.kind.originals([])
        if self.version is not None:
            domain.keys.version(self.version)
        for place, pseudonym in enumerate(pseudonyms, start=1):
            try:
                domain.definition.shape.body(pseudonym, any_length=isinstance(domain.kind, Reversible))
            except InputError as error:
                raise InputError(f"pseudonym {place}: {error.message}", code=error.code) from None

    def originals(self, folder: TrustFolder, pseudonyms: Sequence[str]) -> list[str | None]:
        """What the pseudonyms stand for; None for one that is unknown."""
        domain: Domain = Domains(folder).open(self.domain)
        return domain.kind.originals(pseudonyms, self.version)
