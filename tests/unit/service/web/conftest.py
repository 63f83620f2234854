"""An application of its own for tests of what lies around the routes, with a few routes that misbehave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, ConfigDict, Discriminator

from kohorte.errors import (
    AccessDenied,
    BudgetExceeded,
    EngineError,
    InputError,
    InternalError,
    NoSolution,
    PrivacyViolation,
)
from kohorte.service.accounts.tokens import Claims, Type, issued
from kohorte.service.context import Service
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import now
from kohorte.service.web.app import create_app
from kohorte.service.web.middleware.rate_limits import TooManyRequests
from support.service import new_service

SECRET = "Mustermann"
RAISED: dict[str, Exception] = {
    "input": InputError("column age", code="some-input"),
    "large": InputError("too much", code="table-too-large"),
    "conflict": InputError("first", code="name-conflict"),
    "type": InputError("type", code="upload-content-type"),
    "unknown": AccessDenied("sign in first", code="not-signed-in"),
    "forbidden": AccessDenied("no", code="not-allowed"),
    "missing": AccessDenied("none", code="not-found"),
    "locked": TooManyRequests(41.2),
    "budget": BudgetExceeded("0.1 remains", code="budget-exceeded"),
    "unsolvable": NoSolution("relax k", code="no-solution"),
    "violation": PrivacyViolation("no", code="series-broken"),
    "engine": EngineError(SECRET, code="service-database"),
    "bug": InternalError(SECRET, code="unexpected"),
    "surprise": RuntimeError(SECRET),
    "deep": RecursionError(SECRET),
}
Open = Callable[..., TestClient]


def token_of(client: TestClient, kind: Type = Type.ACCESS, minutes: float = 5) -> str:
    """A token as the service signs them, of nobody in particular."""
    service: Service = client.app.state.service  # type: ignore[attr-defined]
    return issued(service, kind, Claims(1, "session", "token"), until=now() + timedelta(minutes=minutes))


def signed(client: TestClient, **options: Any) -> dict[str, str]:
    """The headers of a body in JSON with such a token."""
    return {"Authorization": f"Bearer {token_of(client, **options)}", "Content-Type": "application/json"}


class One(BaseModel):
    kind: Literal["one"]


class Two(BaseModel):
    kind: Literal["two"]


class Body(BaseModel):
    """A body of many kinds."""

    model_config = ConfigDict(extra="forbid")
    number: int
    choice: Annotated[One | Two, Discriminator("kind")] | None = None
    anything: Any = None


def add_routes(app: FastAPI) -> None:
    @app.get("/raise/{name}")
    def raise_it(name: str) -> None:
        raise RAISED[name]

    @app.post("/body")
    @app.post("/api/v1/login/body")
    def take(body: Body) -> Body:
        return body


@pytest.fixture
def open_client(tmp_path: Path) -> Iterator[Open]:
    """A function that opens an application on SQLite, with settings of its own."""
    with ExitStack() as opened:

        def open_it(*, base_url: str = "http://testserver", folder: str = "service", **settings: Any) -> TestClient:
            loaded = Settings.load(tmp_path / folder, {}, **settings)
            app = create_app(opened.enter_context(new_service(loaded)))
            add_routes(app)
            return TestClient(app, base_url=base_url)

        yield open_it


@pytest.fixture
def plain(open_client: Open) -> TestClient:
    """An application with the settings that it has by itself."""
    return open_client()
