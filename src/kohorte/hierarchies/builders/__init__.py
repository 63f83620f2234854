"""The builders that plans name: one module for each kind of hierarchy."""
