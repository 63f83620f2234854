"""Who may call what: every route has a rule, every rule a route, and the rules hold over HTTP."""

from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient

from kohorte.errors import AccessDenied
from kohorte.service.access import Actor, permit
from kohorte.service.context import Service
from kohorte.service.permissions import ROLES_WITH, RULES, TWO_PEOPLE, Permission, Role
from kohorte.service.web.app import create_app
from support.jobs import new_creator, new_dataset, new_project
from support.service import STEWARD, Person, new_person_with, on_sqlite

FOR_ANYONE = {
    "create_first_steward", "login", "refresh", "show_health", "show_documentation", "show_documentation_asset",
    "show_openapi", "receive_parcel",
}  # fmt: skip
FOR_ALL_ROLES = {
    "logout", "show_me", "show_user", "change_user", "list_approvals", "show_approval", "decline_approval",
    "show_rules", "list_way_back", "show_way_back", "decline_way_back", "list_people", "show_people", "decline_people",
}  # fmt: skip
ASKING = {
    "ask_way_back", "reveal_way_back", "ask_people", "reveal_people", "gpas_de_pseudonymize",
    "old_gpas_de_pseudonymize",
}  # fmt: skip
NOTICES = {"read_way_back_notices", "read_people_notices"}
APPROVING = {"approve_way_back", "approve_people", "decide_request"}
ASKING_OTHERS = {"send_request", "list_sent_requests", "list_answers", "read_answer"}
SEEING_REQUESTS = {
    "list_statistics", "check_statistics", "show_identity", "list_peers", "list_requests", "show_request", "show_check",
    "show_check_page",
}  # fmt: skip
REVIEWING = {"list_drafts", "show_draft", "sign_draft", "return_draft"}
PLANNING_SURVEYS = {"estimate_survey", "plan_survey", "show_survey_curves"}
SEEING_RISKS = {"show_draft_risk", "show_project_risk"}
FOR_CLIENTS = {"gpas_pseudonymize_allow_create", "old_gpas_pseudonymize_allow_create", "vfps_create_pseudonym"}
OF_SOURCES = {"register_patients", "list_domains", "show_domain", "pseudonymize", *FOR_CLIENTS}
OF_TRUSTEES = OF_SOURCES | {
    "list_cases", "show_case", "decide_case", "merge_patients", "split_patient", "show_patient_history",
    "encode_patients", "look_up_encoded", "compare_lists",
    "forget_patient", "rotate_patients_key", "create_domain", "rotate_domain_key", "forget_pseudonyms",
    "destroy_domain_key", "gpas_pseudonymize", "give_consent", "withdraw_consent",
    "show_consents", "list_released", "export_patients", "confirm_export", "issue_temp_ids",
}  # fmt: skip
OF_RECIPIENTS = OF_SOURCES - {"register_patients"} | {"resolve_temp_ids", "export_patients", "confirm_export"}
NOT_FOR_STEWARDS = OF_TRUSTEES | OF_RECIPIENTS | APPROVING | NOTICES | {"sign_draft", "return_draft"}
ALONE = {
    Role.RESEARCHER: {
        "list_projects", "show_project", "download_csv", "preview_release", "show_certificate", "show_report",
        "analyze", "estimate", "download_dummy_data", "show_budget", "list_questions", "list_jobs", "show_job",
        *ASKING, *ASKING_OTHERS, *PLANNING_SURVEYS,
    },
    Role.DATA_PROTECTION_OFFICER: {
        "list_users", "list_datasets", "show_dataset", "list_series", "show_series",
        "analyze_risk", "calculate_weighted_risk",
        "show_dataset_budget", "list_projects", "show_project", "show_certificate", "show_report", "show_budget",
        "list_jobs", "show_job", "list_audit", "verify_audit", *PLANNING_SURVEYS,
        *NOTICES, *SEEING_REQUESTS, *REVIEWING, *SEEING_RISKS,
    },
    Role.APPROVER: {
        "list_series", "show_series", "list_datasets", "show_dataset",
        "list_projects", "show_project", "show_certificate", "show_report",
        "confirm_approval", *APPROVING, *SEEING_REQUESTS, *REVIEWING, *SEEING_RISKS,
    },
    Role.OPERATOR: {"list_jobs", "show_job", "cancel_job", "show_metrics"},
    Role.TRUSTEE: OF_TRUSTEES | ASKING,
    Role.SOURCE: OF_SOURCES,
    Role.RECIPIENT: OF_RECIPIENTS,
}  # fmt: skip
"""What each role but the steward's may call beside what all roles may; stewards may call all but `NOT_FOR_STEWARDS`."""


