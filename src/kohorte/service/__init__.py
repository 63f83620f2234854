"""The research service: users, datasets, projects, jobs, and questions with noise, over HTTP."""
