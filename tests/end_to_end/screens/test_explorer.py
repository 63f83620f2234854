"""The solution explorer: the figures of the solution space, steps with and without scripts, and levels for the plan."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import polars as pl
import pytest
import yaml
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect

import kohorte as ko
from kohorte.service.audit_reading import Wanted, listed
from kohorte.service.context import Service
from kohorte.service.datasets import kept_results, kept_tables
from kohorte.service.permissions import Role
from kohorte.space import solution_space
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.projects import patients, store_dataset
from support.screens import enter, token_of, words
from support.service import new_person_with, new_user_with, on_sqlite

pytestmark = on_sqlite
PLAN, EXPLORE = "/app/datasets/1/plan", "/app/datasets/1/plan/explore"
NASTY = "<script>alert(1)</script>"


def plan(**more: Any) -> dict[str, Any]:
    tens = {"intervals": {"lower": 0, "upper": 100, "widths": [10, 50]}}
    return {
        "attributes": {
            "zip_code": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "age": {"role": "quasi-identifying", "hierarchy": tens},
            "gender": {"role": "quasi-identifying"},
            "married": {"role": "insensitive"},
            "disease": {"role": "sensitive"},
        },
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression_limit": 0.1,
        "person": "none",
        **more,
    }


def sent(client: TestClient, given: dict[str, Any] | None = None, **fields: str) -> dict[str, str]:
    """The fields of the explorer's form."""
    base = json.dumps(plan() if given is None else given)
    return {"form_token": token_of(client), "use": "base", "show": "yes", "base": base, **fields}


def steps(page: str) -> dict[str, str]:
    """The buttons of the steps: where they lead, and what they say."""
    found = re.findall(r'class="step (?:yes|no)" name="at" value="([\d.]+)">(.*?)</td>', page, re.DOTALL)
    return {at: " ".join(html.unescape(re.sub("<[^>]+>", " ", told)).split()) for at, told in found}


@pytest.fixture
def steward(service: Service, client: TestClient) -> Any:
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    return row


def test_the_page_shows_the_figures_of_the_solution_space(client: TestClient, steward: Any) -> None:
    del steward
    space = solution_space(patients(), ko.Plan.from_dict({"kohorte": 1, **plan()}))
    page = client.post(EXPLORE, data=sent(client))
    assert page.status_code == 200
    told = words(page)
    assert f"{len(space.nodes)} combinations of levels, {len(space.solutions())} of them satisfy the plan." in told
    assert "The optimum" in told
    assert space.best is not None
    assert f"{space.best.suppressed} of 300" in told
    beside = steps(page.text)
    assert len(beside) == sum(
        1 for axis in range(3) for step in (-1, 1) if 0 <= space.best.node[axis] + step < space.shape[axis]
    )
    for at, said in beside.items():
        node = space.at(tuple(map(int, at.split("."))))
        assert f"suppressed rows: {node.suppressed}" in said
        assert said.startswith("✓" if node.solution else "✗")
        assert ("not a solution" in said) is not node.solution


def test_without_scripts_a_button_leads_to_a_neighbour_and_use_this_fixes_its_levels(
    client: TestClient, steward: Any
) -> None:
    del steward
    first = client.post(EXPLORE, data=sent(client, name="Heart", comment="mine"))
    at = next(at for at, said in steps(first.text).items() if said.startswith("✓"))
    second = client.post(EXPLORE, data=sent(client, at=at, name="Heart", comment="mine"))
    assert "A solution" in words(second)
    assert f'name="chosen" value="{at}"' in second.text
    used = client.post("/app/datasets/1/plan/levels", data=sent(client, chosen=at, name="Heart", comment="mine"))
    assert used.status_code == 200
    assert "The plan fixes the levels of its release" in words(used)
    assert 'value="Heart"' in used.text
    text = re.search(r'<textarea name="text"[^>]*>(.*?)</textarea>', used.text, re.DOTALL)
    assert text is not None
    written = yaml.safe_load(html.unescape(text[1]))
    names = ("zip_code", "age", "gender")
    assert written["search"]["levels"] == dict(zip(names, map(int, at.split(".")), strict=True))
    release = ko.anonymize(patients(), ko.Plan.from_dict({"kohorte": 1, **written}))
    assert f"{release.suppressed} of 300" in words(used)


