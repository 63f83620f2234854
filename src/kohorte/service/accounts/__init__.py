"""Users, passwords, tokens and sessions."""
