"""Equivalence classes: all that models and metrics see of a table."""

from kohorte.groups.groups import Groups, Population
from kohorte.groups.histogram import Domain, Histogram
from kohorte.groups.marginals import Column, Marginals
from kohorte.groups.recoded import Recoded, RecodedColumn

__all__ = ["Column", "Domain", "Groups", "Histogram", "Marginals", "Population", "Recoded", "RecodedColumn"]
