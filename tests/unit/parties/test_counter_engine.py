"""The engine that decrypts: sizes of classes first, and sensitive values only of classes that may be released."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kohorte.errors import ProtocolError
from kohorte.groups import Domain, Marginals
from kohorte.kernels.arrays import Codes, Counts
from kohorte.lattice import Node
from kohorte.parties.ciphers.counters import ElGamal
from kohorte.parties.counting.counter_engine import CounterEngine, TrueDomain
from kohorte.parties.sealed import Cells, pack

NODE = (0,)
CLASSES = np.array([0, 0, 0, 1, 1, 2, 3], dtype=np.uint32)
VALUES = np.array([0, 1, 2, 0, 1, 1, 2], dtype=np.uint32)
PEOPLE = np.array([3, 0, 2, 1, 1, 0, 4])
"""Four classes with 5, 2, 0 and 4 people."""


class Helper:
    """Answers with real ciphertexts, and counts what is asked and decrypted."""

    def __init__(self, class_of: Codes = CLASSES, classes: int = 4) -> None:
        self._private = ElGamal.random()
        self._class_of, self._classes = class_of, classes
        self.asked, self.decrypted = 0, 0

    def ask(self, node: Node, exact: Sequence[str]) -> bytes:
        del node, exact
        self.asked += 1
        arrays: dict[str, np.ndarray[Any, np.dtype[Any]]] = {
            "counters": self._private.encrypt(PEOPLE),
            "class": self._class_of,
            "rows": np.full(self._classes, 9),
            "s0": VALUES,
        }
        return pack({"classes": self._classes}, arrays)

    def decrypt(self, counters: Cells) -> Counts:
        self.decrypted += len(counters)
        return self._private.decrypt(counters, 100)

    def add(self, counters: Cells, group_of: Codes, groups: int) -> Cells:
        return self._private.public.sum_groups(counters, group_of, groups)


def engine(helper: Helper, least: int) -> CounterEngine:
    domain = TrueDomain(Marginals(11, ()), {"disease": Domain(np.array([4, 1, 6]))}, excluded=0, starred=False)
    return CounterEngine(domain, helper, least)


def test_sensitive_values_of_classes_that_are_too_small_are_not_decrypted() -> None:
    helper = Helper()
    groups = engine(helper, 4).groups(NODE)
    assert groups.sizes.tolist() == [5, 2, 4]
    assert helper.decrypted == 4 + 4  # the sizes of four classes, and the cells of the first and of the last
    histogram = groups.histograms["disease"]
    assert histogram.starts.tolist() == [0, 2, 3, 4]
    assert (histogram.values.tolist(), histogram.counts.tolist()) == ([0, 2, 2, 2], [3, 2, 2, 4])


def test_a_class_that_is_too_small_has_a_value_that_people_have() -> None:
    """It had the first value, also where only dummy rows have that: models divided by how many people have it."""
    helper = Helper()
    domain = TrueDomain(Marginals(11, ()), {"disease": Domain(np.array([0, 5, 6]))}, excluded=0, starred=False)
    histogram = CounterEngine(domain, helper, 100).groups(NODE).histograms["disease"]
    assert (histogram.values.tolist(), histogram.counts.tolist()) == ([2, 2, 2], [5, 2, 4])


def test_every_class_with_people_has_its_values_if_all_may_be_released() -> None:
    helper = Helper()
    histogram = engine(helper, 1).groups(NODE).histograms["disease"]
    assert (histogram.values.tolist(), histogram.counts.tolist()) == ([0, 2, 0, 1, 2], [3, 2, 1, 1, 4])
    assert helper.decrypted == 4 + 6  # not the cell of the class without people


def test_sizes_alone_need_no_values_and_no_second_question() -> None:
    helper = Helper()
    found = engine(helper, 4)
    sizes = found.sizes(NODE)
    assert sizes is not None
    assert (sizes.sizes.tolist(), dict(sizes.histograms), helper.decrypted) == ([5, 2, 4], {}, 4)
    found.groups(NODE)
    assert (helper.asked, helper.decrypted) == (1, 8)
    assert found.kept_order[NODE][0].tolist() == [0, 1, 3]


@pytest.mark.parametrize(("class_of", "classes"), [(CLASSES, 5), (CLASSES, 3), (CLASSES + 1, 5)])
def test_an_answer_with_a_class_that_has_no_cell_is_refused(class_of: Codes, classes: int) -> None:
    with pytest.raises(ProtocolError, match="a class that is not there"):
        engine(Helper(class_of, classes), 1).groups(NODE)
