"""Algorithms that may generalize each row in its own way."""

from __future__ import annotations

from kohorte.recoding.base import Recoder, RecodingProblem
from kohorte.recoding.cells import Cells, Recoding
from kohorte.recoding.hill_climbing import HillClimbing
from kohorte.recoding.k_optimize import KOptimize
from kohorte.recoding.line import Line
from kohorte.recoding.local import CellSuppression, LocalRecoding
from kohorte.recoding.mingen_cells import MinGenCells
from kohorte.recoding.mondrian import Mondrian, MondrianRelaxed
from kohorte.recoding.mu_argus import MuArgus, MuArgusComplete

RECODERS: tuple[type[Recoder], ...] = (
    Mondrian,
    MondrianRelaxed,
    LocalRecoding,
    CellSuppression,
    KOptimize,
    HillClimbing,
    MinGenCells,
    MuArgus,
    MuArgusComplete,
)

__all__ = [
    "RECODERS",
    "CellSuppression",
    "Cells",
    "HillClimbing",
    "KOptimize",
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
