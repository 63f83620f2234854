"""docs/rest.md lists the operations of the service: all of them, no others, with who may call them."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

from fastapi.routing import iter_route_contexts

from kohorte.service.access import RULES, Who
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
        if route.name != "show_documentation_asset"
    }


class _Opened:
    """As much of a service as making its application needs."""

    settings = Settings(Path())


def test_every_operation_is_listed_and_no_other() -> None:
    assert set(routes()) == set(LISTED)


def test_the_list_says_who_may_call_an_operation() -> None:
    words = {Who.ANYONE: "anyone", Who.SIGNED_IN: "signed in", Who.STEWARD: "steward"}
    wrong = [
        name
        for operation, name in routes().items()
        if not LISTED[operation].startswith(words[RULES[name]]) and "oneself" not in LISTED[operation]
    ]
    assert wrong == []


def test_every_setting_is_documented() -> None:
    page = (ROOT / "docs" / "how-to" / "run-the-service.md").read_text(encoding="utf-8")
    assert [part.name for part in fields(Settings) if part.name != "folder" and f"`{part.name}`" not in page] == []
