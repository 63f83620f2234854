"""Compare privacy models: does one promise at least what another one requires?

A model is at least as strict as another one if every release that satisfies the first also satisfies the second. This
is decided by proof only. Models that cannot be compared are not as strict, in neither direction.

Both models count the same unit, rows or people. Rows and people are not compared here: a class of k rows can be about a
single person.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any, TypeAlias

from kohorte.groups import Groups
from kohorte.models.average_risk import AverageRisk
from kohorte.models.base import PrivacyModel
from kohorte.models.closeness.beta_likeness_basic import BasicBetaLikeness
from kohorte.models.closeness.beta_likeness_enhanced import EnhancedBetaLikeness
from kohorte.models.closeness.delta_disclosure import DeltaDisclosure
from kohorte.models.closeness.n_t_closeness import NTCloseness
from kohorte.models.closeness.t_closeness_equal import EqualTCloseness
from kohorte.models.closeness.t_closeness_hierarchical import HierarchicalTCloseness
from kohorte.models.closeness.t_closeness_ordered import OrderedTCloseness
from kohorte.models.diversity.alpha_k_anonymity import AlphaKAnonymity
from kohorte.models.diversity.l_diversity_distinct import DistinctLDiversity
from kohorte.models.diversity.l_diversity_entropy import EntropyLDiversity
from kohorte.models.diversity.l_diversity_recursive import RecursiveLDiversity
from kohorte.models.k_anonymity import KAnonymity
from kohorte.models.populations.delta_presence import DeltaPresence
from kohorte.models.populations.k_map import KMap
from kohorte.models.populations.population_uniqueness import PopulationUniqueness
from kohorte.models.safe_harbor import SafeHarborRule
from kohorte.models.sensitive import SensitiveModel

Comparison: TypeAlias = Callable[[Any, Any], bool]


def _more(given: float, required: float) -> bool:
    return given >= required


def _less(given: float, required: float) -> bool:
    return given <= required


def _part(given: tuple[str, ...], required: tuple[str, ...]) -> bool:
    return set(given) <= set(required)


def _same(given: object, required: object) -> bool:
    return given == required


DIRECTIONS: Mapping[type[PrivacyModel], Mapping[str, Comparison]] = MappingProxyType(
    {
        KAnonymity: {"k": _more},
        DistinctLDiversity: {"l": _more},
        EntropyLDiversity: {"l": _more},
        RecursiveLDiversity: {"c": _less, "l": _more},
        EqualTCloseness: {"t": _less},
        OrderedTCloseness: {"t": _less},
        HierarchicalTCloseness: {"t": _less},
        DeltaPresence: {"minimum": _more, "maximum": _less},
        KMap: {"k": _more},
        AlphaKAnonymity: {"alpha": _less, "k": _more},
        DeltaDisclosure: {"delta": _less},
        BasicBetaLikeness: {"beta": _less},
        EnhancedBetaLikeness: {"beta": _less},
        NTCloseness: {"n": _more, "t": _less},
        AverageRisk: {"threshold": _less},
        PopulationUniqueness: {"threshold": _less},
        SafeHarborRule: {"allow": _part},
    }
)
"""In which direction a parameter becomes stricter, for models of the same kind; all other parameters must be equal."""


def weakest_reached(model: PrivacyModel, judged: Iterable[Groups]) -> float | tuple[float, float] | None:
    """Return the strongest parameter that holds for all that is judged: classes, and sets of classes of each person.

    A set of classes has fewer people than each of its classes, but can have more values. What is reached is a value of
    the first parameter in `DIRECTIONS`; None if no parameter holds, or if there is nothing to judge.
    """
    reached = [model.reached(groups) for groups in judged if len(groups)]
    if len(reached) < 2:
        return next(iter(reached), None)
    numbers = [number for number in reached if isinstance(number, float | int)]
    if len(numbers) < len(reached):
        return None
    more_is_stricter = next(iter(DIRECTIONS[type(model)].values())) is _more
    return min(numbers) if more_is_stricter else max(numbers)


def at_least_as_strict(given: PrivacyModel, required: PrivacyModel) -> bool:
    """Tell whether every release that satisfies `given` also satisfies `required`.

    Models of the same kind are compared by their parameters. Of different kinds, only these follow from each other: a
    model whose classes have at least k rows implies k-anonymity, and an average risk of 1 / k; a model whose classes
    have at least l values implies distinct l-diversity; enhanced beta-likeness implies the basic kind.

    All of it also holds where people are counted, and a person may have several values. A class of a model of
    l-diversity has at least l people: l - 1 do not have the most frequent value, and somebody has it. With alpha, each
    value has at least one person and at most the share alpha of them, so there are n >= L = ceil(1 / alpha) people, and
    at least L values, as everybody has one. Of n people at least n - floor(alpha * n) do not have the most frequent
    value; this is L - 1 for n = L, and never decreases with n, as distinct l-diversity asks for.
    """
    return _same_kind(given, required) or _implied(given, required)


def _same_kind(given: PrivacyModel, required: PrivacyModel) -> bool:
    if type(given) is not type(required):
        return False
    directions = DIRECTIONS.get(type(required), {})
    return all(
        directions.get(part.name, _same)(getattr(given, part.name), getattr(required, part.name))
        for part in fields(required)
        if part.compare
    )


def _implied(given: PrivacyModel, required: PrivacyModel) -> bool:
    match required:
        case KAnonymity():
            return given.smallest_class >= required.k
        case AverageRisk():
            return given.smallest_class * Fraction(str(required.threshold)) >= 1
        case DistinctLDiversity():
            return (
                isinstance(given, SensitiveModel)
                and _same_attribute(given, required)
                and (given.fewest_values >= required.l)
            )
        case BasicBetaLikeness():
            return (
                isinstance(given, EnhancedBetaLikeness)
                and _same_attribute(given, required)
                and (given.beta <= required.beta)
            )
    return False


def _same_attribute(given: SensitiveModel, required: SensitiveModel) -> bool:
    return given.attribute == required.attribute
