"""The routes of the interface, one file per kind of object."""
