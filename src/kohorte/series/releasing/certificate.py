"""The certificate of one release of a series: what holds for it alone, and for all releases together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from kohorte.data import FormulaCells
from kohorte.languages import ENGLISH, Kept, Language
from kohorte.plans.parts import about_in_words
from kohorte.release.certificate import (
    ALWAYS_OPEN,
    FORMAT,
    Certificate,
    FileFacts,
    bullets,
    missing_values,
    verdict_in_words,
    versions,
)
from kohorte.release.shown_people import ShownPeople
from kohorte.release.telling.formulas import ToldFormulas
from kohorte.release.telling.people import AS_ROWS, NOT_TOLD, public_figures, public_people
from kohorte.release.telling.promises import leaves_open, plan_notes, protects_against
from kohorte.release.telling.verdict import judge
from kohorte.release.verification import Verification
from kohorte.series.drafting.growing_table import Figures, GrowingTable, verified
from kohorte.series.drafting.open_points import points_of_arrival, points_of_table
from kohorte.series.memory.fingerprints import content_sha256
from kohorte.series.memory.state import State, now
from kohorte.series.settings import FULL_DOMAIN, SeriesSettings
from kohorte.sources import FrameSource, TableSource

FEW = ("held", "new", "corrected", "withdrawn", "withheld", "smallest_arrival")
"""Counts of rows that a certificate states only if they are 0 or large enough."""


class SeriesCertificate(Certificate):
    """The evidence for one release of a series, as data and as text for people."""

    def to_text(self, language: Language = ENGLISH) -> str:
        """The certificate as text in a language, for people who do not know the program."""
        return _text(self.facts, language.tell)


@dataclass(frozen=True, eq=False)
class Unpublished:
    """A release, new or made again, that nobody has received yet, with what its certificate needs.

    `people` says whom its rows are about.
    """

    table: GrowingTable
    state: State
    figures: Figures
    data: pl.DataFrame = field(repr=False)
    people: ShownPeople | None = field(repr=False)

    def verified(self, table: TableSource) -> Verification:
        """Verify the release, as it was read again from where it was written."""
        return verified(table, self.table.definition.plan, rows=self.data.height, people=self.people)

    def certified(
        self,
        verification: Verification,
        *,
        source: FileFacts | None = None,
        output: FileFacts | None = None,
        quoted: FormulaCells | None = None,
    ) -> SeriesCertificate:
        """State the facts about the release; `quoted` are the cells that have an apostrophe in its file."""
        plan, settings = self.table.definition.plan, self.table.definition.settings
        told, part = _told(self.figures, plan.smallest_class), _part_of(settings)
        formulas = ToldFormulas.of(FrameSource(self.data), plan, quoted)
        arrivals = points_of_arrival(self.table.definition, self.figures.smallest_arrival)
        points = [*points_of_table(self.table), *verification.open_points]
        warnings = [*points, *formulas.open_points, *arrivals]
        before = replace(self.state, releases=self.state.releases[: self.figures.number - 1])
        facts: dict[str, object] = {
            "certificate": FORMAT,
            "created": now(),
            "about": plan.about.to_dict(),
            "verdict": judge(verification, warnings).to_dict(),
            "versions": versions(),
            "input": ({} if source is None else vars(source)) | {"rows": told["rows"]},
            "output": ({} if output is None else vars(output))
            | {"rows": self.figures.shown, "identifying_columns_removed": len(plan.removed_columns)},
            "plan_sha256": self.state.head.plan_sha256,
            "plan": plan.to_dict(),
            "series": told
            | {
                "id": State(self.state.head).hash,
                "started": self.state.head.created,
                "settings": dict(self.state.head.settings),
                "previous": before.hash,
                "content_sha256": content_sha256(self.data),
            },
            "verification": public_figures(verification.to_dict(), least=plan.smallest_class)
            | {"how": f"counted again from the {'written file' if output else 'rows'}, independently of the search"},
            "missing_values": missing_values(plan),
            "formulas": formulas.to_dict(),
            "held_rows": f"rows held back are left out; a later release shows them when their {part} satisfies the "
            "models",
            "protects_against": [*protects_against(plan), _across(settings)],
            "does_not_protect_against": [*leaves_open(plan), *_open_across(settings, told), *ALWAYS_OPEN],
            "warnings": warnings,
            "notes": [*plan_notes(plan), *formulas.notes],
        }
        return SeriesCertificate(facts)


def _told(figures: Figures, least: int) -> dict[str, object]:
    """The public figures: None for counts of rows from 1 to `least` - 1, and for figures that would reveal them.

    If people are counted, None also for counts of rows that may be about fewer than `least` people; how many people
    the rows are about is told roughly, as in every certificate, so that nobody computes how few of them came or left.
    """
    told = figures.told()
    told |= {
        name: None for name in FEW if 0 < getattr(figures, name) < least or (name in figures.few and told[name] != 0)
    }
    if told["held"] is None:
        told |= {"rows": None, "loss": None, "loss_before": None}
    if figures.people is not None:
        told["people"] = public_people(figures.people, rows=figures.shown, classes=figures.regions)
    return told | {"least": least}


def _part_of(settings: SeriesSettings) -> str:
    return "class" if settings.kind == FULL_DOMAIN else "region"


def _across(settings: SeriesSettings) -> str:
    knows = "even if the attacker knows since when the person is in the table" if settings.arrivals == "known" else ""
    return (
        "Linking the releases of this series, even if the attacker recognises the same row in all of them: each is "
        f"finer than the one before, so all of them together tell no more than the last{', ' if knows else ''}{knows}."
    )


def _open_across(settings: SeriesSettings, told: Mapping[str, object]) -> list[str]:
    found = ["Linking with releases of the same people outside this series."]
    if settings.arrivals == "unknown":
        found.append(
            "An attacker who knows since when a person is in the table, and recognises the rows that came then: the "
            f"fewest that came together into a {_part_of(settings)} are {_count(told, 'smallest_arrival')} "
            "(arrivals: known protects against it)."
        )
    if "accept" in (settings.corrected, settings.withdrawn):
        found.append(
            "What earlier releases showed of rows that were corrected or withdrawn since: it remains public, and the "
            "promise across releases does not cover these rows."
        )
    return found


def _text(facts: dict[str, object], told: Callable[[str], str]) -> str:
    series = _part(facts, "series")
    source, output = _part(facts, "input"), _part(facts, "output")
    loss, part = series["loss"], "region" if series["levels"] is None else "class"
    lines = [
        f"CERTIFICATE OF RELEASE {series['number']} OF A SERIES",
        "",
        f"Made {facts['created']} by Kohorte {_part(facts, 'versions')['kohorte']}; the series began "
        f"{series['started']}.",
        *map(Kept, about_in_words(_part(facts, "about"), told)),
        "",
        verdict_in_words(facts),
        "",
        _rows(series),
        *([] if series["people"] is None else [f"People      {_of_people(series['people'])}"]),
        _regions(series),
        f"Loss        {'not stated: it would tell how few rows are held back' if loss is None else f'{loss:.6g}'}",
        f"Arrivals    the fewest {_unit(series)} that came together into a {part}: "
        f"{_count(series, 'smallest_arrival')}",
        f"Corrected   {_count(series, 'corrected')}, withdrawn {_count(series, 'withdrawn')}, shown before and held "
        f"back because of these {_count(series, 'withheld')}",
        f"Missing     {facts['missing_values']}",
        f"Held back   {facts['held_rows']}",
        "",
        f"Input       {source.get('name', '-')}  SHA-256 {source.get('sha256', '-')}",
        f"Output      {output.get('name', '-')}  SHA-256 {output.get('sha256', '-')}",
        f"Plan        SHA-256 {facts['plan_sha256']}",
        f"Series      SHA-256 {series['id']} (its definition)",
        f"Before      SHA-256 {series['previous']} (the state of the series before this release)",
    ]
    titles = {"protects_against": "Protects against", "does_not_protect_against": "Does not protect against"}
    for key, title in (titles | {"warnings": "Warnings", "notes": "Notes"}).items():
        sentences = facts[key]
        if isinstance(sentences, list) and sentences:
            lines += ["", title, *bullets([told(str(one)) for one in sentences])]
    return "\n".join(line if isinstance(line, Kept) else told(line) for line in lines) + "\n"


def _rows(series: Mapping[str, Any]) -> str:
    shown, new, held = f"{series['shown']:,}", _count(series, "new"), _count(series, "held")
    if series["rows"] is None:
        return f"Rows        {shown} are shown ({new} for the first time) and {held} held back"
    return f"Rows        {series['rows']:,}, of which {shown} are shown ({new} for the first time) and {held} held back"


def _of_people(told: object) -> str:
    if told == NOT_TOLD:
        return "how many the rows that are shown are about is not told"
    if told == AS_ROWS:
        return "nearly every row that is shown is about another person"
    return f"the rows that are shown belong to {told} people"


def _unit(series: Mapping[str, object]) -> str:
    return "rows" if series["people"] is None else "people"


def _count(series: Mapping[str, object], name: str) -> str:
    if series[name] is None:
        return "a number that is not stated" if series["people"] is not None else f"fewer than {series['least']:,}"
    return f"{series[name]:,}"


def _regions(series: dict[str, object]) -> str:
    smallest = f"the smallest has {series['smallest_region']:,} {_unit(series)}"
    if isinstance(series["levels"], Mapping):
        levels = ", ".join(f"{name} {level}" for name, level in series["levels"].items())
        return f"Levels      {levels}; {series['regions']:,} classes, {smallest}"
    return f"Regions     {series['regions']:,}, {series['splits']:,} of them by splits of this release; {smallest}"


def _part(facts: dict[str, object], key: str) -> dict[str, object]:
    part = facts[key]
    assert isinstance(part, dict)
    return part
