"""The estimators of a survey against the tables and figures that were published."""
