"""MinGen: of all generalizations that satisfy the models, the one with the lowest cost."""

from __future__ import annotations

from typing import ClassVar

from kohorte.search.exhaustive import Exhaustive


class MinGen(Exhaustive):
    """MinGen for whole attributes: counts every node and returns the best solution.

    Published for k-anonymity and the metric precision; here for every model and metric of the plan. Sweeney lets the
    data holder choose among equal solutions; here ties are broken by height, then levels. Sweeney's MinGen works on
    single cells, as the recoder `mingen_cells` does.

    Optimal or heuristic
        Optimal for every model and metric.
    Complexity
        One check per node of the lattice: the product of (height + 1) over the hierarchies.
    Source
        Sweeney, Achieving k-Anonymity Privacy Protection Using Generalization and Suppression, 2002, section 5.
    """

    name: ClassVar[str] = "mingen"
