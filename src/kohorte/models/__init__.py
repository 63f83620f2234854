"""Privacy models: verdicts from groups alone."""

from __future__ import annotations

from pathlib import Path

from kohorte.errors import InputError, member_named
from kohorte.models.average_risk import AverageRisk
from kohorte.models.base import PopulationSource, PrivacyModel
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

MODELS: tuple[type[PrivacyModel], ...] = (
    KAnonymity,
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveLDiversity,
    EqualTCloseness,
    OrderedTCloseness,
    HierarchicalTCloseness,
    DeltaPresence,
    KMap,
    AlphaKAnonymity,
    DeltaDisclosure,
    BasicBetaLikeness,
    EnhancedBetaLikeness,
    NTCloseness,
    AverageRisk,
    PopulationUniqueness,
    SafeHarborRule,
)

__all__ = [
    "MODELS",
    "AlphaKAnonymity",
    "AverageRisk",
    "BasicBetaLikeness",
    "DeltaDisclosure",
    "DeltaPresence",
    "DistinctLDiversity",
    "EnhancedBetaLikeness",
    "EntropyLDiversity",
    "EqualTCloseness",
    "HierarchicalTCloseness",
    "KAnonymity",
    "KMap",
    "NTCloseness",
    "OrderedTCloseness",
    "PopulationSource",
    "PopulationUniqueness",
    "PrivacyModel",
    "RecursiveLDiversity",
    "SafeHarborRule",
    "model_from_dict",
]


def model_from_dict(entry: object, *, folder: Path = Path()) -> PrivacyModel:
    """Return the model that a plan describes as `{model: name, parameter: value}`; files are relative to `folder`."""
    if not isinstance(entry, dict) or "model" not in entry:
        raise InputError(
            "a model is written as {model: name, ...}, for example {model: k-anonymity, k: 5}",
            code="model-entry",
        )
    found = member_named(str(entry["model"]), MODELS, what="model", code="model-unknown")
    return found.from_dict(entry, folder=folder)