def test_fixed_levels_are_searched_again_when_the_editor_is_told_so(client: TestClient, steward: Any) -> None:
    del steward
    fixed = plan(search={"algorithm": "optimal", "levels": {"zip_code": 3, "age": 3, "gender": 1}})
    fields = {"form_token": token_of(client), "base": json.dumps(fixed), "k": "5", "limit": "10", "metric": "loss"}
    roles = {name: entry["role"] for name, entry in fixed["attributes"].items()}
    fields |= {f"role-{number}": roles[name] for number, name in enumerate(patients().columns)}
    kept = yaml.safe_load(client.post(f"{PLAN}/yaml", data=fields).text)
    assert kept["search"]["levels"] == fixed["search"]["levels"]
    free = yaml.safe_load(client.post(f"{PLAN}/yaml", data={**fields, "free_levels": "yes"}).text)
    assert free["search"] == {"algorithm": "optimal"}


def test_filters_leave_out_what_does_not_fit(client: TestClient, steward: Any) -> None:
    del steward

    def squares(**fields: str) -> int:
        page = client.post(f"{EXPLORE}/parts", data=sent(client, **fields)).text
        found = re.search(r'"order":\[([\d,]*)\]', html.unescape(page))
        assert found is not None
        return len([one for one in found[1].split(",") if one])

    every = squares()
    assert every == 4 * 4 * 2
    assert squares(**{"coarsest-2": "0"}) == every // 2
    assert 0 < squares(solutions="yes") < every
    assert squares(most="0,0") < every
    assert squares(most="no number") == every


def test_what_cannot_be_explored_is_told(client: TestClient, steward: Any) -> None:
    del steward
    assert "plan-incomplete" in words(client.post(EXPLORE, data=sent(client, plan(models=[]))))
    assert "explore-at" in words(client.post(EXPLORE, data=sent(client, at="9.9.9")))
    assert "explore-at" in words(client.post(EXPLORE, data=sent(client, at="1.x")))
    assert "explore-at" in words(client.post("/app/datasets/1/plan/levels", data=sent(client, chosen="1.1")))
    refused = client.post("/app/datasets/1/plan/levels", data=sent(client, chosen="0.0.0"))
    assert "levels-no-solution" in words(refused)


def test_an_exploration_is_in_the_audit_log_and_moves_are_not(
    service: Service, client: TestClient, steward: Any
) -> None:
    del steward

    def logged() -> int:
        return listed(service.database, limit=1, filters=Wanted(action="explore-plan"))[1]

    client.post(f"{EXPLORE}/parts", data=sent(client))
    assert logged() == 1
    client.post(f"{EXPLORE}/parts", data=sent(client, at="1.1.1", part="beside"))
    assert logged() == 1
    client.post(EXPLORE, data=sent(client))
    assert logged() == 2


def test_few_explorations_are_kept_and_none_of_a_deleted_table(
    service: Service, client: TestClient, steward: Any
) -> None:
    del steward
    for k in range(2, 4 + kept_results.MOST):
        models = [{"model": "k-anonymity", "k": k}]
        client.post(f"{EXPLORE}/parts", data=sent(client, plan(models=models)))
    assert kept_results.EXPLORATIONS.number(service) == kept_results.MOST
    client.post("/app/datasets/1/delete", data={"form_token": token_of(client)})
    assert kept_results.EXPLORATIONS.number(service) == 0
    assert kept_tables.kept_bytes(service) == 0


