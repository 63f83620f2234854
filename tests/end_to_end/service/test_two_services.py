"""Patient list and pseudonyms as services of two houses, in processes of their own, with certificates between them."""

from __future__ import annotations

import io
import ssl
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from nacl.public import PrivateKey, SealedBox

from kohorte.cli.main import main
from kohorte.errors import AccessDenied, EngineError
from kohorte.parties.transport.certificates import create_certificate
from kohorte.pseudonyms.resolving import Source
from kohorte.trust.folder import TrustFolder
from kohorte.trust.remote import OtherHouse
from kohorte.trust.store import ENVIRONMENT
from support.serving import serving

PASSWORD = "three sparrows on a wire"
PEOPLE = [
    {"first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "postcode": "01067"},
    {"first_names": "Otto", "last_name": "Zwickel", "birth_date": "1975-05-17", "postcode": "24103"},
]
PATIENCE = 300
"""Seconds; only ends a test that hangs, while the services may still be starting."""
NAMES = ("clinic", "database", "stranger", "pinned", "patients", "pseudonyms")

pytestmark = pytest.mark.slow  # each test runs two services as processes


@dataclass(frozen=True)
class Houses:
    """Both services, and the files of all who have a certificate."""

    folder: Path
    patients: str
    pseudonyms: str

    def as_seen_by(self, name: str, house: str, *, pinned: str | None = None) -> OtherHouse:
        address = self.patients if house == "patients" else self.pseudonyms
        return OtherHouse(
            address,
            self.folder / f"{name}.pem",
            self.folder / f"{name}.key",
            self.folder / f"{pinned or house}.pem",
            seconds=PATIENCE,
        )

    def disk(self, house: str) -> bytes:
        """The whole folder of a house with its keys, and its log."""
        files = [path for path in (self.folder / house).rglob("*") if path.is_file()]
        return b"".join(path.read_bytes() for path in (*files, self.folder / f"{house}.log"))


@pytest.fixture(scope="module")
def houses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Houses]:
    folder = tmp_path_factory.mktemp("houses")
    for name in NAMES:
        key, certificate = create_certificate(name)
        (folder / f"{name}.key").write_bytes(key)
        (folder / f"{name}.pem").write_bytes(certificate)
    accepted = [(folder / f"{name}.pem").read_bytes() for name in ("clinic", "database", "pinned")]
    (folder / "accepted.pem").write_bytes(b"".join(accepted))
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.delenv(ENVIRONMENT, raising=False)
        addresses = [_started(stack, patch, folder, house) for house in ("patients", "pseudonyms")]
        yield Houses(folder, *addresses)


def _started(stack: ExitStack, patch: pytest.MonkeyPatch, folder: Path, house: str) -> str:
    there = ["--folder", str(folder / house)]
    assert main(["serve", *there, "--only", house, "--migrate-only"]) == 0
    for name, role in (("clinic", "source"), ("database", "recipient")):
        account = [f"{name}@example.org", "--name", name.title(), "--role", role]
        assert main(["user", "create", *account, "--certificate", str(folder / f"{name}.pem"), *there]) == 0
    patch.setattr("sys.stdin", io.StringIO(f"{PASSWORD}\n"))
    person = ["tina@example.org", "--name", "Tina", "--role", "trustee", "--password-stdin"]
    assert main(["user", "create", *person, *there]) == 0
    if house == "pseudonyms":
        assert main(["domain", "create", "study", "--kind", "reversible", "--folder", f"{folder / house}/{house}"]) == 0
    options = ("--only", house, "--client-certificates", str(folder / "accepted.pem"))
    files = ("--tls-certificate", str(folder / f"{house}.pem"), "--tls-key", str(folder / f"{house}.key"))
    return stack.enter_context(serving(folder / house, *options, *files)).address


def test_from_names_to_pseudonyms_through_both_houses_neither_of_which_can_join_them(houses: Houses) -> None:
    clinic = houses.as_seen_by("clinic", "patients")
    patients, pseudonyms = (houses.as_seen_by("database", house) for house in ("patients", "pseudonyms"))
    recipient = patients.call("GET", "/users/me")["user_id"]
    pids = patients.resolve([str(one) for one in clinic.register(PEOPLE, recipient=recipient)])
    made = [str(psn) for psn in pseudonyms.pseudonyms("study", pids)]
    assert len(set(pids) | set(made)) == 4
    again = [str(one) for one in clinic.register(PEOPLE[::-1], recipient=recipient)]
    assert patients.resolve(again) == pids[::-1]
    assert pseudonyms.pseudonyms("study", pids) == made

    of_patients, of_pseudonyms = houses.disk("patients"), houses.disk("pseudonyms")
    values = [value for person in PEOPLE for value in person.values() if len(value) > 6]  # shorter ones occur in codes
    assert not [text for text in (*values, *pids, *made) if text.encode() in of_patients]
    assert not [text for text in (*values, *pids, *made) if text.encode() in of_pseudonyms]
    # Each house has its own keys only: the list knows no key of the domain, and the domain no key of the list.
    assert not list((houses.folder / "patients").rglob("domain-*"))
    assert not (houses.folder / "patients" / "pseudonyms").exists()
    assert not list((houses.folder / "pseudonyms").rglob("patients*"))
    found = Source("study").originals(TrustFolder.opened(houses.folder / "pseudonyms" / "pseudonyms"), made)
    assert found == pids  # all that this house can find with its keys are PIDs, which the list alone can resolve
    keys = {house: _keys(houses.folder / house) for house in ("patients", "pseudonyms")}
    assert all(keys.values())
    assert not [key for key in keys["patients"] if key in of_pseudonyms]
    assert not [key for key in keys["pseudonyms"] if key in of_patients]


