"""A candidate as bytes, for releases that leave later than they are found: numbers of the ledger, no identity."""

from __future__ import annotations

import io
import json

import numpy as np

from kohorte.disclosures.candidate import Candidate, ReleaseKind

SENSITIVE = "sensitive_"


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
    )
    return content.getvalue()


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
    )
