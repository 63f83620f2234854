"""The certificate: what was released, how, what was verified, and what it protects against."""

from __future__ import annotations

import inspect
import json
import platform
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from kohorte.data import Role
from kohorte.hierarchies import SUPPRESSED, Builder, Ordering
from kohorte.in_words import cost, percent
from kohorte.kernels import KERNELS
from kohorte.models import PrivacyModel
from kohorte.plans.plan import Plan
from kohorte.release.candidate import Candidate
from kohorte.release.release import Release
from kohorte.release.verification import ModelVerdict
from kohorte.release.words import model_in_words

FORMAT = 1

ALWAYS_OPEN = (
    "A person who knows that somebody is in the table and knows sensitive values of that person.",
    "Columns that the plan declares insensitive although outsiders know them; the plan decides, not the program.",
    "Free text, images and the like inside sensitive or insensitive columns.",
)
ONE_RELEASE = "Linking with other releases of the same people: each release is judged on its own."


@dataclass(frozen=True)
class FileFacts:
    """A file, by name and content hash."""

    name: str
    sha256: str


@dataclass(frozen=True)
class Certificate:
    """The evidence for one release, as data and as text for people."""

    facts: dict[str, object]

    def to_json(self) -> str:
        """The certificate as JSON."""
        return json.dumps(self.facts, indent=2, ensure_ascii=False) + "\n"

    def to_text(self) -> str:
        """The certificate as text, for a person who does not know the program."""
        return _text(self.facts)


def certify(release: Release, *, source: FileFacts | None = None, output: FileFacts | None = None) -> Certificate:
    """Return the certificate of a release; `output` is the file from which it was verified, if any."""
    plan = release.plan
    return Certificate(
        {
            "certificate": FORMAT,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": versions(),
            "input": _file(source) | {"rows": release.input_rows},
            "output": _file(output)
            | {"rows": release.rows, "identifying_columns_removed": len(plan.names(Role.IDENTIFYING))},
            "plan_sha256": plan.fingerprint(),
            "plan": plan.to_dict(),
            "hierarchies_sha256": _fixed_hierarchies(release),
            "populations_sha256": dict(release.population_hashes),
            "release": {key: value for key, value in release.to_dict().items() if key != "seconds"},
            "verification": release.verification.to_dict()
            | {"how": f"counted again from the {'written file' if output else 'rows'}, independently of the search"},
            "quality": release.verdict,
            "effort": release.effort,
            "missing_values": missing_values(plan),
            "suppressed_rows": "their quasi-identifiers are all '*'; they form a class that is exempt from the models",
            "protects_against": protects_against(plan),
            "does_not_protect_against": [*leaves_open(plan), ONE_RELEASE, *ALWAYS_OPEN],
            "warnings": list(warnings(release)),
        }
    )


def versions() -> dict[str, str]:
    """The versions of the software that made a release."""
    return {
        "kohorte": version("kohorte"),
        "kernels": KERNELS,
        "python": platform.python_version(),
        "polars": version("polars"),
        "numpy": version("numpy"),
    }


def warnings(release: Candidate) -> tuple[str, ...]:
    """What a person who hands on a release should consider."""
    plan = release.plan
    found = plan_warnings(plan)
    found += [
        f"the labels of {name!r} are made of values that occur in the data, so that they disclose some of them"
        for name in _between_value_and_star(release)
        if _shows_values(plan.attributes[name].hierarchy)
    ]
    found += [
        f"the intervals of {cells.line.column.name!r} end at values that occur in the data, so that they disclose some "
        "of them"
        for cells in (() if release.recoding is None else release.recoding.columns)
        if cells.shows_ends
    ]
    found += [
        f"a label of {cells.line.column.name!r} has different meanings in different rows: its hierarchy has the "
        "same text at different levels"
        for cells in (() if release.recoding is None else release.recoding.columns)
        if cells.ambiguous
    ]
    if plan.smallest_class < 2 and release.smallest_class == 1:
        found.append("classes of one row are allowed, so a person can stand alone in the release")
    if 0 < release.suppressed < plan.smallest_class:
        found.append(
            f"only {release.suppressed} suppressed row{'' if release.suppressed == 1 else 's'}: a person who knows "
            "that somebody was suppressed has few to choose from"
        )
    if release.classes == 0:
        found.append("every row is suppressed: the release tells nothing about the quasi-identifiers")
    return tuple(found)


def plan_warnings(plan: Plan) -> list[str]:
    """What a person who hands on a release should consider, as far as it follows from the plan."""
    effective = [model for model in plan.models if not model.promises_nothing]
    protected = {name for model in effective for name in model.sensitive} | {*plan.decorrelated_attributes}
    found = [
        f"{name!r} is sensitive, but no model of the plan protects it: when all rows of a class share its value, that "
        "value is known for everybody in the class"
        for name in plan.names(Role.SENSITIVE)
        if name not in protected
    ]
    if plan.decorrelate is None and len(plan.histograms) > 1:
        found.append(
            f"{', '.join(map(repr, plan.histograms))} are protected separately: a person who can exclude a value "
            "of one may learn another if they are correlated (the plan's option decorrelate prevents that)"
        )
    if plan.decorrelate is not None:
        found.append(
            f"{', '.join(map(repr, plan.decorrelated_attributes))}: suppressed in most rows, chosen by chance, so that "
            f"they tell little about {plan.decorrelate.attribute!r}"
        )
    if plan.order == "input":
        found.append("the rows stand in the order of the input, which can tell who is who")
    return found


