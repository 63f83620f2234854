"""Projects under the rules of the house: their terms, the refusal of what breaks a rule, and which ones break it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Row, select

from kohorte.data import Role
from kohorte.dp import Budget
from kohorte.errors import KohorteError
from kohorte.models import model_from_dict
from kohorte.plans.person import as_person
from kohorte.service.context import Service
from kohorte.service.house_rules import Breach, QuestionTerms, ReleaseTerms, Terms
from kohorte.service.integrity import marks
from kohorte.service.projects.query_terms import DIFFERENTIAL_PRIVACY
from kohorte.service.projects.store import LISTED, summary_of
from kohorte.service.storage.schema import projects

UNREADABLE = Breach("readable", "the summary of the project cannot be read, so that no rule can be checked")
FORGED = Breach("readable", "the row of the project is not as the service wrote it, so that no rule can be checked")


@dataclass(frozen=True)
class BrokenRule:
    """A project that breaks a rule: it hands out nothing, and answers no query."""

    project_id: int
    rule: str
    reason: str

    def __str__(self) -> str:
        return f"project {self.project_id} breaks the rule {self.rule}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


def terms_of_project(service: Service, project: Row[Any]) -> Terms:
    """Return what the rules look at of a stored project, from its sealed summary."""
    summary = summary_of(service, project)
    models = summary["privacy_models"]
    if models[0]["model_name"] == DIFFERENTIAL_PRIVACY:
        parameters = models[0]["model_params"]
        given = {key: parameters[key] for key in ("epsilon", "delta", "composition") if _given(parameters, key)}
        return QuestionTerms(Budget(**given), as_person(summary.get("person", summary.get("private_id"))))
    roles = {entry["attribute_name"]: Role(entry["attribute_type"]) for entry in summary["attributes"]}
    person = as_person(summary.get("person"))
    return ReleaseTerms(roles, tuple(model_from_dict(_entry(model)) for model in models), person)


def refuse_broken(service: Service, project: Row[Any]) -> None:
    """Refuse to hand out the release, or to answer queries, of a project that breaks a rule."""
    service.settings.rules.refuse(terms_of_project(service, project))


def broken_rules(service: Service) -> list[BrokenRule]:
    """Return which projects break which rules."""
    with service.database.reading() as connection:
        rows = connection.execute(select(*LISTED).where(projects.c.deleted_at.is_(None)).order_by(projects.c.id)).all()
        genuine = {row.id for row in rows if service.guard.problem(connection, marks.PROJECT, row) is None}
    found = {row.id: _breaches(service, row) if row.id in genuine else [FORGED] for row in rows}
    return [BrokenRule(number, *breach) for number, breaches in found.items() for breach in breaches]


def _breaches(service: Service, project: Row[Any]) -> list[Breach]:
    try:
        return list(service.settings.rules.breaches(terms_of_project(service, project)))
    except (KohorteError, KeyError, ValueError):
        return [UNREADABLE]


def _entry(model: Mapping[str, Any]) -> dict[str, Any]:
    """A model of a summary as a plan writes it."""
    attribute = {"attribute": model["attribute_name"]} if _given(model, "attribute_name") else {}
    return {"model": model["model_name"], **attribute, **(model.get("model_params") or {})}


def _given(entry: Mapping[str, Any], key: str) -> bool:
    return entry.get(key) is not None
