"""The certificate of one release of a series: what holds for it alone, and what for all releases together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from kohorte.data import Role
from kohorte.release.certificate import (
    ALWAYS_OPEN,
    FORMAT,
    Certificate,
    FileFacts,
    bullets,
    leaves_open,
    missing_values,
    plan_warnings,
    protects_against,
    versions,
)
from kohorte.release.verification import Verification
from kohorte.series.definition import Definition
from kohorte.series.growing import Figures
from kohorte.series.memory.state import State
from kohorte.series.settings import SeriesSettings

HELD_ROWS = "rows held back are left out; a later release shows them when their regions satisfy the models"


class SeriesCertificate(Certificate):
    """The evidence for one release of a series, as data and as text for people."""

    def to_text(self) -> str:
        """The certificate for a person who does not know the program."""
        return _text(self.facts)


def certify_release(
    figures: Figures,
    definition: Definition,
    state: State,
    verification: Verification,
    *,
    source: FileFacts | None = None,
    output: FileFacts | None = None,
) -> SeriesCertificate:
    """Write down the facts about a release; `verification` is that of the written file where there is one."""
    plan, settings = definition.plan, definition.settings
    before = replace(state, releases=state.releases[: figures.number - 1])
    facts: dict[str, object] = {
        "certificate": FORMAT,
        "created": now(),
        "versions": versions(),
        "input": ({} if source is None else vars(source)) | {"rows": figures.rows},
        "output": ({} if output is None else vars(output))
        | {"rows": figures.shown, "identifying_columns_removed": len(plan.names(Role.IDENTIFYING))},
        "plan_sha256": state.head.plan_sha256,
        "plan": plan.to_dict(),
        "series": vars(figures)
        | {"started": state.head.created, "settings": dict(state.head.settings), "previous": before.hash},
        "verification": verification.to_dict()
        | {"how": f"counted anew from the {'written file' if output else 'rows'}, independently of the regions"},
        "missing_values": missing_values(plan),
        "held_rows": HELD_ROWS,
        "protects_against": [*protects_against(plan), _across(settings)],
        "does_not_protect_against": [*leaves_open(plan), *_open_across(settings, figures), *ALWAYS_OPEN],
        "warnings": plan_warnings(plan),
    }
    return SeriesCertificate(facts)


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _across(settings: SeriesSettings) -> str:
    knows = "also by one who knows since when the person is in the table" if settings.arrivals == "known" else ""
    return (
        "Linking the releases of this series, even by one who recognises the same row in all of them: each is finer "
        f"than the one before, so all of them together tell no more than the last{', ' if knows else ''}{knows}."
    )


def _open_across(settings: SeriesSettings, figures: Figures) -> list[str]:
    found = ["Linking with releases of the same people outside this series."]
    if settings.arrivals == "unknown":
        found.append(
            "Whoever knows since when a person is in the table, and recognises the rows that came then: the fewest "
            f"that came together into a region are {figures.smallest_arrival:,} (arrivals: known protects against it)."
        )
    if "accept" in (settings.corrected, settings.withdrawn):
        found.append(
            "What earlier releases showed of rows that were corrected or withdrawn since: it stays in the world, and "
            "the promise across releases does not cover them."
        )
    return found


def _text(facts: dict[str, object]) -> str:
    series, verification = _part(facts, "series"), _part(facts, "verification")
    source, output = _part(facts, "input"), _part(facts, "output")
    lines = [
        f"CERTIFICATE OF RELEASE {series['number']} OF A SERIES",
        "",
        f"Made {facts['created']} by Kohorte {_part(facts, 'versions')['kohorte']}; the series began "
        f"{series['started']}.",
        "",
        f"Verdict: {'all models hold' if verification['satisfied'] else 'NOT VERIFIED'}, {verification['how']}.",
        "",
        f"Rows        {series['rows']:,}, of which {series['shown']:,} are shown ({series['new']:,} for the first time)"
        f" and {series['held']:,} held back",
        _regions(series),
        f"Loss        {series['loss']:.6g}",
        f"Arrivals    the fewest rows that came together into a region: {series['smallest_arrival']:,}",
        f"Corrected   {series['corrected']:,}, withdrawn {series['withdrawn']:,}, shown before and held back because of"
        f" these {series['withheld']:,}",
        f"Missing     {facts['missing_values']}",
        f"Held back   {facts['held_rows']}",
        "",
        f"Input       {source.get('name', '-')}  SHA-256 {source.get('sha256', '-')}",
        f"Output      {output.get('name', '-')}  SHA-256 {output.get('sha256', '-')}",
        f"Plan        SHA-256 {facts['plan_sha256']}",
        f"Before      SHA-256 {series['previous']} (the state of the series before this release)",
    ]
    titles = {"protects_against": "Protects against", "does_not_protect_against": "Does not protect against"}
    for key, title in (titles | {"warnings": "Warnings"}).items():
        sentences = facts[key]
        if isinstance(sentences, list) and sentences:
            lines += ["", title, *bullets(sentences)]
    return "\n".join(lines) + "\n"


def _regions(series: dict[str, object]) -> str:
    smallest = f"the smallest has {series['smallest_region']:,} rows"
    if isinstance(series["levels"], Mapping):
        levels = ", ".join(f"{name} {level}" for name, level in series["levels"].items())
        return f"Levels      {levels}; {series['regions']:,} classes, {smallest}"
    return f"Regions     {series['regions']:,}, {series['splits']:,} of them by splits of this release; {smallest}"


def _part(facts: dict[str, object], key: str) -> dict[str, object]:
    part = facts[key]
    assert isinstance(part, dict)
    return part
