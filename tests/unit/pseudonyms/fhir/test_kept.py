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
from kohorte.pseudonyms.fhir.units import is_unit

HL7 = "http://terminology.hl7.org"
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
    "maritalStatus": {"coding": [{"system": f"{HL7}/CodeSystem/v3-MaritalStatus", "code": "M", "version": "2018.1"}]},
    "meta": {"profile": ["http://hl7.org/fhir/StructureDefinition/Patient"], "tag": [{"code": "draft"}]},
    "language": "de-DE",
    "communication": [{"language": {"coding": [{"system": "urn:ietf:bcp:47", "code": "de"}]}, "preferred": True}],
    "weight": {"value": 70, "unit": "kg", "system": "http://unitsofmeasure.org", "code": "kg", "comparator": ">="},
    "finding": {"coding": [{"system": "http://loinc.org", "code": "718-7"}]},
    "diagnosis": {
        "coding": [{"system": "http://fhir.de/CodeSystem/bfarm/icd-10-gm", "code": "E11.90", "version": "2023"}]
    },
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
        extension=[{"url": f"{HL7}/StructureDefinition/x", "valueString": "canary"}],
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
        "identifier": {"pseudonymize": "mrn", "system": "https://study.example/psn"},
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


FREE: dict[str, Any] = {
    "unit": {"valueQuantity": {"value": 1, "unit": "canary of Erika"}},
    "unit of one word": {"valueQuantity": {"value": 1, "unit": "Canary"}},
    "annotation of a unit": {"valueQuantity": {"value": 1, "system": "http://unitsofmeasure.org", "code": "{canary}"}},
    "code with blanks": {"code": {"coding": [{"system": "http://loinc.org", "code": "canary Erika"}]}},
    "code of letters": {"code": {"coding": [{"system": "http://snomed.info/sct", "code": "canary"}]}},
    "code of an unknown system": {"code": {"coding": [{"system": f"{HL7}/canary/erika?", "code": "CANARY"}]}},
    "code without a system": {"code": {"coding": [{"code": "canary"}]}},
    "display of a code": {"code": {"coding": [{"system": "http://loinc.org", "code": "718-7", "display": "canary"}]}},
    "text of a concept": {"code": {"text": "canary"}},
    "code of an element": {"valueCode": "canary"},
    "status": {"status": "canary"},
    "language": {"language": "canary"},
    "version": {"code": {"coding": [{"version": "canary"}]}},
    "system": {"code": {"coding": [{"system": "https://canary.example"}]}},
    "system of an identifier": {"identifier": [{"system": "https://canary.example", "value": "1"}]},
    "type of an identifier": {"identifier": [{"type": {"text": "canary"}, "value": "1"}]},
    "use of an identifier": {"identifier": [{"use": "canary", "value": "1"}]},
    "type of a reference": {"focus": {"type": "Canary", "reference": "Patient/1"}},
    "server of a reference": {"focus": {"reference": "https://canary.example/fhir/Patient/1"}},
    "profile": {"meta": {"profile": ["https://canary.example/p"]}},
    "tag": {"meta": {"tag": [{"system": "https://canary.example", "code": "x"}]}},
    "security": {"meta": {"security": [{"code": "canary"}]}},
    "media type": {"content": {"contentType": "text/canary"}},
    "title of an attachment": {"content": {"title": "canary"}},
    "address of an attachment": {"content": {"url": "https://canary.example"}},
    "country": {"place": {"country": "canary"}},
    "state": {"place": {"state": "canary"}},
    "implicit rules": {"implicitRules": "https://canary.example"},
    "id of an element": {"code": {"id": "canary"}},
    "name of an element": {"Erika canary": True},
    "nobody foresaw": {"nickName": "canary"},
    "extension": {"extension": [{"url": "https://canary.example", "valueBoolean": True}]},
    "contained": {"contained": [{"resourceType": "Observation", "id": "x", "status": "canary"}]},
}


@pytest.mark.parametrize("name", FREE)
def test_a_text_is_listed_wherever_fhir_has_room_for_one(domains: Domains, tmp_path: Path, name: str) -> None:
    """A green verdict with the text in the output would be wrong."""
    study = {"pseudonymize": "study"}
    entry = {"id": "remove", "other": "keep", "extension": "keep", "identifier": study}
    kept = Rules.from_dict(
        {"kohorte": 1, "resources": {"Observation": entry, "Patient": {"id": study, "other": "remove"}}}
    )
    outcome = run(domains, tmp_path, kept, resourceType="Observation", **FREE[name])
    assert "anary" in (tmp_path / "out.ndjson").read_text(encoding="utf-8")
    assert outcome.kept.verdict == "amber"
    assert "anary" not in json.dumps([outcome.to_dict(), outcome.in_words])


def test_a_system_that_the_rules_name_tells_nothing_new(domains: Domains, tmp_path: Path) -> None:
    named = rules({"identifier.where(system = 'https://canary.example')": {"pseudonymize": "mrn"}})
    assert run(domains, tmp_path, named, identifier=PERSON["identifier"]).kept.verdict == "green"


@pytest.mark.parametrize(
    "change",
    [{"type": "canary"}, {"entry": [{"search": {"mode": "canary"}}]}, {"entry": [{"request": {"method": "canary"}}]}],
    ids=["type", "search", "request"],
)
def test_a_bundle_has_codes_where_fhir_has_them(domains: Domains, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "in.json"
    path.write_text(json.dumps({"resourceType": "Bundle", "type": "collection"} | change), encoding="utf-8")
    with pytest.raises(InputError, match="is not a code of FHIR") as refused:
        pseudonymize_fhir(path, tmp_path / "out.json", rules({}), domains, actor="anna")
    assert (refused.value.code, "canary" in refused.value.message) == ("fhir-json", False)


UNITS = """
mg/dL mg/dl mmol/L 10*9/L 10^9/l /min % g/L U/L [IU]/mL mIU/L mm[Hg] mmHg kg/m2 kg/m² °C Cel µg/l ug/mL /µl ml/min Jahre
a mo d h s fL pg 1 kcal/d mosm/kg meq/L m/s2
"""
NO_UNITS = ("Anna", "Erika Muster", "mg Anna", "mg/dL.Anna", "{Anna}", "", "4711/4712", "kg/", "mL/min/{Anna}")


def test_units_are_known_and_other_texts_are_not() -> None:
    assert [unit for unit in UNITS.split() if not is_unit(unit)] == []
    assert [text for text in NO_UNITS if is_unit(text)] == []


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
