"""Pages after something went wrong: jobs that failed or were stopped, killed workers, a restart, a lost connection."""

from __future__ import annotations

import html
import re
from datetime import timedelta

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect
from sqlalchemy import update

from kohorte.service.access import Actor
from kohorte.service.context import Service
from kohorte.service.jobs import queue
from kohorte.service.jobs.settlement import Outcome, settle, settle_lost
from kohorte.service.permissions import Role
from kohorte.service.projects import store
from kohorte.service.storage.schema import jobs
from support.browser import served
from support.projects import patients, store_dataset, working
from support.screens import enter, send, words
from support.service import PASSWORD, new_user_with, on_sqlite

pytestmark = on_sqlite
K = 7


def plan(l: int = 2) -> dict[str, object]:  # noqa: E741
    hierarchy = {"rows": [[f"{age}", "*"] for age in range(5, 95)]}
    return {
        "kohorte": 1,
        "attributes": {
            "age": {"role": "quasi-identifying", "hierarchy": hierarchy},
            "disease": {"role": "sensitive"},
            **{name: {"role": "insensitive"} for name in ("zip_code", "married", "gender")},
        },
        "models": [
            {"model": "k-anonymity", "k": K},
            {"model": "l-diversity_recursive", "c": 0.1, "l": l, "attribute": "disease"},
        ],
        "person": "none",
    }


@pytest.fixture
def job(service: Service, client: TestClient) -> int:
    """A job that makes a release which does not exist; nobody works yet, and the steward is signed in."""
    row = enter(service, client, Role.STEWARD)
    researcher = new_user_with(service, Role.RESEARCHER)
    dataset = store_dataset(service, patients(), row.id)
    wanted = store.NewProject("Heart", "", dataset, researcher.id, {"plan": plan(3)})
    created = store.create(service, Actor(row.id, frozenset({Role.STEWARD})), wanted)
    assert created.job_id is not None
    return created.job_id


def ended(client: TestClient, job: int) -> str:
    for _ in range(1000):
        if client.get(f"/app/jobs/{job}/state").json()["ended"]:
            break
    return client.get(f"/app/jobs/{job}").text


def test_a_job_that_failed_says_why_and_offers_its_plan_again(service: Service, client: TestClient, job: int) -> None:
    with working(service):
        page = ended(client, job)
    told = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert "This was not possible" in told
    assert "Nothing was released or stored by this job." in told
    base = re.search(r'name="base" value="([^"]+)"', page)
    assert base is not None
    editor = send(client, "/app/datasets/1/plan", use="base", base=html.unescape(base[1]))
    assert f'name="k" type="number" value="{K}"' in editor.text


def test_a_job_that_was_stopped_says_so_and_offers_its_plan_again(
    service: Service, client: TestClient, job: int
) -> None:
    told = words(send(client, f"/app/jobs/{job}/cancel"))
    assert "The job was stopped before its end." in told
    assert "Open its plan and begin again" in told
    assert "Stop this job" not in told


def test_a_job_whose_worker_was_killed_begins_again_and_says_so(service: Service, client: TestClient, job: int) -> None:
    for attempt in (1, 2, 3):
        assert queue.claim(service, f"worker {attempt}") is not None
        told = words(client.get(f"/app/jobs/{job}"))
        assert ("has begun again by itself" in told) is (attempt > 1)
        lose(service)
    assert settle_lost(service) == 1
    told = words(client.get(f"/app/jobs/{job}"))
    assert "job-lost" in told
    assert "Open its plan and begin again" in told


def lose(service: Service) -> None:
    """Let the lease of the running job expire, as if its worker had been killed."""
    with service.database.writing() as connection:
        past = queue.clock(connection) - timedelta(seconds=1)
        connection.execute(update(jobs).values(lease_until=past))


def test_an_upload_that_was_not_read_leads_back_to_the_form(service: Service, client: TestClient, job: int) -> None:
    with service.database.writing() as connection:
        connection.execute(update(jobs).values(cancel_requested=True))
        number = queue.enqueue(
            service, connection, queue.Kind.INGEST, queue.Subject("dataset", 1), actor_id=1, request={}
        )
    settle_lost(service)
    claim = queue.claim(service, "worker")
    assert claim is not None
    settle(service, claim, Outcome.cancelled())
    assert "Upload the table again" in words(client.get(f"/app/jobs/{number}"))


@pytest.mark.slow
def test_a_restart_of_the_service_is_told_on_the_open_page_which_then_goes_on(
    service: Service, client: TestClient, chromium: Browser, job: int
) -> None:
    claim = queue.claim(service, "worker")
    assert claim is not None
    row = new_user_with(service, Role.STEWARD)
    context = chromium.new_context()  # not `opened`: the browser complains about the connection, as it should
    with context:
        page = context.new_page()
        with served(service) as address:
            page.goto(f"{address}/app/sign-in")
            page.fill("#email_address", row.email_address)
            page.fill("#password", PASSWORD)
            page.click("main button[type=submit]")
            page.wait_for_url("**/app")
            page.goto(f"{address}/app/jobs/{job}")
        lost = page.get_by_text("The service does not answer")
        expect(lost).to_be_visible()
        queue.give_back(service, claim, counted=True)
        with served(service, port=int(address.rpartition(":")[2])):
            expect(lost).to_be_hidden()
            assert queue.claim(service, "another worker") is not None
            page.reload()
            expect(page.get_by_text("has begun again by itself")).to_be_visible()


def test_a_connection_lost_in_the_middle_of_a_preview_is_told_and_the_form_stays(
    service: Service, chromium: Browser
) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    context = chromium.new_context()
    with served(service) as address, context:
        page = context.new_page()
        page.goto(f"{address}/app/sign-in?next=/app/datasets/1/plan")
        page.fill("#email_address", row.email_address)
        page.fill("#password", PASSWORD)
        page.click("main button[type=submit]")
        page.wait_for_url("**/plan")
        panel = page.locator("[data-panel]")
        expect(panel.locator("dl")).to_be_visible()
        page.route("**/plan/panel", lambda route: route.abort("connectionreset"))
        page.fill("#k", "9")
        expect(page.get_by_text("The service does not answer")).to_be_visible()
        expect(page.locator("#k")).to_have_value("9")
        expect(panel).not_to_have_attribute("aria-busy", "true")
        page.unroute("**/plan/panel")
        page.fill("#k", "8")
        expect(page.get_by_text("The service does not answer")).to_be_hidden()
        expect(panel.locator("dl")).to_be_visible()
