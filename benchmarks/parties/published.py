"""Published numbers about releases of several parties.

Source: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation,
Technische Universität München, 2015, tables 4.1 and 4.3 to 4.5, and the text of sections 4.6.4 and 4.6.5.
"""

from __future__ import annotations

from collections.abc import Mapping

LOSS: Mapping[tuple[str, str, bool, int], int] = {
    ("adult", "k", True, 2): 50,
    ("adult", "k", True, 3): 45,
    ("adult", "k", False, 2): 92,
    ("adult", "k", False, 3): 97,
    ("adult", "l", True, 2): 76,
    ("adult", "l", True, 3): 65,
    ("adult", "l", False, 2): 70,
    ("adult", "l", False, 3): 68,
    ("cup", "k", True, 2): 15,
    ("cup", "k", True, 3): 13,
    ("cup", "k", False, 2): 43,
    ("cup", "k", False, 3): 32,
    ("cup", "l", True, 2): 87,
    ("cup", "l", True, 3): 70,
    ("cup", "l", False, 2): 65,
    ("cup", "l", False, 3): 55,
}
"""Table 4.1, in percent: by table, criterion (5-anonymity or recursive diversity), vertical or not, parties."""

SECONDS: Mapping[tuple[str, str, bool, int], float] = {
    ("adult", "A", True, 2): 21,
    ("adult", "A", True, 3): 32,
    ("adult", "A", False, 2): 1,
    ("adult", "A", False, 3): 1,
    ("adult", "B", True, 2): 0.32,
    ("adult", "B", True, 3): 0.37,
    ("adult", "B", False, 2): 0.20,
    ("adult", "B", False, 3): 0.20,
    ("adult", "C", True, 2): 43,
    ("adult", "C", True, 3): 44,  # measured; the table has 37
    ("adult", "C", False, 2): 37,
    ("adult", "C", False, 3): 32,  # measured; the table has 29
    ("cup", "A", True, 2): 58,
    ("cup", "A", True, 3): 85,
    ("cup", "A", False, 2): 20,
    ("cup", "A", False, 3): 31,
    ("cup", "B", True, 2): 0.66,
    ("cup", "B", True, 3): 0.77,
    ("cup", "B", False, 2): 0.47,
    ("cup", "B", False, 3): 0.49,
    ("cup", "C", True, 2): 112,
    ("cup", "C", True, 3): 93,
    ("cup", "C", False, 2): 99,
    ("cup", "C", False, 3): 76,
}
"""Tables 4.3 to 4.5, by table, protocol, vertical or not, parties: estimates, from which measurements differ little."""

MEGABYTES: Mapping[tuple[str, str, bool, int], float] = {
    ("adult", "A", False, 2): 1.0,
    ("adult", "B", True, 2): 2.0,
    ("adult", "B", False, 3): 1.4,
    ("adult", "C", True, 2): 49.0,
    ("adult", "C", False, 2): 37.0,
}
"""Section 4.6.5: what the text says; the figures of it cannot be read exactly."""

TESTS = {"adult": 169, "cup": 40}
"""Nodes that Flash tests for 5-anonymity without suppression (section 4.6.4.3)."""
