"""The tables that attacks compare, and who is in their classes."""
