"""Series that are started and released in the service: the same checks as for projects, then `Series` itself.

A release is made at once, verified, and from then on belongs to the series. Its table is not stored: it is made again,
with the same rows and cells, whenever a steward asks for its files. Where a release needs a second person, or has to be
examined by the disclosure ledger of the house, series are released with `kohorte series` only.
"""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from kohorte.errors import AccessDenied, InputError
from kohorte.release import certificate_paths
from kohorte.series import Series, SeriesRelease, SeriesSettings
from kohorte.service.access import Actor, dataset_for
from kohorte.service.context import Service
from kohorte.service.datasets import hierarchies, kept_tables
from kohorte.service.house_rules import ReleaseTerms
from kohorte.service.permissions import Permission
from kohorte.service.projects.configuration import Dataset, read_plan
from kohorte.service.projects.store import names_of, ready_dataset, refuse_unclear_people
from kohorte.service.series.timelines import folder_of

NAMES = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
"""Names that are folders on every system."""


@dataclass(frozen=True)
class NewSeries:
    """A series that a steward starts: its plan is compared with a dataset, the first state of the growing table."""

    name: str
    dataset_id: int
    plan: Mapping[str, Any] = field(repr=False)
    settings: Mapping[str, Any] = field(repr=False)


def start(service: Service, actor: Actor, wanted: NewSeries) -> None:
    """Start a series: plan and domains are fixed for all its releases. Nothing is released."""
    actor.refuse_without(Permission.MANAGE_PROJECTS)
    _refuse_other_ways(service)
    if not NAMES.fullmatch(wanted.name):
        raise InputError(
            "the name of a series has lower-case letters, digits and hyphens (at most 63)", code="series-form"
        )
    if "target" in wanted.settings:
        raise InputError("target: a series with a target is started with 'kohorte series start'", code="series-form")
    with service.database.reading() as connection:
        dataset = ready_dataset(service, connection, wanted.dataset_id)
        stored = hierarchies.stored(service, connection, wanted.dataset_id)
    plan = read_plan({"plan": wanted.plan}, Dataset(names_of(dataset), stored))
    service.settings.rules.refuse(ReleaseTerms.of(plan))
    refuse_unclear_people(service, dataset, plan, "")
    settings = SeriesSettings.from_dict(dict(wanted.settings))
    service.settings.series_path.mkdir(mode=0o700, parents=True, exist_ok=True)
    Series.start(service.settings.series_path / wanted.name, plan, settings)
    _log(service, actor, "start-series", wanted.name, dataset=wanted.dataset_id)


def release(service: Service, actor: Actor, name: str, dataset_id: int) -> SeriesRelease:
    """Make the next release of a series from a dataset: it is verified, and belongs to the series from then on."""
    series = _releasable(service, actor, name)
    service.settings.rules.refuse(ReleaseTerms.of(series.plan))
    with _table(service, actor, dataset_id) as frame:
        made = series.release(frame)
    _log(service, actor, "release-series", name, dataset=dataset_id, release=made.number)
    return made


def files(service: Service, actor: Actor, name: str, number: int, dataset_id: int) -> bytes:
    """Return the table and the certificate of a release as a ZIP file; the release is made again from a dataset."""
    series = _releasable(service, actor, name)
    service.settings.rules.refuse(ReleaseTerms.of(series.plan))
    with (
        _table(service, actor, dataset_id) as frame,
        tempfile.TemporaryDirectory(prefix="kohorte-series-") as folder,
    ):
        output = Path(folder) / f"release-{number}.csv"
        series.again(number, frame, output)
        packed = _packed(output)
    _log(service, actor, "download-series", name, dataset=dataset_id, release=number)
    return packed


def releases_here(service: Service) -> bool:
    """Whether releases of series can be made in this service."""
    return not service.settings.needs_two_people("download_csv") and not service.settings.disclosure_ledger


def _releasable(service: Service, actor: Actor, name: str) -> Series:
    actor.refuse_without(Permission.MANAGE_PROJECTS)
    _refuse_other_ways(service)
    return Series.open(folder_of(service, name))


def _refuse_other_ways(service: Service) -> None:
    if not releases_here(service):
        raise AccessDenied(
            "in this house a second person or the disclosure ledger decides about releases; make those of series with "
            "'kohorte series' on the machine of the service",
            code="series-elsewhere",
        )


@contextmanager
def _table(service: Service, actor: Actor, dataset_id: int) -> Iterator[pl.DataFrame]:
    with service.database.reading() as connection:
        dataset = dataset_for(service, connection, actor, dataset_id)
    with kept_tables.working(service, dataset) as table:
        yield table.frame


def _packed(output: Path) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in (output, *certificate_paths(output)):
            packed.write(path, path.name)
    return content.getvalue()


def _log(service: Service, actor: Actor, action: str, name: str, **figures: int) -> None:
    with service.database.writing() as connection:
        service.log.append(connection, action, f"series {name}", actor=actor.user_id, **figures)
