"""Requests and answers between institutions: address book, signed parcels, outbox, and what comes in."""
