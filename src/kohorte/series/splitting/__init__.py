"""Which regions are split, along which attribute and where."""
