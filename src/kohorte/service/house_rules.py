"""The rules of the house: limits that an institution sets for all projects of its service, in one place.

The rules are in the settings, under `rules`. A rule that is `null` does not apply. They are checked when a project is
created, when a job makes a release, when a release leaves and when a query is paid for, so that a rule that was
tightened holds for everything that comes after. A refusal has the code `house-rule` and names the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, Self, TypeAlias

from kohorte.data import Role
from kohorte.dp import Budget, QueryMetadata
from kohorte.dp.budget.budget import checked_delta, checked_epsilon
from kohorte.errors import AccessDenied, InputError, nearest
from kohorte.models import MODELS, PrivacyModel, model_from_dict
from kohorte.models.populations.population import PopulationModel
from kohorte.models.sensitive import SensitiveModel
from kohorte.models.strictness import at_least_as_strict
from kohorte.plans import Plan
from kohorte.plans.person import Person

RELEASES = "releases"
STATED, COUNTED = "stated", "counted"
ANY = "(any)"
"""Stands for a column that a required model does not name."""


class Breach(NamedTuple):
    """A rule that is broken, and how."""

    rule: str
    reason: str


@dataclass(frozen=True)
class ReleaseTerms:
    """What the rules look at of a project that releases a table.

    `person` says whom a row is about, or that every row is another person; None if the plan does not say it.
    """

    roles: Mapping[str, Role]
    models: tuple[PrivacyModel, ...]
    person: Person | None = None

    @classmethod
    def of(cls, plan: Plan) -> Self:
        """Return the terms of a plan."""
        roles = {name: attribute.role for name, attribute in plan.attributes.items()}
        return cls(roles, tuple(plan.models), plan.person)

    @property
    def counts_people(self) -> bool:
        """Whether the models count people, not rows."""
        return self.person is not None and not self.person.rows_are_people


@dataclass(frozen=True)
class QuestionTerms:
    """What the rules look at of a project that answers queries: the budget of each researcher, and whom noise hides.

    `person` is the private id: None if nobody has said whom a row is about.
    """

    budget: Budget
    person: Person | None = None

    @classmethod
    def of(cls, metadata: QueryMetadata) -> Self:
        """Return the terms of a project with these metadata."""
        return cls(metadata.budget, metadata.person)


Terms: TypeAlias = ReleaseTerms | QuestionTerms
"""What the rules look at of a project."""


@dataclass(frozen=True)
class RequiredModel:
    """A model that every release must satisfy, written as in a plan; `attribute` and `subset` may be left out.

    Without `attribute` it must protect every sensitive attribute of the table.
    """

    entry: Mapping[str, Any]
    model: PrivacyModel = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kind = next((kind for kind in MODELS if kind.name == self.entry.get("model")), PrivacyModel)
        open_parts = {"attribute": ANY} if issubclass(kind, SensitiveModel) else {}
        if issubclass(kind, PopulationModel) and "population" not in self.entry:
            open_parts = {"subset": ANY}
        model = model_from_dict({**open_parts, **self.entry})
        if model.promises_nothing:
            raise _wrong(f"required_models: {model.name} with these parameters promises nothing")
        if model.population_source is not None and not model.population_source.is_subset:
            raise _wrong(f"required_models: {model.name} cannot refer to a file; give a subset, or leave it out")
        object.__setattr__(self, "model", model)

    def __str__(self) -> str:
        parameters = ", ".join(f"{key} = {value}" for key, value in self.entry.items() if key != "model")
        return f"{self.model.name} ({parameters})" if parameters else self.model.name

    def lacking(self, terms: ReleaseTerms) -> str | None:
        """Return why the terms do not satisfy this, or None."""
        if not isinstance(self.model, SensitiveModel):
            return None if self._is_met(self.model, terms.models) else f"{self} is required"
        names = [name for name, role in terms.roles.items() if role is Role.SENSITIVE]
        if self.model.attribute != ANY:
            released = terms.roles.get(self.model.attribute, Role.IDENTIFYING) is not Role.IDENTIFYING
            names = [self.model.attribute] if released else []
        elif not names:
            return f"{self} is required, and no attribute is declared sensitive"
        unprotected = [name for name in names if not self._is_met(replace(self.model, attribute=name), terms.models)]
        return f"{self} is required for {', '.join(map(repr, unprotected))}" if unprotected else None

    @staticmethod
    def _is_met(required: PrivacyModel, models: Sequence[PrivacyModel]) -> bool:
        return any(at_least_as_strict(given, _with_subset_of(given, required)) for given in models)


def _with_subset_of(given: PrivacyModel, required: PrivacyModel) -> PrivacyModel:
    """The required model with the subset of another one, if it leaves the subset open."""
    source = given.population_source
    if source is None or not source.is_subset or not isinstance(required, PopulationModel) or required.subset != ANY:
        return required
    return replace(required, subset=source.name)


@dataclass(frozen=True)
class HouseRules:
    """The rules of a service; None means that a rule does not apply.

    `least_k`: the fewest rows of a class of a release, or people, if the plan counts people. `people`: a project says
    whom a row is about, or that every row is another person (`stated`); or its models count people, and noise hides
    people (`counted`), so that `least_k`, `required_models` and budgets are certainly about people. `largest_epsilon`,
    `largest_delta`: the largest budget of a project for one researcher. `dataset_epsilon`, `dataset_delta`: the most
    that all people together may spend on one dataset in all projects. `required_models`: models that every release must
    satisfy. `second_approver`: what leaves only after a second person has approved it.
    """

    least_k: int | None = 2
    largest_epsilon: float | None = 10.0
    largest_delta: float | None = 1e-4
    dataset_epsilon: float | None = 20.0
    dataset_delta: float | None = 1e-3
    required_models: tuple[RequiredModel, ...] = ()
    second_approver: str | None = None
    people: str | None = None

    def __post_init__(self) -> None:
        k: object = self.least_k
        if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
            raise _wrong("least_k is a whole number from 1, or null")
        for name in ("largest_epsilon", "dataset_epsilon"):
            if (epsilon := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked_epsilon(epsilon, what=f"rules: {name}", code="service-settings"))
        for name in ("largest_delta", "dataset_delta"):
            if (delta := getattr(self, name)) is not None:
                object.__setattr__(self, name, checked_delta(delta, what=f"rules: {name}", code="service-settings"))
        if self.second_approver not in (None, RELEASES):
            raise _wrong(f"second_approver is {RELEASES}, or null")
        if self.people not in (None, STATED, COUNTED):
            raise _wrong(f"people is {STATED} or {COUNTED}, or null")

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the rules from the settings."""
        if not isinstance(data, Mapping):
            raise _wrong("is written as name: value")
        known = [part.name for part in fields(cls)]
        for name in data:
            if name not in known:
                raise _wrong(f"there is no rule {str(name)!r}{nearest(str(name), known)}")
        given = dict(data)
        if "required_models" in given:
            given["required_models"] = _all_required(given["required_models"])
        return cls(**given)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules as the settings write them."""
        shown = {part.name: getattr(self, part.name) for part in fields(self)}
        return shown | {"required_models": [dict(one.entry) for one in self.required_models]}

    @property
    def releases_need_approval(self) -> bool:
        """Whether a release leaves only after a second person has approved it."""
        return self.second_approver == RELEASES

    def refuse(self, terms: Terms) -> None:
        """Refuse a project that breaks a rule, with the name of the first rule that it breaks."""
        for rule, reason in self.breaches(terms):
            raise AccessDenied(f"rule {rule}: {reason}", code="house-rule", field=rule)

    def breaches(self, terms: Terms) -> Iterator[Breach]:
        """Yield the rules that the terms of a project break."""
        return self._of_questions(terms) if isinstance(terms, QuestionTerms) else self._of_release(terms)

    def _of_release(self, terms: ReleaseTerms) -> Iterator[Breach]:
        if self.people == COUNTED and not terms.counts_people:
            yield Breach("people", "the models must count people: say with person whom a row is about")
        if self.people == STATED and terms.person is None:
            yield Breach("people", "say with person whom a row is about, or with none that every row is another person")
        smallest = max((model.smallest_class for model in terms.models), default=1)
        if self.least_k is not None and smallest < self.least_k:
            unit = "people" if terms.counts_people else "rows"
            yield Breach(
                "least_k", f"every class needs at least {self.least_k:,} {unit}; the models ask for {smallest:,}"
            )
        for required in self.required_models:
            if (reason := required.lacking(terms)) is not None:
                yield Breach("required_models", f"{reason}, or a model that is at least as strict")

    def _of_questions(self, terms: QuestionTerms) -> Iterator[Breach]:
        if self.people == COUNTED and (terms.person is None or terms.person.rows_are_people):
            yield Breach("people", "the noise must hide people: say with private_id whom a row is about")
        if self.people == STATED and terms.person is None:
            yield Breach("people", "say with private_id whom a row is about, or with none that every row is a person")
        given = {"epsilon": terms.budget.epsilon, "delta": terms.budget.delta}
        for rule in ("largest_epsilon", "largest_delta", "dataset_epsilon", "dataset_delta"):
            scope, _, part = rule.partition("_")
            limit = getattr(self, rule)
            if limit is not None and given[part] > limit:
                whose = "a project has" if scope == "largest" else "all projects of a dataset together have"
                yield Breach(rule, f"{whose} at most {part} {limit:g}; this one has {given[part]:g}")


def _required(entry: object) -> RequiredModel:
    if not isinstance(entry, Mapping):
        raise _wrong("required_models: an entry is written as in a plan, such as {model: k-anonymity, k: 5}")
    try:
        return RequiredModel({str(key): value for key, value in entry.items()})
    except InputError as error:
        raise _wrong(f"required_models: {error.message.removeprefix('rules: required_models: ')}") from None


def _all_required(entries: object) -> tuple[RequiredModel, ...]:
    if isinstance(entries, str) or not isinstance(entries, Sequence):
        raise _wrong("required_models is a list")
    return tuple(map(_required, entries))


def _wrong(message: str) -> InputError:
    return InputError(f"rules: {message}", code="service-settings")
