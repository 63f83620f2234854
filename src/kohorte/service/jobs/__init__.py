"""Long work: a queue in the database, and workers that do it."""