def _keys(folder: Path) -> list[bytes]:
    return [line.split()[-1] for path in folder.rglob("*.key") for line in path.read_bytes().splitlines() if line]


def test_each_house_answers_only_for_its_own_part(houses: Houses) -> None:
    for house, path in (("patients", "/domains"), ("pseudonyms", "/patients/cases"), ("patients", "/datasets")):
        with pytest.raises(AccessDenied, match="404, not-found"):
            houses.as_seen_by("clinic", house).call("GET", path)


def test_a_source_does_not_learn_who_is_in_the_list(houses: Houses) -> None:
    told = houses.as_seen_by("clinic", "patients").call(
        "POST",
        "/patients/registrations",
        {
            "people": [PEOPLE[0], PEOPLE[0] | {"last_name": "Fremdling"}],
            "temp_ids_for": houses.as_seen_by("database", "patients").call("GET", "/users/me")["user_id"],
        },
    )
    assert {one["outcome"] for one in told["registrations"]} == {"registered"}


def test_a_database_gets_pids_for_temp_ids_that_a_clinic_hands_over(houses: Houses) -> None:
    """Set-up 5 with certificates: the clinic knows names and TempIDs, the database PIDs."""
    clinic, database = (houses.as_seen_by(name, "patients") for name in ("clinic", "database"))
    recipient = database.call("GET", "/users/me")["user_id"]
    body = {"people": PEOPLE, "temp_ids_for": recipient}
    told = clinic.call("POST", "/patients/registrations", body)["registrations"]
    tokens = {"temp_ids": [one["temp_id"] for one in told]}
    assert [one["pid"] for one in told] == [None, None]
    with pytest.raises(AccessDenied, match="403, not-allowed"):
        clinic.call("POST", "/patients/temp-ids/resolve", tokens)
    with pytest.raises(AccessDenied, match="403, temp-id-only"):
        clinic.register(PEOPLE)
    pids = database.call("POST", "/patients/temp-ids/resolve", tokens)["pids"]
    assert len(set(pids)) == 2
    with pytest.raises(AccessDenied, match="403, temp-id-refused"):
        database.call("POST", "/patients/temp-ids/resolve", tokens)
    with pytest.raises(AccessDenied, match="403, not-allowed"):
        database.call("POST", "/patients/exports", {"purpose": "research", "project": "p7"})
    disk = houses.disk("patients")
    assert not [text for text in (*pids, *tokens["temp_ids"]) if text.encode() in disk]


def test_a_certificate_that_is_not_pinned_ends_the_connection(houses: Houses) -> None:
    with pytest.raises(EngineError) as caught:
        houses.as_seen_by("stranger", "pseudonyms").pseudonyms("study", ["x"])
    assert caught.value.code == "trust-house-lost"


def test_a_pinned_certificate_without_an_account_is_nobody(houses: Houses) -> None:
    with pytest.raises(AccessDenied, match="401, not-signed-in"):
        houses.as_seen_by("pinned", "pseudonyms").pseudonyms("study", ["x"])


def test_a_house_with_another_certificate_than_the_pinned_one_is_not_trusted(houses: Houses) -> None:
    with pytest.raises(AccessDenied) as caught:
        houses.as_seen_by("clinic", "pseudonyms", pinned="patients").pseudonyms("study", ["x"])
    assert caught.value.code == "trust-house-other"


def test_without_a_certificate_people_sign_in_and_a_token_of_the_other_house_is_refused(houses: Houses) -> None:
    plain = ssl.create_default_context(cafile=str(houses.folder / "patients.pem"))
    plain.load_verify_locations(houses.folder / "pseudonyms.pem")
    plain.check_hostname = False
    with httpx.Client(verify=plain, timeout=PATIENCE) as client:
        path = "/api/v1/domains/study/pseudonyms"
        nobody = client.post(f"{houses.pseudonyms}{path}", json={"originals": ["x"]})
        assert (nobody.status_code, nobody.json()["code"]) == (401, "not-signed-in")
        secrets = {"email_address": "tina@example.org", "password": PASSWORD}
        token = client.post(f"{houses.patients}/api/v1/login", json=secrets).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        assert client.get(f"{houses.patients}/api/v1/patients/cases", headers=headers).status_code == 200
        other = client.post(f"{houses.pseudonyms}{path}", json={"originals": ["x"]}, headers=headers)
        assert (other.status_code, other.json()["code"]) == (401, "not-signed-in")
    with pytest.raises(AccessDenied, match="401, not-signed-in"):  # nor does a certificate heal a wrong token
        houses.as_seen_by("clinic", "pseudonyms").call("GET", "/domains", token=token)


