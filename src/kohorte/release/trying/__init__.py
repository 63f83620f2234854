"""Many plans tried on one table."""
