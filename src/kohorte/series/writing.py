"""Writing a release of a series: the file and its certificate, verified before they get their names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kohorte.data import TableFile
from kohorte.errors import InputError
from kohorte.release.certificate import Certificate
from kohorte.release.verification import verify_table
from kohorte.release.write import Naming, certificate_paths, file_facts, write_certified
from kohorte.series.certificate import certify_release
from kohorte.series.definition import Definition
from kohorte.series.growing import Figures, refuse_unverified
from kohorte.series.memory.state import State


@dataclass(frozen=True)
class Output:
    """Where a release goes; `source` is the file of its table, and `force` replaces what is there."""

    path: Path
    source: TableFile | None
    force: bool

    @property
    def files(self) -> tuple[Path, ...]:
        """The release and its certificates."""
        return (self.path, *certificate_paths(self.path))

    def write(
        self,
        data: pl.DataFrame,
        figures: Figures,
        definition: Definition,
        state: State,
        before_naming: Callable[[Naming, str], None] | None = None,
    ) -> Certificate:
        """Write a release; `before_naming` gets the files with their names to be, and the hash of the release's."""
        hashes: list[str] = []

        def certified(written: TableFile) -> Certificate:
            hashes.append(written.sha256)
            verification = verify_table(written.frame, definition.plan, {})
            refuse_unverified(verification, data)
            source = None if self.source is None else file_facts(self.source)
            return certify_release(
                figures, data, definition, state, verification=verification, source=source, output=file_facts(written)
            )

        return write_certified(
            data,
            self.path,
            certified,
            inputs=() if self.source is None else (self.source.path,),
            like=self.source,
            force=self.force,
            before_naming=None if before_naming is None else lambda naming: before_naming(naming, hashes[0]),
        )


def refuse_inside(output: Path, folder: Path) -> None:
    """Refuse an output in the folder of the series."""
    if output.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            f"{output}: releases do not belong into the folder of the series, which is secret; give another place",
            code="series-output-inside",
        )
