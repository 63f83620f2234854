"""What rules keep: what names a person stays only if a rule says so, and all that may identify people is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domains
from kohorte.pseudonyms.fhir.files import FhirOutcome, pseudonymize_fhir, rehearse_fhir
from kohorte.pseudonyms.fhir.rules import Rules

PERSON: dict[str, Any] = {
    "identifier": [{"system": "https://canary.example", "value": "canary"}],
    "name": [{"family": "Canary", "given": ["Erika"]}],
    "telecom": [{"system": "phone", "value": "0151 canary"}],
    "address": [{"line": ["Canary street 1"], "city": "Canary", "state": "BY", "country": "DE"}],
    "photo": [{"contentType": "image/png", "data": "Y2FuYXJ5"}],
    "birthDate": "1970-05-17",
    "deceasedDateTime": "2020-01-01T10:00:00Z",
}
HARMLESS: dict[str, Any] = {
    "active": True,
    "gender": "female",
    "maritalStatus": {"coding": [{"system": "http://x", "code": "M", "display": "Married to somebody"}]},
    "multipleBirthInteger": 2,
}


def rules(entry: dict[str, Any], type_: str = "Patient") -> Rules:
    return Rules.from_dict({"kohorte": 1, "resources": {type_: {"id": "remove", "other": "keep", **entry}}})


def run(domains: Domains, tmp_path: Path, rules: Rules, **resource: Any) -> FhirOutcome:
    path = tmp_path / "in.ndjson"
    path.write_text(json.dumps({"resourceType": "Patient", **resource}), encoding="utf-8")
    return pseudonymize_fhir(path, tmp_path / "out.ndjson", rules, domains, force=True, actor="anna")


@pytest.mark.parametrize("name", PERSON)
def test_what_names_a_person_stays_only_if_a_rule_names_it(domains: Domains, tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match=rf"line 1: Patient\.{name} would stay") as refused:
        run(domains, tmp_path, rules({}), **{name: PERSON[name]})
    assert refused.value.code == "fhir-identifying"
    assert "anary" not in refused.value.message
    assert not (tmp_path / "out.ndjson").exists()
    outcome = run(domains, tmp_path, rules({name: "keep"}), **{name: PERSON[name]})
    assert outcome.kept.verdict == "amber"
    assert all(element.startswith(f"Patient.{name}") for element, _ in outcome.kept.stays)
    written = json.loads((tmp_path / "out.ndjson").read_text(encoding="utf-8"))
    assert written == {"resourceType": "Patient", name: PERSON[name]}


@pytest.mark.parametrize(
    ("type_", "resource", "element"),
    [
        ("Patient", {"contact": [{"name": {"text": "Canary"}}]}, "Patient.contact.name"),
        ("Encounter", {"identifier": [{"value": "canary"}]}, "Encounter.identifier"),
        ("Observation", {"valueCodeableConcept": {}, "specimenId": {"value": "4711"}}, "Observation.specimenId"),
        ("Coverage", {"subscriberId": "canary"}, "Coverage.subscriberId"),
        ("Device", {"udiCarrier": [{"carrierHRF": "canary"}]}, "Device.udiCarrier.carrierHRF"),
        ("FamilyMemberHistory", {"name": "canary"}, "FamilyMemberHistory.name"),
        ("AuditEvent", {"agent": [{"network": {"address": "10.0.0.1"}}]}, "AuditEvent.agent.network.address"),
        ("Person", {"link": [{"valueAddress": {"city": "canary"}}]}, "Person.link.valueAddress"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
def test_it_is_recognised_wherever_it_stands(
    domains: Domains, tmp_path: Path, type_: str, resource: dict[str, Any], element: str
) -> None:
    with pytest.raises(InputError) as refused:
        run(domains, tmp_path, rules({}, type_), resourceType=type_, **resource)
    assert refused.value.code == "fhir-identifying"
    assert f"line 1: {element} would stay" in refused.value.message
    path = element.partition(".")[2]
    assert run(domains, tmp_path, rules({path: "keep"}, type_), resourceType=type_, **resource).kept.stays


def test_a_rule_for_what_is_around_an_element_does_not_name_it(domains: Domains, tmp_path: Path) -> None:
    contact = [{"name": {"family": "Canary"}}]
    with pytest.raises(InputError, match=r"Patient\.contact\.name"):
        run(domains, tmp_path, rules({"contact": "keep"}), contact=contact)
    extension = [{"url": "x", "valueHumanName": {"family": "Canary"}}]
    with pytest.raises(InputError, match=r"Patient\.extension\.valueHumanName"):
        run(domains, tmp_path, rules({"extension": "keep"}), extension=extension)
    one = {"system": "https://one.example", "value": "1"}
    other = {"system": "https://other.example", "value": "2"}
    named = rules({"identifier.where(system = 'https://one.example')": "keep"})
    assert run(domains, tmp_path, named, identifier=[one]).kept.verdict == "amber"
    with pytest.raises(InputError, match=r"Patient\.identifier"):
        run(domains, tmp_path, named, identifier=[one, other])


def test_all_that_stays_is_listed_by_element_and_kind_with_counts(domains: Domains, tmp_path: Path) -> None:
    outcome = run(
        domains,
        tmp_path,
        rules({"id": "keep", "text": "keep", "subject.display": "keep", "extension": "keep", "name.family": "keep"}),
        id="canary",
        text={"status": "generated", "div": "<div>canary</div>"},
        extension=[{"url": "http://x/1", "valueString": "canary"}],
        subject={"display": "canary"},
        note=[{"text": "canary"}, {"text": "canary"}],
        period={"start": "2020-01-01", "end": "2020-02"},
        content={"attachment": {"contentType": "text/plain", "url": "https://x/4711", "title": "canary"}},
        unforeseen="AB4711",
        name=[],
        **HARMLESS,
    )
    assert {(element, str(kind)): number for (element, kind), number in outcome.kept.stays.items()} == {
        ("Patient.id", "identifier-like"): 1,
        ("Patient.text.div", "free text"): 1,
        ("Patient.extension.valueString", "free text"): 1,
        ("Patient.subject.display", "free text"): 1,
        ("Patient.note.text", "free text"): 2,
        ("Patient.period.start", "date"): 1,
        ("Patient.period.end", "date"): 1,
        ("Patient.content.attachment.url", "identifier-like"): 1,
        ("Patient.content.attachment.title", "free text"): 1,
        ("Patient.unforeseen", "identifier-like"): 1,
    }
    assert outcome.to_dict()["verdict"] == "amber"
    assert "  Patient.note.text: 2 values, free text" in outcome.in_words
    assert "canary" not in json.dumps([outcome.to_dict(), outcome.in_words])


def test_codes_numbers_and_what_rules_change_are_not_listed(domains: Domains, tmp_path: Path) -> None:
    changed = {
        "identifier": {"pseudonymize": "mrn"},
        "name": "remove",
        "telecom": "remove",
        "address": "remove",
        "address.state": "keep",
        "photo": "remove",
        "birthDate": "year",
        "deceasedDateTime": "month",
    }
    outcome = run(domains, tmp_path, rules(changed), **PERSON, **HARMLESS)
    assert outcome.kept.stays == {}
    assert outcome.kept.verdict == "green"
    assert outcome.in_words[-1].startswith("green")


def test_organizations_are_no_people_and_what_identifies_them_is_listed(domains: Domains, tmp_path: Path) -> None:
    resource = {"resourceType": "Organization", "telecom": [{"system": "url", "value": "https://x"}]}
    outcome = run(domains, tmp_path, rules({}, "Organization"), **resource)
    assert list(outcome.kept.stays) == [("Organization.telecom.value", "identifier-like")]


def test_a_dry_run_lists_all_that_would_be_refused_and_writes_nothing(domains: Domains, tmp_path: Path) -> None:
    path = tmp_path / "in.ndjson"
    line = json.dumps({"resourceType": "Patient", **PERSON, "note": [{"text": "canary"}]})
    path.write_text(f"{line}\n{line}\n", encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    listed = rules({"id": {"pseudonymize": "encounters"}})
    outcome = rehearse_fhir(path, listed, domains)
    assert outcome.kept.unnamed == {f"Patient.{name}": 2 for name in PERSON}
    assert outcome.kept.verdict == "red"
    assert {"element": "Patient.name", "values": 2} in outcome.to_dict()["refused"]
    assert "  Patient.name: 2 elements that name people, and no rule names it" in outcome.in_words
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("in.ndjson", '{"resourceType": "Patient"}\n{"resourceType": "Patient", "id": "1", "id": "canary"}', "line 2"),
        ("in.ndjson", '{"resourceType": "Patient", "name": [{"family": "a", "family": "canary"}]}', "line 1"),
        ("in.json", '{"resourceType": "Bundle", "entry": [{}, {"resource": {"id": "1", "id": "2"}}]}', "file, entry 2"),
        ("in.json", '{"resourceType": "Patient", "resourceType": "Basic"}', "the file"),
    ],
    ids=["line", "deep", "entry", "whole"],
)
def test_an_element_that_is_named_twice_is_refused_with_its_place(
    domains: Domains, tmp_path: Path, name: str, text: str, place: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    removed = rules({"other": "remove"})
    with pytest.raises(InputError, match=f"{place}: names an element of an object twice") as refused:
        pseudonymize_fhir(tmp_path / name, tmp_path / f"out-{name}", removed, domains, actor="anna")
    assert refused.value.code == "fhir-json"
    assert "canary" not in refused.value.message
