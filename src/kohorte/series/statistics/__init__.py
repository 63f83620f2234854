"""Outside statistics about the rows to come, and the target that is made from them."""
