"""Projects in tests: a dataset that is ready, configs as the interface writes them, and jobs that are done at once."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
from sqlalchemy import insert, select

from kohorte.data import write_parquet
from kohorte.dp import Budget
from kohorte.dp.budget.budget import Cost
from kohorte.errors import BudgetExceeded
from kohorte.service.context import Service
from kohorte.service.disclosures.given import ledger_order
from kohorte.service.jobs import queue
from kohorte.service.jobs.child import perform
from kohorte.service.jobs.settlement import Outcome, settle
from kohorte.service.projects.ledger import DatabaseLedger
from kohorte.service.settings import Settings
from kohorte.service.storage.schema import datasets, now
from kohorte.service.trust.leaving.releases import Places
from support.marked_rows import mark_rows
from support.service import RESEARCHER

DISEASES = ("flu", "angina", "stroke")


def patients(rows: int = 300) -> pl.DataFrame:
    """A table of made-up patients."""
    return pl.DataFrame(
        {
            "zip_code": [f"{476 + row % 2}" for row in range(rows)],
            "age": [f"{row % 90 + 5}" for row in range(rows)],
            "married": [("true", "false")[row // 3 % 2] for row in range(rows)],
            "gender": ["fm"[row % 2] for row in range(rows)],
            "disease": [DISEASES[row % 3] for row in range(rows)],
        }
    )


def store_dataset(service: Service, frame: pl.DataFrame, creator_id: int, *, state: str = "ready") -> int:
    """Store a table as a dataset, without an upload."""
    written = io.BytesIO()
    write_parquet(frame, written)
    content = written.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    columns = [
        {"name": name, "datatype": "str", "distinct": frame[name].n_unique(), "missing": frame[name].null_count()}
        for name in frame.columns
    ]
    with service.database.writing() as connection:
        found = connection.execute(
            insert(datasets)
            .values(
                name="patients",
                description="",
                creator_id=creator_id,
                created_at=now(),
                state=state,
                file_name="patients.csv",
                bytes=len(content),
                sha256=digest,
                table_file=service.vault.write(content),
                table_sha256=digest,
                rows=frame.height,
                columns=columns,
            )
            .returning(datasets.c.id)
        )
        dataset_id = int(found.scalar_one())
        mark_rows(service, connection)
        return dataset_id


def interactive(epsilon: float = 2, delta: float = 1e-6, **more: Any) -> dict[str, Any]:
    """A config for questions; `more` goes into the parameters of the model."""
    return {
        "attributes": [
            _attribute("age", {"datatype": "int", "min": 0, "max": 100}),
            _attribute("gender", {"datatype": "str", "cardinality": 2}),
            _attribute("married", {"datatype": "bool"}),
            {"attribute_name": "zip_code", "attribute_type": "identifying"},
        ],
        "privacy_models": [
            {
                "model_name": "epsilon-delta-differential_privacy",
                "model_params": {"epsilon": epsilon, "delta": delta, **more},
            }
        ],
    }


def release(k: int = 5, **more: Any) -> dict[str, Any]:
    """A config for a release; `more` goes into the config."""
    zips = [["476", "47*", "4**", "***"], ["477", "47*", "4**", "***"]]
    ages = [[f"{age}", "young" if age < 18 else "adult", "*"] for age in range(5, 95)]
    return {
        "attributes": [
            {"attribute_name": "zip_code", "attribute_type": "quasi-identifying", "attribute_hierarchy": zips},
            {"attribute_name": "age", "attribute_type": "quasi-identifying", "attribute_hierarchy": ages},
            {"attribute_name": "married", "attribute_type": "insensitive"},
            {"attribute_name": "gender", "attribute_type": "quasi-identifying"},
            {"attribute_name": "disease", "attribute_type": "sensitive"},
        ],
        "privacy_models": [
            {"model_name": "k-anonymity", "model_params": {"k": k}},
            {"model_name": "l-diversity_distinct", "attribute_name": "disease", "model_params": {"l": 2}},
        ],
        "suppression_limit": 0.2,
        **more,
    }


def hopeless() -> dict[str, Any]:
    """A config for a release that does not exist: even the whole table is not diverse enough."""
    model = {"model_name": "l-diversity_recursive", "attribute_name": "disease", "model_params": {"c": 0.1, "l": 3}}
    return release(privacy_models=[model], suppression_limit=0)


def _attribute(name: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {"attribute_name": name, "attribute_type": "quasi-identifying", "metadata": dict(metadata)}


class _Channel:
    """Where a job reports to."""

    def __init__(self, service: Service) -> None:
        self.vault = service.vault

    def progress(self, share: float, message: str) -> None:
        """Hear how far the job is."""

    def file(self, name: str) -> None:
        """Hear of a file."""


@contextmanager
def working(service: Service) -> Iterator[None]:
    """Have jobs done by a thread of this process."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.01):
            claim = queue.claim(service, "test")
            if claim is not None:
                settle(service, claim, _performed(service, claim))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _performed(service: Service, claim: queue.Claim) -> Outcome:
    with service.database.reading() as connection:
        table = connection.execute(select(datasets.c.table_file).where(datasets.c.id == claim.dataset_id)).scalar_one()
    places = asdict(Places.of(service.settings))
    order: dict[str, Any] = {
        "kind": claim.kind,
        "request": claim.request,
        "table_file": table,
        "most_cells": 10**9,
        "places": json.loads(json.dumps(places)),
        "ledger": ledger_order(service.settings),
    }
    told = perform(_Channel(service), order)  # type: ignore[arg-type]
    return Outcome(queue.State(told["state"]), told.get("result"), told.get("problem"), told.get("values", {}))


def spend_in_process(folder: str, database: str | None, project: tuple[int, int], name: int) -> None:
    """Spend thirtieths of a budget of 1 until it is used up, as a process of its own."""
    settings = Settings.load(Path(folder), {}, database=database)
    with Service.opened(settings, create=False) as service, suppress(BudgetExceeded):
        for number in range(20):
            ledger = DatabaseLedger(service, *project)
            ledger.reserve(f"{name} {number}", Cost(Fraction(1, 30)), Budget(1))


def ask_in_process(folder: str, database: str | None, project: tuple[int, int], start: Any, answers: Any) -> None:
    """Ask the same ten questions as everybody else at the same moment, as a process of its own."""
    from kohorte.service.access import Actor
    from kohorte.service.projects.queries import Query, answer_query

    settings = Settings.load(Path(folder), {}, database=database)
    with Service.opened(settings, create=False) as service:
        actor = Actor(project[1], RESEARCHER, "s")
        answer_query(service, actor, project[0], Query("SELECT COUNT(*) FROM PRIORI", 0.01, 0.0))
        start.wait()
        for age in range(10):
            asked = Query(f"SELECT COUNT(*) FROM PRIORI WHERE age > {age}", 0.01, 0.0)
            answers.put((age, str(answer_query(service, actor, project[0], asked)["query_result"])))


def spend_beyond_in_process(folder: str, database: str | None, project: tuple[int, int], name: int, begun: Any) -> None:
    """Spend thirtieths, as a process of its own, until the budget or a rule of the house refuses."""
    settings = Settings.load(Path(folder), {}, database=database)
    with Service.opened(settings, create=False) as service, suppress(BudgetExceeded):
        if begun is not None:
            begun.wait()
        for number in range(40):
            ledger = DatabaseLedger(service, *project)
            ledger.reserve(f"{name} {number}", Cost(Fraction(1, 30)), Budget(1))
