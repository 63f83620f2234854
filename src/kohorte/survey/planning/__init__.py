"""Find which categories to merge, or how many people to ask, to reach a wanted percentage."""