def _fixed_hierarchies(release: Release) -> dict[str, str]:
    """The hashes of hierarchies that do not depend on the data; from other hashes, values could be guessed."""
    builders = {name: release.plan.attributes[name].hierarchy for name in release.hierarchies}
    independent = [name for name, builder in builders.items() if builder is not None and builder.independent]
    return {name: release.hierarchies[name].fingerprint() for name in independent}


def _between_value_and_star(release: Candidate) -> list[str]:
    """The quasi-identifiers that show labels other than single values and `*`."""
    if release.recoding is None:
        return [name for name, level in release.levels.items() if 0 < level < release.hierarchies[name].top]
    return [
        cells.line.column.name
        for cells in release.recoding.columns
        if ((cells.lows < cells.highs) & (np.array(cells.labels, dtype=object) != SUPPRESSED)).any()
    ]


def _shows_values(builder: Builder | None) -> bool:
    return isinstance(builder, Ordering) and builder.values is None


def _file(facts: FileFacts | None) -> dict[str, object]:
    return {} if facts is None else {"name": facts.name, "sha256": facts.sha256}


def protects_against(plan: Plan) -> list[str]:
    """What the models of a plan guarantee, in their own words."""
    return [sentence for model in plan.models for sentence in _section(model, "Guarantee")]


def leaves_open(plan: Plan) -> list[str]:
    """What the models of a plan do not protect against, in their own words."""
    return [sentence for model in plan.models for sentence in _section(model, "Leaves open")]


def missing_values(plan: Plan) -> str:
    """What the plan does with missing values, as text."""
    marks = ", ".join(map(repr, plan.missing_values))
    listed = f"; these texts count as missing and are written as empty cells: {marks}" if marks else ""
    policy = {
        "category": "a missing value is a value of its own at every level below '*'",
        "suppress": "rows with a missing quasi-identifier are suppressed",
        "refuse": "there are none: a table with missing quasi-identifiers is refused",
    }[str(plan.missing)]
    return policy + listed


def _section(model: PrivacyModel, title: str) -> Sequence[str]:
    """Return a section of the model's docstring as one sentence that starts with the model and its parameters."""
    lines = inspect.cleandoc(type(model).__doc__ or "").splitlines()
    if title not in lines:
        return ()
    body: list[str] = []
    for line in lines[lines.index(title) + 1 :]:
        if line and not line.startswith(" "):
            break
        body.append(line.strip())
    return (f"{model_in_words(model)}: {' '.join(body).strip()}",)


def _text(facts: dict[str, object]) -> str:
    release, plan = _part(facts, "release"), _part(facts, "plan")
    verification, source, output = _part(facts, "verification"), _part(facts, "input"), _part(facts, "output")
    lines = [
        "CERTIFICATE OF ANONYMIZATION",
        "",
        f"Made {facts['created']} by Kohorte {_part(facts, 'versions')['kohorte']}.",
        "",
        f"Verdict: {'all models hold' if verification['satisfied'] else 'NOT VERIFIED'}, {verification['how']}.",
        *(
            f"  {model.model_in_words}: {model.in_words}, reached {model.reached_in_words}"
            for model in _verdicts(verification)
        ),
        "",
        f"Rows        {release['rows']:,}, of which {release['suppressed']:,} suppressed "
        f"(limit {percent(float(str(plan['suppression_limit'])))})",
        f"Classes     {release['classes']:,}"
        + (
            f", the smallest with {release['smallest_class']} rows"
            if release["classes"]
            else ": every row is suppressed"
        ),
        f"Metric      {release['metric']} = {cost(float(str(release['cost'])))} ({facts['quality']})",
        f"Search      {release['algorithm']}: {facts['effort']}",
        "Levels      " + _levels_in_words(release),
        f"Missing     {facts['missing_values']}",
        f"Suppressed  {facts['suppressed_rows']}",
        "",
        f"Input       {source.get('name', '-')}  SHA-256 {source.get('sha256', '-')}",
        f"Output      {output.get('name', '-')}  SHA-256 {output.get('sha256', '-')}",
        f"Plan        SHA-256 {facts['plan_sha256']}",
        "",
        "Protects against",
        *_bullets(facts, "protects_against"),
        "",
        "Does not protect against",
        *_bullets(facts, "does_not_protect_against"),
    ]
    if facts["warnings"]:
        lines += ["", "Warnings", *_bullets(facts, "warnings")]
    return "\n".join(lines) + "\n"


def _levels_in_words(release: dict[str, object]) -> str:
    levels, recoded = _part(release, "levels"), _part(release, "recoded")
    if levels:
        return ", ".join(f"{name} {level}" for name, level in levels.items())
    found = {name: _part(recoded, name) for name in recoded}
    return "different in different rows: " + ", ".join(
        f"{name} {cells['lowest_level']} to {cells['highest_level']}" for name, cells in found.items()
    )


def _part(facts: dict[str, object], key: str) -> dict[str, object]:
    part = facts[key]
    assert isinstance(part, dict)
    return part


def _list(facts: dict[str, object], key: str) -> list[dict[str, object]]:
    part = facts[key]
    assert isinstance(part, list)
    return part


def _verdicts(verification: dict[str, object]) -> list[ModelVerdict]:
    fields: list[dict[str, Any]] = _list(verification, "models")
    return [ModelVerdict(**field) for field in fields]


def _bullets(facts: dict[str, object], key: str) -> list[str]:
    return bullets(_list(facts, key))


def bullets(items: Sequence[object]) -> list[str]:
    """Format sentences as a list."""
    return [textwrap.fill(str(item), 100, initial_indent="  - ", subsequent_indent="    ") for item in items]
