"""The domain of a series, fixed before the first row: axes of places, and regions as boxes of them."""
