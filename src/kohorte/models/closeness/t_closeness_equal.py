"""t-closeness with equal distance: all values are equally far from each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kohorte.groups import Groups, Histogram
from kohorte.kernels.arrays import Floats
from kohorte.models.closeness.closeness import Closeness


@dataclass(frozen=True)
class EqualTCloseness(Closeness):
    """t-closeness with equal distance.

    Guarantee
        The distribution of the sensitive attribute in every class differs from that in the whole table (suppressed rows
        included) by at most t, as half the sum of all differences: knowing a person's class reveals little more than
        the table as a whole.
    Guarantee for people
        The distribution of the sensitive attribute among the people of every class differs from that among all people
        of the table, those with suppressed rows included, by at most t, as half the sum of all differences: knowing a
        person's class reveals little more than the table as a whole.
    Leaves open
        What the table as a whole reveals about everyone in it. Values that differ but mean the same: lung diseases may
        be more frequent in a class as long as no single one is much more frequent; the hierarchical distance prevents
        this.
    Monotone
        Without suppression only.
    Source
        Li, Li and Venkatasubramanian, t-Closeness: Privacy Beyond k-Anonymity and l-Diversity, ICDE 2007. Not monotone
        with suppression: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität,
        dissertation, Technische Universität München, 2015, figure 3.3.
    """

    name: ClassVar[str] = "t-closeness_equal"
    example: ClassVar[str] = "{model: t-closeness_equal, attribute: diagnosis, t: 0.2}"
    monotone: ClassVar[bool] = True

    @staticmethod
    def distances(histogram: Histogram) -> Floats:
        """Half the sum of all differences."""
        return histogram.equal_distance

    def gone(self, groups: Groups) -> Floats:
        """The fewest rows that must leave each class."""
        return self.gone_in_tree(groups, self.histogram(groups).domain.flat_tree)
