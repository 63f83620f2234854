"""The report: the risk of a table, or of a table and its release, as one page for readers who are not experts.

Nothing is imported here, because the help of the command needs `report.view` alone; see `report.write`.
"""
