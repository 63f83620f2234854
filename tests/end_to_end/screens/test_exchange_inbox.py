"""The inbox of requests: from a request that came as a file over its check and two decisions to the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from kohorte.data import strict_yaml
from kohorte.exchange.peers.identity import Identity
from kohorte.exchange.peers.sending import request_to
from kohorte.service.parts import Part
from kohorte.trust.folder import TrustFolder
from support.browser import look, opened, served
from support.browser import sign_in as sign_in_with
from support.institutions import Institution
from support.jobs import ended
from support.projects import store_dataset, working
from support.screens import send, sign_in, words
from support.trusting import House, house_in
from testbed.hospital import PLAN, STATISTICS, patients, request

LIST = "/app/exchange/requests"
SOON = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}
EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>"
COLUMNS = ("patient", "name", "age", "sex", "occupation", "zip", "diagnosis", "drug")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house_in(tmp_path_factory.mktemp("inbox") / "service") as opened_house:
        table = patients(900, people=700, treated=350)
        store_dataset(opened_house.service, table, opened_house.person("steward").user_id)
        Identity.create(own_folder(opened_house), "Hospital B")
        opened_house.post("steward", "/exchange/statistics/shipped", status=201)
        yield opened_house


def own_folder(house: House) -> TrustFolder:
    return TrustFolder.opened(house.service.settings.trust_folder(Part.EXCHANGE))


def enter(house: House, name: str) -> None:
    sign_in(house.client, house.person(name).email_address)


def received(house: House, **parts: Any) -> str:
    """Enter a request that came as a file on its page, and return the address of its page."""
    enter(house, "steward")
    asked = request(IBUPROFEN, until=SOON).to_dict() | parts
    page = send(house.client, f"{LIST}/new", text=strict_yaml.dump(asked))
    assert "The request has been kept." in words(page), words(page)
    return page.url.path


def checked(house: House, path: str, **changes: str) -> str:
    """Start a check on its page, let it run, and return its hash."""
    enter(house, "steward")
    kinds = {f"kind-{place}": STATISTICS.get(name, "") for place, name in enumerate(COLUMNS)}
    fields = {"institution": "Hospital B", "policy": "default", "population": "500,000", "country": "AT"}
    plan = {"person": "patient", "plan": strict_yaml.dump(PLAN), "dataset": "1"}
    with working(house.service):
        page = send(house.client, f"{path}/check", **(fields | kinds | plan | changes))
        assert page.url.path.startswith("/app/jobs/"), words(page)
        row = ended(house.service, int(page.url.path.rpartition("/")[2]))
    assert row.state == "done", row.problem
    return str(row.result["check"])


def log_of(house: House) -> list[dict[str, Any]]:
    lines = (house.folder / "exchange" / "log.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_request_goes_from_its_file_over_two_decisions_to_its_answer(house: House) -> None:
    path = received(house, purpose="Effect of ibuprofen")
    page = house.client.get(path)
    assert "Who asks is not proven" in words(page)
    assert "drug is ibuprofen" in words(page)
    form = house.client.get(f"{path}/check?dataset=1")
    assert 'value="Hospital B"' in form.text
    check = checked(house, path)
    enter(house, "approver")
    assert "Effect of ibuprofen" in words(house.client.get("/app"))
    page = house.client.get(path)
    for part in ("What is rare in the world", "What stands out here", "What would be sent", "What was sent before"):
        assert part in words(page)
    assert 'data-label="Why"' in page.text, "on a phone the reasons stand below their verdict"
    assert f'name="check" value="{check}"' in page.text
    assert "Recommendation" in house.client.get(f"{path}/page").text
    decision = {"check": check, "decision": "release"}
    assert "Your decision has been noted." in words(send(house.client, f"{path}/decide", **decision, reason="fine"))
    page = house.client.get(path)
    assert 'name="decision"' not in page.text
    assert "waits for another approver; you have decided" in words(page)
    again = send(house.client, f"{path}/decide", **decision)
    assert (again.status_code, "exchange-decider" in words(again)) == (403, True)
    enter(house, "approver 2")
    send(house.client, f"{path}/decide", **decision)
    assert "Effect of ibuprofen" not in words(house.client.get("/app"))
    enter(house, "steward")
    page = house.client.get(path)
    assert "fine" in words(page)
    assert "waits for you: answer it" in words(page)
    answered = send(house.client, f"{path}/answer")
    assert "The answer has been written." in words(answered)
    table = house.client.get(f"{path}/answer/table.csv")
    assert table.text.startswith("age,sex,occupation,diagnosis")
    assert "attachment" in table.headers["content-disposition"]
    assert table.headers["cache-control"] == "no-store"
    enter(house, "approver")
    assert "table.csv" not in house.client.get(path).text


def test_a_decision_counts_for_the_check_that_the_page_has_shown_and_no_comment_is_lost(house: House) -> None:
    path = received(house)
    first = checked(house, path)
    checked(house, path, population="400000")
    enter(house, "approver")
    late = send(house.client, f"{path}/decide", check=first, decision="release", reason="my long thoughts")
    assert (late.status_code, "exchange-check-changed" in words(late)) == (409, True)
    assert "my long thoughts" in late.text
    wrong = send(house.client, f"{path}/decide", check="0", decision="perhaps")
    assert (wrong.status_code, "form-field" in words(wrong)) == (400, True)
    refused = [one for one in log_of(house) if one["action"].startswith("refuse")]
    assert {"exchange-check-changed", "form-field"} <= {one["details"]["reason"] for one in refused}
    assert {one["about"] for one in refused} == {"decide_request"}


def test_one_refusal_is_enough_and_its_answer_says_nothing(house: House) -> None:
    path = received(house)
    check = checked(house, path)
    enter(house, "approver")
    send(house.client, f"{path}/decide", check=check, decision="refuse", reason="three people only")
    enter(house, "steward")
    send(house.client, f"{path}/answer")
    answer = house.client.get(f"{path}/answer/answer.json")
    assert answer.json()["answer"] == "refused"
    assert "three" not in answer.text
    assert house.client.get(f"{path}/answer/table.csv").status_code == 404


def test_texts_of_a_request_are_escaped(house: House) -> None:
    requester = {"name": EVIL, "institution": EVIL, "contact": EVIL}
    evil = {"attribute": EVIL, "is": EVIL}
    condition = {"any": [evil, {"not": {"all": [evil, evil]}}]}
    path = received(house, requester=requester, purpose=EVIL, attributes=[EVIL], condition=condition)
    for page in (path, LIST, "/app", f"{path}/check", f"{path}/check?dataset=1"):
        answer = house.client.get(page)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "<img" not in answer.text.replace('<img src="/app/static/mark.svg"', "")
    assert EVIL in words(house.client.get(path)) or "&lt;script&gt;" in house.client.get(path).text


def test_the_form_of_a_check_says_what_is_wrong_and_keeps_what_was_typed(house: House) -> None:
    path = received(house)
    given = {"dataset": "1", "institution": "Hospital B", "policy": "default", "population": "many", "plan": "a: 1"}
    page = send(house.client, f"{path}/check", **given)
    assert (page.status_code, "population: is a whole number" in words(page)) == (400, True)
    assert "a: 1" in page.text
    page = send(house.client, f"{path}/check", **(given | {"population": "500000", "plan": strict_yaml.dump(PLAN)}))
    assert page.url.path.startswith("/app/jobs/")
    broken = send(house.client, f"{LIST}/new", text="kohorte: [")
    assert (broken.status_code, "exchange-request-yaml" in words(broken)) == (400, True)


def test_a_request_of_a_peer_is_proven(house: House, tmp_path_factory: pytest.TempPathFactory) -> None:
    institute = Institution.at(tmp_path_factory.mktemp("a") / "house", "Institute A")
    institute.knows(Institution(own_folder(house)))
    enter(house, "steward")
    certificate = {"certificate": institute.own.certificate, "fingerprint": institute.own.fingerprint}
    book = {"institution": "Institute A", "address": institute.address, "contacts": "Dr. Neumann"}
    wrong = send(house.client, "/app/exchange/peers", **book, certificate="x", fingerprint="y")
    assert (wrong.status_code, "Dr. Neumann" in wrong.text) == (400, True)
    assert "has been added" in words(send(house.client, "/app/exchange/peers", **book, **certificate))
    item = request_to(institute.folder, request(IBUPROFEN, until=SOON), "Hospital B", today=datetime.now(UTC).date())
    Institution(own_folder(house)).takes(item, shown=institute.own.fingerprint)
    enter(house, "approver")
    assert "proven by certificate" in words(house.client.get(LIST))
    assert institute.own.fingerprint in house.client.get("/app/exchange/peers").text
    enter(house, "researcher")
    fields = {"to": "Institute A", "purpose": "Follow-up", "attributes": "age, sex", "until": SOON, "join": "all"}
    rows = {"attribute-0": "drug", "comparison-0": "in", "value-0": "X, Y", "attribute-1": "age"}
    rows |= {"comparison-1": "at_least", "value-1": "18"}
    sent = send(house.client, "/app/exchange/sent/new", **fields, **rows)
    assert "waits until the other house can be reached" in words(sent)
    enter(house, "researcher 2")
    assert "Institute A" not in words(house.client.get("/app/exchange/sent"))
    nobody = send(house.client, "/app/exchange/sent/new", **(fields | rows | {"to": "Nobody"}))
    assert (nobody.status_code, "Follow-up" in nobody.text) == (400, True)
    enter(house, "steward")
    removed = send(house.client, "/app/exchange/peers/remove", institution="Institute A")
    assert "has been removed" in words(removed)


def test_statistics_without_a_source_are_amber(house: House) -> None:
    enter(house, "data-protection-officer")
    page = house.client.get("/app/exchange/statistics")
    assert "Something is old or missing" in words(page)
    assert "diseases" in words(page)


def decide_in(page: Page, path: str, comment: str) -> None:
    page.goto(path)
    look(page)
    page.fill("#reason", comment)
    page.get_by_role("button", name="Agree to the release").click()
    expect(page.get_by_text("Your decision has been noted.")).to_be_visible()


@pytest.mark.slow
def test_two_approvers_decide_in_the_browser_and_the_answer_exists(house: House, chromium: Browser) -> None:
    path = received(house, purpose="In the browser")
    checked(house, path)
    with served(house.service) as address:
        for name in ("approver", "approver 2"):
            with opened(chromium, address) as page:
                sign_in_with(page, house.person(name).email_address)
                page.get_by_role("link", name="In the browser").click()
                decide_in(page, path, f"read by {name}")
                page.goto(path)
                expect(page.get_by_role("button", name="Agree to the release")).to_have_count(0)
        with opened(chromium, address, accept_downloads=True) as page:
            sign_in_with(page, house.person("steward").email_address)
            page.goto(path)
            page.get_by_role("button", name="Send the answer").click()
            expect(page.get_by_text("The answer has been written.")).to_be_visible()
            look(page)
            with page.expect_download() as waiting:
                page.get_by_role("link", name="table.csv").click()
            assert waiting.value.path().read_text(encoding="utf-8").startswith("age,sex,occupation,diagnosis")


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"color_scheme": "dark", "locale": "de-DE"}])
def test_the_screens_of_the_exchange_are_accessible(house: House, chromium: Browser, options: dict[str, str]) -> None:
    path = received(house)
    with served(house.service) as address, opened(chromium, address, **options) as page:
        sign_in_with(page, house.person("steward").email_address)
        forms = (f"{LIST}/new", f"{path}/check", f"{path}/check?dataset=1", "/app/exchange/sent/new")
        for place in ("/app", LIST, path, *forms, "/app/exchange/statistics", "/app/exchange/peers"):
            page.goto(place)
            look(page)
