"""The memory of releases: one ledger of everything that left, and what an attacker could learn by comparing it.

Modules are imported one by one: `ledger` needs the libraries of the extra `pseudonyms`.
"""
