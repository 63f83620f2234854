"""The risk of a table, raw or released: profiles, comparisons, and attacks that run and count."""

from kohorte.risks.comparison import RiskComparison, compare_risks
from kohorte.risks.policy import RiskPolicy, WeightedRisk
from kohorte.risks.profile import RiskProfile, risk

__all__ = ["RiskComparison", "RiskPolicy", "RiskProfile", "WeightedRisk", "compare_risks", "risk"]
