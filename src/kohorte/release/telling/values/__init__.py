"""What sensitive values tell: common, empty, spelled differently, and how they are labelled."""
