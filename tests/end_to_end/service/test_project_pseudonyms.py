"""Projects whose release has pseudonyms and only people who agreed, from this service or from another house."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kohorte.cli.main import main
from kohorte.errors import AccessDenied
from kohorte.parties.transport.certificates import create_certificate
from kohorte.plans import Plan
from kohorte.pseudonyms.domains import Domains
from kohorte.service.parts import Part
from kohorte.service.storage.schema import daily_use, projects
from kohorte.service.trust import heads
from kohorte.service.trust.leaving.releases import Places, pseudonymizer
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT
from support.jobs import working as with_workers
from support.projects import store_dataset, working
from support.serving import serving
from support.trusting import House, house_in

PEOPLE = [
    {"first_names": first, "last_name": last, "birth_date": f"19{60 + number}-0{number + 1}-1{number}"}
    for number, (first, last) in enumerate(
        [("Anna", "Eichhorst"), ("Otto", "Zwickel"), ("Rosa", "Quendel"), ("Emil", "Tannhof"), ("Ida", "Buchfink")]
    )
]


def plan(domain: str = "p7") -> dict[str, Any]:
    return {
        "attributes": {
            "pid": {"role": "identifying", "pseudonym": domain},
            "ward": {"role": "quasi-identifying"},
            "value": {"role": "sensitive"},
        },
        "models": [{"model": "k-anonymity", "k": 2}],
        "person": "pid",
        "suppression_limit": 0.5,
    }


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("project-pseudonyms") / "service"
    with house_in(folder, project_domains=("p7", "nowhere", "short", "counted")) as opened, working(opened.service):
        for name, kind in (("p7", "list"), ("database", "reversible"), ("short", "one-way")):
            opened.post("trustee", "/domains", {"name": name, "kind": kind}, status=201)
        opened.post("trustee", "/domains", {"name": "counted", "kind": "list", "numbered": True}, status=201)
        yield opened


@pytest.fixture(scope="module")
def pids(house: House) -> list[str]:
    found = house.post("trustee", "/patients/registrations", {"people": PEOPLE})["registrations"]
    return [one["pid"] for one in found]


@pytest.fixture(scope="module")
def dataset(house: House, pids: list[str]) -> int:
    return stays(house, pids)


def stays(house: House, pids: list[str]) -> int:
    """Each person twice, on the same two wards."""
    rows = {
        "pid": pids * 2,
        "ward": ["a"] * len(pids) + ["b"] * len(pids),
        "value": list(map(str, range(2 * len(pids)))),
    }
    return store_dataset(house.service, pl.DataFrame(rows), house.person("steward").user_id)


def create(house: House, dataset: int, *, status: int = 201, **config: Any) -> dict[str, Any]:
    body = {
        "name": "A project",
        "dataset_id": dataset,
        "researcher_id": house.person("researcher").user_id,
        "config": {"plan": plan()} | config,
    }
    found: dict[str, Any] = house.post("steward", "/projects", body, status=status)
    return found


def released(house: House, project: dict[str, Any]) -> list[dict[str, str]]:
    answer = house.ask("researcher", "GET", f"/projects/{project['project_id']}/csv")
    assert answer.status_code == 200, answer.text
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_a_project_releases_pseudonyms_of_its_domain_and_says_that_they_tie_rows(
    house: House, dataset: int, pids: list[str]
) -> None:
    project = create(house, dataset)
    rows = released(house, project)
    made = house.post("source", "/domains/p7/pseudonyms", {"originals": pids})["pseudonyms"]
    assert {row["pid"] for row in rows} == set(made)
    assert not {row["pid"] for row in rows} & set(pids)
    assert any("'pid' stays as a pseudonym of the domain 'p7'" in warning for warning in project["warnings"])
    assert any("no consent was checked" in warning for warning in project["warnings"])
    certificate = house.get("researcher", f"/projects/{project['project_id']}/certificate")
    assert certificate["verdict"]["standing"] == "amber"
    report = house.ask("researcher", "GET", f"/projects/{project['project_id']}/report").text
    assert not [pid for pid in pids if pid in report or pid in str(certificate)]
    assert {"attribute_name": "pid", "attribute_type": "identifying", "pseudonym": "p7"} in project["attributes"]


def test_the_names_of_priori_can_name_a_domain_too(house: House, dataset: int, pids: list[str]) -> None:
    attributes = [
        {"attribute_name": "pid", "attribute_type": "identifying", "pseudonym": "p7"},
        {"attribute_name": "ward", "attribute_type": "quasi-identifying"},
        {"attribute_name": "value", "attribute_type": "sensitive"},
    ]
    config = {
        "attributes": attributes,
        "privacy_models": [{"model_name": "k-anonymity", "model_params": {"k": 2}}],
        "person": "pid",
    }
    body = {"name": "x", "dataset_id": dataset, "researcher_id": house.person("researcher").user_id, "config": config}
    rows = released(house, house.post("steward", "/projects", body, status=201))
    assert len({row["pid"] for row in rows}) == len(pids)


@pytest.mark.parametrize(("domain", "words"), [("database", "project_domains"), ("nowhere", "no such domain")])
def test_a_domain_that_is_not_for_projects_or_not_there_is_refused_and_noted(
    house: House, dataset: int, domain: str, words: str
) -> None:
    refused = create(house, dataset, status=400, plan=plan(domain))
    assert refused["code"] == "project-pseudonym"
    assert words in refused["detail"]
    assert "database" not in refused["detail"]
    last = (house.folder / "pseudonyms" / "log.jsonl").read_text().splitlines()[-1]
    assert '"project-pseudonym"' in last
    assert f"user {house.person('steward').user_id}" in last


def test_a_list_that_counts_does_not_tell_a_steward_who_is_new(house: House, dataset: int, pids: list[str]) -> None:
    """The steward has the table and could see whose number is higher than those of an earlier release."""
    house.post("trustee", "/domains/counted/pseudonyms", {"originals": pids[:2]})
    assert create(house, dataset, status=403, plan=plan("counted"))["code"] == "pseudonym-numbered"
    folder = TrustFolder.opened(house.folder / "pseudonyms")
    made = pseudonymizer(Places.of(house.service.settings), Plan.from_dict({"kohorte": 1} | plan("counted")), "user 1")
    assert made is not None
    with pytest.raises(AccessDenied):  # also if the list has become such a list while the job waited
        made("counted", pl.Series(pids))
    assert Domains(folder).open("counted").kind.known(pids, Domains(folder).open("counted").key(None))[2:] == [None] * 3


def test_the_people_of_a_project_count_towards_the_texts_of_the_day(house: House, dataset: int) -> None:
    def used() -> int:
        with house.service.database.reading() as connection:
            rows = connection.execute(daily_use.select()).all()
        return sum(row.texts for row in rows if row.user_id == house.person("steward").user_id)

    before = used()
    create(house, dataset)
    assert used() == before + len(PEOPLE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(house.service.settings), "__setattr__", object.__setattr__)
        patch.setattr(house.service.settings, "texts_per_day", before + len(PEOPLE) + 1)
        assert create(house, dataset, status=429)["code"] == "too-many-texts"


def test_only_people_who_agreed_are_released_and_a_withdrawal_ends_the_hand_out(
    house: House, dataset: int, pids: list[str]
) -> None:
    house.post("trustee", "/patients/consents", {"pids": pids[:4], "purposes": ["asthma-research"]})
    project = create(house, dataset, consent={"purpose": "asthma-research"})
    made = house.post("source", "/domains/p7/pseudonyms", {"originals": pids})["pseudonyms"]
    assert {row["pid"] for row in released(house, project)} == set(made[:4])
    assert not any("consent" in warning for warning in project["warnings"])
    exports = house.post("trustee", "/patients/consents/released", {"pid": pids[0]})["exports"]
    assert exports[-1]["project"] == f"project-{project['project_id']}"
    assert exports[-1]["purpose"] == "asthma-research"
    house.post("trustee", "/patients/consents/withdraw", {"pid": pids[0]})
    for path in ("csv", "preview"):
        answer = house.ask("researcher", "GET", f"/projects/{project['project_id']}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (409, "consent-changed")
    again = create(house, dataset, consent={"purpose": "asthma-research"})
    assert {row["pid"] for row in released(house, again)} == set(made[1:4])


def test_cells_of_kinds_that_people_did_not_agree_to_are_removed(house: House, pids: list[str]) -> None:
    house.post(
        "trustee", "/patients/consents", {"pids": pids[1:4], "purposes": ["lab-research"], "categories": ["lab"]}
    )
    consent = {"purpose": "lab-research", "categories": {"lab": ["value"], "stay": ["ward"]}}
    rows = released(house, create(house, stays(house, pids), consent=consent))
    assert len(rows) == 6
    assert all(row["ward"] in ("", "*") for row in rows)
    assert all(row["value"] for row in rows)


@pytest.mark.parametrize(
    ("consent", "status", "code"),
    [
        ({"purpose": "asthma-research", "column": "patient"}, 400, "project-consent"),
        ({"purpose": "asthma-research", "categories": {"lab": ["crp"]}}, 400, "project-consent"),
        ({"purpose": "Not a word"}, 400, "consent-word"),
        ({"purpose": "asthma-research", "column": "ward"}, 400, "trust-pid-wrong"),
        ({"column": "pid"}, 400, "invalid-request"),
    ],
)
def test_consents_that_make_no_sense_are_refused(
    house: House, dataset: int, consent: dict[str, Any], status: int, code: str
) -> None:
    assert create(house, dataset, status=status, consent=consent)["code"] == code


def test_the_risk_of_a_table_is_measured_without_pseudonyms(house: House, dataset: int) -> None:
    answer = house.post("steward", f"/datasets/{dataset}/analyze-risk", {"plan": plan()}, status=400)
    assert answer["code"] == "project-config"


def test_a_service_without_pseudonyms_or_patient_list_says_so(tmp_path: Path) -> None:
    with house_in(tmp_path / "service", only=("research",), project_domains=("p7",)) as alone:
        number = stays(alone, ["A1C2D3E4", "F5G6H7J8"])
        assert create(alone, number, status=400)["code"] == "project-pseudonym"
        refused = create(alone, number, status=400, consent={"purpose": "asthma-research"})
        assert refused["code"] == "project-consent"


@contextmanager
def other_house(folder: Path) -> Iterator[str]:
    """A pseudonym service in a process of its own, which knows the research service by its certificate."""
    for name in ("research", "naming"):
        key, certificate = create_certificate(name)
        (folder / f"{name}.key").write_bytes(key)
        (folder / f"{name}.pem").write_bytes(certificate)
    there = ["--folder", str(folder / "naming")]
    assert main(["serve", *there, "--only", "pseudonyms", "--migrate-only"]) == 0
    account = ["research@example.org", "--name", "Research", "--role", "source"]
    assert main(["user", "create", *account, "--certificate", str(folder / "research.pem"), *there]) == 0
    domain = ["domain", "create", "p7", "--kind", "reversible", "--folder", str(folder / "naming" / "pseudonyms")]
    assert main(domain) == 0
    tls = ("--tls-certificate", str(folder / "naming.pem"), "--tls-key", str(folder / "naming.key"))
    clients = ("--client-certificates", str(folder / "research.pem"))
    with serving(folder / "naming", "--only", "pseudonyms", *tls, *clients) as served:
        yield served.address


@pytest.mark.slow
def test_pseudonyms_come_from_another_house_over_certificates_and_no_key_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    pids = ["A1C2D3E4", "F5G6H7J8", "K9L1M2N3"]
    with other_house(tmp_path) as address:
        settings = {
            "only": ("research",),
            "project_domains": ("p7", "unknown"),
            "pseudonyms_at": address,
            "pseudonyms_certificate": tmp_path / "research.pem",
            "pseudonyms_key": tmp_path / "research.key",
            "pseudonyms_pinned": tmp_path / "naming.pem",
        }
        with house_in(tmp_path / "service", **settings) as here, working(here.service):
            number = stays(here, pids)
            rows = released(here, create(here, number))
            refused = create(here, number, status=403, plan=plan("unknown"))
            assert refused["code"] == "trust-house-refused"
    capsys.readouterr()
    assert len({row["pid"] for row in rows}) == 3
    assert not {row["pid"] for row in rows} & set(pids)
    assert not list((tmp_path / "service").rglob("domain-*"))
    (tmp_path / "in.csv").write_text("\n".join(["pid", *pids, ""]))
    words = ["pseudonymize", str(tmp_path / "in.csv"), "--domain", "p7", "--column", "pid"]
    files = ["--output", str(tmp_path / "out.csv"), "--folder", str(tmp_path / "naming" / "pseudonyms")]
    assert main([*words, *files]) == 0
    assert set((tmp_path / "out.csv").read_text().split()[1:]) == {row["pid"] for row in rows}


@contextmanager
def house_with_list(folder: Path, pids: list[str]) -> Iterator[str]:
    """A patient list in a process of its own, which knows the research service by its certificate as a recipient."""
    for name in ("research", "listing"):
        key, certificate = create_certificate(name)
        (folder / f"{name}.key").write_bytes(key)
        (folder / f"{name}.pem").write_bytes(certificate)
    there, trust = ["--folder", str(folder / "listing")], str(folder / "listing" / "patients")
    assert main(["serve", *there, "--only", "patients", "--migrate-only"]) == 0
    account = ["research@example.org", "--name", "Research", "--role", "recipient"]
    assert main(["user", "create", *account, "--certificate", str(folder / "research.pem"), *there]) == 0
    rows = [",".join(one.values()) for one in PEOPLE]
    (folder / "people.csv").write_text("\n".join([",".join(PEOPLE[0]), *rows, ""]))
    fields = ["--field", "first_names=first_names"]
    words = ["patients", "register", str(folder / "people.csv"), *fields, "--output", str(folder / "pids.csv")]
    assert main([*words, "--folder", trust]) == 0
    pids += [line.split(",")[0] for line in (folder / "pids.csv").read_text().split()[1:]]
    (folder / "agreed.txt").write_text("\n".join(pids[:4]))
    for pid in pids[:4]:
        (folder / "pid.txt").write_text(pid)
        words = ["patients", "consent", "give", f"@{folder / 'pid.txt'}", "--purpose", "asthma-research"]
        assert main([*words, "--folder", trust]) == 0
    tls = ("--tls-certificate", str(folder / "listing.pem"), "--tls-key", str(folder / "listing.key"))
    clients = ("--client-certificates", str(folder / "research.pem"))
    with serving(folder / "listing", "--only", "patients", *tls, *clients) as served:
        yield served.address


@pytest.mark.slow
def test_consent_comes_from_the_patient_list_of_another_house_at_every_hand_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other house is asked when the release is made and whenever it leaves; without an answer nothing leaves."""
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    pids: list[str] = []
    consent = {"purpose": "asthma-research"}
    settings = {
        "only": ("research", "pseudonyms"),
        "project_domains": ("p7",),
        "patients_certificate": tmp_path / "research.pem",
        "patients_key": tmp_path / "research.key",
        "patients_pinned": tmp_path / "listing.pem",
    }
    with house_with_list(tmp_path, pids) as address:
        opened = house_in(tmp_path / "service", patients_at=address, **settings)
        here = opened.__enter__()
        with working(here.service):
            here.post("trustee", "/domains", {"name": "p7", "kind": "list"}, status=201)
            number = stays(here, pids)
            assert any("no consent was checked" in warning for warning in create(here, number)["warnings"])
            project = create(here, number, consent=consent)
            made = here.post("source", "/domains/p7/pseudonyms", {"originals": pids})["pseudonyms"]
            assert {row["pid"] for row in released(here, project)} == set(made[:4])
            trust = ["--folder", str(tmp_path / "listing" / "patients")]
            (tmp_path / "pid.txt").write_text(pids[0])
            assert main(["patients", "consent", "withdraw", f"@{tmp_path / 'pid.txt'}", *trust]) == 0
            assert f"project-{project['project_id']}" in capsys.readouterr().out
            for path in ("csv", "preview"):
                answer = here.ask("researcher", "GET", f"/projects/{project['project_id']}/{path}")
                assert (answer.status_code, answer.json()["code"]) == (409, "consent-changed")
            again = create(here, number, consent=consent)
            assert {row["pid"] for row in released(here, again)} == set(made[1:4])
    with working(here.service):  # the other house does not answer any more
        answer = here.ask("researcher", "GET", f"/projects/{again['project_id']}/csv")
        assert (answer.status_code, answer.json()["code"]) == (503, "trust-house-lost")
        assert create(here, number, status=503, consent=consent)["code"] == "trust-house-lost"
    opened.__exit__(None, None, None)
    for path in (tmp_path / "service").rglob("*"):
        assert not path.is_file() or not [pid for pid in pids if pid.encode() in path.read_bytes()], path


