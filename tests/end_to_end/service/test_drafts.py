"""Review and sign-off over REST: who may do what with a draft, and that exactly what was signed is released."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from kohorte.errors import EngineError
from kohorte.service.accounts import users
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.house_rules import HouseRules
from kohorte.service.key_rotation import SEALED, rotate
from kohorte.service.permissions import Role
from kohorte.service.settings import Settings
from kohorte.service.vault import Vault
from support.drafts import DRAFTS, Desk, code
from support.projects import hopeless, interactive, release, working
from support.service import PASSWORD, Person, client_of, new_person_with, new_service, on_sqlite, signed_in


@pytest.fixture
def desk(service: Service, client: TestClient) -> Desk:
    return Desk.of(service, client)


@pytest.fixture
def strict(service_settings: Settings) -> Iterator[Desk]:
    """A house whose rules require a second approver."""
    rules = HouseRules.from_dict({"second_approver": "releases"})
    with new_service(replace(service_settings, rules=rules)) as service, client_of(service) as client:
        yield Desk.of(service, client)


def until_made(desk: Desk, job_id: int) -> None:
    for _ in range(300):
        job = desk.client.get(f"/api/v1/jobs/{job_id}", headers=desk.steward.headers).json()
        if job["state"] not in ("queued", "running"):
            assert job["state"] == "done", job
            return
        time.sleep(0.1)
    raise AssertionError("the job has not ended")


def released(desk: Desk, draft: int, revision: int = 1) -> dict[str, Any]:
    with working(desk.service):
        answer = desk.step(draft, "release", desk.steward, revision)
        assert answer.status_code == 202, answer.text
        until_made(desk, answer.json()["job_id"])
    return answer.json()  # type: ignore[no-any-return]


def csv(desk: Desk, project: int, by: Person | None = None) -> Any:
    return desk.client.get(f"/api/v1/projects/{project}/csv", headers=(by or desk.researcher).headers)


def audited(desk: Desk) -> list[str]:
    entries = desk.client.get("/api/v1/audit?limit=1000", headers=desk.officer.headers).json()["entries"]
    return [entry["action"] for entry in entries]


def test_a_draft_goes_from_the_steward_over_a_signature_to_the_researcher(desk: Desk) -> None:
    draft = desk.submitted()
    assert desk.step(draft, "sign", desk.approver, comment="fine").json()["state"] == "approved"
    assert desk.client.get("/api/v1/projects", headers=desk.researcher.headers).json()["total"] == 0
    made = released(desk, draft)
    assert csv(desk, made["project_id"]).status_code == 200
    found = desk.shown(draft, desk.officer)
    assert (found["state"], found["project_id"]) == ("released", made["project_id"])
    [signature] = [step for step in found["steps"] if step["kind"] == "signed"]
    assert (signature["name"], signature["comment"], signature["counts"]) == ("A approver", "fine", True)
    certificate = desk.client.get(
        f"/api/v1/projects/{made['project_id']}/certificate", headers=desk.officer.headers
    ).json()
    assert signature["plan_sha256"] == certificate["plan_sha256"]
    text = json.dumps(certificate, ensure_ascii=False).encode()
    assert signature["certificate_sha256"] == hashlib.sha256(text).hexdigest()
    assert len(signature["table_sha256"]) == 64
    assert {"draft-saved", "draft-submitted", "draft-signed", "draft-released"} <= set(audited(desk))
    assert verify_log(desk.service.database, desk.service.log).whole


def test_a_reviewer_sees_figures_and_verdict_and_no_value(desk: Desk) -> None:
    draft = desk.submitted(comment="k = 5 for the ward")
    for reviewer in (desk.approver, desk.officer):
        found = desk.shown(draft, reviewer)
        assert found["config"] is None
        assert (found["figures"]["rows"], found["figures"]["smallest_class"] >= 5) == (300, True)
        assert found["figures"]["verdict"]["standing"] in ("green", "amber")
        assert found["steps"][0]["comment"] == "k = 5 for the ward"
        assert found["can"] == ["sign", "return"]
        text = json.dumps(found)
        assert "sample" not in found["figures"]
        assert not any(value in text for value in ("angina", '"476"', "47*", "young"))
    assert desk.shown(draft)["config"]["plan"]["attributes"]["zip_code"]["hierarchy"]


def test_nobody_but_stewards_sees_a_draft_before_it_is_submitted(desk: Desk) -> None:
    draft = desk.save()
    for person in (desk.approver, desk.officer):
        assert desk.client.get(f"{DRAFTS}/{draft}", headers=person.headers).status_code == 404
        assert desk.client.get(DRAFTS, headers=person.headers).json()["total"] == 0
        assert desk.step(draft, "sign", person).status_code == 404
    assert desk.client.get(f"{DRAFTS}/{draft}", headers=desk.researcher.headers).status_code == 403


@on_sqlite
def test_nobody_signs_their_own_work(desk: Desk) -> None:
    both = new_person_with(desk.service, desk.client, Role.STEWARD, Role.APPROVER)
    own = desk.save(by=both)
    assert desk.step(own, "submit", both).status_code == 200
    assert code(desk.step(own, "sign", both)) == (403, "draft-own")
    edited = desk.save()
    assert desk.change(edited, 1, 6, by=both).status_code == 200
    assert desk.change(edited, 2, 7).status_code == 200
    assert desk.step(edited, "submit", desk.steward, 3).status_code == 200
    assert code(desk.step(edited, "sign", both, 3)) == (403, "draft-own")  # has saved a version before
    assert "sign" not in desk.shown(edited, both)["can"]


@on_sqlite
def test_the_researcher_who_gets_the_release_neither_sees_nor_signs_it(desk: Desk) -> None:
    curious = new_person_with(desk.service, desk.client, Role.RESEARCHER, Role.APPROVER)
    draft = desk.submitted(researcher_id=curious.user_id)
    assert desk.client.get(f"{DRAFTS}/{draft}", headers=curious.headers).status_code == 404
    assert desk.client.get(DRAFTS, headers=curious.headers).json()["total"] == 0
    assert desk.step(draft, "sign", curious).status_code == 404
    powerful = new_person_with(desk.service, desk.client, Role.STEWARD, Role.APPROVER)
    draft = desk.submitted(researcher_id=powerful.user_id)
    assert code(desk.step(draft, "sign", powerful)) == (403, "draft-own")


@on_sqlite
def test_a_steward_does_not_sign(desk: Desk) -> None:
    other = new_person_with(desk.service, desk.client, Role.STEWARD)
    assert code(desk.step(desk.submitted(), "sign", other)) == (403, "not-allowed")


@on_sqlite
def test_nothing_is_released_without_a_signature_or_with_the_own_one(desk: Desk) -> None:
    draft = desk.submitted()
    assert code(desk.step(draft, "release", desk.steward)) == (409, "draft-conflict")
    both = new_person_with(desk.service, desk.client, Role.STEWARD, Role.APPROVER)
    assert desk.step(draft, "sign", both).status_code == 200
    assert code(desk.step(draft, "release", both)) == (409, "draft-conflict")
    assert desk.step(draft, "release", desk.steward).status_code == 202
    assert code(desk.step(draft, "release", desk.steward)) == (409, "draft-conflict")  # once


def test_of_two_editors_the_second_is_told_who_was_first(desk: Desk) -> None:
    other = new_person_with(desk.service, desk.client, Role.STEWARD)
    draft = desk.save()
    assert desk.change(draft, 1, 7, by=other).json()["revision"] == 2
    late = desk.change(draft, 1, 9)
    assert code(late) == (409, "draft-changed-conflict")
    assert "A steward has saved version 2" in late.json()["detail"]
    assert desk.shown(draft)["config"]["plan"]["models"][0]["k"] == 7


def test_an_old_version_is_not_signed_and_its_signatures_do_not_count(desk: Desk) -> None:
    draft = desk.submitted()
    assert desk.step(draft, "sign", desk.approver).json()["state"] == "approved"
    assert desk.change(draft, 1, 2).json()["state"] == "draft"  # weaker, after the signature
    assert code(desk.step(draft, "release", desk.steward, 2)) == (409, "draft-conflict")
    assert code(desk.step(draft, "release", desk.steward, 1)) == (409, "draft-changed-conflict")
    assert desk.step(draft, "submit", desk.steward, 2).status_code == 200
    assert code(desk.step(draft, "sign", desk.officer, 1)) == (409, "draft-changed-conflict")
    found = desk.shown(draft, desk.officer)
    assert (found["signatures"], found["reviewed_revision"]) == (0, 1)
    assert found["difference"] == [{"kind": "model", "about": "k-anonymity, k", "before": "5", "after": "2"}]
    assert code(desk.step(draft, "release", desk.steward, 2)) == (409, "draft-conflict")


@on_sqlite
def test_another_researcher_needs_another_signature(desk: Desk) -> None:
    draft = desk.submitted()
    desk.step(draft, "sign", desk.approver)
    friend = new_person_with(desk.service, desk.client, Role.RESEARCHER)
    assert desk.change(draft, 1, researcher_id=friend.user_id).json()["signatures"] == 0
    assert code(desk.step(draft, "release", desk.steward, 2)) == (409, "draft-conflict")


@on_sqlite
def test_a_draft_is_returned_with_a_comment_and_signed_in_its_next_version(desk: Desk) -> None:
    draft = desk.submitted(3)
    assert code(desk.step(draft, "return", desk.officer)) == (400, "draft-comment")
    assert desk.step(draft, "return", desk.officer, comment="k is too small").json()["state"] == "draft"
    assert desk.shown(draft)["steps"][-1]["comment"] == "k is too small"
    assert code(desk.step(draft, "sign", desk.approver)) == (409, "draft-conflict")
    assert desk.change(draft, 1, 8).status_code == 200
    assert desk.step(draft, "submit", desk.steward, 2).status_code == 200
    assert desk.step(draft, "sign", desk.officer, 2).json()["state"] == "approved"


@on_sqlite
def test_submitting_the_same_version_again_needs_new_signatures(desk: Desk) -> None:
    draft = desk.submitted()
    desk.step(draft, "sign", desk.approver)
    desk.step(draft, "return", desk.officer, comment="wait")
    assert desk.step(draft, "submit", desk.steward).json()["signatures"] == 0
    assert code(desk.step(draft, "release", desk.steward)) == (409, "draft-conflict")


@on_sqlite
def test_what_could_not_be_released_is_not_submitted(desk: Desk) -> None:
    k_1 = [{"model_name": "k-anonymity", "model_params": {"k": 1}}]
    draft = desk.save(config=release(privacy_models=k_1, person="none"))
    assert code(desk.step(draft, "submit", desk.steward)) == (403, "house-rule")
    assert desk.change(draft, 1, config=hopeless()).status_code == 200
    assert code(desk.step(draft, "submit", desk.steward, 2))[0] == 422
    assert code(desk.change(draft, 2, config=interactive())) == (400, "draft-plan")
    assert code(desk.change(draft, 2, researcher_id=99_999)) == (400, "project-researcher")
    assert desk.shown(draft)["revision"] == 2


def test_a_house_with_a_second_approver_needs_two_independent_signatures(strict: Desk) -> None:
    draft = strict.submitted()
    first = strict.step(draft, "sign", strict.approver).json()
    assert (first["state"], first["signatures"], first["signatures_needed"]) == ("in-review", 1, 2)
    assert code(strict.step(draft, "sign", strict.approver)) == (409, "draft-conflict")
    assert code(strict.step(draft, "release", strict.steward)) == (409, "draft-conflict")
    puppet = users.create(
        strict.service,
        email_address="puppet@example.org",
        name="Puppet",
        institution="",
        password=PASSWORD,
        roles=[Role.APPROVER],
        by=strict.steward.user_id,
    )
    person = Person(puppet.id, puppet.email_address, signed_in(strict.client, puppet.email_address))
    assert code(strict.step(draft, "sign", person)) == (403, "draft-dependent")
    assert strict.step(draft, "sign", strict.officer).json()["state"] == "approved"
    project = released(strict, draft)["project_id"]
    assert csv(strict, project).status_code == 200  # the signatures are the approval that the rule requires


@on_sqlite
def test_a_rule_that_was_made_stricter_holds_for_approved_drafts(service_settings: Settings) -> None:
    with new_service(service_settings) as service, client_of(service) as client:
        desk = Desk.of(service, client)
        draft = desk.submitted()
        assert desk.step(draft, "sign", desk.approver).json()["state"] == "approved"
    rules = HouseRules.from_dict({"second_approver": "releases"})
    with Service.opened(replace(service_settings, rules=rules), create=True) as service, client_of(service) as client:
        desk = replace(desk, service=service, client=client)
        assert code(desk.step(draft, "release", desk.steward)) == (409, "draft-conflict")
        assert desk.step(draft, "sign", desk.officer).json()["signatures"] == 2
        assert desk.step(draft, "release", desk.steward).status_code == 202


def test_a_withdrawn_release_is_no_longer_handed_out_and_stays_recorded(desk: Desk) -> None:
    draft = desk.submitted()
    desk.step(draft, "sign", desk.approver)
    project = released(desk, draft)["project_id"]
    assert csv(desk, project).status_code == 200
    path = f"/api/v1/projects/{project}"
    refused = desk.client.post(f"{path}/withdraw", json={}, headers=desk.researcher.headers)
    assert code(refused) == (403, "not-allowed")
    gone = desk.client.post(f"{path}/withdraw", json={"comment": "wrong dates"}, headers=desk.steward.headers)
    assert gone.json()["state"] == "withdrawn"
    for place in ("csv", "preview", "certificate", "report"):
        answer = desk.client.get(f"{path}/{place}", headers=desk.researcher.headers)
        assert code(answer) == (409, "project-withdrawn-conflict"), place
    assert csv(desk, project, desk.steward).status_code == 409
    assert desk.client.get(f"{path}/certificate", headers=desk.officer.headers).status_code == 200
    found = desk.shown(draft, desk.approver)
    assert (found["state"], found["steps"][-1]["comment"]) == ("withdrawn", "wrong dates")
    assert {"download-csv", "withdraw-project"} <= set(audited(desk))
    again = desk.client.post(f"{path}/withdraw", json={}, headers=desk.steward.headers)
    assert code(again) == (409, "project-conflict")
    assert code(desk.step(draft, "release", desk.steward)) == (409, "draft-conflict")


def test_drafts_stay_readable_and_can_be_signed_after_the_key_was_replaced(desk: Desk) -> None:
    draft = desk.submitted(comment="k = 5 for the ward")
    desk.step(draft, "return", desk.officer, comment="k is too small")
    desk.change(draft, 1, 8)
    desk.step(draft, "submit", desk.steward, 2)
    before, old = desk.shown(draft), desk.service.vault.ring.current.secret
    done = rotate(desk.service, lambda *_: None, settle_seconds=0.0)
    assert done.damaged == 0
    again = {name: signed_in(desk.client, getattr(desk, name).email_address) for name in ("steward", "approver")}
    found = desk.client.get(f"{DRAFTS}/{draft}", headers=again["steward"]).json()
    assert found == before
    assert [step["comment"] for step in found["steps"][:2]] == ["k = 5 for the ward", ""]
    signed = desk.client.post(f"{DRAFTS}/{draft}/sign", json={"revision": 2, "comment": ""}, headers=again["approver"])
    assert (signed.status_code, signed.json()["state"]) == (200, "approved")
    stranger = Vault(desk.service.vault.folder, old)
    with desk.service.database.reading() as connection:
        for sealed in (one for one in SEALED if one.table.name.startswith("draft")):
            for row in connection.execute(select(sealed.table)).all():
                value = row._asdict()[sealed.column.name]
                if value is not None:
                    with pytest.raises(EngineError):
                        stranger.unseal(value, label=sealed.label(connection, row))
