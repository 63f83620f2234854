"""Pure combinatorics of generalization levels."""

from kohorte.lattice.lattice import Lattice, Node

__all__ = ["Lattice", "Node"]
