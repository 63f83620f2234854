"""The rows of a service of an earlier version are marked once, at its first start, and never again."""

from __future__ import annotations

import hashlib
import hmac

import pytest
from sqlalchemy import select, update

from kohorte.errors import InputError
from kohorte.service.context import Service
from kohorte.service.integrity.marks import MARKED
from kohorte.service.integrity.verification import verify, wrong_rows
from kohorte.service.key_rotation import SEALED
from kohorte.service.storage import schema
from support.attacker import Attacker
from support.filled_service import Filled

TABLES = [kind.table for kind in MARKED]


def unmark(service: Service, *, code: bool = True) -> None:
    """Put the database into the state in which the migration leaves it."""
    attacker = Attacker(service)
    (row,) = attacker.rows(schema.accounts)
    names = ("project_id", "user_id", "composition", "amount", "delta")
    text = " ".join(str(row[name]) for name in names) if code else "forged"
    mac = hmac.new(service.vault.derived("accounts"), text.encode(), hashlib.sha256).hexdigest()
    for table in TABLES:
        attacker.run(update(table).values(version=None, mark=mac if table is schema.accounts else None))
    attacker.run(update(schema.audit_head).values(state=None))


def test_the_rows_of_an_earlier_version_are_marked_at_the_first_start(service: Service) -> None:
    filled = Filled(service)
    unmark(service)
    service.settings.state_log.unlink()
    with pytest.raises(InputError) as caught, Service.opened(service.settings, create=False):
        pass
    assert caught.value.code == "service-version"
    with Service.opened(service.settings, create=True) as again:
        filled.check(again)
        assert verify(again.database, again.log, again.guard, SEALED).whole
        with again.database.reading() as connection:
            entry = connection.execute(select(schema.audit).order_by(schema.audit.c.number.desc()).limit(1)).one()
        assert (entry.action, entry.details) == ("mark-rows", {"rows": 7})
        filled.pay(again)


def test_an_account_that_was_changed_before_is_not_marked(service: Service) -> None:
    Filled(service)
    unmark(service, code=False)
    service.settings.state_log.unlink()
    with Service.opened(service.settings, create=True) as again:
        assert [row.table for row in wrong_rows(again.database, again.guard)] == ["accounts"]


def test_a_database_that_says_that_it_was_never_marked_is_not_trusted_again(service: Service) -> None:
    Filled(service)
    unmark(service)
    Attacker(service).run("UPDATE users SET name = 'forged'")
    with Service.opened(service.settings, create=True) as again:
        assert len(wrong_rows(again.database, again.guard)) == 7


def test_a_first_start_that_was_killed_is_repeated(service: Service) -> None:
    Filled(service)
    unmark(service)
    service.settings.state_log.unlink()
    service.guard.state_log.__init__(service.settings.state_log, service.vault)  # type: ignore[misc]
    service.guard.state_log.rewrite({}, (0, "0" * 64))  # the file was written, the database was not
    with Service.opened(service.settings, create=True) as again:
        assert wrong_rows(again.database, again.guard) == ()
