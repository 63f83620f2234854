"""The research service over HTTP: users, datasets, projects, jobs, and queries under differential privacy."""
