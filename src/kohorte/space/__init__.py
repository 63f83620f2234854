"""The solution space: every node of a plan's lattice with its verdict and cost, and pictures of it."""

from kohorte.space.solution_space import SolutionSpace, solution_space
from kohorte.space.write import refuse_picture, write_picture

__all__ = ["SolutionSpace", "refuse_picture", "solution_space", "write_picture"]
