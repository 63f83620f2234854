"""How the report writes and draws figures: words, rounding, ranges, bars, distributions and contributions."""
