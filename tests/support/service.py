"""The service in tests: opened on SQLite and on PostgreSQL, over HTTP, with people who are signed in.

A conftest takes the fixtures by importing them: `address`, `service`, `client`, `steward` and `researcher`.

Most tests need a service, and few are about how it is made. Therefore the tables are made once in each test process and
copied, and passwords are hashed with the least work that Argon2 knows. tests/unit/service/storage and `kohorte serve`
in tests/end_to_end/service make services from scratch; tests/unit/service/accounts/test_passwords.py hashes with full
work.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from fastapi.testclient import TestClient
from nacl.pwhash import argon2id

from kohorte.service.context import Service, make_folder
from kohorte.service.permissions import Role
from kohorte.service.settings import Settings
from kohorte.service.storage.database import Database
from kohorte.service.storage.migration import migrate
from kohorte.trust import passwords
from support.postgres import cluster

BACKENDS = ("sqlite", "postgresql")
on_sqlite = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)
"""For tests of what does not depend on the database, or of SQLite alone."""
PASSWORD = "correct horse battery staple"
STEWARD = frozenset({Role.STEWARD})
RESEARCHER = frozenset({Role.RESEARCHER})
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Person:
    """A user who is signed in."""

    user_id: int
    email_address: str
    headers: dict[str, str]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def backend(request: pytest.FixtureRequest) -> str:
    """Which database: everything that asks for it runs on both, on PostgreSQL in `make test-long`."""
    name: str = request.param
    return name


@pytest.fixture(params=BACKENDS)
def always_both(request: pytest.FixtureRequest) -> str:
    """The same for tests about the database itself, which run on both in `make test`, too."""
    name: str = request.param
    return name


@pytest.fixture
def address(backend: str, tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[str]:
    """The address of an empty database."""
    if backend == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.db'}"
        return
    with cluster(pytestconfig).database() as found:
        yield found


@pytest.fixture
def service_settings(backend: str, tmp_path: Path, pytestconfig: pytest.Config) -> Iterator[Settings]:
    """The settings of a service of its own, in `tmp_path/service`; other processes may open it, too."""
    folder = tmp_path / "service"
    if backend == "sqlite":
        yield Settings.load(folder, {})
        return
    running = cluster(pytestconfig)
    with running.database(running.migrated) as found:
        yield Settings.load(folder, {}, database=found)


@pytest.fixture
def service(service_settings: Settings) -> Iterator[Service]:
    """An opened service with empty tables."""
    with new_service(service_settings) as opened:
        yield opened


@pytest.fixture(autouse=True)
def light_hashes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash passwords with little work."""
    monkeypatch.setattr(passwords, "PASSES", argon2id.OPSLIMIT_MIN)
    monkeypatch.setattr(passwords, "MEMORY", argon2id.MEMLIMIT_MIN)


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """The service over HTTP."""
    with client_of(service) as opened:
        yield opened


@pytest.fixture
def steward(service: Service, client: TestClient) -> Person:
    """A data steward who is signed in."""
    return new_person(service, client, privileged=True)


@pytest.fixture
def researcher(service: Service, client: TestClient) -> Person:
    """A researcher who is signed in."""
    return new_person(service, client, privileged=False)


@contextmanager
def new_service(settings: Settings) -> Iterator[Service]:
    """Open a service that is not there yet; on SQLite it begins with a copy of the empty tables."""
    if not settings.database:
        make_folder(settings)
        path = settings.folder / "service.db"
        path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(_empty_tables())
    with Service.opened(settings, create=True) as opened:
        yield opened


@functools.cache
def _empty_tables() -> bytes:
    """The file of an SQLite database after all migrations."""
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{folder}/migrated.db")
        migrate(database)
        database.close()
        return Path(folder, "migrated.db").read_bytes()


@contextmanager
def client_of(service: Service, **options: Any) -> Iterator[TestClient]:
    """Serve a service to a client in the same process."""
    from kohorte.service.web.app import create_app

    with TestClient(create_app(service), **options) as opened:
        yield opened


def new_person(service: Service, client: TestClient, *, privileged: bool) -> Person:
    """Create a steward or a researcher in the database and sign in over HTTP."""
    return new_person_with(service, client, *(STEWARD if privileged else RESEARCHER))


def new_person_with(service: Service, client: TestClient, *roles: Role) -> Person:
    """Create a user with some roles in the database and sign in over HTTP."""
    row = new_user_with(service, *roles)
    return Person(row.id, row.email_address, signed_in(client, row.email_address))


def new_user(service: Service, *, privileged: bool, password: str = PASSWORD) -> Any:
    """Create a steward or a researcher in the database, without HTTP."""
    roles = STEWARD if privileged else RESEARCHER
    return new_user_with(service, *roles, password=password)


def new_user_with(service: Service, *roles: Role, password: str = PASSWORD) -> Any:
    """Create a user with some roles in the database, without HTTP."""
    from kohorte.service.accounts import users

    what = roles[0]
    return users.create(
        service,
        email_address=f"{what}{next(_numbers)}@example.org",
        name=f"A {what}",
        institution="Example hospital",
        password=password,
        roles=roles,
        by=None,
    )


def signed_in(client: TestClient, email_address: str, password: str = PASSWORD) -> dict[str, str]:
    """Sign in and return the headers of further requests."""
    answer = client.post("/api/v1/login", json={"email_address": email_address, "password": password})
    assert answer.status_code == 200, answer.text
    return {"Authorization": f"Bearer {answer.json()['access_token']}"}
