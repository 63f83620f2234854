"""Accounts with a certificate instead of a password."""

from __future__ import annotations

import hashlib
import ssl
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update

from kohorte.errors import AccessDenied, EngineError, InputError
from kohorte.parties.transport.certificates import create_certificate
from kohorte.service.access import Actor
from kohorte.service.accounts import sessions, users
from kohorte.service.accounts.certificates import authenticate_certificate, fingerprint_of_pem, pinned_in
from kohorte.service.context import Service
from kohorte.service.permissions import Role
from kohorte.service.processes.serving import Endpoint
from kohorte.service.storage import schema
from support.service import STEWARD, new_user_with, on_sqlite

CLINIC = {"email_address": "clinic@example.org", "name": "Clinic", "institution": ""}
pytestmark = on_sqlite


@cache
def pem(name: str = "clinic") -> str:
    return create_certificate(name)[1].decode()


def fingerprint(certificate: str) -> str:
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(certificate)).hexdigest()


def created(service: Service, *roles: Role, **options: Any) -> Any:
    given = {"certificate": pem()} | options
    return users.create(service, **CLINIC, roles=roles or (Role.SOURCE,), by=None, **given)


def refusal(work: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises((InputError, AccessDenied)) as caught:
        work(*arguments, **options)
    return caught.value.code


def test_a_certificate_is_its_account_until_that_is_disabled(service: Service) -> None:
    row = created(service)
    assert users.user_to_dict(row)["certificate"] == f"sha256:{fingerprint(pem())}"
    assert authenticate_certificate(service, fingerprint(pem())) == Actor(row.id, frozenset({Role.SOURCE}))
    assert refusal(authenticate_certificate, service, fingerprint(pem("other"))) == "not-signed-in"
    users.change_by_hand(service, CLINIC["email_address"], users.Changes(disabled=True))
    assert refusal(authenticate_certificate, service, fingerprint(pem())) == "not-signed-in"


def test_an_account_has_a_password_or_a_certificate(service: Service) -> None:
    strong = "three sparrows on a wire"
    assert refusal(created, service, password=strong) == "user-certificate"
    assert refusal(created, service, certificate=None) == "user-certificate"
    created(service)
    for password in ("", strong):
        assert refusal(sessions.sign_in, service, CLINIC["email_address"], password) == "login-failed"
    change = users.Changes(password=strong)
    assert refusal(users.change_by_hand, service, CLINIC["email_address"], change) == "user-certificate"
    person = new_user_with(service, Role.RESEARCHER)
    change = users.Changes(certificate=pem("other"))
    assert refusal(users.change_by_hand, service, person.email_address, change) == "user-certificate"


@pytest.mark.parametrize("role", [Role.STEWARD, Role.APPROVER, Role.DATA_PROTECTION_OFFICER])
def test_an_account_with_a_certificate_is_no_person(service: Service, role: Role) -> None:
    assert refusal(created, service, Role.SOURCE, role) == "user-certificate"
    created(service, Role.SOURCE, Role.TRUSTEE)
    change = users.Changes(roles=[Role.SOURCE, role])
    assert refusal(users.change_by_hand, service, CLINIC["email_address"], change) == "user-certificate"
    assert authenticate_certificate(service, fingerprint(pem())).roles == {Role.SOURCE, Role.TRUSTEE}


def test_a_certificate_is_renewed_and_belongs_to_one_account(service: Service) -> None:
    row = created(service)
    users.change_by_hand(service, CLINIC["email_address"], users.Changes(certificate=pem("renewed")))
    assert refusal(authenticate_certificate, service, fingerprint(pem())) == "not-signed-in"
    assert authenticate_certificate(service, fingerprint(pem("renewed"))).user_id == row.id
    again = {"email_address": "other@example.org", "name": "Other", "institution": ""}
    twice = {**again, "roles": (Role.SOURCE,), "by": None, "certificate": pem("renewed")}
    assert refusal(users.create, service, **twice) == "user-conflict"
    steward = Actor(new_user_with(service, Role.STEWARD).id, STEWARD)
    with service.database.writing() as connection:
        users.remove(service, connection, steward, row.id)
    users.create(service, **twice)


def test_a_certificate_that_was_exchanged_in_the_database_is_refused(service: Service) -> None:
    row = created(service)
    person = new_user_with(service, Role.TRUSTEE)
    forged = (schema.users.c.id == person.id, {"certificate_fingerprint": fingerprint(pem("forged"))})
    with service.database.writing() as connection:
        connection.execute(update(schema.users).where(forged[0]).values(forged[1]))
    with pytest.raises(EngineError) as caught:
        authenticate_certificate(service, fingerprint(pem("forged")))
    assert caught.value.code == "service-row-changed"
    assert authenticate_certificate(service, fingerprint(pem())).user_id == row.id
    with service.database.writing() as connection:
        connection.execute(text("UPDATE users SET certificate_fingerprint = NULL"))
    with pytest.raises(EngineError):
        users.shown(service, Actor(row.id, frozenset()), row.id)


def test_one_certificate_in_pem_is_read_and_nothing_else(tmp_path: Path, service: Service) -> None:
    del service
    assert fingerprint_of_pem(pem()) == fingerprint(pem())
    for wrong in ("", "secret", pem() + pem("other"), pem().replace("M", "?", 1)):
        assert refusal(fingerprint_of_pem, wrong) == "user-certificate"
    path = tmp_path / "accepted.pem"
    path.write_text(pem() + pem("other"))
    assert pinned_in(path) == {fingerprint(pem()), fingerprint(pem("other"))}
    path.write_text("nothing")
    assert refusal(pinned_in, path) == "service-client-certificates"
    assert refusal(pinned_in, tmp_path / "missing.pem") == "service-client-certificates"


def test_client_certificates_need_tls(tmp_path: Path, service: Service) -> None:
    del service
    path = tmp_path / "accepted.pem"
    path.write_text(pem())
    assert refusal(Endpoint, client_certificates=path) == "service-client-certificates"
    assert refusal(Endpoint, client_certificates=path, behind_proxy=True) == "service-client-certificates"
