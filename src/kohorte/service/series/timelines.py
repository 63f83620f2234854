"""The timelines of the series in a folder of the service.

A series has a secret key and a memory of all rows, which stay in its own folder. Here it is only read: no release is
made, nothing is changed, and numbers of rows that are fewer than the models allow are not told. `releasing` starts
series and makes their releases, and so does `kohorte series` on the machine of the service.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kohorte.errors import AccessDenied, KohorteError
from kohorte.models.words import model_in_words
from kohorte.series import Series
from kohorte.series.memory.state import NAME
from kohorte.series.picture.story import Chapter, Story
from kohorte.series.status.status import SeriesStatus, status_of
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import kept_tables
from kohorte.service.datasets.records import log_reading
from kohorte.service.permissions import Permission


@dataclass(frozen=True)
class Timeline:
    """A series as it was read: its releases, and what is open; `story` draws them."""

    name: str
    series: Series = field(repr=False)
    status: SeriesStatus = field(repr=False)

    @property
    def story(self) -> Story:
        """The releases, one after another, with the one that would come next if a table was given."""
        return Story.of(self.series.definition, self.series.state, self.status)

    def to_dict(self) -> dict[str, Any]:
        """The timeline for programs; few rows are not told exactly."""
        story, definition = self.story, self.series.definition
        return {
            "name": self.name,
            "started": self.series.state.head.created,
            "kind": str(definition.settings.kind),
            "models": [model_in_words(model) for model in definition.plan.models],
            "attributes": [domain.name for domain in definition.domains],
            "releases": [_release(one, story.least) for one in story.chapters if one.time is not None],
            "open_points": list(self.status.open_points),
        }

    def next_to_dict(self) -> dict[str, Any]:
        """What the next release would be, for those who may see values."""
        told = self.status.to_dict()
        return {key: told[key] for key in ("next", "refused", "held", "outside", "verdict", "open_points")}


def listed(service: Service, actor: Actor) -> list[dict[str, Any]]:
    """Return all series: their releases, or the code of the error where one cannot be read."""
    actor.refuse_without(Permission.SEE_DATASETS)
    return [_line(path) for path in sorted(_folders(service))]


def shown(service: Service, actor: Actor, name: str) -> Timeline:
    """Return the timeline of a series."""
    actor.refuse_without(Permission.SEE_DATASETS)
    series = Series.open(folder_of(service, name))
    return Timeline(name, series, status_of(series.definition, series.state))


def coming(service: Service, actor: Actor, name: str, dataset_id: int) -> Timeline:
    """Return the timeline with what the next release would be, made from a dataset; the series does not change."""
    actor.refuse_without(Permission.SEE_VALUES)
    series = Series.open(folder_of(service, name))
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
    with kept_tables.working(service, dataset) as table:
        found = Timeline(name, series, series.status(table.frame))
    log_reading(service, actor, dataset_id, "preview-series", rows=0)
    return found


def _folders(service: Service) -> Iterator[Path]:
    folder = service.settings.series_path
    if folder.is_dir():
        yield from (path.parent for path in folder.glob(f"*/{NAME}"))


def folder_of(service: Service, name: str) -> Path:
    """The folder of a series; a name is compared with those that exist, and never becomes part of a path."""
    found = next((path for path in _folders(service) if path.name == name), None)
    if found is None:
        raise AccessDenied("there is no such series", code="not-found")
    return found


def _line(path: Path) -> dict[str, Any]:
    try:
        history = Series.open(path).history
    except KohorteError as error:
        return {"name": path.name, "releases": None, "latest": None, "loss": None, "problem": error.code}
    last = history[-1] if history else None
    return {
        "name": path.name,
        "releases": len(history),
        "latest": None if last is None else last.time,
        "loss": None if last is None else last.loss,
        "problem": None,
    }


def _release(one: Chapter, least: int) -> dict[str, Any]:
    held = None if 0 < one.held < least else one.held
    figures = {"shown": one.shown, "held": held, "regions": one.count, "loss": one.loss}
    return {"number": one.number, "time": one.time, **figures}
