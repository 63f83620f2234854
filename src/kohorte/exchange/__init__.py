"""The release check between institutions: from a request to an answer that two people stand for.

Modules are imported one by one: those that keep a folder need the libraries of the extra `pseudonyms`.
"""
