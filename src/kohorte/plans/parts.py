"""The parts of a plan: attributes, search options, what a release is for, and how each part is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kohorte.data import Formulas, Role
from kohorte.errors import InputError, nearest
from kohorte.hierarchies import Builder, builder_from_dict, builder_to_dict
from kohorte.metrics import Metric, QueryLoss, metric_named
from kohorte.models import PrivacyModel, model_from_dict
from kohorte.plans.search_options import SearchOptions, is_number
from kohorte.sources import Missing
from kohorte.trust.domain_names import refuse_domain_name

LONGEST_LINE = 500
ATTRIBUTE_KEYS = ("role", "hierarchy", "weight", "minimum_level", "pseudonym")


@dataclass(frozen=True)
class Attribute:
    """The role of a column; for quasi-identifiers also the hierarchy (without one: the value or `*`) and a weight.

    Every algorithm releases a quasi-identifier at its `minimum_level` or above. An identifying column with a domain as
    its `pseudonym` stays in the release, with pseudonyms of this domain instead of its values.
    """

    role: Role
    hierarchy: Builder | None = None
    weight: float = 1.0
    minimum_level: int = 0
    pseudonym: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", choice("role", self.role, Role))  # text is accepted, too
        if not is_number(self.weight) or not 0 <= self.weight <= 1:
            raise InputError(f"weight must be a number from 0 to 1, not {self.weight!r}", code="plan-weight")
        object.__setattr__(self, "weight", float(self.weight))
        if self.hierarchy is not None and not isinstance(self.hierarchy, Builder):
            raise InputError("hierarchy: give a builder such as Redaction()", code="plan-type")
        if self.weight != 1.0 and self.role is not Role.QUASI_IDENTIFYING:
            raise InputError(f"a weight has no meaning for a column that is {self.role}", code="plan-weight")
        if type(self.minimum_level) is not int or self.minimum_level < 0:
            raise InputError(
                f"minimum_level must be a whole number of at least 0, not {self.minimum_level!r}",
                code="plan-minimum-level",
            )
        if self.minimum_level and self.role is not Role.QUASI_IDENTIFYING:
            raise InputError(
                f"a minimum_level has no meaning for a column that is {self.role}", code="plan-minimum-level"
            )
        if self.pseudonym is not None:
            refuse_domain_name(self.pseudonym)
            if self.role is not Role.IDENTIFYING or self.hierarchy is not None:
                raise InputError("only an identifying column can become a pseudonym", code="plan-pseudonym")

    def to_dict(self) -> dict[str, object]:
        """The attribute as a plan writes it."""
        entry: dict[str, object] = {"role": str(self.role)}
        if self.weight != 1.0:
            entry["weight"] = self.weight
        if self.hierarchy is not None:
            entry["hierarchy"] = builder_to_dict(self.hierarchy)
        if self.minimum_level:
            entry["minimum_level"] = self.minimum_level
        if self.pseudonym is not None:
            entry["pseudonym"] = self.pseudonym
        return entry

    @classmethod
    def from_dict(cls, entry: object, *, folder: Path) -> Self:
        """Read `{role: ..., hierarchy: ..., weight: ..., minimum_level: ..., pseudonym: ...}`."""
        options = mapping(entry, "{role: ..., hierarchy: ...}", ATTRIBUTE_KEYS)
        if "role" not in options:
            raise InputError("the role is missing", code="plan-role")
        hierarchy = options.get("hierarchy")
        return cls(
            role=options["role"],
            hierarchy=None if hierarchy is None else builder_from_dict(hierarchy, folder=folder),
            weight=options.get("weight", 1.0),
            minimum_level=options.get("minimum_level", 0),
            pseudonym=options.get("pseudonym"),
        )


@dataclass(frozen=True)
class Decorrelation:
    """One sensitive attribute stays complete; the others are suppressed in (1 - 1/l) of the rows of each value."""

    attribute: str
    l: int  # noqa: E741 - the published letter

    def __post_init__(self) -> None:
        if not isinstance(self.attribute, str):
            raise InputError("attribute is the sensitive attribute that stays complete", code="plan-decorrelate")
        if type(self.l) is not int or self.l < 2:
            raise InputError(f"l must be a whole number of at least 2, not {self.l!r}", code="plan-decorrelate")

    def to_dict(self) -> dict[str, object]:
        """The decorrelation as a plan writes it."""
        return {"attribute": self.attribute, "l": self.l}


@dataclass(frozen=True)
class About:
    """What a release is for: the name of the data set, the purpose and the recipient; each may be missing."""

    title: str | None = None
    purpose: str | None = None
    recipient: str | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value is None:
                continue
            if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_LINE or not value.isprintable():
                raise InputError(
                    f"{name}: is one line of text with at most {LONGEST_LINE} characters", code="about-text"
                )

    def to_dict(self) -> dict[str, str]:
        """What was stated."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def or_else(self, other: About) -> About:
        """What is stated here; for the rest, what the other states."""
        return About(**(vars(other) | self.to_dict()))


