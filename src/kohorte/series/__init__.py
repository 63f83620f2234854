"""Releases of a growing table that only ever get finer."""

from kohorte.series.series import Series
from kohorte.series.series_release import SeriesRelease
from kohorte.series.settings import SeriesSettings
from kohorte.series.status.status import SeriesStatus
from kohorte.series.verification import ReleaseVerdict, SeriesVerification

__all__ = ["ReleaseVerdict", "Series", "SeriesRelease", "SeriesSettings", "SeriesStatus", "SeriesVerification"]
