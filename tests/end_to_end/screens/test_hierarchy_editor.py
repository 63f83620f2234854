"""The hierarchy editor: builders, labels, faults in place, files, and the way to the plan editor and back."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from fastapi.testclient import TestClient
from httpx import Response
from playwright.sync_api import Browser, expect

import kohorte as ko
from kohorte.hierarchies import BUILDERS
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from kohorte.service.web.screens.hierarchy.builder_forms import FORMS
from kohorte.service.web.screens.hierarchy.changes import rows_from
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.projects import patients, store_dataset
from support.screens import enter, token_of, words
from support.service import new_user_with, on_sqlite

pytestmark = on_sqlite
LIST = "/app/datasets/1/hierarchies"
ZIP, AGE, GENDER, DISEASE = (f"{LIST}/{column}" for column in (1, 2, 4, 5))
EVIL = '"><script>alert(1)</script>'


@pytest.fixture
def steward(service: Service, client: TestClient) -> str:
    """A steward with a data set; the token of their forms."""
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    return token_of(client)


def rows_of(page: str) -> list[list[str]]:
    found = re.search(r'name="rows" value="([^"]*)"', page)
    assert found is not None
    return rows_from(html.unescape(found[1]))


def text_of(rows: list[list[str]]) -> str:
    return json.dumps(rows)


def sent(client: TestClient, path: str, token: str, **fields: Any) -> Response:
    named = {name.replace("__", "."): value for name, value in fields.items()}
    return client.post(path, data={"form_token": token, **named})


def stored(client: TestClient) -> list[str]:
    return re.findall(r"hierarchies/(\d+)\">[^<]*</a></th>\s*<td>[^<]*</td>\s*<td>stored", client.get(LIST).text)


def test_every_builder_has_a_form(client: TestClient, steward: str) -> None:
    assert {form.name for form in FORMS} == {builder.name for builder in BUILDERS}
    page = client.get(AGE).text
    assert all(f'name="build" value="{form.name}"' in page for form in FORMS)


@pytest.mark.parametrize(
    ("column", "fields", "first"),
    [
        (1, {"build": "redaction", "redaction__order": "left_to_right"}, ["476", "*76", "**6", "***"]),
        (
            2,
            {"build": "intervals", "intervals__lower": "0", "intervals__upper": "100", "intervals__widths": "10, 50"},
            ["5", "[0, 10)", "[0, 50)", "*"],
        ),
        (
            2,
            {"build": "intervals", "intervals__levels": "0, 18, 100: young, adult", "intervals__integer": "yes"},
            ["5", "young", "*"],
        ),
        (5, {"build": "ordering", "ordering__fanouts": "2", "ordering__labels": "set"}, None),
        (5, {"build": "tree", "tree__tree": "{ill: [flu, cold, gastritis]}"}, None),
        (2, {"build": "safe_harbor", "safe_harbor__kind": "age"}, ["10", "10", "*"]),
        (4, {"build": "rows", "rows__rows": "[[f, person, '*'], [m, person, '*']]"}, ["f", "person", "*"]),
        (4, {"build": "csv", "csv__text": "f,person,*\nm,person,*", "csv__separator": ","}, ["f", "person", "*"]),
    ],
)
def test_a_builder_form_builds(
    client: TestClient, steward: str, column: int, fields: dict[str, str], first: list[str] | None
) -> None:
    answer = sent(client, f"{LIST}/{column}", steward, **fields)
    assert answer.status_code == 200, words(answer)
    rows = rows_of(answer.text)
    assert first is None or rows[0] == first
    assert stored(client) == []


def test_dates_are_built(service: Service, client: TestClient, steward: str) -> None:
    days = pl.DataFrame({"day": ["17.02.2024", "01.03.2023"]})
    store_dataset(service, days, enter(service, client, Role.STEWARD).id)
    fields = {"build": "dates", "dates.format": "%d.%m.%Y", "dates.levels": ["month", "year"]}
    answer = client.post("/app/datasets/2/hierarchies/1", data={"form_token": token_of(client), **fields})
    assert ["17.02.2024", "2024-02", "2024", "*"] in rows_of(answer.text)


def test_a_hierarchy_is_stored_and_the_plan_editor_uses_it(client: TestClient, steward: str) -> None:
    built = sent(client, ZIP, steward, build="redaction")
    assert "Not stored yet" in words(built)
    answer = sent(client, f"{ZIP}/save", steward, rows=text_of(rows_of(built.text)))
    assert "The hierarchy has been stored." in words(answer)
    assert stored(client) == ["1"]
    plan = client.get("/app/datasets/1/plan").text
    assert "stored: true" in plan
    fields = {"form_token": steward, "base": '{"attributes": {}}', "use": "text", "text": YAML}
    exported = yaml.safe_load(client.post("/app/datasets/1/plan/yaml", data=fields).text)
    assert exported["attributes"]["zip_code"]["hierarchy"]["rows"][0] == ["476", "47*", "4**", "***"]


YAML = """
attributes:
  zip_code: {role: quasi-identifying, hierarchy: {stored: true}}
  age: {role: insensitive}
  married: {role: insensitive}
  gender: {role: insensitive}
  disease: {role: insensitive}
