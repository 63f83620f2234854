"""The pseudonym desk: the grey zone side by side, decisions and their undoing, and the way back, shown once."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, expect

from kohorte.service.web.screens.routes.trust.cases import pieces
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.screens import send, sign_in, words
from support.trusting import House, house_in

ANNA = {
    "first_names": "Anna", "last_name": "Eichhorst", "birth_date": "1960-12-30", "sex": "w", "postcode": "01067",
    "place": "Dresden", "insurance_number": "A123456789",
}  # fmt: skip
PEOPLE = {
    "Zwillmeier": ("Hedwig", "1948-02-11"),
    "Quastenhuber": ("Roswitha", "1957-07-23"),
    "Vorholzner": ("Kunigunde", "1966-10-05"),
    "Browserl": ("Philomena", "1971-03-19"),
}
PURPOSE = "incidental finding, tell the treating physician"
EVIL = "<script>alert(1)</script>"
SOON = (datetime.now(UTC) + timedelta(days=3)).date().isoformat()
OTHERS = ("steward", "researcher", "data-protection-officer", "approver", "operator", "source", "recipient")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("desk") / "service") as opened_house:
        opened_house.person("steward")  # without one, every page leads to the set-up
        opened_house.post("trustee", "/domains", {"name": "study", "kind": "reversible"}, status=201)
        opened_house.post("trustee", "/domains", {"name": "registry", "kind": "list"}, status=201)
        yield opened_house


def enter(house: House, name: str) -> None:
    sign_in(house.client, house.person(name).email_address)


def grey_pair(house: House, family: str) -> tuple[int, str, str]:
    """Register somebody twice, the second time after a marriage: the number of the case, and both PIDs."""
    first, day = PEOPLE[family]
    anna = ANNA | {"first_names": first, "last_name": family, "birth_date": day, "insurance_number": ""}
    people = [anna, anna | {"last_name": "Bauer"}]
    found = house.post("trustee", "/patients/registrations", {"people": people})["registrations"]
    assert [one["outcome"] for one in found] == ["new", "grey"]
    pids = {one["pid"] for one in found}
    cases = house.get("trustee", "/patients/cases?limit=1000")["cases"]
    case = next(one for one in cases if {one["pid"], one["other_pid"]} & {found[1]["pid"]} and one["pid"] in pids)
    return case["case"], found[0]["pid"], found[1]["pid"]


def asked(house: House, name: str = "researcher", original: str = "A1C2D3E4", purpose: str = PURPOSE) -> str:
    """Ask for the way back on the page, and return the address of the request."""
    made = house.post("trustee", "/domains/study/pseudonyms", {"originals": [original]})["pseudonyms"]
    enter(house, name)
    fields = {"domain": "study", "pseudonyms": made[0], "purpose": purpose, "until": SOON}
    page = send(house.client, "/app/way-back/pseudonyms/new", **fields)
    assert "Your request waits for two approvers." in words(page), words(page)
    return page.url.path


def entries(house: House, part: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (house.folder / part / "log.jsonl").read_text().splitlines()]


def test_a_grey_pair_is_shown_side_by_side_decided_and_the_decision_undone(house: House) -> None:
    number, first, second = grey_pair(house, "Zwillmeier")
    enter(house, "trustee")
    assert "to decide" in words(house.client.get("/app"))
    listed = house.client.get("/app/patients")
    assert f"Case {number}" in words(listed)
    assert "Zwillmeier" not in listed.text
    path = f"/app/patients/cases/{number}"
    page = house.client.get(path)
    assert page.headers["cache-control"] == "no-store"
    assert '<td data-level="different">≠ different</td>' in page.text
    assert '<td data-level="equal">= equal</td>' in page.text
    assert "<mark>" in page.text
    decided = send(house.client, path, verdict="same")
    assert "Decided: one person" in words(decided)
    assert {first, second} <= set(words(decided).split())
    again = send(house.client, path, verdict="different")
    assert (again.status_code, "patients-case-decided" in words(again)) == (409, True)
    history = send(house.client, "/app/patients/history", pid=first)
    assert second in history.text
    assert 'name="records" value="2"' in history.text
    undone = send(house.client, "/app/patients/split", pid=first, records="2")
    assert "The records were split off." in words(undone)
    assert second in words(undone)
    joined = send(house.client, "/app/patients/merge", pid=first, other_pid=second)
    assert "The two are one person now." in words(joined)
    wrong = send(house.client, "/app/patients/split", pid=first, records="9")
    assert "patients-record" in words(wrong)


def test_two_people_are_made_one_again_after_a_wrong_decision(house: House) -> None:
    number, first, second = grey_pair(house, "Quastenhuber")
    enter(house, "trustee")
    assert send(house.client, f"/app/patients/cases/{number}", verdict="perhaps").status_code == 400
    decided = send(house.client, f"/app/patients/cases/{number}", verdict="different")
    assert "Decided: two people" in words(decided)
    hidden = dict(re.findall(r'name="(pid|other_pid)" value="([^"]+)"', decided.text))
    assert set(hidden.values()) == {first, second}
    assert "The two are one person now." in words(send(house.client, "/app/patients/merge", **hidden))


def test_nobody_but_trustees_sees_names(house: House) -> None:
    number, _, _ = grey_pair(house, "Vorholzner")
    for name in OTHERS:
        enter(house, name)
        page = house.client.get(f"/app/patients/cases/{number}")
        assert page.status_code == 403
        for path in ("/app", "/app/patients", "/app/way-back", "/app/pseudonyms"):
            assert "Vorholzner" not in house.client.get(path).text
    refused = [one for one in entries(house, "patients") if one["action"] == "refuse operation"]
    assert {"show_case", "list_cases"} <= {one["about"] for one in refused}


def test_names_of_patients_are_escaped(house: House) -> None:
    people = [
        ANNA | {"first_names": EVIL, "last_name": "Übelacker", "insurance_number": ""},
        ANNA | {"first_names": EVIL, "last_name": "Ganzanders", "insurance_number": "", "place": EVIL},
    ]
    found = house.post("trustee", "/patients/registrations", {"people": people})["registrations"]
    assert found[1]["outcome"] == "grey"
    enter(house, "trustee")
    for one in house.get("trustee", "/patients/cases?limit=1000")["cases"]:
        assert "<script>alert" not in house.client.get(f"/app/patients/cases/{one['case']}").text
    typed = send(house.client, "/app/patients/register", **ANNA | {"last_name": f'"{EVIL}'}, do="look-up")
    assert "<script>alert" not in typed.text


def test_a_person_is_looked_up_and_registered(house: House) -> None:
    otto = {"first_names": "Otto", "last_name": "Zwickel", "birth_date": "1975-05-17", "sex": "m"}
    enter(house, "trustee")
    looked = send(house.client, "/app/patients/register", **otto, do="look-up")
    assert "new: nobody in the list resembles this person" in words(looked)
    assert "PID:" not in words(looked)
    assert re.search(r"PID: \w{8}", words(send(house.client, "/app/patients/register", **otto, do="register")))
    again = send(house.client, "/app/patients/register", **otto, do="look-up")
    assert "known: clearly the same person" in words(again)
    enter(house, "source")
    refused = send(house.client, "/app/patients/register", **otto, do="register")
    assert (refused.status_code, "temp-id-only" in words(refused)) == (403, True)
    look_up = send(house.client, "/app/patients/register", **otto, do="look-up")
    assert look_up.status_code == 403
    recipient = str(house.person("recipient").user_id)
    given = send(house.client, "/app/patients/register", **otto, do="register", recipient=recipient)
    assert "TempID:" in words(given)
    assert "known: clearly" not in words(given)


def test_names_and_pids_are_not_offered_again_after_a_session_has_ended(house: House) -> None:
    enter(house, "trustee")
    house.client.cookies.delete("kohorte")
    given = {"first_names": "Geheim", "last_name": "Name", "pid": "A1C2D3E4", "do": "register"}
    page = house.client.post("/app/patients/register", data=given)
    assert page.status_code == 401
    assert "Geheim" not in page.text
    assert "A1C2D3E4" not in page.text


def test_the_way_back_needs_two_approvers_and_is_shown_once(house: House) -> None:
    path = asked(house, original="F5G6H7J8")
    assert "F5G6H7J8" not in house.client.get(path).text
    early = send(house.client, f"{path}/show")
    assert (early.status_code, "way-back-open" in words(early)) == (403, True)
    for name in ("approver", "approver 2"):
        enter(house, name)
        assert "what 1 pseudonym stands for" in words(house.client.get("/app"))
        assert "You have approved the request." in words(send(house.client, f"{path}/approve"))
        twice = send(house.client, f"{path}/approve")
        assert (twice.status_code, "way-back-twice" in words(twice)) == (403, True)
        assert house.client.post(f"{path}/show").status_code == 403
    enter(house, "researcher")
    page = house.client.get(path)
    assert "The result is shown once." in words(page)
    assert "F5G6H7J8" not in page.text
    shown = send(house.client, f"{path}/show")
    assert "F5G6H7J8" in words(shown)
    assert shown.headers["cache-control"] == "no-store"
    again = send(house.client, f"{path}/show")
    assert (again.status_code, "way-back-shown" in words(again)) == (403, True)
    assert "F5G6H7J8" not in again.text
    assert "F5G6H7J8" not in house.client.get(path).text


def test_nobody_approves_their_own_request_and_others_do_not_see_it(house: House) -> None:
    path = asked(house, purpose=f"finding {EVIL} of importance")
    enter(house, "researcher 2")
    assert house.client.get(path).status_code == 404
    assert send(house.client, f"{path}/decline").status_code == 404
    enter(house, "approver")
    page = house.client.get(path)
    assert "<script>alert" not in page.text
    assert "finding" in page.text
    assert "declined for good" in words(send(house.client, f"{path}/decline"))
    enter(house, "data-protection-officer")
    notices = send(house.client, "/app/way-back/pseudonyms/notices")
    assert "declined a way back" in words(notices)
    assert "Nothing has happened since you last looked." in words(
        send(house.client, "/app/way-back/pseudonyms/notices")
    )


def test_people_behind_pids_are_asked_for_and_shown_once(house: House) -> None:
    (anna,) = house.post("trustee", "/patients/registrations", {"people": [ANNA | {"last_name": "Waldstätten"}]})[
        "registrations"
    ]
    enter(house, "steward")
    wrong = send(house.client, "/app/way-back/people/new", pids="nonsense", purpose=PURPOSE, until=SOON)
    assert (wrong.status_code, PURPOSE in wrong.text) == (400, True)
    page = send(house.client, "/app/way-back/people/new", pids=anna["pid"], purpose=PURPOSE, until=SOON)
    path = page.url.path
    for name in ("approver", "approver 2"):
        enter(house, name)
        send(house.client, f"{path}/approve")
    enter(house, "steward")
    assert "Waldstätten" not in house.client.get(path).text
    assert "Waldstätten" in words(send(house.client, f"{path}/show"))
    assert "Waldstätten" not in send(house.client, f"{path}/show").text
    assert "shown" in words(house.client.get("/app/way-back"))


def test_domains_are_listed_with_what_they_are(house: House) -> None:
    for name, filled in (("trustee", True), ("source", False)):
        enter(house, name)
        page = words(house.client.get("/app/pseudonyms"))
        assert "reversible: the key turns a pseudonym back" in page
        assert ("of it is taken" in page) is filled


def test_pieces_mark_what_the_other_text_lacks() -> None:
    assert pieces("Meyer", "Meier") == [("Me", False), ("y", True), ("er", False)]
    assert pieces("Anna Maria", "Anna") == [("Anna", False), (" Maria", True)]
    assert pieces("", "Anna") == []
    assert pieces("Bauer", "Eichhorst") == [("Bauer", True)]


@pytest.mark.slow
def test_a_case_is_decided_and_undone_in_the_browser(house: House, chromium: Browser) -> None:
    number, _, second = grey_pair(house, "Browserl")
    with served(house.service) as address, opened(chromium, address) as page:
        sign_in_with(page, house.person("trustee").email_address)
        look(page)
        page.goto("/app/patients")
        look(page)
        page.get_by_role("link", name=f"Case {number}", exact=True).click()
        expect(page.get_by_role("cell", name="≠ different").first).to_be_visible()
        look(page)
        page.get_by_role("button", name="It is one person").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Decided: one person")
        look(page)
        page.get_by_role("button", name="Open the history, to undo it").click()
        look(page)
        page.get_by_label("Record 2").check()
        page.get_by_role("button", name="Split them off").click()
        expect(page.get_by_text("The records were split off.")).to_contain_text(second)
        for path in ("/app/patients/register", "/app/pseudonyms", "/app/patients/history"):
            page.goto(path)
            look(page)


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "locale": "de-DE"}])
def test_the_way_back_in_the_browser_is_kept_by_nobody(
    house: House, chromium: Browser, options: dict[str, str]
) -> None:
    path = asked(house, original="H1J2K3L4")
    with served(house.service) as address:
        for name in ("approver", "approver 2"):
            with opened(chromium, address, **options) as page:
                sign_in_with(page, house.person(name).email_address)
                page.goto(path)
                look(page)
                page.locator("main form[action$=approve] button").first.click()
                expect(page.locator("main form[action$=approve]")).to_have_count(0)
        with opened(chromium, address, **options) as page:
            sign_in_with(page, house.person("researcher").email_address)
            for place in ("/app/way-back/pseudonyms/new", "/app/way-back/people/new", "/app/way-back", path):
                page.goto(place)
                look(page)
            page.check("#ready")
            page.locator("main form[action$=show] button").click()
            expect(page.get_by_text("H1J2K3L4")).to_be_visible()
            look(page)
            page.goto("/app/way-back")
            with pytest.raises(Error, match="ERR_CACHE_MISS"):  # the browser has kept nothing
                page.go_back()
    number = path.rpartition("/")[2]
    assert house.get("researcher", f"/way-back/{number}")["state"] == "shown"
