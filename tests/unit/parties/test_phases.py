"""The phase that a member is in, which errors of the others name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.sealed import unpack
from kohorte.parties.transport.channel import Channel, RunChannel
from kohorte.parties.transport.local import LocalChannels
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, run_study, written_study

WAITS = {
    "encrypt": "key secret lengths labels rows public-key counter-key table layer",
    "integrate": "parts",
    "anonymize": "domain ask counted decrypt decrypted strip stripped release certificate",
    "decrypt": "ask decrypt decrypted strip stripped release unknown texts certificate",
    "sign": "result signature signed",
}
"""The kinds of messages for which a member waits in each phase; who only waits does not know how far others are."""


@pytest.mark.parametrize(("protocol", "dummies"), [("A", 0.0), ("A", 0.3), ("B", 0.0), ("C", 0.3)])
def test_every_member_is_in_the_phase_that_an_error_would_name(
    protocol: str, dummies: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: set[tuple[str, str]] = set()
    receive = RunChannel.receive

    def received(self: RunChannel, sender: str, kind: str) -> bytes:
        waited.add((kind, self.phase))
        return receive(self, sender, kind)

    monkeypatch.setattr(RunChannel, "receive", received)
    study = written_study(tmp_path, ZIP_PLAN, protocol=protocol, dummies=dummies)
    run_study(study, {name: ZIP_ROWS[number::3] for number, name in enumerate(study.names)})
    assert {(kind, phase) for kind, phase in waited if kind not in WAITS.get(phase, "").split()} == set()
    assert {"certificate", "result", "signature", "signed"} <= {kind for kind, _ in waited}


def test_a_message_that_is_not_valid_is_named_with_its_sender_and_the_phase() -> None:
    channels = LocalChannels(["clinic-a", "helper"])
    channels["clinic-a"].send("helper", "table", b"?")

    def helper(channel: Channel) -> None:
        channel.phase = "integrate"
        unpack(channel.receive("clinic-a", "table"))

    with pytest.raises(ProtocolError, match="the latest one is 'table' of clinic-a in the phase integrate") as refused:
        channels.run({"helper": helper, "clinic-a": lambda _: None})
    assert refused.value.code == "party-message-malformed"
