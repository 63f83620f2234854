"""The page of a check, for the people who decide."""
