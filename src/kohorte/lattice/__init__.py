"""The lattice of all combinations of generalization levels."""

from kohorte.lattice.lattice import Lattice, Node, Parts, add_up, half_sums, size_in_words

__all__ = ["Lattice", "Node", "Parts", "add_up", "half_sums", "size_in_words"]
