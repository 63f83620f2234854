"""Plans: what to anonymize, how strictly, and by which metric; and first plans for a new table."""

from kohorte.plans.parts import Attribute, Decorrelation
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import SearchOptions

__all__ = ["Attribute", "Decorrelation", "Plan", "SearchOptions"]
