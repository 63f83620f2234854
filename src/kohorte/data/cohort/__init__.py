"""Made-up cohorts of a German hospital, for the demo, the tests, the documentation and the benchmarks.

Everything here is invented; nobody is meant.
"""

from __future__ import annotations

from kohorte.data.cohort.generate import cohort, column_names
from kohorte.data.cohort.plan import hierarchy_files, plan_text

__all__ = ["cohort", "column_names", "hierarchy_files", "plan_text"]
