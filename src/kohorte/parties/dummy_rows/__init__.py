"""Dummy rows, which hide how often values and combinations occur: of whole rows, and of rows that are joined."""
