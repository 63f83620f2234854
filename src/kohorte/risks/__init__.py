"""The re-identification risk of a table, raw or released: profiles, comparisons and policies."""

from kohorte.risks.comparison import RiskComparison, compare_risks
from kohorte.risks.policy import RiskPolicy, WeightedRisk
from kohorte.risks.profile import RiskProfile, risk

__all__ = ["RiskComparison", "RiskPolicy", "RiskProfile", "WeightedRisk", "compare_risks", "risk"]
