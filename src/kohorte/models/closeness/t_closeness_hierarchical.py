"""t-closeness where values are as far apart as their hierarchy says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.groups import Groups, Histogram
from kohorte.kernels.arrays import Floats
from kohorte.models.closeness.closeness import Closeness


@dataclass(frozen=True)
class HierarchicalTCloseness(Closeness):
    """t-closeness with hierarchical distance.

    Guarantee
        The distribution of the sensitive attribute in every class differs from that in the whole table (suppressed
        rows included) by at most t, where moving a row to another value costs more the higher the two meet in the
        hierarchy: a class with only lung diseases is far from the table, even if they are all different.
    Guarantee for people
        The distribution of the sensitive attribute among the people of every class differs from that among all people
        of the table, those with suppressed rows included, by at most t, where moving a person to another value costs
        more the higher the two meet in the hierarchy: a class with only lung diseases is far from the table, even if
        they are all different.
    Leaves open
        What the table as a whole reveals about everyone in it. Single values: two values that meet at a low level can
        replace each other at little cost, so one may be much more frequent than in the table.
    Monotone
        Without suppression only.
    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007; Kohlmayer,
        Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation, Technische
        Universität München, 2015, equations 2.4 to 2.8 and figure 3.3.
    """

    name: ClassVar[str] = "t-closeness_hierarchical"
    example: ClassVar[str] = "{model: t-closeness_hierarchical, attribute: diagnosis, t: 0.2}"
    monotone: ClassVar[bool] = True
    needs_hierarchy: ClassVar[bool] = True

    @staticmethod
    def distances(histogram: Histogram) -> Floats:
        """The least cost of moving rows within the hierarchy."""
        return histogram.hierarchical_distance

    def gone(self, groups: Groups) -> Floats:
        """The fewest rows that must leave each class."""
        return self.gone_in_tree(groups, self.histogram(groups).domain.tree)
