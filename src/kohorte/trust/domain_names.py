"""The names of domains of pseudonyms, which plans, rules and folders write alike."""

from __future__ import annotations

import re

from kohorte.errors import InputError

_NAME = re.compile(r"[a-z0-9][a-z0-9_.-]{0,62}")


def refuse_domain_name(name: object) -> None:
    """Refuse a name that no domain can have."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(
            "the name of a domain has at most 63 small letters, digits, and _ . - after the first",
            code="pseudonym-domain-name",
        )
