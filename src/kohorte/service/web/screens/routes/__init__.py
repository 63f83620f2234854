"""The screens of the interface, one module for each."""
