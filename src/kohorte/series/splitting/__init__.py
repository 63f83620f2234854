"""Which regions are split, along which attribute and where, as far as the models allow."""
