"""Domains of a folder, and files of FHIR pseudonymized by rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kohorte.pseudonyms.domains import Domains, definition_of
from kohorte.pseudonyms.fhir.files import pseudonymize_fhir
from kohorte.pseudonyms.fhir.rules import Rules
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT

Apply = Callable[..., Any]


@pytest.fixture
def domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Domains:
    """Domains of all kinds."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    found = Domains(TrustFolder.opened(tmp_path / "trust", create=True))
    for name, kind in {"study": "one-way", "encounters": "list", "mrn": "reversible"}.items():
        found.create(definition_of(name, kind), actor="anna")
    return found


@pytest.fixture
def apply(domains: Domains, tmp_path: Path) -> Apply:
    """Apply rules to one resource, or to a list of them as lines."""

    def applied(rules: dict[str, Any], resources: Any) -> Any:
        lines = isinstance(resources, list)
        path, output = (tmp_path / f"{name}.{'ndjson' if lines else 'json'}" for name in ("in", "out"))
        many = resources if lines else [resources]
        path.write_text("\n".join(json.dumps(one) for one in many), encoding="utf-8")
        read = Rules.from_dict({"kohorte": 1, **rules})
        pseudonymize_fhir(path, output, read, domains, force=True, actor="anna")
        found = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
        return found if lines else found[0]

    return applied
