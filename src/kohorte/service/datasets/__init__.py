"""Tables that stewards upload, and their hierarchies."""