def _trustee(house: OtherHouse) -> str:
    """The token of the trustee of a house, over TLS with the certificate of the caller."""
    body = {"email_address": "tina@example.org", "password": PASSWORD}
    return str(house.call("POST", "/login", body)["access_token"])


def test_two_sources_meet_under_a_one_way_pseudonym_and_the_service_never_has_medical_data(houses: Houses) -> None:
    """Set-up 2 with certificates: the service has a key and no list; medical data are sealed for research."""
    sources = {name: houses.as_seen_by(name, "pseudonyms") for name in ("clinic", "database")}
    token = _trustee(sources["clinic"])
    sources["clinic"].call("POST", "/domains", {"name": "meeting", "kind": "one-way"}, token=token)
    research = PrivateKey.generate()
    rows = {
        "clinic": {"K100200300": "sarcoidosis", "K400500600": "pneumothorax"},
        "database": {"K400500600": "haemophilia"},
    }
    arrived: list[tuple[str, bytes]] = []
    for name, table in rows.items():
        made = sources[name].pseudonyms("meeting", list(table))
        sealed = [SealedBox(research.public_key).encrypt(text.encode()) for text in table.values()]
        arrived += zip(map(str, made), sealed, strict=True)
    found: dict[str, list[str]] = {}
    for pseudonym, sealed_text in arrived:
        found.setdefault(pseudonym, []).append(SealedBox(research).decrypt(sealed_text).decode())
    assert sorted(map(sorted, found.values())) == [["haemophilia", "pneumothorax"], ["sarcoidosis"]]
    disk = houses.disk("pseudonyms")
    texts = [*found, *rows["clinic"], *rows["clinic"].values(), "haemophilia"]
    assert not [text for text in texts if text.encode() in disk]
    question = {"domain": "meeting", "pseudonyms": list(found), "purpose": "who is it, please", "until": "2099-01-01"}
    with pytest.raises(AccessDenied, match="400, "):  # one-way: there is no way back to ask for
        sources["clinic"].call("POST", "/way-back", question, token=token)
    sources["clinic"].call("POST", "/domains/meeting/destroy-key", {"domain": "meeting"}, token=token)
    with pytest.raises(AccessDenied, match="400, pseudonym-key-destroyed"):
        sources["clinic"].pseudonyms("meeting", ["K100200300"])


def test_consent_decides_what_a_project_gets_from_a_long_term_database(houses: Houses) -> None:
    """Set-up 4 with certificates: data under pseudonyms, exports by consent under pseudonyms of the project."""
    people = [person | {"last_name": f"{person['last_name']}-Lange"} for person in PEOPLE]
    clinic, patients = (houses.as_seen_by(name, "patients") for name in ("clinic", "database"))
    service = houses.as_seen_by("database", "pseudonyms")
    keeper, trustee = _trustee(patients), _trustee(service)
    for name, kind, parent in (("research", "reversible", None), ("p1", "list", "research")):
        service.call("POST", "/domains", {"name": name, "kind": kind, "parent": parent}, token=trustee)
    recipient = patients.call("GET", "/users/me")["user_id"]
    pids = patients.resolve([str(one) for one in clinic.register(people, recipient=recipient)])
    stored = dict(zip(map(str, service.pseudonyms("research", pids)), ("sarcoidosis", "pneumothorax"), strict=True))

    def released(project: str) -> tuple[int, dict[str | None, str]]:
        wish = {"purpose": "lung-research", "project": project}
        export = patients.call("POST", "/patients/exports", wish, token=keeper)
        covered = service.pseudonyms("research", [one["pid"] for one in export["people"]]) if export["people"] else []
        kept = [str(one) for one in covered if one in stored]
        named = service.pseudonyms("p1", kept) if kept else []
        return export["export"], dict(zip(named, (stored[one] for one in kept), strict=True))

    patients.call("POST", "/patients/consents", {"pids": pids[:1], "purposes": ["lung-research"]}, token=keeper)
    number, data = released("p1")
    assert list(data.values()) == ["sarcoidosis"]
    assert not set(data) & {*stored, *pids}
    confirm = f"/patients/exports/{number}/confirm"
    assert patients.call("POST", confirm, token=keeper) == {"people": 1}
    withdrawn = patients.call("POST", "/patients/consents/withdraw", {"pid": pids[0]}, token=keeper)
    assert [one["export"] for one in withdrawn["exports"]] == [number]
    with pytest.raises(AccessDenied, match="409, consent-changed"):
        patients.call("POST", confirm, token=keeper)
    assert released("p1")[1] == {}
    with pytest.raises(AccessDenied, match="403, not-allowed"):
        patients.call("POST", "/patients/exports", {"purpose": "lung-research", "project": "p1"})
    for house in ("patients", "pseudonyms"):
        disk = houses.disk(house)
        assert not [
            text
            for text in (*pids, *stored, *map(str, data), "sarcoidosis", "Eichhorst-Lange")
            if text.encode() in disk
        ]
