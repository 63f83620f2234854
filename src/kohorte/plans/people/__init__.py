"""What a table says about people, beside what its plan states."""
