"""Pseudonyms for the identifying columns of a release, where a plan names a domain."""

from __future__ import annotations

from random import SystemRandom

import polars as pl

from kohorte.errors import InputError
from kohorte.pseudonyms.domains import Domain, Domains
from kohorte.pseudonyms.kinds import ReferenceList
from kohorte.pseudonyms.made import TextError
from kohorte.pseudonyms.texts import made, plain_texts


class ReleasePseudonyms:
    """Makes pseudonyms of different texts; without `remembered`, lists get no entry and give stand-ins, for a dry run.

    It is the function that `kohorte.release.find_candidate` asks for. `discreet` is for people who must not learn who
    is in a list: a list that would tell is refused, and known texts make as much work as new ones.
    """

    def __init__(self, domains: Domains, *, actor: str, remembered: bool = True, discreet: bool = False) -> None:
        self._domains, self._actor, self._remembered, self._discreet = domains, actor, remembered, discreet
        self._opened: dict[str, Domain] = {}

    def domain(self, name: str) -> Domain:
        """Open a domain, once."""
        if name not in self._opened:
            self._opened[name] = self._domains.open(name)
        return self._opened[name]

    def __call__(self, name: str, texts: pl.Series) -> pl.Series:
        """The pseudonyms of texts in a domain, in the same order; a blank text has none."""
        domain = self.domain(name)
        written = plain_texts(domain.definition, texts)
        different = written.drop_nulls().unique(maintain_order=True)
        if not len(different):
            return pl.Series([None] * len(texts), dtype=pl.String)
        if isinstance(domain.kind, ReferenceList) and not self._remembered:
            found = [f"standin{number}" for number in range(len(different))]
        else:
            # numbers of a list would tell the order of the rows, which a release does not show
            different = different.gather(SystemRandom().sample(range(len(different)), len(different)))
            found = self._made(domain, different.to_list())
        return written.replace_strict(different, pl.Series(found), default=None, return_dtype=pl.String)

    def _made(self, domain: Domain, originals: list[str]) -> list[str]:
        key = domain.key(None)
        if self._discreet:
            domain.kind.refuse_telling(len(originals))
        try:
            found = made(domain, originals, key)
        except TextError as error:
            raise InputError(
                f"a value has no pseudonym in the domain {domain.definition.name!r}: {error.message}", code=error.code
            ) from None
        if self._discreet:
            domain.kind.even_out(originals, new=found.new)
        if self._remembered:
            domain.kind.folder.log.append(
                "pseudonymize for a release",
                f"domain {domain.definition.name}",
                actor=self._actor,
                key_version=key.version,
                values=len(originals),
                new=found.new,
            )
        return found.pseudonyms
