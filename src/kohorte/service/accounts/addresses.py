"""E-mail addresses: one way to write each, and which are none."""

from __future__ import annotations

import re

from kohorte.errors import InputError

LONGEST = 254
SYNTAX = r"^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})*$"


def folded(email_address: str) -> str:
    """Return the one way to write an address, be it valid or not."""
    return email_address.strip().casefold().replace("\0", "\ufffd")


def valid(email_address: str) -> str:
    """Return an address in its one way to be written, or refuse what is none."""
    address = folded(email_address)
    if len(address) > LONGEST or not re.fullmatch(SYNTAX, address):
        raise InputError("email_address: is no e-mail address such as jane@example.com", code="user-email-address")
    return address
