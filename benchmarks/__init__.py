"""Benchmarks: each contains its expected answer and fails before it is timed."""
