"""A candidate as bytes, for releases that leave later than they are found: numbers of the ledger, no identity."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping

import numpy as np

from kohorte.disclosures.candidate import Alike, Candidate, ReleaseKind

SENSITIVE, FACTS, LOOKS = "sensitive_", "facts_", "looks_"


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
    arrays: dict[str, np.ndarray] = {}
    told = []
    for at, one in enumerate(candidate.alike):
        own = {"people": one.people, "looks": one.looks, "own": one.own}
        own |= {f"{FACTS}{number}": codes for number, codes in enumerate(one.facts)}
        arrays |= {f"{LOOKS}{at}_{name}": codes for name, codes in own.items()}
        told.append({"about": one.about, "facts": len(one.facts), "most": one.most, "ordinary": one.ordinary})
    return arrays | {LOOKS: np.frombuffer(json.dumps(told).encode(), dtype=np.uint8)}


def _alike(arrays: Mapping[str, np.ndarray]) -> Iterator[Alike]:
    told = json.loads(arrays[LOOKS].tobytes()) if LOOKS in arrays else ()  # older folders have none
    for at, one in enumerate(told):
        people, looks, own = (arrays[f"{LOOKS}{at}_{name}"] for name in ("people", "looks", "own"))
        facts = tuple(arrays[f"{LOOKS}{at}_{FACTS}{number}"] for number in range(one["facts"]))
        yield Alike(one["about"], people, looks, own, facts, one["most"], one["ordinary"])


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