def operations(app: FastAPI) -> Iterator[tuple[str, str, str]]:
    """Return name, method and path of every route; tests/end_to_end/screens walks those of the web interface."""
    for route in iter_route_contexts(app.routes):
        if str(route.name).startswith("screen_"):
            continue
        for method in sorted((route.methods or {"?"}) - {"HEAD"}):
            yield str(route.name), method, str(route.path)


@on_sqlite
def test_every_route_has_a_rule_and_every_rule_a_route(service: Service) -> None:
    names = [name for name, _, _ in operations(create_app(service))]
    assert set(names) == set(RULES)


def test_every_permission_belongs_to_a_role_and_every_operation_for_two_people_has_a_rule() -> None:
    assert set(ROLES_WITH) == set(Permission) - {Permission.ANYONE}
    assert all(ROLES_WITH.values())
    assert set(TWO_PEOPLE) <= set(RULES)


def test_each_role_may_call_these_operations_and_no_others() -> None:
    assert {name for name, rule in RULES.items() if rule is Permission.ANYONE} == FOR_ANYONE
    assert {name for name, rule in RULES.items() if rule is Permission.SIGN_IN} == FOR_ALL_ROLES
    stewards = set(RULES) - FOR_ANYONE - FOR_ALL_ROLES - NOT_FOR_STEWARDS
    for role, expected in {**ALONE, Role.STEWARD: stewards}.items():
        allowed = {name for name in set(RULES) - FOR_ANYONE if role in ROLES_WITH[RULES[name]]}
        assert allowed == expected | FOR_ALL_ROLES, role


@on_sqlite
def test_the_rules_hold_for_every_role_on_every_route(service: Service, client: TestClient) -> None:
    callers: dict[Role | None, dict[str, str]] = {role: new_person_with(service, client, role).headers for role in Role}
    callers[None] = {}
    ends_session = "logout"
    found = sorted(operations(client.app), key=lambda operation: operation[0] == ends_session)  # type: ignore[arg-type]
    for name, method, path in found:
        for role, headers in callers.items():
            url = path
            while "{" in url:
                url = url[: url.index("{")] + "999999" + url[url.index("}") + 1 :]
            answer = client.request(method, url, headers=headers)
            assert refused(answer.status_code, answer.text, name) == expected(RULES[name], role), (name, role)


def refused(status: int, text: str, name: str) -> str:
    """How the rules have answered; what comes after them (no body, no such thing) does not matter here."""
    if name != "refresh" and status == 401 and "not-signed-in" in text:
        return "sign in"
    return "not allowed" if status == 403 and "not-allowed" in text else "permitted"


def expected(rule: Permission, role: Role | None) -> str:
    if rule is Permission.ANYONE:
        return "permitted"
    if role is None:
        return "sign in"
    return "permitted" if role in ROLES_WITH[rule] else "not allowed"


def test_an_operation_without_a_rule_is_refused_to_everybody() -> None:
    for actor in (None, Actor(1, STEWARD), Actor(1, frozenset(Role))):
        with pytest.raises(AccessDenied):
            permit("an operation that somebody forgot", actor)


@pytest.mark.parametrize("role", [Role.APPROVER, Role.DATA_PROTECTION_OFFICER])
def test_somebody_who_supervises_all_projects_reads_only_their_own_releases(
    service: Service, client: TestClient, role: Role
) -> None:
    both = new_person_with(service, client, Role.RESEARCHER, role)
    project_id, _ = new_project(service, new_dataset(service)[0], researcher_id=new_creator(service))
    project = f"/api/v1/projects/{project_id}"
    evidence = client.get(f"{project}/certificate", headers=both.headers)
    assert evidence.json()["code"] == "project-conflict"  # there is one, which is not ready yet
    for path in ("csv", "preview", "dummy-data", "questions"):
        assert client.get(f"{project}/{path}", headers=both.headers).status_code == 404, path


def test_an_operator_sees_jobs_without_results_and_cancels_them(service: Service, client: TestClient) -> None:
    operator = new_person_with(service, client, Role.OPERATOR, Role.RESEARCHER)
    _, job_id = new_dataset(service)
    with service.database.writing() as connection:
        connection.exec_driver_sql("UPDATE jobs SET result = '{\"rows\": 4}'")
    shown = client.get(f"/api/v1/jobs/{job_id}", headers=operator.headers).json()
    assert (shown["state"], shown["result"]) == ("queued", None)
    assert client.post(f"/api/v1/jobs/{job_id}/cancel", headers=operator.headers).status_code == 202


def test_a_data_protection_officer_sees_users_and_changes_none(
    service: Service, client: TestClient, researcher: Person
) -> None:
    officer = new_person_with(service, client, Role.DATA_PROTECTION_OFFICER)
    user = f"/api/v1/users/{researcher.user_id}"
    assert client.get(user, headers=officer.headers).json()["roles"] == ["researcher"]
    answer = client.patch(user, json={"name": "Somebody"}, headers=officer.headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "not-allowed")
