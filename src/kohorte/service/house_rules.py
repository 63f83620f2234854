"""The rules of the house: limits that an institution sets for all projects of its service, in one place.

The rules are in the settings, under `rules`. A rule that is `null` does not apply. They are checked when a project is
created, when a job makes a release, when a release leaves and when a query is paid for, so that a rule that was
tightened holds for everything that comes after. A refusal has the code `house-rule` and names the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, Self

from kohorte.data import Role
from kohorte.dp import Budget
from kohorte.dp.budget.budget import checked_delta, checked_epsilon
from kohorte.errors import AccessDenied, InputError, KohorteError, refuse_unknown_keys
from kohorte.models import MODELS, PrivacyModel, model_from_dict
from kohorte.models.populations.population import PopulationModel
from kohorte.models.sensitive import SensitiveModel
from kohorte.models.strictness import at_least_as_strict
from kohorte.plans import Plan

RELEASES = "releases"
ANY = "(any)"
"""Stands for a column that a required model does not name."""


class Breach(NamedTuple):
    """A rule that is broken, and how."""

    rule: str
    reason: str


@dataclass(frozen=True)
class ReleaseTerms:
    """What the rules look at of a project that releases a table."""

    roles: Mapping[str, Role]
    models: tuple[PrivacyModel, ...]

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """The terms of a plan."""
        return cls({name: attribute.role for name, attribute in plan.attributes.items()}, tuple(plan.models))


@dataclass(frozen=True)
class RequiredModel:
    """A model that every release must satisfy, as a plan writes it; `attribute` and `subset` may be left out.

    Without `attribute`, the model must protect every sensitive attribute of the table.
    """

    entry: Mapping[str, Any]
    model: PrivacyModel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        kind = next((kind for kind in MODELS if kind.name == self.entry.get("model")), PrivacyModel)
        given = dict(self.entry)
        if issubclass(kind, SensitiveModel):
            given.setdefault("attribute", ANY)
        if issubclass(kind, PopulationModel):
            given.setdefault("subset", ANY)
        model = model_from_dict(given)
        if model.promises_nothing:
            raise _wrong(f"required_models: {model.name} with these parameters promises nothing")
        if model.population_source is not None and not model.population_source.is_subset:
            raise _wrong(f"required_models: {model.name} cannot refer to a file; name a subset, or leave it out")
        object.__setattr__(self, "entry", given if set(given) == set(self.entry) else dict(self.entry))
        object.__setattr__(self, "model", model)

    def __str__(self) -> str:
        parameters = ", ".join(f"{key} = {value}" for key, value in self.entry.items() if key != "model")
        return f"{self.model.name} ({parameters})" if parameters else self.model.name

    def lacking(self, terms: ReleaseTerms) -> str | None:
        """Return why the terms do not satisfy this, or None."""
        if not isinstance(self.model, SensitiveModel):
            return None if self._is_met(terms.models) else f"{self} is required"
        sensitive = [name for name, role in terms.roles.items() if role is Role.SENSITIVE]
        if self.model.attribute != ANY:
            shown = terms.roles.get(self.model.attribute, Role.IDENTIFYING) is not Role.IDENTIFYING
            sensitive = [self.model.attribute] if shown else []
        elif not sensitive:
            return f"{self} is required, and no attribute is declared sensitive"
        open_ = [name for name in sensitive if not self._is_met(terms.models, attribute=name)]
        return f"{self} is required for {', '.join(map(repr, open_))}" if open_ else None

    def _is_met(self, models: Sequence[PrivacyModel], **named: str) -> bool:
        return any(at_least_as_strict(given, self._as_named_by(given, **named)) for given in models)

    def _as_named_by(self, given: PrivacyModel, **named: str) -> PrivacyModel:
        """The required model, with the column that it leaves open."""
        if isinstance(self.model, PopulationModel) and self.model.subset == ANY:
            source = given.population_source
            named = {"subset": source.name} if source is not None and source.is_subset else {}
        return model_from_dict({"subset": ANY} | dict(self.entry) | named if _has_subset(self.model) else {**self.entry, **named})


def _has_subset(model: PrivacyModel) -> bool:
    return isinstance(model, PopulationModel)
