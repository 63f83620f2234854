"""What a series stores between releases: its state, the fingerprints of its rows, its key and its lock."""
