"""Backups: copies of folders and databases that are whole or not there, for folders of keys and for the service."""
