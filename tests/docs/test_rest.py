"""docs/rest.md lists the operations, permissions and roles of the service: all of them, and no others."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from fastapi.routing import iter_route_contexts

from kohorte.service.permissions import ROLES_WITH, RULES, TWO_PEOPLE, Role
from kohorte.service.settings import Settings
from kohorte.service.web.app import create_app

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "rest.md").read_text(encoding="utf-8")
LISTED = dict(re.findall(r"^\| `([A-Z]+ /\S*)` \| ([^|]+) \|", PAGE, flags=re.MULTILINE))


def routes() -> dict[str, str]:
    """The name of each operation, by method and path."""
    app = create_app(cast("Any", _Opened()))
    return {
        f"{method} {str(route.path).removeprefix('/api/v1').replace(':path', '').replace(':int', '')}": str(route.name)
        for route in iter_route_contexts(app.routes)
        for method in (route.methods or set()) - {"HEAD"}
        if route.name != "show_documentation_asset" and not str(route.name).startswith("screen_")
    }


class _Opened:
    """As much of a service as making its application needs."""

    settings = Settings(Path())


def test_every_operation_is_listed_and_no_other() -> None:
    assert set(routes()) == set(LISTED)


def test_the_list_says_which_permission_an_operation_needs() -> None:
    assert {name: re.split("[:,]", LISTED[operation])[0] for operation, name in routes().items()} == {
        name: permission for name, permission in RULES.items() if name != "show_documentation_asset"
    }


def test_the_table_says_which_roles_have_a_permission() -> None:
    lines = PAGE[PAGE.index("| permission | steward") :].split("\n\n")[0].splitlines()
    roles = [cell.strip().replace(" ", "-") for cell in lines[0].split("|")[2:-1]]
    assert roles == list(Role)
    found = {}
    for line in lines[2:]:
        permission, *cells = (cell.strip() for cell in line.split("|")[1:-1])
        found[permission] = tuple(role for role, cell in zip(roles, cells, strict=True) if cell == "yes")
    assert found == dict(ROLES_WITH)


def test_every_role_is_described_and_every_operation_for_two_people_named() -> None:
    assert [role for role in Role if f"| `{role}` |" not in PAGE] == []
    section = PAGE[PAGE.index("## Two people") :]
    assert [name for name in TWO_PEOPLE if f"`{name}`" not in section] == []


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text(encoding="utf-8")
    assert [part.name for part in fields(Settings) if part.name != "folder" and f"`{part.name}`" not in page] == []
