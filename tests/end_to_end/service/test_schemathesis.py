"""Schemathesis reads the OpenAPI description and tries to break every operation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from kohorte.service.context import Service
from kohorte.service.settings import Settings
from support.service import new_user, signed_in

OWN_SESSION = ("logout", "delete_user", "change_user")
"""These would end the session that the tests use; a user of their own is asked for them."""


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    from fastapi.testclient import TestClient

    from kohorte.service.web.app import create_app

    folder = tmp_path_factory.mktemp("schemathesis") / "service"
    quick = replace(
        Settings.load(folder, {}), synchronous_seconds=0.01, requests_per_minute=10**9, logins_per_minute=10**9
    )
    with Service.opened(quick, create=True) as service:
        app = create_app(service)
        users = [new_user(service, privileged=True) for _ in range(2)]
        with TestClient(app) as client:
            app.state.headers = [signed_in(client, user.email_address) for user in users]
        yield schemathesis.openapi.from_asgi("/openapi.json", app)


schema = schemathesis.pytest.from_fixture("api")


@pytest.mark.slow
@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_operation_breaks(case: Any) -> None:
    headers = case.operation.app.state.headers[0]
    case.call_and_validate(headers=headers)
