"""A service with something in every sealed column: for tests of keys and backups."""

from __future__ import annotations

from fractions import Fraction

from sqlalchemy import insert, select

from kohorte.dp import Budget
from kohorte.dp.budget.budget import Cost
from kohorte.service.access import Actor
from kohorte.service.approvals.requests import values_label
from kohorte.service.audit import verify_log
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies as kept_hierarchies
from kohorte.service.projects import store
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.projects.queries import history
from kohorte.service.storage.schema import approvals, hierarchies, now
from kohorte.service.vault import Content
from support.marked_rows import mark_rows
from support.projects import interactive, patients, store_dataset
from support.service import STEWARD, new_user

BUDGET = Budget(1, 1e-6)
TENTH = Cost(Fraction(1, 10), Fraction(1, 10**8))
DATA = b"x" * 3000


class Filled:
    """A service with a text in every kind of sealed column, and locked files; `check` reads all of it."""

    def __init__(self, service: Service) -> None:
        self.steward = new_user(service, privileged=True)
        researcher = new_user(service, privileged=False)
        self.actor = Actor(self.steward.id, STEWARD, "s")
        dataset = store_dataset(service, patients(20), self.steward.id)
        wanted = store.NewProject("questions", "", dataset, researcher.id, config=interactive(1, 1e-6))
        self.project = store.create(service, self.actor, wanted).project_id, researcher.id
        self.dataset = dataset
        self.spent = 0
        self.pay(service)
        self.files = {content: service.vault.write(DATA, content) for content in Content}
        with service.database.writing() as connection:
            sealed = service.vault.seal('[["a", "*"]]', label=kept_hierarchies.hierarchy_label(dataset, "age"))
            connection.execute(
                insert(hierarchies).values(dataset_id=dataset, attribute="age", sealed=sealed, created_at=now())
            )
            entry = {
                "operation": "delete_dataset",
                "subject_kind": "dataset",
                "subject_id": dataset,
                "state": "pending",
            }
            entry |= {"requester_id": self.steward.id, "created_at": now(), "expires_at": now()}
            values = service.vault.seal("{}", label=values_label(entry))
            connection.execute(insert(approvals).values(**entry, sealed_values=values))
            mark_rows(service, connection)

    def pay(self, service: Service) -> None:
        ledger = DatabaseLedger(service, *self.project, sql="SELECT 1")
        number = ledger.reserve(f"q{self.spent}", TENTH, BUDGET)
        assert number is not None
        ledger.record(number, "released")
        self.spent += 1

    def check(self, service: Service) -> None:
        ledger = DatabaseLedger(service, *self.project)
        assert ledger.recorded("q0") == "released"
        assert ledger.spent().amount == Fraction(self.spent, 10)
        entries, total = history(service, self.actor, self.project[0], user_id=None, limit=100, number=1)
        assert total == self.spent
        assert {entry["sql"] for entry in entries} == {"SELECT 1"}
        project = store.show(service, self.actor, self.project[0])
        assert store.config_text_of(service, project)
        assert store.summary_of(service, project)
        for content, name in self.files.items():
            assert service.vault.read(name, content) == DATA
        with service.database.reading() as connection:
            sealed = connection.execute(select(hierarchies.c.sealed)).scalar_one()
            request = connection.execute(select(approvals)).one()
        assert service.vault.unseal(request.sealed_values, label=values_label(request._asdict())) == b"{}"
        assert service.vault.unseal(sealed, label=kept_hierarchies.hierarchy_label(self.dataset, "age"))
        assert verify_log(service.database, service.log).whole
