"""A table as it is shown: its classes, and the values that a generalized cell covers."""
