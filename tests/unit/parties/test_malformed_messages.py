"""Every kind of message of every protocol, changed on its way: the run ends with an error of the project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kohorte.errors import KohorteError
from kohorte.parties.sealed import pack, unpack
from kohorte.parties.taking_part import take_part
from kohorte.parties.transport.local import LocalChannels, _LocalLink
from support.joint_studies import Signers, written_study

PLAN: dict[str, Any] = {
    "kohorte": 1,
    "attributes": {
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2}],
    "suppression_limit": 0.5,
    "metric": {"metric": "loss"},
}
LISTED = {"role": "quasi-identifying", "hierarchy": {"rows": [["m", "*"], ["f", "*"], ["d", "*"]]}}
FRAME = pl.DataFrame(
    {
        "zip": ["81667", "81667", "81675", "81675", "97070", "97070", "81669", "10115"],
        "sex": ["m", "m", "f", "f", "m", "m", "m", "d"],
        "diagnosis": ["a", "b", "c", "d", "a", "b", "a", "b"],
    }
)
TABLES = {"clinic-a": FRAME[::2], "clinic-b": FRAME[1::2]}
AGREEING, SIGNING = ("key", "secret", "lengths"), ("certificate", "result", "signature", "signed")
COUNTING = ("domain", "ask", "counted", "release")
KINDS = {
    "A": (*AGREEING, "layer", "parts", "release", "unknown", "texts", *SIGNING),
    "B": (*AGREEING, "labels", "table", "release", *SIGNING),
    "C": (*AGREEING, "public-key", "labels", "rows", "table", *COUNTING, "decrypt", *SIGNING),
    "C with mirrored rows": ("class-keys", "shares", "release"),
    "A with dummy rows": (*AGREEING, "counter-key", "rows", "layer", "parts", *COUNTING, "unknown", "texts", *SIGNING),
}
CASES = [(protocol, kind) for protocol, kinds in KINDS.items() for kind in kinds]

Change = Callable[[bytes], bytes]


def outcome(folder: Path, protocol: str, kind: str, change: Change, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run a study in which the first message of a kind is changed; the code of the error that ends it, or `none`."""
    more: dict[str, Any] = {"dummies": 0.3} if "dummy" in protocol else {}
    more |= {"dummies": "mirrored"} if "mirrored" in protocol else {}
    plan = PLAN if "mirrored" not in protocol else {**PLAN, "attributes": {**PLAN["attributes"], "sex": LISTED}}
    study = written_study(folder, plan, protocol=protocol[0], parties={"clinic-a": {}, "clinic-b": {}}, **more)
    signers, channels, deliver = Signers(list(study.members)), LocalChannels(list(study.members)), _LocalLink.deliver
    changed: list[str] = []

    def delivered(self: _LocalLink, to: str, sent: str, payload: bytes) -> int:
        if sent == kind and not changed:
            changed.append(kind)
            payload = change(payload)
        return deliver(self, to, sent, payload)

    roles = {
        name: lambda channel, name=name: take_part(channel, study, signers.of(name), name=name, frame=TABLES.get(name))
        for name in study.members
    }
    with monkeypatch.context() as patch:
        patch.setattr(_LocalLink, "deliver", delivered)
        try:
            channels.run(roles)
        except KohorteError as error:
            return error.code
        finally:
            assert changed == [kind]
    return "none"


@pytest.mark.parametrize(("protocol", "kind"), CASES)
def test_a_message_that_was_cut_short_ends_the_run(
    protocol: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = outcome(tmp_path, protocol, kind, lambda payload: payload[:-1], monkeypatch)
    assert code.startswith("party-"), code


def changes(payload: bytes) -> Iterator[bytes]:
    """A message in many wrong forms."""
    yield from (b"", b"{}", b"[]", b"9" * 5000, bytes([payload[0] ^ 1]) + payload[1:])
    try:
        facts, arrays = unpack(payload)
    except KohorteError:
        return
    for name, array in arrays.items():
        yield pack(facts, {key: value for key, value in arrays.items() if key != name})
        forms = [array[:-1], array[:0], array.reshape(-1), array.reshape((1, *array.shape))]
        forms += [array.astype(kind) for kind in ("|u1", "<u4", "<i8", "<f8", "|b1")]
        largest = 1 if array.dtype.kind in "fb" else np.iinfo(array.dtype).max
        forms += [np.full_like(array, largest), np.zeros_like(array)]
        for form in forms:
            yield pack(facts, {**arrays, name: form})
    for key in facts:
        yield pack({name: value for name, value in facts.items() if name != key}, arrays)
        for value in (None, 0, -1, 10**30, "x", [], {}, [None], {"x": None}, [["a", "b"]]):
            yield pack({**facts, key: value}, arrays)


@pytest.mark.slow
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize(("protocol", "kind"), CASES)
def test_no_form_of_a_message_ends_in_another_way_than_an_error_of_the_project(
    protocol: str, kind: str, step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One form of seven; 7 divides neither the 12 forms of an array nor the 11 of a fact, so that all kinds occur."""
    sent: list[bytes] = []

    def kept(payload: bytes) -> bytes:
        sent.append(payload)
        return payload

    assert outcome(tmp_path, protocol, kind, kept, monkeypatch) == "none"
    for number in range(0, len(list(changes(sent[0]))), step):

        def nth(payload: bytes, number: int = number) -> bytes:
            return ([*changes(payload)][number:] or [b""])[0]

        outcome(tmp_path, protocol, kind, nth, monkeypatch)  # any other exception fails the test
