"""Surveys over REST."""
