"""From SQL text to a checked query plan."""
