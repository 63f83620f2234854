"""The questions of a survey, their categories and their expected frequencies."""
