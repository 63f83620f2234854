"""Equivalence classes: the waist of the package."""

from kohorte.groups.groups import Groups
from kohorte.groups.histogram import Histogram
from kohorte.groups.marginals import Column, Marginals

__all__ = ["Column", "Groups", "Histogram", "Marginals"]
