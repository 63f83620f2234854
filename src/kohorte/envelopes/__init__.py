"""Envelopes: medical data sealed for one recipient, so that services in between pass it on and cannot read it.

Modules are imported one by one: they need the libraries of the extra `pseudonyms`.
"""
