"""What a folder remembers of its own log: how far it was, and what databases and keys must agree with."""
