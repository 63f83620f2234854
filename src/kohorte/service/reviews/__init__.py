"""Drafts of releases: saved by stewards, signed or returned by reviewers, released with exactly what was signed."""
