"""Background jobs: a queue in the database, and workers that run them."""
