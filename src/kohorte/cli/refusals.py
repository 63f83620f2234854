"""Refusals of commands on people and pseudonyms, which are entries of the log, too; the log has codes and no values."""

from __future__ import annotations

import argparse
from contextlib import suppress

from kohorte.errors import KohorteError

VERBS = ("domain", "pseudonymize", "patients", "reidentify")
CODES = (
    "pseudonym-domain-unknown",
    "pseudonym-wrong",
    "trust-pid-wrong",
    "patients-pid-unknown",
    "patients-pid-forgotten",
)
"""What may be an attempt to find out who is known; the way back, TempIDs and exports note their refusals themselves."""
ACTION = "refuse input"


def note_refusal(options: argparse.Namespace, error: KohorteError) -> None:
    """Note a refusal in the log of the folder that the command names; a folder that cannot be opened has none."""
    verb = getattr(options, "verb", None)
    if verb not in VERBS or error.code not in CODES:
        return
    from kohorte.trust.folder import TrustFolder
    from kohorte.trust.log import account

    about = " ".join(filter(None, (verb, getattr(options, "action", None))))
    with suppress(KohorteError):
        TrustFolder.opened(options.folder).log.append(ACTION, about, actor=account(), reason=error.code)