def about_in_words(stated: Mapping[str, object], told: Callable[[str], str] = str) -> list[str]:
    """What a release is for, line by line; `told` writes the words before what is stated in another language."""
    return [f"{told(name.capitalize()):<12}{said}" for name, said in stated.items()]


def as_attribute(entry: object, *, folder: Path) -> Attribute:
    """Return an attribute, given as an object or as a plan writes it."""
    return entry if isinstance(entry, Attribute) else Attribute.from_dict(entry, folder=folder)


def as_model(entry: Any, *, folder: Path) -> PrivacyModel:
    """Return a model, given as an object or as a plan writes it."""
    refuse_class(entry)
    return entry if isinstance(entry, PrivacyModel) else model_from_dict(entry, folder=folder)


def as_decorrelation(entry: Any) -> Decorrelation | None:
    """Return the decorrelation of sensitive attributes, given as an object or as a plan writes it."""
    if entry is None or isinstance(entry, Decorrelation):
        return entry
    options = mapping(entry, "{attribute: diagnosis, l: 3}", ("attribute", "l"))
    for key in ("attribute", "l"):
        if key not in options:
            raise InputError(f"{key} is missing, as in {{attribute: diagnosis, l: 3}}", code="plan-decorrelate")
    return Decorrelation(**options)


METRIC_KEYS = ("metric", "attribute", "queries")
"""The keys of a metric in a plan: its name, and the parameters of those that have any."""


def as_metric(entry: Any) -> Metric:
    """Return a metric, given as an object, by its name or as a plan writes it."""
    refuse_class(entry)
    if hasattr(entry, "costing"):
        metric: Metric = entry
        return metric
    options = {"metric": entry} if isinstance(entry, str) else mapping(entry, "{metric: loss}", METRIC_KEYS)
    name = str(options.pop("metric", "loss"))
    return metric_named(name, **options)


def refuse_other_queries(metric: Metric, quasi_identifiers: Sequence[str]) -> None:
    """Refuse a metric of queries about attributes that are not quasi-identifiers."""
    for name in metric.quasi_identifiers if isinstance(metric, QueryLoss) else ():
        if name not in quasi_identifiers:
            raise InputError(
                f"queries names {name!r}, which is not a quasi-identifying attribute of the plan"
                f"{nearest(name, quasi_identifiers)}",
                code="plan-metric-queries",
            )


def metric_entry(metric: Metric) -> dict[str, object]:
    """The metric as a plan writes it."""
    own = {name: [list(one) for one in value] if name == "queries" else value for name, value in vars(metric).items()}
    return {"metric": metric.name, **own}


def refuse_class(entry: object) -> None:
    """Refuse a class if one of its instances is expected."""
    if isinstance(entry, type):
        raise InputError(f"give an object, such as {entry.__name__}(...), not the class", code="plan-type")


def as_search(entry: Any) -> SearchOptions:
    """Return search options, given as an object, by the name of an algorithm or as a plan writes them."""
    if isinstance(entry, SearchOptions):
        return entry
    if isinstance(entry, str):
        return SearchOptions(algorithm=entry)
    return SearchOptions(**mapping(entry, "{algorithm: optimal}", SearchOptions.keys()))


class Within:
    """Put the position in the plan before the message of an InputError."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.place}: {error.message}", code=error.code) from None


def mapping(entry: object, example: str, known: Sequence[str]) -> dict[str, Any]:
    """Return an entry that must be a mapping with known keys."""
    if not isinstance(entry, Mapping):
        raise InputError(f"is written as {example}", code="plan-incomplete")
    refuse_unknown(entry, known, "it")
    return dict(entry)


def refuse_unknown(entry: Mapping[Any, object], known: Sequence[str], where: str) -> None:
    """Refuse unknown keys, and name the most similar known key."""
    for key in entry:
        if key not in known:
            raise InputError(
                f"{where} has no key {str(key)!r}{nearest(str(key), known)}; known are {', '.join(known)}",
                code="plan-unknown-key",
            )


def choice(key: str, value: object, choices: type[Formulas] | type[Role] | type[Missing]) -> Formulas | Role | Missing:
    """Return one of a few words."""
    try:
        return choices(str(value))
    except ValueError:
        known = [str(choice) for choice in choices]
        raise InputError(
            f"{key} is one of {', '.join(known)}, not {str(value)!r}{nearest(str(value), known)}", code=f"plan-{key}"
        ) from None
