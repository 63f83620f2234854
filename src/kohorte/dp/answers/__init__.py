"""Answers to queries and estimates of their cost."""
