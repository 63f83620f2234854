"""Where tables are, for verbs that do not read them into memory."""