def test_the_same_over_rest_and_only_for_people_who_see_values(service: Service, client: TestClient) -> None:
    steward = new_person_with(service, client, Role.STEWARD)
    store_dataset(service, patients(), steward.user_id)
    path, body = "/api/v1/datasets/1/explore", {"plan": plan(), "at": {"zip_code": 3, "age": 1, "gender": 0}}
    found = client.post(path, json=body, headers=steward.headers).json()
    space = solution_space(patients(), ko.Plan.from_dict({"kohorte": 1, **plan()}))
    assert found["complete"]
    assert (found["combinations"], found["solutions"]) == (len(space.nodes), len(space.solutions()))
    assert space.best is not None
    assert list(found["best"]["levels"].values()) == list(space.levels(space.best.node))
    assert found["best"]["cost"] == space.best.cost
    assert found["best_is_optimal"]
    assert found["at"]["levels"] == body["at"]
    assert [one["attribute"] for one in found["steps"]] == list(space.attributes)
    assert found["steps"][0]["coarser"] is None
    assert found["steps"][1]["finer"]["suppressed"] == space.at((3, 0, 0)).suppressed
    wrong = client.post(path, json={**body, "at": {"age": 1}}, headers=steward.headers)
    assert (wrong.status_code, wrong.json()["code"]) == (400, "explore-at")
    for role in (Role.DATA_PROTECTION_OFFICER, Role.APPROVER, Role.RESEARCHER):
        other = new_person_with(service, client, role)
        assert client.post(path, json=body, headers=other.headers).status_code == 403


def test_names_and_labels_that_look_like_scripts_stay_text(service: Service, client: TestClient) -> None:
    row = enter(service, client, Role.STEWARD)
    store_dataset(service, patients().rename({"zip_code": NASTY}), row.id)
    rows = [[value, NASTY, "'\"><img src=x>"] for value in ("f", "m")]
    given = plan()
    given["attributes"] = {NASTY: given["attributes"].pop("zip_code"), **given["attributes"]}
    given["attributes"]["gender"]["hierarchy"] = {"rows": rows}
    page = client.post(EXPLORE, data=sent(client, given))
    assert page.status_code == 200
    assert "combinations of levels" in words(page)
    assert NASTY not in page.text
    assert "<img" not in page.text.split("<main", 1)[1]


def test_arrow_keys_move_and_announce_and_use_this_reaches_the_plan(service: Service, chromium: Browser) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, ko.cohort(300, seed=3).select(pl.all().cast(pl.String)), row.id)
    with served(service) as address, opened(chromium, address) as page:
        sign_in_with(page, row.email_address)
        page.goto(PLAN)
        expect(page.locator("[data-figure=suppressed]")).to_be_visible(timeout=30_000)
        page.get_by_role("button", name="Explore all combinations").click()
        expect(page.locator("[data-complete=yes]")).to_be_visible(timeout=60_000)
        look(page)
        said = page.locator("[data-said]")
        before = said.inner_text()
        page.locator(".picture").focus()
        for key in ("ArrowRight", "ArrowUp"):
            page.keyboard.press(key)
            expect(said).not_to_have_text(before, timeout=30_000)
            before = said.inner_text()
        page.keyboard.press("Home")
        expect(page.locator(".verdict .word")).to_have_text("The optimum", timeout=30_000)
        heights = "[...document.querySelectorAll('.picture text')].map(one => one.getBoundingClientRect().height)"
        assert min(page.evaluate(heights)) >= 10
        page.get_by_role("button", name="Use this").click()
        expect(page.locator("#free_levels")).to_be_visible(timeout=30_000)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{"color_scheme": "dark", "locale": "de-DE"}, {"java_script_enabled": False}])
def test_the_explorer_is_accessible_in_german_and_works_without_scripts(
    service: Service, chromium: Browser, options: dict[str, Any]
) -> None:
    row = new_user_with(service, Role.STEWARD)
    store_dataset(service, patients(), row.id)
    with served(service) as address, opened(chromium, address, **options) as page:
        sign_in_with(page, row.email_address)
        page.goto(PLAN)
        page.click("button[formaction$='plan/explore']")
        if options.get("java_script_enabled", True):
            expect(page.locator("[data-complete=yes]")).to_be_visible(timeout=60_000)
            look(page)
            return
        page.get_by_role("button", name="Count the combinations").click()
        expect(page.locator(".verdict .word")).to_have_text("The optimum")
        page.locator("button.step").first.click()
        expect(page.get_by_role("button", name="Back to the best one")).to_be_visible()
