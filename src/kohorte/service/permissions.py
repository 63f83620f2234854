"""Roles, permissions and operations of the service, in one table each.

An operation of the interface needs one permission, and a permission belongs to one or more roles. A user has one or
more roles and every permission of each. An operation without an entry is refused. The names of operations are those of
the OpenAPI description; the settings may require a second person for those of `TWO_PEOPLE` (see `approvals`).

Separation of duties follows ISO/IEC 27002:2022, control 5.3: those who prepare data (steward), use them (researcher),
supervise (data protection officer), confirm (approver), keep identities and keys (trustee) and run the machine
(operator) can be different people. Only the steward and the researcher have access to values of tables, and only the
trustee to names of patients: a steward is no trustee. A source is a clinic or another service that registers patients
and does not learn who is in the list; a recipient is a database or a research service that keeps data under PIDs: it
learns who of them agreed to a purpose, and no names.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class Role(StrEnum):
    """What a user is in the service."""

    STEWARD = "steward"
    RESEARCHER = "researcher"
    DATA_PROTECTION_OFFICER = "data-protection-officer"
    APPROVER = "approver"
    TRUSTEE = "trustee"
    OPERATOR = "operator"
    SOURCE = "source"
    RECIPIENT = "recipient"


class Permission(StrEnum):
    """What a role allows; `ANYONE` needs no role and no token."""

    ANYONE = "anyone"
    SIGN_IN = "sign in"
    SEE_USERS = "see users"
    MANAGE_USERS = "manage users"
    SEE_DATASETS = "see datasets"
    MANAGE_DATASETS = "manage datasets"
    SEE_VALUES = "see values"
    MEASURE_RISK = "measure risk"
    SEE_RISKS = "see risks"
    SEE_PROJECTS = "see projects"
    SEE_ALL_PROJECTS = "see all projects"
    MANAGE_PROJECTS = "manage projects"
    SEE_DRAFTS = "see drafts"
    REVIEW_DRAFTS = "review drafts"
    READ_RELEASES = "read releases"
    READ_EVIDENCE = "read evidence"
    QUERY = "query"
    SEE_BUDGETS = "see budgets"
    SEE_ALL_BUDGETS = "see all budgets"
    SEE_JOBS = "see jobs"
    SEE_ALL_JOBS = "see all jobs"
    CANCEL_JOBS = "cancel jobs"
    READ_AUDIT = "read audit log"
    READ_METRICS = "read metrics"
    APPROVE = "approve"
    REGISTER_PATIENTS = "register patients"
    RESOLVE_TEMP_IDS = "resolve TempIDs"
    CHECK_CONSENT = "check consent"
    MANAGE_PATIENTS = "manage patients"
    MANAGE_DOMAINS = "manage domains"
    PSEUDONYMIZE = "pseudonymize"
    ASK_WAY_BACK = "ask for the way back"
    APPROVE_WAY_BACK = "approve the way back"
    READ_NOTICES = "read notices"
    SEE_REQUESTS = "see requests"
    MANAGE_REQUESTS = "manage requests"
    DECIDE_REQUESTS = "decide requests"
    ASK_OTHERS = "ask other institutions"
    PLAN_SURVEYS = "plan surveys"


_STEWARD, _RESEARCHER, _OFFICER = Role.STEWARD, Role.RESEARCHER, Role.DATA_PROTECTION_OFFICER
_APPROVER, _TRUSTEE, _OPERATOR = Role.APPROVER, Role.TRUSTEE, Role.OPERATOR
_SOURCE, _RECIPIENT = Role.SOURCE, Role.RECIPIENT

ROLES_WITH: Mapping[Permission, tuple[Role, ...]] = MappingProxyType(
    {
        Permission.SIGN_IN: tuple(Role),
        Permission.SEE_USERS: (_STEWARD, _OFFICER),
        Permission.MANAGE_USERS: (_STEWARD,),
        Permission.SEE_DATASETS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.MANAGE_DATASETS: (_STEWARD,),
        Permission.SEE_VALUES: (_STEWARD,),
        Permission.MEASURE_RISK: (_STEWARD, _OFFICER),
        Permission.SEE_RISKS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.SEE_PROJECTS: (_STEWARD, _RESEARCHER, _OFFICER, _APPROVER),
        Permission.SEE_ALL_PROJECTS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.MANAGE_PROJECTS: (_STEWARD,),
        Permission.SEE_DRAFTS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.REVIEW_DRAFTS: (_OFFICER, _APPROVER),
        Permission.READ_RELEASES: (_STEWARD, _RESEARCHER),
        Permission.READ_EVIDENCE: (_STEWARD, _RESEARCHER, _OFFICER, _APPROVER),
        Permission.QUERY: (_STEWARD, _RESEARCHER),
        Permission.SEE_BUDGETS: (_STEWARD, _RESEARCHER, _OFFICER),
        Permission.SEE_ALL_BUDGETS: (_STEWARD, _OFFICER),
        Permission.SEE_JOBS: (_STEWARD, _RESEARCHER, _OFFICER, _OPERATOR),
        Permission.SEE_ALL_JOBS: (_STEWARD, _OPERATOR),
        Permission.CANCEL_JOBS: (_STEWARD, _OPERATOR),
        Permission.READ_AUDIT: (_STEWARD, _OFFICER),
        Permission.READ_METRICS: (_STEWARD, _OPERATOR),
        Permission.APPROVE: (_STEWARD, _APPROVER),
        Permission.REGISTER_PATIENTS: (_TRUSTEE, _SOURCE),
        Permission.RESOLVE_TEMP_IDS: (_RECIPIENT,),
        Permission.CHECK_CONSENT: (_TRUSTEE, _RECIPIENT),
        Permission.MANAGE_PATIENTS: (_TRUSTEE,),
        Permission.MANAGE_DOMAINS: (_TRUSTEE,),
        Permission.PSEUDONYMIZE: (_TRUSTEE, _SOURCE, _RECIPIENT),
        Permission.ASK_WAY_BACK: (_STEWARD, _RESEARCHER, _TRUSTEE),
        Permission.APPROVE_WAY_BACK: (_APPROVER,),
        Permission.READ_NOTICES: (_OFFICER,),
        Permission.SEE_REQUESTS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.MANAGE_REQUESTS: (_STEWARD,),
        Permission.DECIDE_REQUESTS: (_APPROVER,),
        Permission.ASK_OTHERS: (_STEWARD, _RESEARCHER),
        Permission.PLAN_SURVEYS: (_STEWARD, _RESEARCHER, _OFFICER),
    }
)

RULES: Mapping[str, Permission] = MappingProxyType(
    {
        "create_first_steward": Permission.ANYONE,
        "login": Permission.ANYONE,
        "refresh": Permission.ANYONE,
        "logout": Permission.SIGN_IN,
        "create_user": Permission.MANAGE_USERS,
        "list_users": Permission.SEE_USERS,
        "show_me": Permission.SIGN_IN,
        "show_user": Permission.SIGN_IN,  # their own; others with SEE_USERS
        "change_user": Permission.SIGN_IN,  # their own; others with MANAGE_USERS
        "delete_user": Permission.MANAGE_USERS,
        "upload_dataset": Permission.MANAGE_DATASETS,
        "list_datasets": Permission.SEE_DATASETS,
        "show_dataset": Permission.SEE_DATASETS,
        "preview_dataset": Permission.SEE_VALUES,
        "evaluate_plan": Permission.SEE_VALUES,
        "try_settings": Permission.SEE_VALUES,
        "explore_plan": Permission.SEE_VALUES,
        "assess_plan": Permission.SEE_VALUES,
        "show_draft_risk": Permission.SEE_RISKS,
        "show_project_risk": Permission.SEE_RISKS,
        "change_dataset": Permission.MANAGE_DATASETS,
        "delete_dataset": Permission.MANAGE_DATASETS,
        "create_generalization_hierarchy": Permission.SEE_VALUES,
        "examine_hierarchy": Permission.SEE_VALUES,
        "list_hierarchies": Permission.SEE_VALUES,
        "store_hierarchy": Permission.MANAGE_DATASETS,
        "show_hierarchy": Permission.SEE_VALUES,
        "delete_hierarchy": Permission.MANAGE_DATASETS,
        "analyze_risk": Permission.MEASURE_RISK,
        "calculate_weighted_risk": Permission.MEASURE_RISK,
        "propose_config": Permission.MANAGE_DATASETS,
        "show_dataset_budget": Permission.SEE_ALL_BUDGETS,
        "list_series": Permission.SEE_DATASETS,
        "show_series": Permission.SEE_DATASETS,
        "preview_series": Permission.SEE_VALUES,
        "start_series": Permission.MANAGE_PROJECTS,
        "release_series": Permission.MANAGE_PROJECTS,
        "download_series": Permission.MANAGE_PROJECTS,
        "create_project": Permission.MANAGE_PROJECTS,
        "list_projects": Permission.SEE_PROJECTS,
        "show_project": Permission.SEE_PROJECTS,
        "change_project": Permission.MANAGE_PROJECTS,
        "delete_project": Permission.MANAGE_PROJECTS,
        "withdraw_project": Permission.MANAGE_PROJECTS,
        "create_draft": Permission.MANAGE_PROJECTS,
        "list_drafts": Permission.SEE_DRAFTS,
        "show_draft": Permission.SEE_DRAFTS,
        "change_draft": Permission.MANAGE_PROJECTS,
        "submit_draft": Permission.MANAGE_PROJECTS,
        "sign_draft": Permission.REVIEW_DRAFTS,
        "return_draft": Permission.REVIEW_DRAFTS,
        "release_draft": Permission.MANAGE_PROJECTS,
        "download_csv": Permission.READ_RELEASES,
        "preview_release": Permission.READ_RELEASES,
        "show_certificate": Permission.READ_EVIDENCE,
        "show_report": Permission.READ_EVIDENCE,
        "analyze": Permission.QUERY,
        "estimate": Permission.QUERY,
        "download_dummy_data": Permission.QUERY,
        "show_budget": Permission.SEE_BUDGETS,
        "list_questions": Permission.QUERY,
        "show_rules": Permission.SIGN_IN,
        "list_jobs": Permission.SEE_JOBS,
        "show_job": Permission.SEE_JOBS,
        "cancel_job": Permission.CANCEL_JOBS,
        "list_approvals": Permission.SIGN_IN,  # one's own; all with APPROVE
        "show_approval": Permission.SIGN_IN,
        "confirm_approval": Permission.APPROVE,
        "decline_approval": Permission.SIGN_IN,  # one's own; all with APPROVE
        "register_patients": Permission.REGISTER_PATIENTS,
        "list_cases": Permission.MANAGE_PATIENTS,
        "show_case": Permission.MANAGE_PATIENTS,
        "decide_case": Permission.MANAGE_PATIENTS,
        "merge_patients": Permission.MANAGE_PATIENTS,
        "split_patient": Permission.MANAGE_PATIENTS,
        "show_patient_history": Permission.MANAGE_PATIENTS,
        "forget_patient": Permission.MANAGE_PATIENTS,
        "encode_patients": Permission.MANAGE_PATIENTS,
        "look_up_encoded": Permission.MANAGE_PATIENTS,
        "rotate_patients_key": Permission.MANAGE_PATIENTS,
        "give_consent": Permission.MANAGE_PATIENTS,
        "withdraw_consent": Permission.MANAGE_PATIENTS,
        "show_consents": Permission.MANAGE_PATIENTS,
        "list_released": Permission.MANAGE_PATIENTS,
        "export_patients": Permission.CHECK_CONSENT,  # of given PIDs; of everybody with MANAGE_PATIENTS
        "confirm_export": Permission.CHECK_CONSENT,  # one's own; all with MANAGE_PATIENTS
        "issue_temp_ids": Permission.MANAGE_PATIENTS,
        "resolve_temp_ids": Permission.RESOLVE_TEMP_IDS,
        "create_domain": Permission.MANAGE_DOMAINS,
        "list_domains": Permission.PSEUDONYMIZE,
        "show_domain": Permission.PSEUDONYMIZE,
        "rotate_domain_key": Permission.MANAGE_DOMAINS,
        "forget_pseudonyms": Permission.MANAGE_DOMAINS,
        "destroy_domain_key": Permission.MANAGE_DOMAINS,
        "compare_lists": Permission.MANAGE_DOMAINS,
        "pseudonymize": Permission.PSEUDONYMIZE,
        "gpas_pseudonymize_allow_create": Permission.PSEUDONYMIZE,
        "old_gpas_pseudonymize_allow_create": Permission.PSEUDONYMIZE,
        "gpas_pseudonymize": Permission.MANAGE_DOMAINS,  # it tells who is in a list
        "gpas_de_pseudonymize": Permission.ASK_WAY_BACK,
        "old_gpas_de_pseudonymize": Permission.ASK_WAY_BACK,
        "vfps_create_pseudonym": Permission.PSEUDONYMIZE,
        "ask_way_back": Permission.ASK_WAY_BACK,
        "list_way_back": Permission.SIGN_IN,  # one's own; all with APPROVE_WAY_BACK or READ_NOTICES
        "show_way_back": Permission.SIGN_IN,
        "approve_way_back": Permission.APPROVE_WAY_BACK,
        "decline_way_back": Permission.SIGN_IN,  # one's own; all with APPROVE_WAY_BACK
        "reveal_way_back": Permission.ASK_WAY_BACK,
        "read_way_back_notices": Permission.READ_NOTICES,
        "ask_people": Permission.ASK_WAY_BACK,
        "list_people": Permission.SIGN_IN,  # as for pseudonyms
        "show_people": Permission.SIGN_IN,
        "approve_people": Permission.APPROVE_WAY_BACK,
        "decline_people": Permission.SIGN_IN,
        "reveal_people": Permission.ASK_WAY_BACK,
        "read_people_notices": Permission.READ_NOTICES,
        "list_statistics": Permission.SEE_REQUESTS,
        "import_statistics": Permission.MANAGE_REQUESTS,
        "import_shipped_statistics": Permission.MANAGE_REQUESTS,
        "check_statistics": Permission.SEE_REQUESTS,
        "show_identity": Permission.SEE_REQUESTS,
        "list_peers": Permission.SEE_REQUESTS,
        "add_peer": Permission.MANAGE_REQUESTS,
        "remove_peer": Permission.MANAGE_REQUESTS,
        "receive_request": Permission.MANAGE_REQUESTS,
        "list_requests": Permission.SEE_REQUESTS,
        "show_request": Permission.SEE_REQUESTS,
        "check_request": Permission.MANAGE_REQUESTS,
        "show_check": Permission.SEE_REQUESTS,
        "show_check_page": Permission.SEE_REQUESTS,
        "decide_request": Permission.DECIDE_REQUESTS,
        "answer_request": Permission.MANAGE_REQUESTS,
        "download_answer": Permission.MANAGE_REQUESTS,
        "send_request": Permission.ASK_OTHERS,
        "list_sent_requests": Permission.ASK_OTHERS,  # one's own; all with MANAGE_REQUESTS
        "list_answers": Permission.ASK_OTHERS,
        "read_answer": Permission.ASK_OTHERS,
        "receive_parcel": Permission.ANYONE,  # with a certificate of the address book
        "estimate_survey": Permission.PLAN_SURVEYS,
        "plan_survey": Permission.PLAN_SURVEYS,
        "show_survey_curves": Permission.PLAN_SURVEYS,
        "list_audit": Permission.READ_AUDIT,
        "verify_audit": Permission.READ_AUDIT,
        "show_health": Permission.ANYONE,
        "show_metrics": Permission.READ_METRICS,
        "show_documentation": Permission.ANYONE,
        "show_documentation_asset": Permission.ANYONE,
        "show_openapi": Permission.ANYONE,
    }
)

GRANTED_BY_TWO = frozenset({_STEWARD, _APPROVER, _TRUSTEE, _SOURCE, _RECIPIENT})
"""Roles that nobody grants alone where a way back is served: they approve it, keep its keys, or grant roles.

A source and a recipient together learn who is in a patient list, and many sources could try all identifiers.
"""

TWO_PEOPLE = (
    "create_user",
    "change_user",
    "delete_user",
    "delete_dataset",
    "delete_project",
    "download_csv",
    "forget_patient",
    "forget_pseudonyms",
    "destroy_domain_key",
)
"""Operations for which the settings may require a second person: they cannot be undone, or let data leave.

A person who may create users, or set their passwords, could act as the second person, too. If two people are to control
each other, the settings must therefore include `create_user` and `change_user`. Where a way back is served, these two
need a second person for the roles of `GRANTED_BY_TWO` in any case.
"""
