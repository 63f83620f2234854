"""Marks on security-relevant rows, and the record outside the database of which version of a row is the latest."""
