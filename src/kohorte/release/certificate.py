"""The certificate: what was released, how, what was verified, and what it protects against."""

from __future__ import annotations

import hashlib
import json
import platform
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import polars as pl

from kohorte.data import FormulaCells, Role
from kohorte.hierarchies import SUPPRESSED
from kohorte.in_words import ROWS, Unit, cost, count, percent
from kohorte.kernels import KERNELS
from kohorte.languages import ENGLISH, Kept, Language
from kohorte.plans.parts import About, about_in_words
from kohorte.plans.plan import Plan
from kohorte.plans.seeming_identifiers import identifier_points
from kohorte.release.candidate import Candidate
from kohorte.release.release import Release
from kohorte.release.telling.formulas import ToldFormulas
from kohorte.release.telling.loss_words import lost_publicly
from kohorte.release.telling.people import people_in_words, public_figures, public_people
from kohorte.release.telling.promises import leaves_open, plan_notes, promising, protects_against
from kohorte.release.telling.values.labels_of_values import (
    GROUP,
    INTERVAL,
    cell_points,
    ends_at_values,
    has_cell,
    made_of_values,
    shows_values,
)
from kohorte.release.telling.verdict import Standing, Verdict, judge, points_are
from kohorte.release.verification import ModelVerdict, Verification
from kohorte.release.words import levels_in_words, unit_named, unit_of
from kohorte.sources import FrameSource, TableSource

FORMAT = 1

