"""What all kinds of generalization in a series have in common."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kohorte.series.domain.regions import Places


class Cover(Protocol):
    """What tells which rows look the same in a release: its regions, or its levels."""

    def locate(self, places: Places) -> NDArray[np.int64]:
        """The number of the class of every row; OUTSIDE where it has none."""
