"""Planned surveys: estimates and proposals for a questionnaire that is sent along; nothing is stored."""
