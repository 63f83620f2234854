"""Encodings of records that two patient lists can compare without names."""
