"""Models that compare the table with the population it was drawn from."""
