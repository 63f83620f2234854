"""What is known about a table before a query: its columns, their bounds, and the person of a row."""
