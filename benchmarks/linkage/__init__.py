"""Record linkage of generated patients, measured and compared."""
