"""Pseudonyms: keys, domains, kinds, and bulk work on tables.

Modules are imported one by one: they need the libraries of the extra `pseudonyms`.
"""
