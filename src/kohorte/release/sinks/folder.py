"""Releases that are folders of Parquet files, written by the workers of Spark: verified before they get their name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kohorte.data.files import remove_left_over
from kohorte.errors import EngineError, InputError
from kohorte.languages import ENGLISH
from kohorte.pages.reader_language import language_named
from kohorte.plans.parts import About
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback
from kohorte.release.candidate import Candidate
from kohorte.release.certificate import Certificate
from kohorte.release.write import StagedFiles, published
from kohorte.sources import SparkSource
from kohorte.sources.spark.files import refuse_spark_output
from kohorte.sources.spill import SpillFolder, remove_spilled


def write_folder(
    candidate: Candidate,
    output: str | Path,
    *,
    source: SparkSource | None = None,
    force: bool = False,
    about: About | None = None,
    progress: ProgressCallback | None = None,
    language: str = ENGLISH.code,
) -> Certificate:
    """Write a candidate in Spark as a folder of Parquet files, and its certificate beside it.

    The workers write into a private folder beside the output; Spark reads and counts what they wrote. Only what is
    verified gets its name, by one renaming. `force` replaces a certificate, and never a folder. This machine and all
    workers must see the folder of the output, and run as the same user.
    """
    with StagedFolder(Path(output), candidate.plan, source=source, force=force) as folder:
        folder.language = language_named(language)
        return published(candidate, folder, source=folder.source, about=about, progress=progress)[1]


class StagedFolder(StagedFiles):
    """A folder of Parquet files and its certificate under temporary names; either all get their names or none does."""

    def __init__(self, output: Path, plan: Plan, *, source: SparkSource | None, force: bool) -> None:
        refuse_folder(output)
        named = source if source is not None and source.found is not None else None
        super().__init__(output, plan, source=named, force=force)

    def _staged(self, path: Path) -> Path:
        if path != self._output:
            return super()._staged(path)
        temporary = self._naming.enter_context(_whole_folder(path))
        self._names.insert(0, (temporary, path))
        return temporary


def refuse_folder(path: Path) -> None:
    """Refuse, before any work is done, a folder that cannot be made; one that exists is never replaced."""
    refuse_spark_output(path)
    if os.path.lexists(path):
        raise InputError(
            f"{path}: exists already; a folder is not replaced, even with --force: remove it, or give another name",
            code="output-exists",
        )
    parent = path.resolve().parent
    if not parent.is_dir():
        raise InputError(f"{path}: the folder for the output does not exist", code="output-folder-missing")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InputError(f"{path}: no permission to write into that folder", code="output-not-writable")


def remove_left_folders(output: Path) -> int:
    """Remove what killed commands left beside an output, and return how many there were."""
    remove_left_over(output.resolve().parent, output.name)
    return remove_spilled(output.resolve().parent)


@contextmanager
def _whole_folder(output: Path) -> Iterator[Path]:
    """Yield a path in a private folder beside `output`; if the block succeeds, the folder there gets its final name."""
    spill = SpillFolder(output.resolve().parent)
    try:
        yield spill.file("table")
        refuse_folder(output)
        try:
            spill.file("table").rename(output)
        except OSError:
            raise EngineError(
                f"{output}: the folder could not get its name; nothing was written", code="write-failed"
            ) from None
    finally:
        spill.remove()
