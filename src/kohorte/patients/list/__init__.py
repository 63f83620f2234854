"""The patient list: sealed identity data, PIDs, cases for a person to decide."""
