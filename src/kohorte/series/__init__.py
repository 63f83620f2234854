"""Releases of a growing table that only ever get finer.

Source: European patent application EP 4 404 095 A1, "Anonymisieren von Daten" (Cuellar Jaramillo and Rosenbaum, Siemens
Healthineers AG, 2024).
"""

from kohorte.series.checking.verification import ReleaseVerdict, SeriesVerification
from kohorte.series.releasing.series_release import SeriesRelease
from kohorte.series.series import Series
from kohorte.series.settings import SeriesSettings
from kohorte.series.status.status import SeriesStatus

__all__ = ["ReleaseVerdict", "Series", "SeriesRelease", "SeriesSettings", "SeriesStatus", "SeriesVerification"]
