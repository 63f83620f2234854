"""Normalize and validate e-mail addresses."""

from __future__ import annotations

import re

from kohorte.errors import InputError

LONGEST = 254
SYNTAX = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$"


def folded(email_address: str) -> str:
    """Return the normalized form of an address, valid or not."""
    return email_address.strip().casefold().replace("\0", "\ufffd")


def valid(email_address: str) -> str:
    """Return the normalized form of a valid address; refuse an invalid one."""
    address = folded(email_address)
    if len(address) > LONGEST or not re.fullmatch(SYNTAX, address):
        raise InputError("email_address: must be an address such as jane@example.com", code="user-email-address")
    return address
