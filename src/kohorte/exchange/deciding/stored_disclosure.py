"""Who is in a draft, in a file beside it: numbers of the disclosure ledger, no identity."""

from __future__ import annotations

import io
import json
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from kohorte.data import atomic_write
from kohorte.disclosures.candidate import Candidate as Disclosure
from kohorte.disclosures.candidate import ReleaseKind
from kohorte.errors import InputError

SENSITIVE = "sensitive_"


def write_disclosure(disclosure: Disclosure, path: Path) -> None:
    """Write what the ledger will remember of a draft."""
    facts = json.dumps(disclosure.facts())
    numbered = {f"{SENSITIVE}{at}": codes for at, codes in enumerate(disclosure.sensitive.values())}
    table = np.zeros(0, dtype=np.int64) if disclosure.table is None else disclosure.table
    names = json.dumps(list(disclosure.sensitive))
    content = io.BytesIO()
    np.savez_compressed(
        content,
        people=disclosure.people,
        classes=disclosure.classes,
        table=table,
        facts=np.frombuffer(facts.encode(), dtype=np.uint8),
        names=np.frombuffer(names.encode(), dtype=np.uint8),
        **numbered,  # type: ignore[arg-type]
    )
    with atomic_write(path, force=True, private=True) as temporary:
        temporary.write_bytes(content.getvalue())


def read_disclosure(path: Path) -> Disclosure:
    """Read what `write_disclosure` wrote."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        facts = json.loads(arrays["facts"].tobytes())
        names = json.loads(arrays["names"].tobytes())
        return Disclosure(
            people=arrays["people"],
            classes=arrays["classes"],
            recipient=facts["recipient"],
            kind=ReleaseKind(facts["kind"]),
            columns=facts["columns"],
            condition=facts["condition"],
            purpose=facts["purpose"],
            table=arrays["table"],
            sensitive={name: arrays[f"{SENSITIVE}{at}"] for at, name in enumerate(names)},
        )
    except (OSError, ValueError, KeyError, TypeError, BadZipFile):
        raise InputError(
            f"{path.name}: who is in the draft cannot be read; check the request again", code="exchange-check-changed"
        ) from None
