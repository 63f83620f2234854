"""The timeline of a series: releases over time, what the next one would be, and what is not told."""

from __future__ import annotations

import hashlib
import html
import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from fastapi.testclient import TestClient
from httpx import Response
from playwright.sync_api import Browser

import kohorte as ko
from kohorte.data import strict_yaml
from kohorte.service.audit_reading import Wanted, listed
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.permissions import Role
from kohorte.service.settings import Settings
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.projects import store_dataset
from support.screens import enter, send, words
from support.service import client_of, new_service, new_user_with, on_sqlite

pytestmark = on_sqlite
PLAN = {
    "kohorte": 1,
    "person": "none",
    "attributes": {
        "age": {
            "role": "quasi-identifying",
            "hierarchy": {"intervals": {"lower": 0, "upper": 120, "widths": [10, 30]}},
        },
        "sex": {"role": "quasi-identifying", "hierarchy": {"ordering": {"values": ["f", "m"], "fanouts": []}}},
        "result": {"role": "insensitive"},
    },
    "models": [{"model": "k-anonymity", "k": 5}],
    "suppression_limit": 1,
}


def registry(rows: int) -> pl.DataFrame:
    numbers = range(rows)
    ages = [str(20 + 7 * number % 53) for number in numbers]
    return pl.DataFrame({"age": ages, "sex": ["fm"[number % 2] for number in numbers], "result": ["x"] * rows})


def start(service: Service, name: str = "registry") -> ko.Series:
    folder = service.settings.series_path / name
    return ko.Series.start(
        folder,
        ko.Plan.from_dict(PLAN),
        {"arrivals": "known", "regions": {"age": {"lower": 0, "upper": 120, "step": 1}}},
    )


@pytest.fixture
def series(service: Service) -> ko.Series:
    """A series of two releases; the three rows that came with the second are held back."""
    found = start(service)
    found.release(registry(120))
    found.release(registry(123))
    return found


def test_the_timeline_shows_every_release_and_tells_few_rows_only_roughly(
    service: Service, client: TestClient, series: ko.Series
) -> None:
    enter(service, client, Role.DATA_PROTECTION_OFFICER)
    assert '<a href="/app/series/registry">registry</a>' in client.get("/app/series").text
    page = client.get("/app/series/registry")
    assert page.status_code == 200
    for entry in series.history:
        assert f"<td>{entry.shown}</td>" in page.text
        assert f"{100 * entry.loss:.1f}\u00a0%" in page.text
    assert [entry.held for entry in series.history] == [0, 3]
    assert page.text.count("fewer than 5</td>") == 1
    assert page.text.count("<svg") == 3
    assert "style=" not in page.text
    assert "preview" not in words(page).lower()


def test_what_the_next_release_would_be_is_that_of_the_command_and_changes_nothing(
    service: Service, client: TestClient, series: ko.Series
) -> None:
    row = enter(service, client, Role.STEWARD)
    number = store_dataset(service, registry(500), row.id)
    before = {path.name: path.read_bytes() for path in series.folder.iterdir() if path.is_file()}
    page = send(client, "/app/series/registry", dataset=str(number))
    coming = series.status(registry(500)).coming
    assert coming is not None
    assert f"<dd>{coming.figures.shown} of 500</dd>" in page.text
    assert f"{coming.regions_before} → {coming.figures.regions}" in page.text
    assert {path.name: path.read_bytes() for path in series.folder.iterdir() if path.is_file()} == before
    told = client.get("/app/series").text
    assert "<td>2</td>" in told
    assert send(client, "/app/series/registry", dataset="").status_code == 400


def test_a_table_that_does_not_fit_is_explained_on_the_page(
    service: Service, client: TestClient, series: ko.Series
) -> None:
    row = enter(service, client, Role.STEWARD)
    number = store_dataset(service, registry(20).drop("sex"), row.id)
    page = send(client, "/app/series/registry", dataset=str(number))
    assert page.status_code == 400
    assert "sex" in words(page)


def test_a_damaged_series_is_named_in_the_list_and_opens_no_other_folder(
    service: Service, client: TestClient, series: ko.Series, tmp_path: Path
) -> None:
    start(service, "<b>other")
    state = service.settings.series_path / "<b>other" / "series.json"
    state.write_text(state.read_text(encoding="utf-8").replace("0", "1", 1), encoding="utf-8")
    enter(service, client, Role.STEWARD)
    listed = client.get("/app/series").text
    assert "&lt;b&gt;other" in listed
    assert "cannot be read" in listed
    for name in ("nobody", "%2e%2e%2fkeys", "registry%2f.."):
        assert client.get(f"/app/series/{name}").status_code == 404