@pytest.mark.slow
def test_a_worker_makes_them_in_its_process_and_the_service_knows_at_once_how_far_the_logs_are(tmp_path: Path) -> None:
    """Otherwise a folder from before the release could be put back, and nobody would list the export."""
    parts = (Part.PATIENTS, Part.PSEUDONYMS)
    with house_in(tmp_path / "service", project_domains=("p7",)) as house, with_workers(house.service):
        house.post("trustee", "/domains", {"name": "p7", "kind": "list"}, status=201)
        found = house.post("trustee", "/patients/registrations", {"people": PEOPLE})["registrations"]
        pids = [one["pid"] for one in found]
        house.post("trustee", "/patients/consents", {"pids": pids[:3], "purposes": ["asthma-research"]})
        number = stays(house, pids)
        before = [heads.known(house.service, part) for part in parts]
        project = create(house, number, consent={"purpose": "asthma-research"})
        for part, earlier in zip(parts, before, strict=True):
            head = TrustFolder.opened(house.folder / str(part)).log.verify().head
            assert heads.known(house.service, part) == head
            assert head.number > earlier.number
        rows = released(house, project)
        assert len({row["pid"] for row in rows}) == 3
        assert not {row["pid"] for row in rows} & set(pids)


def test_the_database_of_the_service_has_no_pid_in_any_job(house: House, dataset: int, pids: list[str]) -> None:
    create(house, dataset)
    with house.service.database.reading() as connection:
        assert connection.execute(projects.select()).all()
    for path in house.folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not [pid for pid in pids if pid.encode() in content], path
