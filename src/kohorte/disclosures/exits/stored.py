"""A candidate as bytes, for releases that leave later than they are found: numbers of the ledger, no identity."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping

import numpy as np

from kohorte.disclosures.candidate import Alike, Candidate, ReleaseKind

SENSITIVE, LOOKS = "sensitive_", "looks_"


def to_bytes(candidate: Candidate) -> bytes:
    """What the ledger will remember of a release."""
    facts, names = json.dumps(candidate.facts()), json.dumps(list(candidate.sensitive))
    numbered = {f"{SENSITIVE}{at}": codes for at, codes in enumerate(candidate.sensitive.values())}
    table = np.zeros(0, dtype=np.int64) if candidate.table is None else candidate.table
    content = io.BytesIO()
    np.savez_compressed(
        content,
        people=candidate.people,
        classes=candidate.classes,
        table=table,
        facts=np.frombuffer(facts.encode(), dtype=np.uint8),
        names=np.frombuffer(names.encode(), dtype=np.uint8),
        **numbered,  # type: ignore[arg-type]
        **_of_alike(candidate),  # type: ignore[arg-type]
    )
    return content.getvalue()


def _of_alike(candidate: Candidate) -> dict[str, np.ndarray]:
    """How people look, in the order of their numbers; an array that several have in common is stored once."""
    arrays: dict[str, np.ndarray] = {}
    names: dict[bytes, str] = {}

    def named(array: np.ndarray) -> str:
        lowest, highest = int(array.min(initial=0)), int(array.max(initial=0))
        narrow = array.astype(np.promote_types(np.min_scalar_type(lowest), np.min_scalar_type(highest)))
        name = names.setdefault(narrow.tobytes() + narrow.dtype.str.encode(), f"{LOOKS}{len(names)}")
        arrays[name] = narrow
        return name

    told = []
    for one in candidate.alike:
        order = np.argsort(one.people, kind="stable")
        own = {"people": named(one.people[order]), "looks": named(one.looks[order]), "own": named(one.own)}
        facts = [named(codes[order]) for codes in one.facts]
        told.append({"about": one.about, **own, "facts": facts, "most": one.most, "ordinary": one.ordinary})
    return arrays | {LOOKS: np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)}


def _alike(arrays: Mapping[str, np.ndarray]) -> Iterator[Alike]:
    told = json.loads(arrays[LOOKS].tobytes()) if LOOKS in arrays else ()  # older folders have none
    for one in told:
        people, looks, own, *facts = (
            arrays[name].astype(np.int64) for name in (one["people"], one["looks"], one["own"], *one["facts"])
        )
        yield Alike(one["about"], people, looks, own, tuple(facts), one["most"], one["ordinary"])


def from_bytes(content: bytes) -> Candidate:
    """Read what `to_bytes` made; raises ValueError, KeyError, TypeError, OSError or BadZipFile for anything else."""
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    facts, names = json.loads(arrays["facts"].tobytes()), json.loads(arrays["names"].tobytes())
    return Candidate(
        people=arrays["people"],
        classes=arrays["classes"],
        recipient=facts["recipient"],
        kind=ReleaseKind(facts["kind"]),
        columns=facts["columns"],
        condition=facts["condition"],
        purpose=facts["purpose"],
        about=facts.get("about", ""),
        table=arrays["table"],
        sensitive={name: arrays[f"{SENSITIVE}{at}"] for at, name in enumerate(names)},
        alike=tuple(_alike(arrays)),
    )
