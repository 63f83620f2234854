"""The report: the risk of a table, or of a table and its release, as one page for people who do not know the field."""
