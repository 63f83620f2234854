"""Bringing a release of a series to its reader: into files, or only into memory."""

from __future__ import annotations

from pathlib import Path

from kohorte.progress import ProgressCallback
from kohorte.release.certificate import Certificate, FileFacts
from kohorte.release.verification import Verification
from kohorte.release.write import Commit, StagedFiles, only_files, publish
from kohorte.series.memory.note import noted
from kohorte.series.releasing.certificate import Unpublished
from kohorte.sources import FrameSource, TableSource, Written


def publish_release(
    release: Unpublished,
    files: StagedFiles | None,
    folder: Path,
    *,
    commit: Commit = only_files,
    progress: ProgressCallback | None = None,
) -> Certificate:
    """Write a release if it has files, which are noted in the folder of the series; verify, certify and commit it.

    If the process is killed before the commit, the series stays as it was; if it is killed after the commit, the next
    command gives the files their names.
    """
    table = FrameSource(release.data)
    if files is None:
        sink = _Memory(commit)
        return publish(table, sink, verify=release.verified, certify=lambda found, _: release.certified(found))[1]

    def certified(verification: Verification, written: Written) -> Certificate:
        output = FileFacts(files.name, written.sha256)
        return release.certified(verification, source=files.source, output=output, quoted=written.quoted)

    files.commit = commit
    with noted(folder, files.paths), files:
        return publish(table, files, verify=release.verified, certify=certified, progress=progress)[1]


class _Memory:
    """A sink that writes nothing: the caller receives the rows themselves."""

    name = "the release"

    def __init__(self, commit: Commit) -> None:
        self._commit = commit

    def write(self, table: TableSource) -> Written:
        """Return the table itself."""
        return Written(table, "")

    def hand_over(self, certificate: Certificate) -> None:
        """Commit the release; the caller has the rows and the certificate."""
        del certificate
        self._commit("", ())