ALWAYS_OPEN = (
    "A person who knows that somebody is in the table and knows sensitive values of that person.",
    "Columns that the plan declares insensitive although outsiders know them; the plan decides, not the program.",
    "Free text, images and the like inside sensitive or insensitive columns.",
)
UNCERTIFIED = ("seconds", "lost_values")
"""Figures of a release that its certificate leaves out; how many values were lost is told roughly."""
ONE_PERSON = "rows_of_one_person"

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

    def to_text(self, language: Language = ENGLISH) -> str:
        """The certificate as text in a language, for a person who does not know the program; its facts stay as they
        are."""
        return _text(self.facts, language.tell)

    @property
    def verdict(self) -> Verdict:
        """The verdict that the certificate states."""
        verdict: Any = self.facts["verdict"]
        return Verdict(Standing(verdict["standing"]), tuple(verdict["reasons"]))

    @property
    def notes(self) -> list[str]:
        """What a reader of the release should know, and what is no open point."""
        return [str(note) for note in _list(self.facts, "notes")]

    @property
    def sha256(self) -> str:
        """The hash of the certificate as JSON, which is the hash of its file."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def certify(
    release: Release,
    *,
    source: FileFacts | None = None,
    output: FileFacts | None = None,
    about: About | None = None,
    quoted: FormulaCells | None = None,
) -> Certificate:
    """Return the certificate of a release; `output` is the file from which it was verified, if any.

    `about` takes precedence over what the plan states; `quoted` are the cells that have an apostrophe in that file.
    """
    plan, open_points = release.plan, warnings(release)
    formulas = ToldFormulas.of(release.table, plan, quoted)
    return Certificate(
        {
            "certificate": FORMAT,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            **said_by_plan(plan, about),
            "verdict": judge(release.verification, open_points).to_dict(),
            "counted": release.verification.unit,
            "versions": versions(),
            "input": _file(source) | {"rows": release.input_rows},
            "output": _file(output)
            | {"rows": release.rows, "identifying_columns_removed": len(plan.removed_columns)}
            | ({"pseudonyms": plan.pseudonyms} if plan.pseudonyms else {}),
            "hierarchies_sha256": _fixed_hierarchies(release),
            "populations_sha256": dict(release.population_hashes),
            "release": _figures_of(release),
            "verification": public_figures(release.verification.to_dict(), least=plan.smallest_class)
            | {"how": f"counted again from the {'written file' if output else 'rows'}, independently of the search"},
            "levels_in_words": levels_in_words(release),
            "lost_values": lost_publicly(release.losses),
            "quality": release.verdict,
            "effort": release.effort,
            "formulas": formulas.to_dict(),
            "warnings": list(open_points),
            "notes": [*plan_notes(plan), *formulas.notes],
        }
    )


def said_by_plan(plan: Plan, about: About | None = None) -> dict[str, object]:
    """What a certificate says whatever the table is."""
    return {
        "about": (about or About()).or_else(plan.about).to_dict(),
        "plan_sha256": plan.fingerprint(),
        "plan": plan.to_dict(),
        "missing_values": missing_values(plan),
        "suppressed_rows": "their quasi-identifiers are all '*'; they form a class that is exempt from the models",
        "protects_against": protects_against(plan),
        "does_not_protect_against": [*leaves_open(plan), ONE_RELEASE, *ALWAYS_OPEN],
    }


def versions() -> dict[str, str]:
    """The versions of the software that made a release."""
    return {
        "kohorte": version("kohorte"),
        "kernels": KERNELS,
        "python": platform.python_version(),
        "polars": pl.__version__,
        "numpy": np.__version__,
    }


# What is open


def warnings(release: Release) -> tuple[str, ...]:
    """The open points of a release."""
    plan = release.plan
    found = [*plan_warnings(plan), *release.person_notes]
    found += [
        made_of_values(name)
        for name in _between_value_and_star(release)
        if shows_values(plan.attributes[name].hierarchy)
    ]
    found += cell_points(() if release.recoding is None else release.recoding.columns)
    gone = release.suppressed if release.people is None else release.people.losing(release.suppressed)[0]
    found += [*identifier_points(release.table, plan), *release.open_points]
    found += ToldFormulas.of(release.table, plan).open_points
    return (*found, *_figures(plan, gone, release.smallest_class, unit_of(plan)))


def table_warnings(table: pl.DataFrame | TableSource, plan: Plan, verification: Verification) -> tuple[str, ...]:
    """The open points of a table of which only the cells are known.

    How the labels were made is not known: those that can only be made of values of the data count as such.
    """
    source = FrameSource(table) if isinstance(table, pl.DataFrame) else table
    found = [*plan_warnings(plan), *verification.open_points, *identifier_points(source, plan)]
    names = plan.quasi_identifiers
    grouped = [name for name in names if shows_values(plan.attributes[name].hierarchy)]
    found += [made_of_values(name) for name in grouped if has_cell(source.count_shown([name])[name], GROUP)]
    measured = [name for name in names if not plan.minimum_levels[name]]
    found += [ends_at_values(name) for name in measured if has_cell(source.count_shown([name])[name], INTERVAL)]
    gone = verification.people_losing_rows
    unit = ROWS if gone is None else unit_named(verification.unit)
    gone = verification.suppressed if gone is None else gone
    found += ToldFormulas.of(source, plan).open_points
    return (*found, *_figures(plan, gone, verification.smallest_class, unit))


def plan_warnings(plan: Plan) -> list[str]:
    """The open points that follow from the plan."""
    effective = promising(plan)
    protected = {name for model in effective for name in model.sensitive} | {*plan.decorrelated_attributes}
    found = [
        f"{name!r} is sensitive, but no model of the plan protects it: when all {unit_of(plan).many} of a class share "
        "its value, that value is known for everybody in the class"
        for name in plan.names(Role.SENSITIVE)
        if name not in protected
    ]
    if not effective:
        found.insert(0, "no model of the plan promises anything: every table would satisfy it")
    if plan.decorrelate is None and len(plan.histograms) > 1:
        found.append(
            f"{', '.join(map(repr, plan.histograms))} are protected separately: a person who can exclude a value "
            "of one may learn another if they are correlated (the plan's option decorrelate prevents that)"
        )
    found += [
        f"{name!r} stays as a pseudonym of the domain {domain!r}: it ties the rows of one person together, and those "
        "who have the key or the list of the domain can find out who it is; as long as these exist, the release is "
        "personal data"
        for name, domain in plan.pseudonyms.items()
    ]
    if plan.order == "input":
        found.append("the rows stand in the order of the input, which can tell who is who")
    return found


def _figures(plan: Plan, suppressed: int, smallest: int | None, unit: Unit) -> list[str]:
    """The open points that follow from what was counted: suppressed rows, or the people who lose rows by it."""
    found = []
    if plan.smallest_class < 2 and smallest == 1:
        found.append(f"classes of one {unit.one} are allowed, so a person can stand alone in the release")
    if 0 < suppressed < plan.smallest_class:
        found.append(_few_suppressed(suppressed, plan.smallest_class, unit))
    if smallest is None:
        found.append("every row is suppressed: the release tells nothing about the quasi-identifiers")
    return found


def _few_suppressed(suppressed: int, least: int, unit: Unit) -> str:
    """Say that few are suppressed; everybody can count the rows, but not the people."""
    few = f"only {count(suppressed, 'suppressed row')}" if unit is ROWS else f"fewer than {least} people lose rows"
    return f"{few}: a person who knows that somebody was suppressed has few to choose from"


def _between_value_and_star(release: Candidate) -> list[str]:
    """The quasi-identifiers that show labels other than single values and `*`."""
    if release.recoding is None:
        return [name for name, level in release.levels.items() if 0 < level < release.hierarchies[name].top]
    return [
        cells.line.column.name
        for cells in release.recoding.columns
        if ((cells.lows < cells.highs) & (np.array(cells.labels, dtype=object) != SUPPRESSED)).any()
    ]


# The parts of a certificate


def _figures_of(release: Release) -> dict[str, object]:
    """The figures of a release that everybody may read; numbers of few people in words."""
    found = {key: value for key, value in release.to_dict().items() if key not in UNCERTIFIED}
    if release.people is not None:
        people = release.people.people
        found["people"] = public_people(people, rows=release.rows, classes=release.classes)
    attack = release.rows_of_one_person
    return found if attack is None else found | {ONE_PERSON: attack.to_public_dict()}


def _fixed_hierarchies(release: Release) -> dict[str, str]:
    """The hashes of hierarchies that do not depend on the data; from other hashes, values could be guessed."""
    builders = {name: release.plan.attributes[name].hierarchy for name in release.hierarchies}
    independent = [name for name, builder in builders.items() if builder is not None and builder.independent]
    return {name: release.hierarchies[name].fingerprint() for name in independent}


def _file(facts: FileFacts | None) -> dict[str, object]:
    return {} if facts is None else {"name": facts.name, "sha256": facts.sha256}


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


def _text(facts: dict[str, object], told: Callable[[str], str]) -> str:
    release, plan = _part(facts, "release"), _part(facts, "plan")
    verification, source, output = _part(facts, "verification"), _part(facts, "input"), _part(facts, "output")
    lines = [
        "CERTIFICATE OF ANONYMIZATION",
        "",
        f"Made {facts['created']} by Kohorte {_part(facts, 'versions')['kohorte']}.",
        *map(Kept, about_in_words(_part(facts, "about"), told)),
        "",
        verdict_in_words(facts),
        *_verdicts(verification),
        "",
        f"Rows        {release['rows']:,}, of which {release['suppressed']:,} suppressed "
        f"(limit {percent(float(str(plan['suppression_limit'])))})",
        f"Classes     {release['classes']:,}"
        + (
            f", the smallest with {unit_named(str(facts['counted'])).count(int(str(release['smallest_class'])))}"
            if release["classes"]
            else ": every row is suppressed"
        ),
        *people_in_words(verification),
        f"Metric      {release['metric']} = {cost(float(str(release['cost'])))} ({facts['quality']})",
        f"Search      {release['algorithm']}: {facts['effort']}",
        f"Missing     {facts['missing_values']}",
        f"Suppressed  {facts['suppressed_rows']}",
        "",
        "What the release shows",
        *(Kept(f"  {name}: {told(str(said))}") for name, said in _part(facts, "levels_in_words").items()),
        *(f"  {name}: pseudonyms of the domain {said!r}" for name, said in _pseudonyms(output).items()),
        "",
        "Lost values",
        *(_bullets(facts, "lost_values", told) or bullets([told("none")])),
        "",
        f"Input       {source.get('name', '-')}  SHA-256 {source.get('sha256', '-')}",
        f"Output      {output.get('name', '-')}  SHA-256 {output.get('sha256', '-')}",
        f"Plan        SHA-256 {facts['plan_sha256']}",
        "",
        "Protects against",
        *_bullets(facts, "protects_against", told),
        "",
        "Does not protect against",
        *_bullets(facts, "does_not_protect_against", told),
    ]
    for key in ("warnings", "notes"):
        if facts[key]:
            lines += ["", key.capitalize(), *_bullets(facts, key, told)]
    return "\n".join(line if isinstance(line, Kept) else told(line) for line in lines) + "\n"


def verdict_in_words(facts: dict[str, object]) -> str:
    """The verdict of a certificate as one sentence."""
    verdict, how = _part(facts, "verdict"), _part(facts, "verification")["how"]
    points = len(_list(facts, "warnings"))
    said = {
        Standing.GREEN: "all models hold, and no point is open (green)",
        Standing.AMBER: f"all models hold, but {points_are(points)} open (amber; see Warnings)",
        Standing.RED: "NOT VERIFIED (red)",
    }[Standing(str(verdict["standing"]))]
    return f"Verdict: {said}, {how}."


def _part(facts: dict[str, object], key: str) -> dict[str, object]:
    part = facts[key]
    assert isinstance(part, dict)
    return part


def _pseudonyms(output: dict[str, object]) -> dict[str, object]:
    return _part(output, "pseudonyms") if "pseudonyms" in output else {}


def _list(facts: dict[str, object], key: str) -> list[dict[str, object]]:
    part = facts[key]
    assert isinstance(part, list)
    return part


def _verdicts(verification: dict[str, object]) -> list[str]:
    """A line for each model; what is reached may be written in words."""
    fields: list[dict[str, Any]] = _list(verification, "models")
    said = [entry["reached"] if isinstance(entry["reached"], str) else None for entry in fields]
    models = [
        ModelVerdict.from_dict(entry if words is None else {**entry, "reached": None})
        for entry, words in zip(fields, said, strict=True)
    ]
    return [
        f"  {model.model_in_words}: {model.in_words}, reached {words or model.reached_in_words}"
        for model, words in zip(models, said, strict=True)
    ]


def _bullets(facts: dict[str, object], key: str, told: Callable[[str], str]) -> list[str]:
    return bullets([told(str(item)) for item in _list(facts, key)])


def bullets(items: Sequence[str]) -> list[str]:
    """Format sentences as a list."""
    return [Kept(textwrap.fill(item, 100, initial_indent="  - ", subsequent_indent="    ")) for item in items]
