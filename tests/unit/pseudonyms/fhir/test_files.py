"""Files of FHIR: lines and Bundles, odd bytes, and outputs that appear whole or not at all."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domains
from kohorte.pseudonyms.fhir import files
from kohorte.pseudonyms.fhir.files import FhirOutcome, pseudonymize_fhir
from kohorte.pseudonyms.fhir.rules import Rules

RULES = Rules.from_dict(
    {
        "kohorte": 1,
        "resources": {
            "Patient": {"id": {"pseudonymize": "encounters"}, "other": "keep"},
            "Encounter": {"id": "remove", "other": "keep"},
            "Basic": "remove",
        },
    }
)


def run(domains: Domains, path: Path, output: Path, **more: Any) -> FhirOutcome:
    return pseudonymize_fhir(path, output, RULES, domains, actor="anna", **more)


def test_byte_order_mark_line_ends_and_empty_lines_do_not_matter(domains: Domains, tmp_path: Path) -> None:
    path, output = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    lines = [json.dumps({"resourceType": "Patient", "id": str(number)}) for number in (1, 2, 1)]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(lines).encode())
    outcome = run(domains, path, output)
    first, second, again = map(json.loads, output.read_text().splitlines())
    assert first == again != second
    assert outcome.counts.resources == {"Patient": 3}
    assert outcome.domains["encounters"] == {"values": 3, "new": 2, "key_version": 1}
    [entry] = [one for one in domains.folder.log.entries() if one["action"] == "pseudonymize resources"]
    assert entry["details"] == {"values": 3, "new": 2, "key_version": 1}


def test_batches_give_the_same_as_one(domains: Domains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "in.ndjson"
    people = [{"resourceType": "Patient", "id": str(number % 7)} for number in range(20)]
    path.write_text("".join(json.dumps(one) + "\n" for one in people))
    run(domains, path, tmp_path / "whole.ndjson")
    monkeypatch.setattr(files, "AT_ONCE", 3)
    run(domains, path, tmp_path / "parts.ndjson")
    assert (tmp_path / "parts.ndjson").read_text() == (tmp_path / "whole.ndjson").read_text()


def test_lines_come_from_a_pipe_too(domains: Domains, tmp_path: Path) -> None:
    content = io.BytesIO(b'{"resourceType":"Patient","id":"1","active":true}\n')
    pseudonymize_fhir(None, tmp_path / "out.ndjson", RULES, domains, content=content, actor="anna")
    assert json.loads((tmp_path / "out.ndjson").read_text())["active"] is True


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"resourceType": "Patient", "canary"', "line 3: is not JSON"),
        (b'{"resourceType": "Patient", "x": NaN}', "line 3: is not JSON"),
        (b'{"resourceType": "Patient", "x": "\xff canary"}', "line 3: is not UTF-8"),
        (b'{"resourceType": "Patient", "x": "\\u0000n12"}', "line 3: has the character U.0000"),
        (b'{"resourceType": "Patient", "x": "\\ud800"}', "line 3: is not JSON"),
        (b"[" * 100_000, "line 3: is not JSON"),
    ],
    ids=["cut", "no number", "bytes", "nul", "surrogate", "deep"],
)
def test_a_wrong_line_is_named_and_nothing_is_written(
    domains: Domains, tmp_path: Path, line: bytes, words: str
) -> None:
    path, output = tmp_path / "in.ndjson", tmp_path / "out.ndjson"
    path.write_bytes(b'{"resourceType": "Patient", "id": "1"}\n\n' + line + b"\n")
    with pytest.raises(InputError, match=words) as refused:
        run(domains, path, output)
    assert refused.value.code == "fhir-json"
    assert "canary" not in refused.value.message
    assert not output.exists()
    assert not list(tmp_path.glob(".*tmp"))


@pytest.mark.parametrize(
    ("source", "output", "code"),
    [
        ("in.csv", "out.json", "fhir-file"),
        ("in.json", "out.csv", "fhir-file"),
        ("missing.json", "out.json", "file-unreadable"),
        ("in.json", "in.json", "output-exists"),
    ],
)
def test_files_that_cannot_be_are_refused(
    domains: Domains, tmp_path: Path, source: str, output: str, code: str
) -> None:
    (tmp_path / "in.json").write_text('{"resourceType": "Patient", "id": "1"}')
    with pytest.raises(InputError) as refused:
        run(domains, tmp_path / source, tmp_path / output)
    assert refused.value.code == code


def test_a_file_of_which_nothing_is_left_is_refused(domains: Domains, tmp_path: Path) -> None:
    (tmp_path / "in.json").write_text('{"resourceType": "Basic"}')
    with pytest.raises(InputError) as refused:
        run(domains, tmp_path / "in.json", tmp_path / "out.json")
    assert refused.value.code == "fhir-type"


def test_words_have_numbers_and_no_values(domains: Domains, tmp_path: Path) -> None:
    path = tmp_path / "in.ndjson"
    path.write_text('{"resourceType":"Patient","id":"canary"}\n{"resourceType":"Basic"}\n')
    outcome = run(domains, path, tmp_path / "out.ndjson")
    assert outcome.in_words == [
        "1 resource (1 Patient)",
        "1 resource left out",
        "domain 'encounters': 1 value pseudonymized, 1 new entry in the list",
        "green: nothing stays as it was that looks like an identifier, a date or free text",
    ]
    assert "canary" not in json.dumps(outcome.to_dict())
