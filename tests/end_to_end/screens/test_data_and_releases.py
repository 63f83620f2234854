"""From an uploaded table to a downloaded release in the web interface, for the roles that may do it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from kohorte.data.table import parse_table
from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.jobs import queue
from kohorte.service.permissions import Role
from kohorte.service.projects import store
from kohorte.service.storage.schema import audit, datasets
from kohorte.service.web.screens.cookies import LANGUAGE
from support.german import english_words
from support.projects import patients, release, store_dataset, working
from support.screens import enter, send, sign_in, token_of, words
from support.service import new_user_with, on_sqlite

pytestmark = on_sqlite
EVIL = '<img src=x onerror="alert(1)">'


@pytest.fixture
def worker(service: Service) -> Iterator[None]:
    with working(service):
        yield


def upload(client: TestClient, content: bytes, name: str = "patients.csv", **fields: str) -> object:
    data = {"form_token": token_of(client), **fields}
    return client.post("/app/datasets/new", data=data, files={"file": (name, content)})


def table(rows: int = 60) -> bytes:
    return patients(rows).write_csv().encode()


@pytest.mark.usefixtures("worker")
def test_a_steward_uploads_a_table_and_sees_what_each_column_might_be(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    answer = upload(client, table(), description="made up")
    assert answer.url.path == "/app/datasets/1"  # type: ignore[attr-defined]
    told = words(answer)  # type: ignore[arg-type]
    assert "The table has been stored, encrypted." in told
    assert "patients.csv" in told
    assert "What each column might be" in told
    assert "zip_code" in told
    with service.database.reading() as connection:
        assert "preview-dataset" in connection.execute(select(audit.c.action)).scalars().all()


@pytest.mark.usefixtures("worker")
def test_the_proposal_names_fields_of_the_page_and_not_lines_of_a_plan_file(
    service: Service, client: TestClient
) -> None:
    enter(service, client, Role.STEWARD)
    several = "\n".join(
        f"P{row % 40},{30 + row % 20},{'NA' if row % 9 == 0 else 'x' if row % 2 else 'y'}" for row in range(90)
    )
    told = words(upload(client, f"patient_id,age,smoker\n{several}\n".encode()))  # type: ignore[arg-type]
    assert "people are counted, not rows. You can change it in the plan: Whom is a row about?" in told
    assert "usually stand for a missing value; they count as empty cells in every column. The plan as text" in told
    assert "person: " not in told
    assert "missing_values: these texts" not in told


@pytest.mark.usefixtures("worker")
def test_a_file_that_cannot_be_read_is_refused_on_the_same_page_and_leaves_nothing(
    service: Service, client: TestClient
) -> None:
    enter(service, client, Role.STEWARD)
    answer = upload(client, b"a,b\n1\n")
    assert answer.status_code == 400  # type: ignore[attr-defined]
    assert "This was not possible" in words(answer)  # type: ignore[arg-type]
    with service.database.reading() as connection:
        assert connection.execute(select(datasets.c.id).where(datasets.c.deleted_at.is_(None))).all() == []
    assert [path for path in service.settings.vault_folder.rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("worker")
def test_a_table_of_a_windows_program_needs_no_more_than_choosing_the_file_again(
    service: Service, client: TestClient
) -> None:
    enter(service, client, Role.STEWARD)
    client.cookies.set(LANGUAGE, "de")
    content = "Größe;Ort\n180;Köln\n170;Ulm\n".encode("cp1252")
    answer = upload(client, content)
    page = answer.text  # type: ignore[attr-defined]
    assert "csv-not-utf-8" in page
    assert "<details open>" in page
    assert "<option selected>cp1252</option>" in page
    assert "(solche Zeilen: 2)" in words(answer)  # type: ignore[arg-type]
    assert upload(client, content, encoding="cp1252").url.path == "/app/datasets/2"  # type: ignore[attr-defined]


def test_an_upload_without_the_token_of_the_session_leaves_no_file(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    for data in ({}, {"form_token": "0" * 64}):
        answer = client.post("/app/datasets/new", data=data, files={"file": ("patients.csv", table())})
        assert answer.status_code == 403
    assert [path for path in service.settings.vault_folder.rglob("*") if path.is_file()] == []


@pytest.mark.usefixtures("worker")
def test_column_names_values_and_file_names_are_shown_as_text(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    content = f'"{EVIL.replace(chr(34), chr(34) * 2)}",b\n'.encode() + f"{EVIL.replace(chr(34), '')},1\n".encode() * 9
    answer = upload(client, content, name=f"{EVIL}.csv", description=EVIL)
    assert answer.status_code == 200  # type: ignore[attr-defined]
    assert "<img src=x" not in answer.text  # type: ignore[attr-defined]


def test_only_stewards_see_values_of_a_raw_table(service: Service, client: TestClient) -> None:
    row = new_user_with(service, Role.STEWARD)
    frame = patients().with_columns(disease=patients()["disease"].replace("flu", "a rare thing"))
    store_dataset(service, frame, row.id)
    sign_in(client, row.email_address)
    assert "a rare thing" in client.get("/app/datasets/1").text
    for role in (Role.DATA_PROTECTION_OFFICER, Role.APPROVER):
        enter(service, client, role)
        answer = client.get("/app/datasets/1")
        assert answer.status_code == 200
        assert "a rare thing" not in answer.text


def made(service: Service, client: TestClient) -> tuple[object, object, int]:
    """A project with a release, its steward and its researcher."""
    steward, researcher = new_user_with(service, Role.STEWARD), new_user_with(service, Role.RESEARCHER)
    dataset = store_dataset(service, patients(), steward.id)
    wanted = store.NewProject("Heart <b>", "", dataset, researcher.id, release(person="none"))
    with working(service):
        project = store.create(service, Actor(steward.id, frozenset({Role.STEWARD})), wanted).project_id
        until = time.monotonic() + 60
        while time.monotonic() < until:
            sign_in(client, steward.email_address)
            if "being prepared" not in words(client.get(f"/app/projects/{project}")):
                break
            time.sleep(0.2)
    return steward, researcher, project


def test_a_researcher_downloads_the_release_and_its_hash_is_the_one_of_the_certificate(
    service: Service, client: TestClient
) -> None:
    _, researcher, project = made(service, client)
    sign_in(client, researcher.email_address)  # type: ignore[attr-defined]
    page = client.get(f"/app/projects/{project}")
    assert "The certificate" in words(page)
    assert "<b>" not in page.text
    answer = send(client, f"/app/projects/{project}/csv")
    assert answer.headers["content-disposition"].startswith("attachment")
    digest = hashlib.sha256(answer.content).hexdigest()
    certificate = client.get(f"/app/projects/{project}/certificate")
    assert certificate.json()["output"]["sha256"] == digest
    assert f"project-{project}.certificate.json" in certificate.headers["content-disposition"]
    assert hashlib.sha256(certificate.content).hexdigest() in client.get(f"/app/projects/{project}/report").text
    assert digest in page.text
    rows = parse_table(answer.content, Path("release.csv")).frame
    for wanted, start in (("csv", b"\xef\xbb\xbf"), ("parquet", b"PAR1")):
        other = send(client, f"/app/projects/{project}/csv", format=wanted.replace("csv", "spreadsheet"))
        assert other.content.startswith(start)
        assert parse_table(other.content, Path(f"release.{wanted}")).frame.equals(rows)
    assert "The first rows of the release" in words(send(client, f"/app/projects/{project}/preview"))
    report = client.get(f"/app/projects/{project}/report")
    assert "sandbox" in report.headers["content-security-policy"]


def test_report_certificate_open_points_and_refusals_are_in_the_language_of_the_reader(
    service: Service, client: TestClient
) -> None:
    _, researcher, project = made(service, client)
    sign_in(client, researcher.email_address)  # type: ignore[attr-defined]
    client.headers["accept-language"] = "de"
    report = client.get(f"/app/projects/{project}/report").text
    assert '<html lang="de">' in report
    assert "\0" not in report
    certificate = client.get(f"/app/projects/{project}/certificate-text")
    assert certificate.text.startswith("ZERTIFIKAT DER ANONYMISIERUNG")
    assert [line for line in certificate.text.splitlines() if english_words(line)] == []
    page = words(client.get(f"/app/projects/{project}"))
    assert "(0 von " in page or "(oberste Stufe, " in page
    wrong = words(client.get("/app/projects/4711"))
    assert "Dieses Projekt gibt es nicht" in wrong
    assert not english_words(wrong.replace("not-found", ""))  # the code is the same in every language
    client.headers["accept-language"] = "en"
    assert '<html lang="en">' in client.get(f"/app/projects/{project}/report").text


def test_another_researcher_sees_nothing_of_a_project(service: Service, client: TestClient) -> None:
    _, _, project = made(service, client)
    enter(service, client, Role.RESEARCHER)
    assert "Heart" not in words(client.get("/app/projects"))
    for path in ("", "/certificate", "/certificate-text", "/report"):
        assert client.get(f"/app/projects/{project}{path}").status_code == 404
    assert send(client, f"/app/projects/{project}/csv").status_code == 404


def test_a_job_is_shown_watched_and_cancelled(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    token = token_of(client)
    client.app.state.service.settings.__dict__["synchronous_seconds"] = 0.01  # type: ignore[attr-defined]
    answer = client.post(
        "/app/datasets/new", data={"form_token": token}, files={"file": ("patients.csv", table())}
    )  # nobody works: the job waits
    assert "still being read" in words(answer)
    page = client.get("/app/jobs/1")
    assert 'http-equiv="refresh"' in page.text
    assert client.get("/app/jobs/1/state").json() == {"state": "queued", "progress": 0.0, "message": "", "ended": False}
    assert "set-cookie" not in client.get("/app/jobs/1/state").headers
    assert "cancelled" in words(send(client, "/app/jobs/1/cancel"))


def test_the_script_of_a_job_page_gets_its_language(service: Service, client: TestClient) -> None:
    enter(service, client, Role.STEWARD)
    client.app.state.service.settings.__dict__["synchronous_seconds"] = 0.01  # type: ignore[attr-defined]
    upload(client, table())  # nobody works: the job waits
    claim = queue.claim(service, "worker")
    assert claim is not None
    queue.report_progress(service, claim, 0.5, "reading the table")
    german = client.get("/app/jobs/1/state", headers={"Accept-Language": "de"})
    assert german.json()["message"] == "die Tabelle wird gelesen"
