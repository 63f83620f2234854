"""The domain of a series, fixed before the first row: axes of positions, regions as boxes, ladders of levels."""
