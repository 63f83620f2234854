"""The recoder least_loss: groups of rows whose cells cost least, found by cuts and improved row by row."""

from kohorte.recoding.least_loss.costs import CELLS
from kohorte.recoding.least_loss.recoder import LeastLoss
from kohorte.recoding.least_loss.set_cells import SetCells

__all__ = ["CELLS", "LeastLoss", "SetCells"]
