"""What the next release would gain, and what is missing for more."""
