"""The full-domain variant: one level for each quasi-identifier, and levels only go down."""
