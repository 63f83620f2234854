"""The plan: what to anonymize, how strictly, and how to measure what is lost."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import Formulas, Role, as_missing_values, strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest
from kohorte.metrics import Loss, Metric
from kohorte.models import KAnonymity, PopulationSource, PrivacyModel
from kohorte.plans.parts import (
    About,
    Attribute,
    Decorrelation,
    Within,
    as_attribute,
    as_decorrelation,
    as_metric,
    as_model,
    as_search,
    choice,
    mapping,
    metric_entry,
    refuse_other_queries,
    refuse_unknown,
)
from kohorte.plans.person import Person, as_person
from kohorte.plans.search_options import SearchOptions, is_number
from kohorte.plans.unit import Unit
from kohorte.sources import Missing

FORMAT = 1
ORDERS = ("shuffled", "input")
FEWEST_PEOPLE = 2
KEYS = (
    "kohorte",
    "title",
    "purpose",
    "recipient",
    "attributes",
    "models",
    "suppression_limit",
    "metric",
    "search",
    "missing",
    "missing_values",
    "person",
    "linked_by",
    "decorrelate",
    "output",
)


@dataclass(frozen=True)
class Plan:
    """A plan, the same in YAML, Python and every other interface; two plans are equal if all their parts are equal.

    Each part may also be given as it is written in a plan file: `attributes={"zip": {"role": "quasi-identifying"}}`.
    """

    attributes: Mapping[str, Attribute]
    models: Sequence[PrivacyModel]
    suppression_limit: float = 0.0
    metric: Metric = field(default_factory=Loss)
    search: SearchOptions = field(default_factory=SearchOptions)
    missing: Missing = Missing.CATEGORY
    order: str = "shuffled"
    formulas: Formulas = Formulas.QUOTE
    decorrelate: Decorrelation | None = None
    person: Person | None = None
    linked_by: str | None = None
    missing_values: Sequence[str] = ()
    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None

    def __post_init__(self) -> None:
        _ = self.about  # refuses what is not one line of text
        with Within("person"):
            self._set("person", as_person(self.person))
        self._set("attributes", MappingProxyType(self._with_person(attributes(self.attributes, folder=Path()))))
        self._set("models", models(self.models, folder=Path()))
        with Within("metric"):
            self._set("metric", as_metric(self.metric))
            self._check_metric()
        with Within("search"):
            self._set("search", as_search(self.search))
            self._check_search()
        self._set("missing", choice("missing", self.missing, Missing))
        self._set("missing_values", as_missing_values(self.missing_values, code="plan-missing-values"))
        limit = self.suppression_limit
        if not is_number(limit) or not 0 <= limit <= 1:
            raise InputError(
                f"suppression_limit is a fraction from 0 to 1 (0.05 means 5 %), not {limit!r}",
                code="plan-suppression-limit",
            )
        self._set("suppression_limit", float(limit))
        if self.order not in ORDERS:
            raise InputError(f"output: order is one of {', '.join(ORDERS)}", code="plan-order")
        with Within("output"):
            self._set("formulas", choice("formulas", self.formulas, Formulas))
        if not self.quasi_identifiers:
            raise InputError("the plan names no quasi-identifying attribute", code="plan-no-quasi-identifier")
        if not self.models:
            raise InputError("the plan has no privacy model, so nothing would be protected", code="plan-no-model")
        with Within("decorrelate"):
            self._set("decorrelate", as_decorrelation(self.decorrelate))
        for number, model in enumerate(self.models, start=1):
            with Within(f"models: entry {number}"):
                self._check_model(model)
        if sum(source.is_subset for source in self.populations) > 1:
            raise InputError("models name different subset columns; only one part can be released", code="plan-subset")
        self._check_decorrelation()
        self.unit.check()
        for number, model in enumerate(self.models, start=1):
            with Within(f"models: entry {number}"):
                self.unit.check_model(model)

    def _with_person(self, named: dict[str, Attribute]) -> dict[str, Attribute]:
        """Columns that say whom a row is about are identifying, unless the plan gives them another role."""
        columns = () if self.person is None else self.person.columns
        return named | {name: Attribute(Role.IDENTIFYING) for name in columns if name not in named}

    @property
    def about(self) -> About:
        """What a release of this plan is for."""
        return About(self.title, self.purpose, self.recipient)

    @property
    def unit(self) -> Unit:
        """What the plan counts: people or rows."""
        roles = {name: attribute.role for name, attribute in self.attributes.items()}
        return Unit(self.person, self.linked_by, roles, tuple(self.pseudonyms))

    def _check_model(self, model: PrivacyModel) -> None:
        """Refuse a model of attributes that are not in the plan or do not have the role that the model needs."""
        for name in model.sensitive:
            if name not in self.names(Role.SENSITIVE):
                raise InputError(
                    f"model {model.name} names {name!r}, which is not a sensitive attribute of the plan"
                    f"{nearest(name, self.names(Role.SENSITIVE))}",
                    code="plan-model-attribute",
                )
            if model.needs_hierarchy and self.attributes[name].hierarchy is None:
                raise InputError(
                    f"model {model.name} needs a hierarchy of {name!r}: add it to the attribute, as for a "
                    "quasi-identifier",
                    code="model-no-hierarchy",
                )
        source = model.population_source
        if source is not None and source.is_subset:
            attribute = self.attributes.get(source.name)
            may_flag = (Role.INSENSITIVE, Role.IDENTIFYING)
            if attribute is None or attribute.role not in may_flag or attribute.pseudonym is not None:
                raise InputError(
                    f"subset names {source.name!r}, which is not an insensitive or identifying attribute of the plan"
                    f"{nearest(source.name, set(self.attributes) - {source.name})}",
                    code="plan-subset",
                )

    def _check_metric(self) -> None:
        """Refuse a metric of an attribute that is not released unchanged (as sensitive and insensitive ones are)."""
        for name in self.metric.attributes:
            if name not in (*self.names(Role.SENSITIVE), *self.names(Role.INSENSITIVE)):
                raise InputError(
                    f"attribute names {name!r}, which is not a sensitive or insensitive attribute of the plan"
                    f"{nearest(name, set(self.attributes) - {name})}",
                    code="plan-metric-attribute",
                )
        refuse_other_queries(self.metric, self.quasi_identifiers)

    def _check_search(self) -> None:
        """Refuse options for attributes that are not quasi-identifiers of the plan, and levels that do not fit it."""
        for option in (self.search.weights, self.search.identification, self.search.levels):
            for name in option:
                if name not in self.quasi_identifiers:
                    raise InputError(
                        f"{name!r} is not a quasi-identifying attribute of the plan"
                        f"{nearest(name, self.quasi_identifiers)}",
                        code="plan-search-option",
                    )
        for name, least in self.minimum_levels.items() if self.search.levels else ():
            if self.search.levels.get(name, -1) < least:
                raise InputError(
                    f"levels: {name}: is a level of every quasi-identifier, at least its minimum_level ({least})",
                    code="plan-search-option",
                )

    def _check_decorrelation(self) -> None:
        if self.decorrelate is None:
            return
        whole = self.decorrelate.attribute
        if whole not in self.names(Role.SENSITIVE) or not self.decorrelated_attributes:
            raise InputError(
                f"decorrelate: {whole!r} must be one of at least two sensitive attributes of the plan",
                code="plan-decorrelate",
            )
        if strangers := [name for name in self.histograms if name != whole]:
            raise InputError(
                f"decorrelate: models can protect only {whole!r}, which stays complete; {strangers[0]!r} is suppressed "
                "in many rows",
                code="plan-decorrelate",
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"attributes": dict(self.attributes)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            self._set(name, MappingProxyType(value) if name == "attributes" else value)

    def __hash__(self) -> int:
        return hash((frozenset(self.attributes), self.suppression_limit, self.metric.name))

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifying columns, in the order of the plan."""
        return self.names(Role.QUASI_IDENTIFYING)

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns that have a role, in the order of the plan."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role is role)

    @property
    def pseudonyms(self) -> dict[str, str]:
        """The identifying columns that stay in the release as pseudonyms, with the domain of each."""
        found = ((name, attribute.pseudonym) for name, attribute in self.attributes.items())
        return {name: domain for name, domain in found if domain is not None}

    @property
    def removed_columns(self) -> tuple[str, ...]:
        """The identifying columns that the release does not have."""
        return tuple(name for name in self.names(Role.IDENTIFYING) if name not in self.pseudonyms)

    @property
    def judging_models(self) -> tuple[PrivacyModel, ...]:
        """The models that a release must satisfy: where people are counted, a class of one person is never released."""
        alone = self.unit.counts_people and max(model.smallest_class for model in self.models) < FEWEST_PEOPLE
        return (*self.models, KAnonymity(FEWEST_PEOPLE)) if alone else tuple(self.models)

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows, or of people, that a class of the release may have."""
        return max(model.smallest_class for model in self.judging_models)

    @property
    def histograms(self) -> tuple[str, ...]:
        """The sensitive attributes whose histograms the models need."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.sensitive))

    @property
    def counted_attributes(self) -> tuple[str, ...]:
        """The attributes whose histograms the models or the metric need."""
        return tuple(dict.fromkeys((*self.histograms, *self.metric.attributes)))

    @property
    def decorrelated_attributes(self) -> tuple[str, ...]:
        """The sensitive attributes that are suppressed in many rows, so that they reveal little about another."""
        if self.decorrelate is None:
            return ()
        return tuple(name for name in self.names(Role.SENSITIVE) if name != self.decorrelate.attribute)

    @property
    def populations(self) -> tuple[PopulationSource, ...]:
        """The populations that the models need."""
        return tuple(dict.fromkeys(model.population_source for model in self.models if model.population_source))

    @property
    def population_files(self) -> tuple[PopulationSource, ...]:
        """The populations that are files."""
        return tuple(source for source in self.populations if not source.is_subset)

    @property
    def subset(self) -> PopulationSource | None:
        """The population that is the table itself, in which a column flags the rows to release."""
        return next((source for source in self.populations if source.is_subset), None)

    def files(self) -> tuple[Path, ...]:
        """The files from which the hierarchies and populations of the plan are read."""
        builders = (attribute.hierarchy for attribute in self.attributes.values())
        hierarchies = (path for builder in builders if builder is not None for path in builder.files())
        return (*hierarchies, *(source.folder / source.name for source in self.population_files))

    @property
    def minimum_levels(self) -> dict[str, int]:
        """The lowest level at which each quasi-identifier may be released."""
        return {name: self.attributes[name].minimum_level for name in self.quasi_identifiers}

    def most_suppressed(self, rows: int) -> int:
        """How many of `rows` rows may be suppressed: floor(suppression_limit * rows), exactly."""
        return int(Fraction(str(self.suppression_limit)) * rows)

    def __repr__(self) -> str:
        return f"Plan.from_dict({self.to_dict()!r})"

    # As YAML, JSON and dictionaries

    def to_dict(self) -> dict[str, object]:
        """The plan as plain dictionaries, lists, numbers and text."""
        remedy = {} if self.decorrelate is None else {"decorrelate": self.decorrelate.to_dict()}
        formulas = {} if self.formulas is Formulas.QUOTE else {"formulas": str(self.formulas)}
        marks = {"missing_values": list(self.missing_values)} if self.missing_values else {}
        return {
            "kohorte": FORMAT,
            **self.about.to_dict(),
            "attributes": {name: attribute.to_dict() for name, attribute in self.attributes.items()},
            "models": [model.to_dict() for model in self.models],
            "suppression_limit": self.suppression_limit,
            "metric": metric_entry(self.metric),
            "search": self.search.to_dict(),
            "missing": str(self.missing),
            **({} if self.person is None else {"person": self.person.to_dict()}),
            **({} if self.linked_by is None else {"linked_by": self.linked_by}),
            **marks,
            **remedy,
            "output": {"order": self.order, **formulas},
        }

    def to_yaml(self) -> str:
        """The plan as the text of a plan file."""
        return strict_yaml.dump(self.to_dict())

    def fingerprint(self) -> str:
        """The SHA-256 of the plan's content: comments and layout of its file do not matter."""
        return hashlib.sha256(json.dumps(self.to_dict(), ensure_ascii=False).encode()).hexdigest()

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a plan file; file names in it are relative to its folder."""
        path = Path(path)
        text = read_text(path, what="plan", code="plan-unreadable")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="plan-yaml"), folder=path.parent)

    @classmethod
    def from_dict(cls, data: object, *, folder: Path = Path()) -> Self:
        """Read a plan from plain dictionaries, as parsed from YAML or JSON."""
        if not isinstance(data, Mapping):
            raise InputError("a plan is a mapping with the keys " + ", ".join(KEYS), code="plan-yaml")
        refuse_unknown(data, KEYS, "the plan")
        if data.get("kohorte") != FORMAT or isinstance(data["kohorte"], bool):
            raise InputError(f"the plan must begin with 'kohorte: {FORMAT}', its format version", code="plan-version")
        for key in ("attributes", "models"):
            if not data.get(key):
                raise InputError(f"the plan has no {key}", code="plan-incomplete")
        return cls(
            attributes=attributes(data["attributes"], folder=folder),
            models=models(data["models"], folder=folder),
            suppression_limit=data.get("suppression_limit", 0.0),
            metric=data.get("metric", "loss"),
            search=data.get("search", {}),
            missing=data.get("missing", Missing.CATEGORY),
            decorrelate=data.get("decorrelate"),
            person=data.get("person"),
            linked_by=data.get("linked_by"),
            missing_values=data.get("missing_values", ()),
            title=data.get("title"),
            purpose=data.get("purpose"),
            recipient=data.get("recipient"),
            **_output(data.get("output", {})),
        )


def attributes(entries: object, *, folder: Path) -> dict[str, Attribute]:
    """Read the attributes of a plan, by column name."""
    if not isinstance(entries, Mapping):
        raise InputError("attributes: is a mapping of column names", code="plan-incomplete")
    found = {}
    for name, entry in entries.items():
        with Within(f"attributes: {name}"):
            found[str(name)] = as_attribute(entry, folder=folder)
    return found


def models(entries: object, *, folder: Path) -> tuple[PrivacyModel, ...]:
    """Read the models of a plan."""
    if isinstance(entries, str | Mapping) or not isinstance(entries, Sequence):
        raise InputError("models: is a list, each entry {model: name, ...}", code="plan-incomplete")
    found = []
    for number, entry in enumerate(entries, start=1):
        with Within(f"models: entry {number}"):
            found.append(as_model(entry, folder=folder))
    return tuple(found)


def _output(entry: object) -> dict[str, Any]:
    with Within("output"):
        return mapping(entry, "{order: shuffled, formulas: quote}", ("order", "formulas"))
