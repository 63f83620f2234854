"""Screens of the release check: requests, checks, decisions and answers; what this house asks others."""
