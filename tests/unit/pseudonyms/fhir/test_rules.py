"""Rule files: how they are read, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kohorte import InputError
from kohorte.pseudonyms.fhir.rules import Act, Rules

FILE = """\
kohorte: 1
dates: {domain: study, within: 30}
resources:
  Patient:
    Patient.id: {pseudonymize: study}
    identifier.where(system = 'https://hospital.example/mrn'): {pseudonymize: mrn}
    identifier.where(system="a b").value: keep
    birthDate: month
    other: remove
  Encounter: {id: keep, person: subject, period: shift-dates, other: keep}
  Practitioner: remove
"""


def test_a_rule_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("\ufeff" + FILE, encoding="utf-8", newline="\r\n")
    rules = Rules.from_yaml(path)
    assert (rules.date_domain, rules.within, rules.domains) == ("study", 30, ("study", "mrn"))
    patient, encounter = rules.types["Patient"], rules.types["Encounter"]
    assert (patient.identity.act, patient.identity.domain) == (Act.PSEUDONYMIZE, "study")
    (system, url, first), (_, text, second) = patient.root.children["identifier"].conditions
    assert (system, url, text) == ("system", "https://hospital.example/mrn", "a b")
    assert first.action is not None
    assert first.action.domain == "mrn"
    assert set(second.children) == {"value"}
    assert (encounter.person, encounter.other.act, rules.types["Practitioner"].removed) == ("subject", Act.KEEP, True)


def of(**types: Any) -> dict[str, Any]:
    return {"kohorte": 1, "resources": types}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "a mapping"),
        ({"kohorte": 2, "resources": {}}, "kohorte: 1"),
        ({"kohorte": True, "resources": {}}, "kohorte: 1"),
        ({"kohorte": 1}, "resources: is a mapping"),
        ({"kohorte": 1, "resources": {}, "rules": 1}, "no key 'rules'"),
        (of(patient={}), "'patient' is not a type"),
        (of(Bundle={"id": "keep", "other": "keep"}), "'Bundle' is not a type"),
        (of(Patient="keep"), "is 'remove', or a mapping"),
        (of(Patient={"id": "keep"}), "Patient.other: is missing"),
        (of(Patient={"other": "keep"}), "say what happens to id"),
        (of(Patient={"id": "year", "other": "keep"}), "say what happens to id"),
        (of(Patient={"id": "keep", "other": "year"}), "other is keep or remove"),
        (of(Patient={"id": "keep", "other": "keep", "name": "kep"}), "Patient.name: is one of .*keep"),
        (of(Patient={"id": "keep", "other": "keep", "name": {"hash": "x"}}), "no key 'hash'"),
        (of(Patient={"id": "keep", "other": "keep", "name": {"pseudonymize": "A"}}), "name of a domain"),
        (of(Patient={"id": "keep", "other": "keep", "name": {"pseudonymize": "a", "system": 1}}), "system is a text"),
        (of(Patient={"id": "keep", "other": "keep", "name..given": "keep"}), "is not a path"),
        (of(Patient={"id": "keep", "other": "keep", "name.where(x)": "keep"}), "is not a path"),
        (of(Patient={"id": "keep", "other": "keep", "name[0]": "keep"}), "is not a path"),
        (of(Patient={"id": "keep", "Patient.id": "keep", "other": "keep"}), "named twice"),
        (of(Patient={"id": "keep", "other": "keep", "person": 1}), "person is the element"),
        (of(Patient={"id": "keep", "other": "keep", "birthDate": "shift-dates"}), "needs a domain"),
        ({**of(Patient={"id": "keep", "other": "keep"}), "dates": {"domain": "a", "within": 0}}, "within"),
        ({**of(Patient={"id": "keep", "other": "keep"}), "dates": {"domain": "A"}}, "name of a domain"),
    ],
)
def test_rules_that_are_not_clear_are_refused(data: Any, words: str) -> None:
    with pytest.raises(InputError, match=words) as refused:
        Rules.from_dict(data)
    assert refused.value.code in ("fhir-rules", "pseudonym-domain-name")
