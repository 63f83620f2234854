"""Equivalence classes: all that models and metrics see of a table."""

from kohorte.groups.counting import different_people, people_with_values, rows_with_values
from kohorte.groups.groups import LARGEST_SUMMARIZED, Groups, JudgedPeople, Population
from kohorte.groups.histogram import Domain, Histogram
from kohorte.groups.marginals import Column, Marginals
from kohorte.groups.recoded import Recoded, RecodedColumn
from kohorte.groups.sets_of_classes import person_sets

__all__ = [
    "LARGEST_SUMMARIZED",
    "Column",
    "Domain",
    "Groups",
    "Histogram",
    "JudgedPeople",
    "Marginals",
    "Population",
    "Recoded",
    "RecodedColumn",
    "different_people",
    "people_with_values",
    "person_sets",
    "rows_with_values",
]