def test_researchers_and_trustees_see_no_series(service: Service, client: TestClient, series: ko.Series) -> None:
    for role in (Role.RESEARCHER, Role.TRUSTEE, Role.OPERATOR):
        enter(service, client, role)
        assert client.get("/app/series").status_code == 403
        assert client.get("/app/series/registry").status_code == 403


SETTINGS = "kohorte: 1\nkind: regions\nregions:\n  age: {lower: 0, upper: 120, step: 1}\n"


def started(client: TestClient, number: int, **fields: str) -> Response:
    plan = strict_yaml.dump(PLAN)
    return send(client, f"/app/datasets/{number}/series", **{"plan": plan, "settings": SETTINGS, **fields})


def test_a_steward_starts_a_series_releases_a_growing_table_twice_and_downloads_what_the_certificate_says(
    service: Service, client: TestClient
) -> None:
    row = enter(service, client, Role.STEWARD)
    first, grown = (store_dataset(service, registry(rows), row.id) for rows in (120, 500))
    form = send(client, f"/app/datasets/{first}/plan/series", use="text", text=strict_yaml.dump(PLAN))
    assert "Start the series" in form.text
    assert "kind: regions" in form.text
    assert "No release has been made yet" in words(started(client, first, name="heart"))
    for number, table in enumerate((first, grown), start=1):
        assert "Make this release" in send(client, "/app/series/heart", dataset=str(table)).text
        page = send(client, "/app/series/heart/releases", dataset=str(table))
        assert page.text.count('<th scope="row">') == number
    sent = send(client, "/app/series/heart/releases/2", dataset=str(grown))
    with zipfile.ZipFile(io.BytesIO(sent.content)) as packed:
        table = packed.read("release-2.csv")
        certificate = json.loads(packed.read("release-2.certificate.json"))
    assert certificate["output"]["sha256"] == hashlib.sha256(table).hexdigest()
    series = ko.Series.open(service.settings.series_path / "heart")
    assert series.verify(registry(500), [pl.read_csv(table, infer_schema=False)]).satisfied
    noted = ("start-series", "release-series", "download-series")
    assert [listed(service.database, limit=1, filters=Wanted(action=one))[1] for one in noted] == [1, 2, 1]


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "../heart"},
        {"name": "Heart"},
        {"name": "heart", "settings": "kohorte: 1\ntarget: {data: /etc/passwd}"},
        {"name": "heart", "settings": "[]"},
        {"name": "heart", "plan": strict_yaml.dump({**PLAN, "models": [{"model": "k-anonymity", "k": 1}]})},
    ],
)
def test_a_series_that_cannot_be_started_leaves_nothing_and_keeps_what_was_typed(
    service: Service, client: TestClient, fields: dict[str, str]
) -> None:
    row = enter(service, client, Role.STEWARD)
    page = started(client, store_dataset(service, registry(120), row.id), **fields)
    assert page.status_code == 400
    assert html.escape(fields["name"]) in page.text
    assert not list(service.settings.series_path.glob("*"))


def test_where_two_people_decide_about_releases_no_series_is_released_here(service_settings: Settings) -> None:
    rules = HouseRules.from_dict({"second_approver": "releases"})
    with new_service(replace(service_settings, rules=rules)) as service, client_of(service) as client:
        made = start(service)
        made.release(registry(120))
        row = enter(service, client, Role.STEWARD)
        number = str(store_dataset(service, registry(500), row.id))
        assert "Make this release" not in send(client, "/app/series/registry", dataset=number).text
        for path in ("/app/series/registry/releases", "/app/series/registry/releases/1"):
            assert "series-elsewhere" in send(client, path, dataset=number).text
        assert started(client, int(number), name="heart").status_code == 400
        assert len(ko.Series.open(made.folder).history) == 1


@pytest.mark.slow
def test_the_timeline_is_accessible_in_a_browser(service: Service, series: ko.Series, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    with served(service) as address, opened(chromium, address) as page:
        sign_in_with(page, row.email_address)
        for path in ("/app/series", "/app/series/registry"):
            page.goto(path)
            look(page)
