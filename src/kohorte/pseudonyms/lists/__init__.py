"""The stored rows of reference lists."""
