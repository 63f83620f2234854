"""Measurements of a table, the noise on them, and what is computed from the noisy numbers."""
