"""Screens about the risk of a release, and about all combinations of levels."""
