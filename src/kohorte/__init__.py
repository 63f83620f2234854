"""Kohorte: share the cohort, not the patients.

    import kohorte as ko
    plan = ko.Plan.from_yaml("plan.yaml")
    release = ko.anonymize(frame, plan)

Everything is loaded when it is first used, so that the command starts quickly.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kohorte.data import Role, read_table, write_table
    from kohorte.data.cohort import cohort
    from kohorte.engines import Missing
    from kohorte.errors import EngineError, InputError, InternalError, KohorteError, NoSolution, PrivacyViolation
    from kohorte.hierarchy import (
        Bounds,
        CsvFile,
        Dates,
        Hierarchy,
        Intervals,
        Ordering,
        Redaction,
        SafeHarbor,
        Tree,
        check_hierarchy,
    )
    from kohorte.lattice import Lattice
    from kohorte.models import (
        AlphaKAnonymity,
        AverageRisk,
        BasicBetaLikeness,
        DeltaDisclosure,
        DeltaPresence,
        DistinctLDiversity,
        EnhancedBetaLikeness,
        EntropyLDiversity,
        EqualTCloseness,
        HierarchicalTCloseness,
        KAnonymity,
        KMap,
        NTCloseness,
        OrderedTCloseness,
        PopulationUniqueness,
        PrivacyModel,
        RecursiveLDiversity,
        SafeHarborRule,
    )
    from kohorte.quality import (
        Aecs,
        Classification,
        Discernibility,
        DiscernibilityMonotone,
        Entropy,
        Height,
        Loss,
        NonUniformEntropy,
        NonUniformEntropySuppression,
        Precision,
        PrecisionMonotone,
    )
    from kohorte.release import (
        Attribute,
        Certificate,
        Decorrelation,
        Plan,
        Release,
        SearchOptions,
        SolutionSpace,
        Verification,
        anonymize,
        certify,
        safe_harbor_plan,
        solution_space,
        verify,
        write_release,
    )
    from kohorte.release.comparison import Comparison, compare_algorithms
    from kohorte.report.write import write_report
    from kohorte.risks import RiskComparison, RiskPolicy, RiskProfile, WeightedRisk, compare_risks, risk
    from kohorte.risks.attacks import (
        Attack,
        Knowledge,
        background_knowledge_attack,
        complementary_release_attack,
        homogeneity_attack,
        linkage_attack,
        read_knowledge,
        run_attacks,
        similarity_attack,
        skewness_attack,
        unsorted_matching_attack,
    )
    from kohorte.search import Progress
    from kohorte.series import Series, SeriesRelease, SeriesSettings, SeriesStatus, SeriesVerification
    from kohorte.survey import Survey, SurveyEstimate, SurveyProposal, estimate_survey, plan_survey

_HOME = {
    "data": ("Role", "read_table", "write_table"),
    "data.cohort": ("cohort",),
    "engines": ("Missing",),
    "errors": ("EngineError", "InputError", "InternalError", "KohorteError", "NoSolution", "PrivacyViolation"),
    "hierarchy": (
        "Bounds",
        "CsvFile",
        "Dates",
        "Hierarchy",
        "Intervals",
        "Ordering",
        "Redaction",
        "SafeHarbor",
        "Tree",
        "check_hierarchy",
    ),
    "lattice": ("Lattice",),
    "models": (
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
        "PopulationUniqueness",
        "PrivacyModel",
        "RecursiveLDiversity",
        "SafeHarborRule",
    ),
    "quality": (
        "Aecs",
        "Classification",
        "Discernibility",
        "DiscernibilityMonotone",
        "Entropy",
        "Height",
        "Loss",
        "NonUniformEntropy",
        "NonUniformEntropySuppression",
        "Precision",
        "PrecisionMonotone",
    ),
    "release": (
        "Attribute",
        "Certificate",
        "Decorrelation",
        "Plan",
        "Release",
        "SearchOptions",
        "SolutionSpace",
        "Verification",
        "anonymize",
        "certify",
        "safe_harbor_plan",
        "solution_space",
        "verify",
        "write_release",
    ),
    "release.comparison": ("Comparison", "compare_algorithms"),
    "report.write": ("write_report",),
    "risks": ("RiskComparison", "RiskPolicy", "RiskProfile", "WeightedRisk", "compare_risks", "risk"),
    "risks.attacks": (
        "Attack",
        "Knowledge",
        "background_knowledge_attack",
        "complementary_release_attack",
        "homogeneity_attack",
        "linkage_attack",
        "read_knowledge",
        "run_attacks",
        "similarity_attack",
        "skewness_attack",
        "unsorted_matching_attack",
    ),
    "search": ("Progress",),
    "series": ("Series", "SeriesRelease", "SeriesSettings", "SeriesStatus", "SeriesVerification"),
    "survey": ("Survey", "SurveyEstimate", "SurveyProposal", "estimate_survey", "plan_survey"),
}
_MODULE = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "Aecs",
    "AlphaKAnonymity",
    "Attack",
    "Attribute",
    "AverageRisk",
    "BasicBetaLikeness",
    "Bounds",
    "Certificate",
    "Classification",
    "Comparison",
    "CsvFile",
    "Dates",
    "Decorrelation",
    "DeltaDisclosure",
    "DeltaPresence",
    "Discernibility",
    "DiscernibilityMonotone",
    "DistinctLDiversity",
    "EngineError",
    "EnhancedBetaLikeness",
    "Entropy",
    "EntropyLDiversity",
    "EqualTCloseness",
    "Height",
    "HierarchicalTCloseness",
    "Hierarchy",
    "InputError",
    "InternalError",
    "Intervals",
    "KAnonymity",
    "KMap",
    "Knowledge",
    "KohorteError",
    "Lattice",
    "Loss",
    "Missing",
    "NTCloseness",
    "NoSolution",
    "NonUniformEntropy",
    "NonUniformEntropySuppression",
    "OrderedTCloseness",
    "Ordering",
    "Plan",
    "PopulationUniqueness",
    "Precision",
    "PrecisionMonotone",
    "PrivacyModel",
    "PrivacyViolation",
    "Progress",
    "RecursiveLDiversity",
    "Redaction",
    "Release",
    "RiskComparison",
    "RiskPolicy",
    "RiskProfile",
    "Role",
    "SafeHarbor",
    "SafeHarborRule",
    "SearchOptions",
    "Series",
    "SeriesRelease",
    "SeriesSettings",
    "SeriesStatus",
    "SeriesVerification",
    "SolutionSpace",
    "Survey",
    "SurveyEstimate",
    "SurveyProposal",
    "Tree",
    "Verification",
    "WeightedRisk",
    "anonymize",
    "background_knowledge_attack",
    "certify",
    "check_hierarchy",
    "cohort",
    "compare_algorithms",
    "compare_risks",
    "complementary_release_attack",
    "estimate_survey",
    "homogeneity_attack",
    "linkage_attack",
    "plan_survey",
    "read_knowledge",
    "read_table",
    "risk",
    "run_attacks",
    "safe_harbor_plan",
    "similarity_attack",
    "skewness_attack",
    "solution_space",
    "unsorted_matching_attack",
    "verify",
    "write_release",
    "write_report",
    "write_table",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE:
        raise AttributeError(f"module 'kohorte' has no attribute {name!r}")
    value: object = getattr(import_module(f"kohorte.{_MODULE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
