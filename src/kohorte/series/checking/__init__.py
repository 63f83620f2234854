"""Checks of a whole series: all releases replayed and linked; copies of its folder that are too old."""
