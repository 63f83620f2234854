"""Members compare the certificate with what they know, before they sign."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kohorte.errors import ProtocolError
from kohorte.parties import joint
from kohorte.parties.joint import unsigned_of
from kohorte.parties.known import Known
from kohorte.parties.transport.local import _LocalLink
from kohorte.release import Certificate, Release
from kohorte.release.candidate import Candidate
from support.joint_studies import ZIP_PLAN, ZIP_ROWS, run_study, written_study

Change = Callable[[dict[str, Any]], object]

CHANGES: Mapping[str, Change] = {
    "levels": lambda facts: facts["release"]["levels"].update(sex=1 - facts["release"]["levels"]["sex"]),
    "cost": lambda facts: facts["release"].update(cost=facts["release"]["cost"] / 2),
    "rows": lambda facts: facts["release"].update(rows=7),
    "many rows": lambda facts: facts["release"].update(rows=900),
    "hash": lambda facts: facts["output"].update(sha256="0" * 64),
    "classes": lambda facts: facts["verification"].update(classes=99),
    "verdict": lambda facts: facts["verification"].update(satisfied=False),
    "suppressed": lambda facts: facts["release"].update(suppressed=8),
    "smallest": lambda facts: facts["release"].update(smallest_class=1),
    "study": lambda facts: facts["joint"].update(study_sha256="0" * 64),
    "plan": lambda facts: facts["plan"].update(suppression_limit=0.5),
    "protocol": lambda facts: facts["joint"].update(protocol="X"),
    "nothing": lambda facts: facts.pop("release"),
    "a part more": lambda facts: facts.update(approved="by the ministry"),
    "a statement more": lambda facts: facts["joint"].update(approved="by the ministry"),
    "standing": lambda facts: facts.update(verdict={"standing": "green", "reasons": []}),
    "warnings": lambda facts: facts.update(warnings=[], verdict={"standing": "green", "reasons": []}),
    "promise": lambda facts: facts.update(protects_against=["everything"]),
    "recipient": lambda facts: facts.update(about={"recipient": "somebody else"}),
    "date": lambda facts: facts.update(created="1999-01-01T00:00:00+00:00"),
    "reached": lambda facts: facts["verification"]["models"][0].update(reached=500),
    "parameters": lambda facts: facts["verification"]["models"][0].update(parameters={"k": 500}),
    "words": lambda facts: facts["levels_in_words"].update(sex="as it is"),
    "input": lambda facts: facts["input"].update(rows=999),
    "shown classes": lambda facts: facts["release"].update(classes=7777),
    "metric": lambda facts: facts["release"].update(metric="precision"),
    "effort": lambda facts: facts.update(effort="none"),
    "dummy rows": lambda facts: facts["joint"].update(dummy_rows={"told": 0.9, "exposed": 0}),
}


def outcome(folder: Path, protocol: str, to: str, change: Change, patch: pytest.MonkeyPatch, **more: Any) -> str:
    """The reason why a member does not sign a certificate that was changed on its way."""
    study = written_study(folder, ZIP_PLAN, protocol=protocol, **more)
    tables = {name: ZIP_ROWS[number::3] for number, name in enumerate(study.names)}
    deliver, signed = _LocalLink.deliver, set[str]()

    def delivered(self: _LocalLink, receiver: str, kind: str, payload: bytes) -> int:
        if kind == "signature":
            signed.add(self._name)
        if kind == "certificate" and receiver == to:
            facts = json.loads(payload)
            change(facts)
            payload = json.dumps(facts, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
        return deliver(self, receiver, kind, payload)

    patch.setattr(_LocalLink, "deliver", delivered)
    with pytest.raises(ProtocolError) as refused:
        run_study(study, tables)
    assert refused.value.code == "party-certificate-differs", refused.value.message
    assert to not in signed
    return refused.value.message


@pytest.mark.parametrize(
    ("protocol", "member", "change", "reason", "result"),
    [
        ("B", "clinic-b", "study", "another study", None),
        ("B", "clinic-b", "plan", "another plan", None),
        ("B", "helper", "protocol", "says about protocol", None),
        ("B", "helper", "levels", "other figures: levels", None),
        ("B", "helper", "cost", "other figures: cost", None),
        ("A", "clinic-b", "cost", "other figures: cost", "clinic-a"),  # the master
        ("A", "clinic-b", "many rows", "other figures: rows", "clinic-a"),
        ("C", "helper", "levels", "other figures: levels", None),
        ("C", "helper", "many rows", "more rows than the parties sent", None),
        ("C", "clinic-b", "rows", "other rows than the parties have", "clinic-a"),
        ("B", "clinic-b", "hash", "another release than the one that was received", None),
        ("B", "clinic-b", "classes", "has other figures: classes", None),
        ("B", "clinic-b", "levels", "does not show 'sex' at the level", None),
        ("B", "clinic-b", "verdict", "does not satisfy the plan", "clinic-a"),
        ("B", "clinic-b", "suppressed", "more rows are suppressed", "clinic-a"),
        ("B", "clinic-b", "smallest", "smaller than the plan allows", "clinic-a"),
        ("B", "clinic-b", "nothing", "no part 'release'", "clinic-a"),
        ("B", "helper", "a part more", "other parts than a certificate", None),
        ("C", "helper", "a statement more", "other parts than a certificate", None),
        ("B", "helper", "standing", "does not follow from what is open", None),
        ("B", "clinic-b", "warnings", "gives other parts: verdict and warnings", None),
        ("C", "helper", "promise", "says about protects_against", None),
        ("B", "clinic-b", "recipient", "says about about", "clinic-a"),
        ("B", "helper", "date", "not made in this run", None),
        ("B", "helper", "parameters", "does not verify the models", None),
        ("C", "helper", "metric", "does not measure", None),
        ("B", "clinic-b", "reached", "gives other parts: verification", None),
        ("C", "clinic-b", "words", "gives other parts: levels_in_words", None),
        ("C", "clinic-b", "input", "gives other parts: input", None),
        ("C", "clinic-b", "shown classes", "other figures: classes", None),
        ("A", "clinic-b", "effort", "gives other parts: effort", None),
        ("C", "clinic-b", "dummy rows", "gives other parts: joint", None),
    ],
)
def test_a_member_does_not_sign_what_it_knows_to_be_wrong(
    protocol: str,
    member: str,
    change: str,
    reason: str,
    result: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert reason in outcome(tmp_path, protocol, member, CHANGES[change], monkeypatch, result=result)


def test_rows_that_found_no_partner_are_compared_with_ones_own(tmp_path: Path) -> None:
    """Vertical: the certificate says how many rows of each party were left out."""
    columns = {"clinic-a": {"columns": ["zip"]}, "clinic-b": {"columns": ["sex", "diagnosis"]}}
    study = written_study(tmp_path, ZIP_PLAN, distribution="vertical", identifier="TID", parties=columns)
    numbered = ZIP_ROWS.with_row_index("TID")
    release = run_study(study, {"clinic-a": numbered.select("TID", "zip"), "clinic-b": numbered[1:].drop("zip")})
    certified = release["clinic-a"]
    assert certified is not None
    facts = json.loads(unsigned_of(certified.certificate.facts))
    Known(rows={"clinic-a": 8, "clinic-b": 7}).refuse_other(facts, study)
    for rows in ({"clinic-a": 9}, {"clinic-b": 8}, {"clinic-a": 7}):
        with pytest.raises(ProtocolError, match=r"that this member knows|other rows than the parties have"):
            Known(rows=rows).refuse_other(facts, study)


@pytest.mark.parametrize("unstated", [False, True], ids=["unprotected", "person not stated"])
def test_what_the_plan_leaves_open_is_known_to_members_without_the_release(tmp_path: Path, unstated: bool) -> None:
    sensitive = {**ZIP_PLAN, "attributes": {**ZIP_PLAN["attributes"], "diagnosis": {"role": "sensitive"}}}
    plan = {key: value for key, value in ZIP_PLAN.items() if key != "person"} if unstated else sensitive
    study = written_study(tmp_path, plan, protocol="B")
    release = run_study(study, {name: ZIP_ROWS[number::3] for number, name in enumerate(study.names)})["clinic-a"]
    assert release is not None
    facts = json.loads(unsigned_of(release.certificate.facts))
    Known().refuse_other(facts, study)
    assert unstated is any("nobody has said that every row is another person" in said for said in facts["warnings"])
    facts.update(warnings=[], verdict={"standing": "green", "reasons": []})
    with pytest.raises(ProtocolError, match="what is open by the plan"):
        Known().refuse_other(facts, study)


def test_a_release_that_is_written_in_another_way_is_not_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows are the same, and the certificate has the hash of the file: other programs may read it differently."""
    certified = joint.certified_bytes

    def quoted(candidate: Candidate, name: str) -> tuple[bytes, Release, Certificate]:
        content, release, certificate = certified(candidate, name)
        content = b'"zip"' + content.removeprefix(b"zip")
        output = {**certificate.facts["output"], "sha256": hashlib.sha256(content).hexdigest()}  # type: ignore[dict-item]
        return content, release, Certificate({**certificate.facts, "output": output})

    monkeypatch.setattr(joint, "certified_bytes", quoted)
    study = written_study(tmp_path, ZIP_PLAN)
    with pytest.raises(ProtocolError, match="gives other parts: output"):
        run_study(study, {name: ZIP_ROWS[number::3] for number, name in enumerate(study.names)})


def test_a_release_that_is_not_the_certified_one_is_not_written(tmp_path: Path) -> None:
    study = written_study(tmp_path, ZIP_PLAN)
    release = run_study(study, {name: ZIP_ROWS[number::3] for number, name in enumerate(study.names)})["clinic-b"]
    assert release is not None
    output = tmp_path / "out" / "release.csv"
    output.parent.mkdir()
    with pytest.raises(ProtocolError) as refused:
        replace(release, content=release.content.replace(b"8", b"9")).write(output)
    assert refused.value.code == "party-release-differs"
    assert list(output.parent.iterdir()) == []
    release.write(output)
    assert output.read_bytes() == release.content
