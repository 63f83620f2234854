"""Synthetic cohorts of a German hospital, for the demo, the tests, the documentation and the benchmarks.

All people are invented; any resemblance to real people is accidental.
"""

from __future__ import annotations

from kohorte.cohorts.generate import cohort, column_names
from kohorte.cohorts.plan import hierarchy_files, plan_text

__all__ = ["cohort", "column_names", "hierarchy_files", "plan_text"]
