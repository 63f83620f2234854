"""Drafting the next release of a growing table, and making earlier releases again."""
