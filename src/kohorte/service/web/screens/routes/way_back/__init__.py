"""Screens of the way back: one person asks, two others approve, and the result is shown once."""
