"""What a plan counts: people where it says whom a row is about, otherwise rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kohorte.data import Role
from kohorte.errors import InputError
from kohorte.in_words import listed
from kohorte.models import PrivacyModel, SafeHarborRule
from kohorte.plans.person import Knowledge, Person


@dataclass(frozen=True)
class Unit:
    """The person of a plan, the column that ties rows of one person together, and the roles of all columns.

    `pseudonyms` are the identifying columns that stay in the release as pseudonyms: they tie rows together, too.
    """

    person: Person | None
    linked_by: str | None
    roles: Mapping[str, Role]
    pseudonyms: tuple[str, ...] = ()

    @property
    def is_stated(self) -> bool:
        """Whether the plan says whom a row is about, or that every row is another person."""
        return self.person is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say whom a row is about; none if rows are counted."""
        return () if self.person is None else self.person.columns

    @property
    def counts_people(self) -> bool:
        """Whether people are counted instead of rows."""
        return bool(self.columns)

    @property
    def stays_tied(self) -> bool:
        """Whether all columns that say whom a row is about stay in the release."""
        return self.counts_people and all(map(self._stays, self.columns))

    @property
    def links(self) -> tuple[str, ...]:
        """The columns that stay in the release and tie rows of one person together."""
        tied = self.columns if self.stays_tied else ()
        return tuple(dict.fromkeys((*tied, *(() if self.linked_by is None else (self.linked_by,)), *self.pseudonyms)))

    @property
    def judges_sets(self) -> bool:
        """Whether people are judged by all their rows together: the attacker knows them, or the release ties them."""
        if self.person is None or not self.counts_people:
            return False
        return bool(self.links) or self.person.attacker_knows is Knowledge.ALL_ROWS

    @property
    def needed_columns(self) -> tuple[str, ...]:
        """The columns from which people are counted."""
        return tuple(dict.fromkeys((*self.columns, *self.links)))

    def check(self) -> None:
        """Refuse a link without people, and people whose rows stay tied together without a reason."""
        stays = (Role.SENSITIVE, Role.INSENSITIVE)
        if self.linked_by is not None and (not self.counts_people or self.roles.get(self.linked_by) not in stays):
            raise InputError(
                "linked_by names a sensitive or insensitive column that ties the rows of one person together; it needs "
                "person, which says whom a row is about",
                code="plan-linked-by",
            )
        self._check_pseudonyms()
        if not self.stays_tied:
            return
        if any(self.roles[name] is Role.QUASI_IDENTIFYING for name in self.columns):
            raise InputError(
                "person: its columns would stay in the release, one of them as a quasi-identifier, which would never "
                "be the same for two people; make one of them identifying",
                code="plan-person",
            )
        if self.person is not None and not self.person.stays_because and not set(self.columns) & set(self.pseudonyms):
            raise InputError(
                "person: its columns are not identifying, so that they stay in the release and tie the rows of a "
                "person together; make one of them identifying, or say in stays_because why they may stay",
                code="plan-person",
            )

    def _stays(self, name: str) -> bool:
        return self.roles[name] is not Role.IDENTIFYING or name in self.pseudonyms

    def _check_pseudonyms(self) -> None:
        """Refuse pseudonyms without a statement about people, and two columns that tie rows across each other."""
        if self.pseudonyms and self.person is None:
            raise InputError(
                f"{self.pseudonyms[0]!r} becomes a pseudonym, which ties the rows of one person together: say with "
                "person whom a row is about ('person: none' if every row is another person)",
                code="plan-pseudonym",
            )
        others = [name for name in self.links if name not in self.columns]
        if self.pseudonyms and len(others) > 1:
            raise InputError(
                f"{listed(list(map(repr, others)))} would each tie rows of one person together, besides person; only "
                "one such column can stay in a release",
                code="plan-pseudonym",
            )

    def check_model(self, model: PrivacyModel) -> None:
        """Refuse a model that cannot count people, cannot judge them by all their rows, or allows no pseudonym."""
        if self.pseudonyms and isinstance(model, SafeHarborRule):
            raise InputError(
                f"model {model.name} removes all identifiers, and codes that are derived from one: no column can "
                "become a pseudonym",
                code="plan-pseudonym",
            )
        if not self.counts_people:
            return
        if model.people_refused:
            raise InputError(
                f"model {model.name} cannot count people, as person asks for: {model.people_refused}",
                code="person-model",
            )
        if tied := [name for name in model.sensitive if name in self.links]:
            raise InputError(
                f"model {model.name} cannot protect {tied[0]!r}, which ties the rows of one person together: its "
                "values belong to one person each",
                code="person-model",
            )
        if self.judges_sets and (model.population_source is not None or model.about_all):
            raise InputError(
                f"model {model.name} cannot judge people by all their rows together, as attacker_knows: all_rows or a "
                "column that ties rows together asks for",
                code="person-model",
            )
