"""What keeps the rows of the parties from each other: points of a group, encryption of cells, encrypted counters."""
