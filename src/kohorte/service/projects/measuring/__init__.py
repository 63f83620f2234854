"""Who measures a table, and when."""
