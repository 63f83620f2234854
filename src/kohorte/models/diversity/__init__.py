"""Models that require several sensitive values in every class."""
