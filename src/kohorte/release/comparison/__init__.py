"""All algorithms on one table: time, cost in every metric, and what the releases are still good for."""

from kohorte.drawing import refuse_page
from kohorte.release.comparison.compare import Comparison, compare_algorithms
from kohorte.release.comparison.outcome import Outcome
from kohorte.release.comparison.write import write_page

__all__ = ["Comparison", "Outcome", "compare_algorithms", "refuse_page", "write_page"]
