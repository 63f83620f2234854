"""Models that compare the sensitive values of a class with those of the table."""
