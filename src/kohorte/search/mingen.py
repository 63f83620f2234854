"""MinGen: all generalizations, and of those that are safe the one that distorts least."""

from __future__ import annotations

from typing import ClassVar

from kohorte.search.exhaustive import Exhaustive


class MinGen(Exhaustive):
    """MinGen on the level of attributes: every node is counted, and of the solutions the best is preferred.

    Published for k-anonymity and the metric precision; here for every model and metric of the plan. What the source
    calls the data holder's preference among equals is the fixed order that breaks ties: height, then levels. On the
    level of cells, which is how the source means it, it is the recoding `mingen_cells`.

    Optimal or heuristic
        Optimal for every model and metric, by looking at everything.
    Complexity
        One check per node of the lattice: the product of (height + 1) over the hierarchies.
    Source
        Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002, section 5.
    """

    name: ClassVar[str] = "mingen"
