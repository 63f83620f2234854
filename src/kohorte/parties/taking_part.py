"""Take part in a run: the role of one member, from the first message to the signed release."""

from __future__ import annotations

import polars as pl

from kohorte.parties.ciphers.secret import Keyring
from kohorte.parties.joint import JointRelease, Signer, certified, countersigned
from kohorte.parties.known import Known
from kohorte.parties.roles.part import Part
from kohorte.parties.roles.played import Played
from kohorte.parties.study import HELPER, Protocol, Study
from kohorte.parties.suitability import refuse_unsuited
from kohorte.parties.transport.channel import Channel
from kohorte.progress import ProgressCallback


def take_part(
    channel: Channel,
    study: Study,
    signer: Signer,
    *,
    name: str,
    frame: pl.DataFrame | None,
    progress: ProgressCallback | None = None,
) -> JointRelease | None:
    """Play the role of a member of a study; return the release if this member gets it.

    `frame` is the member's own table; the helper has none. All keys of the run are overwritten at its end, also after
    a failure.
    """
    channel.phase = "encrypt"
    refuse_unsuited(study)
    with Keyring() as keyring:
        if name == HELPER:
            known = _help(channel, study, progress, keyring=keyring)
            return countersigned(channel, study, signer, known)
        assert frame is not None, "a party has a table"
        played = _play(Part(channel, study, name, frame, keyring, progress))
        if played.opened is None:
            return countersigned(channel, study, signer, played.known, played.secrets)
        return certified(channel, study, played.secrets, signer, played.opened)


def _help(channel: Channel, study: Study, progress: ProgressCallback | None, *, keyring: Keyring) -> Known:
    """Play the helper; only the protocol of the study is imported."""
    if study.protocol is Protocol.B:
        from kohorte.parties.roles import protocol_b

        return protocol_b.helper(channel, study, progress)
    from kohorte.parties.roles import protocol_c

    return protocol_c.helper(channel, study, keyring=keyring)


def _play(part: Part) -> Played:
    """Play a party; only the protocol of the study is imported."""
    if part.study.protocol is Protocol.A and part.study.dummies:
        from kohorte.parties.roles import protocol_a_counted

        return protocol_a_counted.party(part)
    if part.study.protocol is Protocol.A:
        from kohorte.parties.roles import protocol_a

        return protocol_a.party(part)
    if part.study.protocol is Protocol.B:
        from kohorte.parties.roles import protocol_b

        return protocol_b.party(part)
    from kohorte.parties.roles import protocol_c

    return protocol_c.party(part)
