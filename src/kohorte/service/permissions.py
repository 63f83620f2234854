"""Roles, permissions and operations of the service, in one table each.

An operation of the interface needs one permission, and a permission belongs to one or more roles. A user has one or
more roles and every permission of each. An operation without an entry is refused. The names of operations are those of
the OpenAPI description; the settings may require a second person for those of `TWO_PEOPLE` (see `approvals`).

Separation of duties follows ISO/IEC 27002:2022, control 5.3: those who prepare data (steward), use them (researcher),
supervise (data protection officer), confirm (approver) and run the machine (operator) can be different people, and only
the steward and the researcher have access to values.
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
    SEE_PROJECTS = "see projects"
    SEE_ALL_PROJECTS = "see all projects"
    MANAGE_PROJECTS = "manage projects"
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


_STEWARD, _RESEARCHER, _OFFICER = Role.STEWARD, Role.RESEARCHER, Role.DATA_PROTECTION_OFFICER
_APPROVER, _OPERATOR = Role.APPROVER, Role.OPERATOR

ROLES_WITH: Mapping[Permission, tuple[Role, ...]] = MappingProxyType(
    {
        Permission.SIGN_IN: tuple(Role),
        Permission.SEE_USERS: (_STEWARD, _OFFICER),
        Permission.MANAGE_USERS: (_STEWARD,),
        Permission.SEE_DATASETS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.MANAGE_DATASETS: (_STEWARD,),
        Permission.SEE_VALUES: (_STEWARD,),
        Permission.MEASURE_RISK: (_STEWARD, _OFFICER),
        Permission.SEE_PROJECTS: (_STEWARD, _RESEARCHER, _OFFICER, _APPROVER),
        Permission.SEE_ALL_PROJECTS: (_STEWARD, _OFFICER, _APPROVER),
        Permission.MANAGE_PROJECTS: (_STEWARD,),
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
        "change_dataset": Permission.MANAGE_DATASETS,
        "delete_dataset": Permission.MANAGE_DATASETS,
        "create_generalization_hierarchy": Permission.SEE_VALUES,
        "store_hierarchy": Permission.MANAGE_DATASETS,
        "show_hierarchy": Permission.SEE_VALUES,
        "delete_hierarchy": Permission.MANAGE_DATASETS,
        "analyze_risk": Permission.MEASURE_RISK,
        "calculate_weighted_risk": Permission.MEASURE_RISK,
        "propose_config": Permission.MANAGE_DATASETS,
        "show_dataset_budget": Permission.SEE_ALL_BUDGETS,
        "create_project": Permission.MANAGE_PROJECTS,
        "list_projects": Permission.SEE_PROJECTS,
        "show_project": Permission.SEE_PROJECTS,
        "change_project": Permission.MANAGE_PROJECTS,
        "delete_project": Permission.MANAGE_PROJECTS,
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
        "list_audit": Permission.READ_AUDIT,
        "verify_audit": Permission.READ_AUDIT,
        "show_health": Permission.ANYONE,
        "show_metrics": Permission.READ_METRICS,
        "show_documentation": Permission.ANYONE,
        "show_documentation_asset": Permission.ANYONE,
        "show_openapi": Permission.ANYONE,
    }
)

TWO_PEOPLE = ("create_user", "change_user", "delete_user", "delete_dataset", "delete_project", "download_csv")
"""Operations for which the settings may require a second person: they cannot be undone, or let data leave.

A person who may create users, or set their passwords, could act as the second person, too. If two people are to control
each other, the settings must therefore include `create_user` and `change_user`.
"""
