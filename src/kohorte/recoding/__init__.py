"""Algorithms that can generalize each row in its own way."""

from __future__ import annotations

from kohorte.algorithm_names import RECODER_NAMES
from kohorte.recoding.base import Recoder, RecodingProblem
from kohorte.recoding.cells import Cells, Recoding
from kohorte.recoding.hill_climbing import HillClimbing
from kohorte.recoding.k_optimize import KOptimize
from kohorte.recoding.least_loss import LeastLoss
from kohorte.recoding.line import Line
from kohorte.recoding.local import CellSuppression, LocalRecoding
from kohorte.recoding.mingen_cells import MinGenCells
from kohorte.recoding.mondrian import Mondrian, MondrianRelaxed
from kohorte.recoding.mu_argus import MuArgus, MuArgusComplete
from kohorte.search import SEARCHES, Search

RECODERS: tuple[type[Recoder], ...] = (
    Mondrian,
    MondrianRelaxed,
    LeastLoss,
    LocalRecoding,
    CellSuppression,
    KOptimize,
    HillClimbing,
    MinGenCells,
    MuArgus,
    MuArgusComplete,
)
assert tuple(recoder.name for recoder in RECODERS) == RECODER_NAMES, "algorithm_names lists the recoders in this order"

ALGORITHMS: tuple[type[Search | Recoder], ...] = (*SEARCHES, *RECODERS)
"""All algorithms that a plan can name: searches of the lattice and recoders."""

__all__ = [
    "ALGORITHMS",
    "RECODERS",
    "CellSuppression",
    "Cells",
    "HillClimbing",
    "KOptimize",
    "LeastLoss",
    "Line",
    "LocalRecoding",
    "MinGenCells",
    "Mondrian",
    "MondrianRelaxed",
    "MuArgus",
    "MuArgusComplete",
    "Recoder",
    "Recoding",
    "RecodingProblem",
]
