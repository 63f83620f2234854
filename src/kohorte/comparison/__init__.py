"""All algorithms on one table: time, cost in every metric, and what the releases are still good for."""

from kohorte.comparison.compare import Comparison, compare_algorithms
from kohorte.comparison.outcome import Outcome
from kohorte.comparison.write import write_page
from kohorte.pages import refuse_page

__all__ = ["Comparison", "Outcome", "compare_algorithms", "refuse_page", "write_page"]
