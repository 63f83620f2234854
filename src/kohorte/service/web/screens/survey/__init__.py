"""The survey planner: the form of a questionnaire, and its pages."""
