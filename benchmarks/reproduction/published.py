"""Published numbers.

Source: Kohlmayer, Datenschutz und biomedizinische Forschung: Konzepte und Lösungen für Anonymität, dissertation,
Technische Universität München, 2015.
"""

from __future__ import annotations

TABLES = ("adult", "cup")

SHARES: dict[str, dict[str, tuple[int, int]]] = {
    "entropy": {
        "k": (55, 64),
        "l": (64, 63),
        "t": (94, 70),
        "k,t": (94, 70),
        "k,l": (64, 64),
        "d": (69, 70),
        "k,d": (78, 71),
        "l,d": (74, 69),
        "t,d": (95, 86),
        "k,t,d": (95, 86),
        "k,l,d": (74, 71),
    },
    "precision": {
        "k": (48, 39),
        "l": (57, 38),
        "t": (86, 50),
        "k,t": (86, 50),
        "k,l": (57, 39),
        "d": (54, 49),
        "k,d": (67, 53),
        "l,d": (72, 52),
        "t,d": (93, 67),
        "k,t,d": (93, 67),
        "k,l,d": (72, 53),
    },
    "discernibility": {
        "k": (16, 6),
        "l": (22, 6),
        "t": (82, 8),
        "k,t": (82, 8),
        "k,l": (22, 6),
        "d": (40, 21),
        "k,d": (43, 11),
        "l,d": (28, 9),
        "t,d": (79, 19),
        "k,t,d": (61, 19),
        "k,l,d": (29, 11),
    },
    "aecs": {
        "k": (4, 1),
        "l": (6, 1),
        "t": (21, 2),
        "k,t": (21, 2),
        "k,l": (6, 1),
        "d": (13, 3),
        "k,d": (24, 2),
        "l,d": (15, 1),
        "t,d": (29, 11),
        "k,t,d": (25, 11),
        "k,l,d": (15, 2),
    },
}
"""Table 3.1: information loss at 5 % suppression, as a percentage of that without, for the columns of `TABLES`."""

FLASH_CHECKS = {("adult", 5): 169, ("adult", 100): 62, ("cup", 5): 40, ("cup", 100): 31}
"""Section 4.6.4.3: checks of basic Flash without suppression, by table and k, over all quasi-identifiers."""
