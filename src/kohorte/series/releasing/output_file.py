"""Where a release of a series goes: a file and its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kohorte.data import Formulas, TableFile
from kohorte.errors import InputError
from kohorte.release.write import StagedFiles, certificate_paths


@dataclass(frozen=True)
class OutputFile:
    """The file of a release; `source` is the file of its table, and `force` replaces what is there."""

    path: Path
    source: TableFile | None
    force: bool
    formulas: Formulas

    @property
    def files(self) -> tuple[Path, ...]:
        """The release and its certificates."""
        return (self.path, *certificate_paths(self.path))

    def staged(self) -> StagedFiles:
        """These files under temporary names, until all of them get their names or none does."""
        inputs = () if self.source is None else (self.source.path,)
        return StagedFiles(self.path, inputs=inputs, like=self.source, force=self.force, formulas=self.formulas)


def refuse_inside(output: Path, folder: Path) -> None:
    """Refuse an output in the folder of the series."""
    if output.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            f"{output}: the folder of a series is secret and holds no releases; choose another folder for the output",
            code="series-output-inside",
        )
