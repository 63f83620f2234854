"""The kinds of pseudonyms: one-way, reversible, reference list."""

from __future__ import annotations

from kohorte.pseudonyms.kinds.base import PseudonymKind
from kohorte.pseudonyms.kinds.one_way import OneWay
from kohorte.pseudonyms.kinds.reference_list import ReferenceList
from kohorte.pseudonyms.kinds.reversible import Reversible

KINDS: tuple[type[PseudonymKind], ...] = (OneWay, Reversible, ReferenceList)

__all__ = ["KINDS", "OneWay", "PseudonymKind", "ReferenceList", "Reversible"]
