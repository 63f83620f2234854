"""Resources by rules: what is replaced, what stays, what is removed, and what is refused."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from kohorte import InputError
from kohorte.pseudonyms.domains import Domains, definition_of

Apply = Callable[..., Any]
MRN = "https://hospital.example/mrn"
RULES: dict[str, Any] = {
    "dates": {"domain": "study", "within": 30},
    "resources": {
        "Patient": {
            "id": {"pseudonymize": "study"},
            f"identifier.where(system = '{MRN}')": {"pseudonymize": "mrn", "system": "https://study.example"},
            "identifier": "remove",
            "birthDate": "year",
            "gender": "keep",
            "address.postalCode": "keep",
            "other": "remove",
        },
        "Encounter": {"id": {"pseudonymize": "encounters"}, "period": "shift-dates", "other": "keep"},
        "Observation": {"id": "remove", "effectiveDateTime": "shift-dates", "other": "keep"},
        "Practitioner": "remove",
    },
}
PATIENT: dict[str, Any] = {
    "resourceType": "Patient",
    "id": "canary-1",
    "meta": {"lastUpdated": "2020-01-01T00:00:00Z", "source": "canary"},
    "text": {"status": "generated", "div": "<div>canary</div>"},
    "extension": [{"url": "x", "valueString": "canary"}],
    "identifier": [
        {
            "system": MRN,
            "use": "usual",
            "value": "canary-2",
            "assigner": {"reference": "#x"},
            "period": {"start": "2020"},
        },
        {"system": "https://insurance.example", "value": "canary-3"},
    ],
    "name": [{"family": "canary", "given": ["canary", None], "_given": [None, {"id": "canary"}]}],
    "birthDate": "1970-05-17",
    "_birthDate": {"extension": [{"url": "time", "valueDateTime": "1970-05-17T03:04:05Z"}]},
    "gender": "female",
    "address": [{"city": "canary", "postalCode": "80331", "line": ["canary"]}],
}


def by_hand(domains: Domains, domain: str, text: str) -> str:
    """A one-way pseudonym, computed without the kinds."""
    opened = domains.open(domain)
    digest = hmac.new(opened.keys.current.derived("one-way"), text.encode(), hashlib.sha256).digest()
    shape = opened.definition.shape
    return shape.text(int.from_bytes(digest, "big") % shape.space)


def days_by_hand(domains: Domains, person: str, within: int) -> int:
    secret = domains.open("study").keys.current.derived("dates")
    drawn = int.from_bytes(hmac.new(secret, person.encode(), hashlib.sha256).digest(), "big") % (2 * within)
    return [*range(-within, 0), *range(1, within + 1)][drawn]


def test_a_patient_keeps_only_what_the_rules_name(apply: Apply, domains: Domains) -> None:
    found = apply(RULES, PATIENT)
    [identifier] = found.pop("identifier")
    assert found == {
        "resourceType": "Patient",
        "id": by_hand(domains, "study", "canary-1"),
        "birthDate": "1970",
        "gender": "female",
        "address": [{"postalCode": "80331"}],
    }
    assert identifier["system"] == "https://study.example"
    assert domains.open("mrn").kind.originals([identifier["value"]]) == ["canary-2"]
    assert set(identifier) == {"system", "use", "value"}


def test_references_follow_the_ids_and_dates_move_with_the_person(apply: Apply, domains: Domains) -> None:
    encounter = {
        "resourceType": "Encounter",
        "id": "e1",
        "status": "finished",
        "subject": {"reference": "Patient/canary-1", "display": "canary", "identifier": {"value": "canary"}},
        "period": {"start": "2020-02-27T10:11:12+01:00", "end": "2020-03-01"},
        "participant": [{"individual": {"reference": "Practitioner/canary"}, "type": [{"text": "doctor"}]}],
        "diagnosis": [{"condition": {"display": "canary"}, "rank": 1}],
    }
    observation = {
        "resourceType": "Observation",
        "id": "o1",
        "encounter": {"reference": "https://hospital.example/fhir/Encounter/e1/_history/3"},
        "subject": {"reference": "Patient/canary-1"},
        "effectiveDateTime": "2020-02",
        "valueQuantity": {"value": 1.10, "unit": "mmol/l"},
    }
    patient, first, second = apply(RULES, [PATIENT, encounter, observation])
    days = timedelta(days=days_by_hand(domains, "canary-1", 30))
    assert first["subject"] == {"reference": f"Patient/{patient['id']}"}
    assert first["period"] == {
        "start": f"{date(2020, 2, 27) + days}T10:11:12+01:00",
        "end": f"{date(2020, 3, 1) + days}",
    }
    assert first["participant"] == [{"type": [{"text": "doctor"}]}]
    assert first["diagnosis"] == [{"rank": 1}]
    assert second["encounter"] == {"reference": f"https://hospital.example/fhir/Encounter/{first['id']}"}
    assert second["effectiveDateTime"] == f"{date(2020, 2, 15) + days}"[:7]
    assert "id" not in second
    assert domains.open("encounters").kind.originals([first["id"]]) == ["e1"]


def test_decimal_numbers_keep_their_digits(apply: Apply, domains: Domains, tmp_path: Path) -> None:
    text = '{"resourceType":"Observation","valueQuantity":{"value":1.10,"x":-0.50e-3,"y":12345678901234567890}}'
    assert apply(RULES, [json.loads(text)])  # makes the files
    (tmp_path / "in.ndjson").write_text(text)
    from kohorte.pseudonyms.fhir.files import pseudonymize_fhir
    from kohorte.pseudonyms.fhir.rules import Rules

    rules = Rules.from_dict({"kohorte": 1, **RULES})
    pseudonymize_fhir(tmp_path / "in.ndjson", tmp_path / "out.ndjson", rules, domains, force=True, actor="anna")
    assert (tmp_path / "out.ndjson").read_text() == text + "\n"


def test_a_text_that_refers_to_a_person_follows_the_id_wherever_it_stands(apply: Apply, domains: Domains) -> None:
    identity = by_hand(domains, "study", "canary")
    resource = {
        "resourceType": "Encounter",
        "subject": ["Patient/canary"],
        "input": [{"valueUri": "Patient/canary/_history/2"}, {"valueUri": "Practitioner/canary"}],
        "type": [{"coding": [{"system": "http://terminology.hl7.org/CodeSystem/v2-0203", "code": "a/b"}]}],
    }
    assert apply(RULES, resource) == {
        **resource,
        "subject": [f"Patient/{identity}"],
        "input": [{"valueUri": f"Patient/{identity}"}],
    }
    url = "https://hospital.example/fhir/Patient/canary"
    task = {"resourceType": "Encounter", "input": [{"valueUri": url}, {"valueUrl": "urn:uuid:9"}]}
    entries = [{"fullUrl": url, "resource": {**PATIENT, "id": "canary"}}, {"resource": task}]
    last = {"fullUrl": "urn:uuid:9", "resource": {"resourceType": "Encounter", "id": "e"}}
    found = apply(RULES, {"resourceType": "Bundle", "entry": [*entries, last]})["entry"]
    assert found[1]["resource"]["input"] == [{"valueUri": found[0]["fullUrl"]}, {"valueUrl": found[2]["fullUrl"]}]


def test_dates_that_belong_to_nobody_are_removed(apply: Apply) -> None:
    one = {"resourceType": "Encounter", "period": {"start": "2020-01-01"}, "status": "x"}
    of_group = {**one, "subject": {"reference": "#g"}, "contained": []}
    assert apply(RULES, [one, of_group]) == [{"resourceType": "Encounter", "status": "x"}] * 2


@pytest.mark.parametrize("end", ["9999-12-31", "9999-12-31T23:59:59+01:00", "9999-12", "9999", "1900-01-01"])
def test_a_placeholder_goes_because_it_would_tell_the_offset(apply: Apply, domains: Domains, end: str) -> None:
    """A Period without an end goes on, which is what 9999-12-31 says."""
    period = {"start": "2020-02-27", "end": end}
    one = {"resourceType": "Encounter", "subject": {"reference": "Patient/canary-1"}, "period": period}
    days = timedelta(days=days_by_hand(domains, "canary-1", 30))
    assert apply(RULES, one)["period"] == {"start": f"{date(2020, 2, 27) + days}"}


def test_contained_resources_follow_the_rules_of_their_type_and_get_new_local_ids(apply: Apply) -> None:
    resource = {
        "resourceType": "Observation",
        "contained": [{**PATIENT, "id": "canary"}, {"resourceType": "Practitioner", "id": "d", "name": "canary"}],
        "subject": {"reference": "#canary"},
        "performer": [{"reference": "#d"}],
        "status": "final",
    }
    found = apply(RULES, resource)
    [patient] = found["contained"]
    assert (patient["id"], found["subject"]) == ("c1", {"reference": "#c1"})
    assert "performer" not in found
    assert "canary" not in json.dumps(found)


class TestBundles:
    def bundle(self, *entries: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"resourceType": "Bundle", "type": "transaction", **more, "entry": list(entries)}

    def test_urns_stay_consistent_and_are_those_of_the_new_ids(self, apply: Apply, domains: Domains) -> None:
        first, second = "urn:uuid:5d4a0c1e-0000-4000-8000-000000000001", "urn:uuid:5d4a0c1e-0000-4000-8000-000000000002"
        bundle = self.bundle(
            {
                "fullUrl": first,
                "resource": {"resourceType": "Patient", "gender": "male"},
                "request": {"method": "POST", "url": "Patient"},
            },
            {
                "fullUrl": second,
                "resource": {
                    "resourceType": "Encounter",
                    "id": "e1",
                    "subject": {"reference": first},
                    "period": {"start": "2020-01-01"},
                },
            },
            {"resource": {"resourceType": "Observation", "encounter": {"reference": second}}},
        )
        found = apply(RULES, bundle)
        patient, encounter, observation = found["entry"]
        assert patient["fullUrl"].startswith("urn:uuid:")
        assert patient["fullUrl"] != first
        assert encounter["resource"]["subject"]["reference"] == patient["fullUrl"]
        assert observation["resource"]["encounter"]["reference"] == encounter["fullUrl"]
        assert patient["request"] == {"method": "POST", "url": "Patient"}
        assert "period" in encounter["resource"]
        assert apply(RULES, bundle) == found

    def test_full_urls_requests_and_what_stands_around_entries(self, apply: Apply) -> None:
        url = "https://hospital.example/fhir/Patient/canary-1"
        bundle = self.bundle(
            {
                "fullUrl": url,
                "resource": PATIENT,
                "request": {"method": "PUT", "url": "Patient/canary-1", "ifMatch": "canary"},
                "search": {"mode": "match", "extension": []},
            },
            {"resource": {"resourceType": "Practitioner", "id": "canary"}},
            {"request": {"method": "DELETE", "url": "Patient/canary-1"}},
            link=[{"relation": "self", "url": "https://x/Patient?name=canary"}],
            id="canary",
            total=3,
            timestamp="2020-01-01T00:00:00Z",
            identifier={"value": "canary"},
        )
        found = apply(RULES, bundle)
        patient, deleted = found.pop("entry")
        identity = patient["resource"]["id"]
        assert found == {"resourceType": "Bundle", "type": "transaction"}
        assert patient["fullUrl"] == f"https://hospital.example/fhir/Patient/{identity}"
        assert patient["request"] == {"method": "PUT", "url": f"Patient/{identity}"}
        assert patient["search"] == {"mode": "match"}
        assert deleted == {"request": {"method": "DELETE", "url": f"Patient/{identity}"}}

    @pytest.mark.parametrize("entries", [{"entry": []}, {}])
    def test_a_bundle_without_entries_stays_one(self, apply: Apply, entries: dict[str, Any]) -> None:
        assert apply(RULES, {"resourceType": "Bundle", "type": "searchset", "total": 0, **entries}) == {
            "resourceType": "Bundle",
            "type": "searchset",
            "total": 0,
        }

    @pytest.mark.parametrize(
        ("entry", "code", "words"),
        [
            (
                {
                    "fullUrl": "urn:uuid:1",
                    "resource": {"resourceType": "Encounter", "subject": {"reference": "urn:uuid:2"}},
                },
                "fhir-reference",
                "entry 1: Encounter.subject",
            ),
            ({"fullUrl": "canary", "resource": {"resourceType": "Encounter"}}, "fhir-reference", "entry 1: fullUrl"),
            (
                {"resource": PATIENT, "request": {"method": "PUT", "url": "Patient?name=canary"}},
                "fhir-reference",
                "entry 1: the address",
            ),
            (
                {"resource": {"resourceType": "Bundle"}},
                "fhir-type",
                "entry 1: the rules say nothing about the type Bundle",
            ),
            ({"resource": "canary"}, "fhir-json", "entry 1"),
            ("canary", "fhir-json", "entry"),
        ],
        ids=["urn to nothing", "full URL", "condition", "nested", "no resource", "no entry"],
    )
    def test_what_cannot_be_followed_is_refused(self, apply: Apply, entry: Any, code: str, words: str) -> None:
        with pytest.raises(InputError, match=words) as refused:
            apply(RULES, self.bundle(entry))
        assert refused.value.code == code
        assert "canary" not in refused.value.message


@pytest.mark.parametrize(
    ("resource", "code", "words"),
    [
        (
            {"resourceType": "Condition", "id": "x"},
            "fhir-type",
            "line 2: the rules say nothing about the type Condition",
        ),
        ({"resourceType": "Canary"}, "fhir-type", "line 2: the rules say nothing about an unknown type"),
        (
            {"resourceType": "Encounter", "subject": {"reference": "Canary/1"}},
            "fhir-type",
            "Encounter.subject: .* unknown type",
        ),
        (
            {"resourceType": "Encounter", "subject": {"reference": "Patient?name=canary"}},
            "fhir-reference",
            "Encounter.subject",
        ),
        (
            {"resourceType": "Encounter", "subject": {"reference": "Patient/1"}, "period": {"start": "canary"}},
            "fhir-date",
            "Encounter.period",
        ),
        (
            {"resourceType": "Encounter", "subject": {"reference": "Patient/1"}, "period": {"start": "2020-13-45"}},
            "fhir-date",
            "line 2: Encounter.period",
        ),
        (
            {"resourceType": "Encounter", "modifierExtension": [{"valueString": "canary"}]},
            "fhir-modifier",
            "Encounter.modifierExtension",
        ),
        ({"resourceType": "Patient", "id": 4711}, "fhir-json", "Patient.id"),
        (
            {"resourceType": "Patient", "identifier": [{"system": MRN, "value": 1.5}]},
            "fhir-value",
            "Patient.identifier",
        ),
        (
            {"resourceType": "Patient", "identifier": [{"system": MRN, "given": "canary"}]},
            "fhir-value",
            "Patient.identifier",
        ),
        ({"id": "canary"}, "fhir-json", "line 2"),
        (["canary"], "fhir-json", "line 2"),
    ],
    ids=[
        "type",
        "unknown type",
        "type of a reference",
        "condition",
        "no date",
        "impossible date",
        "modifier",
        "number as id",
        "number as value",
        "no value",
        "no type",
        "list",
    ],
)
def test_errors_name_the_line_and_the_element_but_no_value(apply: Apply, resource: Any, code: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        apply(RULES, [PATIENT, resource])
    assert refused.value.code == code
    assert "canary" not in refused.value.message.lower()


def test_pseudonyms_that_are_no_ids_are_refused(apply: Apply, domains: Domains) -> None:
    domains.create(definition_of("odd", "list", prefix="A_"), actor="anna")
    for domain, identity in {"odd": "1", "mrn": "a" * 36}.items():
        rules = {"resources": {"Patient": {"id": {"pseudonymize": domain}, "other": "remove"}}}
        with pytest.raises(InputError, match=f"{domain!r} cannot be ids") as refused:
            apply(rules, {"resourceType": "Patient", "id": identity})
        assert refused.value.code == "fhir-id"


def test_elements_that_a_rule_names_stay_even_if_others_of_their_kind_never_do(apply: Apply) -> None:
    rules = {
        "resources": {
            "Patient": {
                "id": "keep",
                "text": "keep",
                "extension": "keep",
                "_birthDate": "keep",
                "meta": "keep",
                "name": "keep",
                "contact.relationship": "keep",
                "other": "remove",
            }
        }
    }
    resource = {**PATIENT, "contact": [{"relationship": [{"text": "x"}], "name": {"text": "canary"}}]}
    found = apply(rules, resource)
    for name in ("id", "text", "extension", "_birthDate", "meta"):
        assert found[name] == resource[name]
    assert found["contact"] == [{"relationship": [{"text": "x"}]}]
    assert found["name"] == [{"family": "canary", "given": ["canary"]}]


def test_texts_are_spelled_as_the_domain_spells_them(apply: Apply, domains: Domains) -> None:
    rules = {"resources": {"Patient": {"id": "remove", "name.family": {"pseudonymize": "study"}, "other": "remove"}}}
    one, other, blank = apply(
        rules,
        [
            {"resourceType": "Patient", "name": [{"family": " Mu\u0308ller "}]},
            {"resourceType": "Patient", "name": [{"family": "Müller"}]},
            {"resourceType": "Patient", "name": [{"family": "  "}]},
        ],
    )
    assert one == other == {"resourceType": "Patient", "name": [{"family": by_hand(domains, "study", "Müller")}]}
    assert blank == {"resourceType": "Patient"}
