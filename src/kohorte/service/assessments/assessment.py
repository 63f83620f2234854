"""Assess the risk of a release: of a plan that is being edited, of a draft, or of a project; nothing is stored.

The figures are those of `kohorte risk`, with the attacks that can be run. They stay in memory for a while
(`kept_results`), because several people read them. Labels of groups are told to people who may see values, only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
from sqlalchemy import Row

from kohorte.data import Formulas
from kohorte.data.csv import read_csv
from kohorte.data.formulas import unquote_formulas
from kohorte.errors import InputError
from kohorte.plans import Plan
from kohorte.plans.search_options import SearchOptions
from kohorte.release import anonymize
from kohorte.report.assessment import assess, without_labels
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies, kept_results, kept_tables
from kohorte.service.datasets.records import log_reading
from kohorte.service.house_rules import ReleaseTerms
from kohorte.service.permissions import Permission
from kohorte.service.previews.evaluation import SECONDS, Patience
from kohorte.service.projects import store
from kohorte.service.projects.configuration import Dataset, read_config, read_plan
from kohorte.service.projects.released_files import releasing_project
from kohorte.service.reviews import rows
from kohorte.service.vault import Content

MOST_ROWS = 250_000
"""A larger table would occupy the server for minutes; its report is made by a job."""


def of_plan(service: Service, actor: Actor, dataset_id: int, config: Mapping[str, Any]) -> dict[str, Any]:
    """Assess what a config would release."""
    actor.refuse_without(Permission.SEE_VALUES)
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
        stored = hierarchies.stored(service, connection, dataset_id)
    plan = read_plan(config, Dataset(store.names_of(dataset), stored))
    service.settings.rules.refuse(ReleaseTerms.of(plan))
    log_reading(service, actor, dataset_id, "assess-risk", rows=0)
    return _told(actor, _of_plan(service, dataset, plan))


def of_draft(service: Service, actor: Actor, draft_id: int) -> dict[str, Any]:
    """Assess what a draft would release: after its submission with the levels that were submitted."""
    with service.database.reading() as connection:
        draft = rows.draft_for(service, connection, actor, draft_id)
        dataset = store.ready_dataset(service, connection, draft.dataset_id)
    plan, figures = rows.plan_in(rows.config_of(service, draft)), rows.figures_of(service, draft)
    if figures is not None and figures["levels"]:
        plan = replace(plan, search=SearchOptions(threads=plan.search.threads, levels=figures["levels"]))
    _log(service, actor, f"draft {draft_id}")
    return _told(actor, _of_plan(service, dataset, plan))


def of_project(service: Service, actor: Actor, project_id: int) -> dict[str, Any]:
    """Assess a release as it is stored."""
    with service.database.reading() as connection:
        project = releasing_project(service, connection, actor, project_id, evidence_only=True)
        dataset = store.dataset_of(service, connection, project)
        stored = hierarchies.stored(service, connection, project.dataset_id)
    _log(service, actor, f"project {project_id}")
    config = json.loads(store.config_text_of(service, project))
    plan = read_config(config, Dataset(store.names_of(dataset), stored))
    assert isinstance(plan, Plan), "a project with a release has a plan"
    key = (f"project {project_id}", str(project.release_file))
    found = _kept(service, dataset, key, partial(_released, service, project, plan), plan, _certified(project))
    return _told(actor, found)


def _of_plan(service: Service, dataset: Row[Any], plan: Plan) -> dict[str, Any]:
    def release() -> Any:
        return anonymize(kept_tables.frame(service, dataset), plan, progress=Patience(SECONDS))

    return _kept(service, dataset, ("plan", plan.fingerprint()), release, plan, ())


def _kept(
    service: Service,
    dataset: Row[Any],
    key: tuple[str, str],
    release: Callable[[], Any],
    plan: Plan,
    certified: tuple[str, ...],
) -> dict[str, Any]:
    if dataset.rows is not None and dataset.rows > MOST_ROWS:
        raise InputError(
            f"the table has more than {MOST_ROWS:,} rows, too many to measure its risk while somebody waits; read the "
            "report of the release, or use kohorte risk",
            code="assess-too-large",
        )

    def assessed() -> dict[str, Any]:
        with kept_tables.working(service, dataset) as table:
            return assess(table.frame, plan, release(), policy=service.settings.policy, certified=certified)

    return kept_results.ASSESSMENTS.get(service, (str(dataset.table_sha256), *key), assessed)[0]


def _released(service: Service, project: Row[Any], plan: Plan) -> pl.DataFrame:
    """The released table, as its file has it."""
    content = service.vault.read(str(project.release_file), Content.RELEASE)
    frame = read_csv(content, source=f"project {project.id}").frame
    return unquote_formulas(frame)[0] if plan.formulas is Formulas.QUOTE else frame


def _certified(project: Row[Any]) -> tuple[str, ...]:
    return tuple(project.certificate["warnings"])


def _told(actor: Actor, found: dict[str, Any]) -> dict[str, Any]:
    return found if actor.may(Permission.SEE_VALUES) else without_labels(found)


def _log(service: Service, actor: Actor, about: str) -> None:
    with service.database.writing() as connection:
        service.log.append(connection, "assess-risk", about, actor=actor.user_id)