models: [{model: k-anonymity, k: 5}]
"""


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([["f", "x", "*"]], "1 value of the table is not in the hierarchy"),
        ([["f", "x", "a", "*"], ["m", "x", "b", "*"]], "1 cell gives a label a second label above it"),
        ([["f", "x", "*"], ["m", "x"]], "1 label is missing at the end of a row"),
        ([["f", "", "*"], ["m", "x", "*"]], "1 label is empty"),
        ([["f", "x", "*"], ["m", "x", "*"], ["f", "y", "*"]], "1 value has a second row"),
        ([["f", "*", "*"], ["m", "x", "*"]], "1 label breaks the rule"),
    ],
)
def test_a_broken_hierarchy_is_shown_in_place_and_not_stored(
    client: TestClient, steward: str, rows: list[list[str]], told: str
) -> None:
    answer = sent(client, f"{GENDER}/save", steward, rows=text_of(rows))
    assert answer.status_code == 400
    assert "The hierarchy is broken and was not stored" in words(answer)
    assert told in words(answer)
    assert 'class="wrong"' in answer.text
    assert stored(client) == []
    assert sent(client, f"{GENDER}/csv", steward, rows=text_of(rows)).status_code == 400


def test_a_value_that_the_table_lacks_is_marked_and_may_be_stored(client: TestClient, steward: str) -> None:
    rows = text_of([["f", "person", "*"], ["m", "person", "*"], ["d", "person", "*"]])
    assert "The table does not have this value." in words(sent(client, GENDER, steward, rows=rows))
    assert "The hierarchy has been stored." in words(sent(client, f"{GENDER}/save", steward, rows=rows))


def test_labels_are_edited_one_by_one_or_all_equal_ones(client: TestClient, steward: str) -> None:
    rows = text_of([["f", "x y %", "*"], ["m", "x y %", "*"]])
    same = sent(client, GENDER, steward, rows=rows, **{"cell-0-1": "x y\u00a0%"})
    assert rows_of(same.text)[0][1] == "x y %"  # as the page shows it: not changed
    one = sent(client, GENDER, steward, rows=rows, **{"cell-0-1": "woman"})
    assert [row[1] for row in rows_of(one.text)] == ["woman", "x y %"]
    both = sent(client, GENDER, steward, rows=rows, everywhere="yes", **{"cell-0-1": "person"})
    assert [row[1] for row in rows_of(both.text)] == ["person", "person"]
    more = sent(client, GENDER, steward, rows=rows, do="add:1")
    assert rows_of(more.text)[0] == ["f", "x y %", "x y %", "*"]
    fewer = sent(client, GENDER, steward, rows=rows, do="drop:1")
    assert rows_of(fewer.text)[0] == ["f", "*"]
    extra = text_of([["f", "*"], ["m", "*"], ["d", "*"]])
    assert len(rows_of(sent(client, GENDER, steward, rows=extra, drop="2").text)) == 2


def test_labels_count_rows_and_people(client: TestClient, steward: str) -> None:
    page = words(client.get(GENDER))
    assert "150 rows" in page
    assert "people" not in page.replace("Count people", "").replace("%", "")
    counted = words(sent(client, GENDER, steward, rows=text_of([["f", "*"], ["m", "*"]]), person="2"))
    assert "150 rows, 45 people" in counted


def test_a_file_comes_in_and_the_same_file_goes_out(client: TestClient, steward: str, tmp_path: Path) -> None:
    written = "476;47*;*\n477;47*;*\n"
    files = {"file": (f"{EVIL}.csv", written, "text/csv")}
    answer = client.post(f"{ZIP}/file", data={"form_token": steward, "separator": ";"}, files=files)
    assert answer.status_code == 200, words(answer)
    assert EVIL not in answer.text
    out = sent(client, f"{ZIP}/csv", steward, rows=text_of(rows_of(answer.text)))
    assert out.text == written
    assert out.headers["content-disposition"] == 'attachment; filename="hierarchy-1-1.csv"'
    (tmp_path / "zip.csv").write_text(out.text, encoding="utf-8")
    builder = ko.hierarchies.builder_from_dict({"csv": "zip.csv"}, folder=tmp_path)
    assert builder.build([], attribute="zip").column(1) == ["47*", "47*"]
    unread = client.post(f"{ZIP}/file", data={"form_token": steward}, files={"file": ("x.csv", b"\xff\xfe\xfa")})
    assert (unread.status_code, "upload-not-text" in unread.text) == (400, True)
    forged = client.post(f"{ZIP}/file", data={"form_token": "0" * 64}, files=files)
    assert forged.status_code == 403


@pytest.mark.parametrize("rows", ["[[", '{"a": 1}', '[["a", 1]]', "[[]]", '{"values": ["a"], "levels": [{}]}'])
def test_what_cannot_be_read_is_told(client: TestClient, steward: str, rows: str) -> None:
    answer = sent(client, ZIP, steward, rows=rows)
    assert (answer.status_code, "hierarchy-form" in answer.text) == (400, True)


def test_labels_values_and_columns_are_no_markup(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, pl.DataFrame({EVIL: [EVIL, "b"]}), row.id)
    token = token_of(client)
    pages = [client.get(LIST), client.get(ZIP)]
    pages.append(sent(client, ZIP, token, rows=text_of([[EVIL, EVIL, "*"], ["b", EVIL, "*"]])))
    pages.append(sent(client, f"{ZIP}/save", token, rows=text_of([[EVIL, EVIL, ""]])))
    for page in pages:
        assert "<script>alert" not in page.text
        assert "&lt;script&gt;" in page.text


def test_only_stewards_reach_the_editor(service: Service, client: TestClient, steward: str) -> None:
    for role in (Role.RESEARCHER, Role.DATA_PROTECTION_OFFICER, Role.APPROVER):
        enter(service, client, role)
        assert client.get(ZIP).status_code == 403
        assert client.get(LIST).status_code == 403
        assert sent(client, f"{ZIP}/save", token_of(client), rows="[]").status_code == 403


def test_a_column_that_does_not_exist_is_not_found(client: TestClient, steward: str) -> None:
    assert client.get(f"{LIST}/6").status_code == 404
    assert client.get("/app/datasets/9/hierarchies/1").status_code == 404


@pytest.mark.slow
def test_ten_thousand_values_stay_usable(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, pl.DataFrame({"number": [f"{number:05}" for number in range(10_000)]}), row.id)
    token = token_of(client)
    first = sent(client, ZIP, token, build="redaction")
    assert "page 1 of" in words(first)
    assert first.text.count('name="cell-') <= 200
    assert first.text.count("<li") <= 300
    rows = rows_of(first.text)
    del rows[9_999], rows[5_000][2]
    broken = sent(client, f"{ZIP}/save", token, rows=text_of(rows))
    assert "Broken rows" in words(broken)
    assert {"05000", "09999"} <= set(words(broken).split())
    below = sent(client, ZIP, token, rows=text_of(rows_of(first.text)), focus='2:"012**"')
    assert "Rows of 012**" in words(below)
    assert "100 rows of the hierarchy" in words(below)


@pytest.mark.slow
def test_a_hierarchy_is_repaired_in_a_browser(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    with served(service) as address, opened(chromium, address) as page:
        sign_in_with(page, row.email_address)
        page.goto("/app/datasets/1/plan")
        page.locator("details", has=page.locator("[name=hierarchy-1]")).locator("summary").click()
        page.get_by_role("button", name="Edit the hierarchy of age").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Hierarchy of age")
        rule = page.locator("details", has=page.locator("[name='intervals.lower']"))
        if rule.get_attribute("open") is None:
            rule.locator("summary").click()
        page.fill("[name='intervals.upper']", "94")
        page.fill("[name='intervals.lower']", "0")
        page.fill("[name='intervals.widths']", "47")
        rule.get_by_role("button", name="Build").click()
        expect(page.locator("#faults")).to_contain_text("1 value of the table is not in the hierarchy")
        look(page)
        page.get_by_role("button", name="Store the hierarchy").click()
        expect(page.locator("#faults")).to_contain_text("was not stored")
        page.get_by_label("Level 1 of 94").fill("94 and above")
        page.get_by_label("Level 2 of 94").fill("*")
        page.get_by_role("button", name="Store the hierarchy").click()
        expect(page.locator(".verdict.good")).to_be_visible()
        look(page)
        page.get_by_role("button", name="Back to the plan").click()
        expect(page.locator("[name=hierarchy-1]")).to_have_value("stored: true")
        expect(page.locator("[data-figure=suppressed]")).to_be_visible(timeout=30_000)
