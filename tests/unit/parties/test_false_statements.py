"""A party that states what cannot be: the others refuse its message as malformed, and nothing else happens."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties.roles.protocol_a import Parts
from kohorte.parties.roles.secrets import Secrets, as_facts
from kohorte.parties.sealed import pack, unpack
from kohorte.parties.transport.channel import Channel
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, run_study, written_study

PLAN = {
    **ZIP_PLAN,
    "attributes": {**ZIP_PLAN["attributes"], "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}}},
}
TABLES = {"clinic-a": ZIP_ROWS[::2], "clinic-b": ZIP_ROWS[1::2]}
LIES: list[tuple[str, str, dict[str, Any]]] = [
    *(("C", "rows", {"rows": rows}) for rows in (math.inf, math.nan, -100, 10**30, 2**32, True, "7", None)),
    *(("C", "rows", {"alike": alike}) for alike in (math.inf, math.nan, -1, 2, 10**400, "0", None)),
    ("A", "lengths", {"zip": 20_000}),
    ("B", "lengths", {"zip": math.inf}),
    ("B", "labels", {"diagnosis": 2**22}),
    ("B", "labels", {"diagnosis": -1}),
]


@pytest.mark.parametrize(
    ("protocol", "kind", "lie"), LIES, ids=[f"{lie[0]} {number}" for number, lie in enumerate(LIES)]
)
def test_a_number_that_cannot_be_ends_the_run_as_a_malformed_message(
    protocol: str, kind: str, lie: Mapping[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = Secrets.exchange

    def told(self: Secrets, channel: Channel, sent: str, facts: Mapping[str, Any]) -> Any:
        if self.name == "clinic-b" and sent == kind:
            exchange(self, channel, sent, {**facts, **lie})
            channel.receive("clinic-a", "answer")  # never comes: the run ends
        return exchange(self, channel, sent, facts)

    monkeypatch.setattr(Secrets, "exchange", told)
    study = written_study(tmp_path, PLAN, protocol=protocol, parties={"clinic-a": {}, "clinic-b": {}})
    with pytest.raises(ProtocolError) as refused:
        run_study(study, TABLES)
    assert refused.value.code == "party-message-malformed"


def head(shape: object) -> bytes:
    """A message with one array of a shape, without its numbers."""
    text = json.dumps([{}, [["a", "|u1", shape]]]).encode()
    return len(text).to_bytes(4, "little") + text


DEEP = b"[" * 100_000
MALFORMED: dict[str, Callable[[], object]] = {
    "deep facts": lambda: as_facts(b'{"a":' + DEEP),
    "a number of many digits": lambda: as_facts(b'{"a":' + b"1" * 10_000 + b"}"),
    "a deep head": lambda: unpack(len(DEEP).to_bytes(4, "little") + DEEP),
    "an empty array of huge size": lambda: unpack(head([0, 2**70])),
    "a huge array without rows": lambda: unpack(head([2**70, 0])),
    "an array of many dimensions": lambda: unpack(head([0] * 100)),
    "a size that is no number": lambda: unpack(head([True])),
    "a negative size": lambda: unpack(head([-1])),
    "fewer rows than none": lambda: Parts.from_bytes(pack({"groups": [], "rows": {"clinic-a": -100}})),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_message_that_no_program_writes_is_malformed(name: str) -> None:
    with pytest.raises(ProtocolError) as refused:
        MALFORMED[name]()
    assert refused.value.code == "party-message-malformed"
