"""Writing a release: the table and its certificate, all of it or nothing."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from kohorte.data import TableFile, atomic_write, fill_table, output_separator, parse_table, refuse_same_file
from kohorte.release.certificate import Certificate, FileFacts, certify
from kohorte.release.release import Release
from kohorte.release.verification import refuse_unverified, verify_table


def certificate_paths(output: Path) -> tuple[Path, Path]:
    """Where the certificate of an output goes: beside it, as JSON and as text."""
    return output.with_suffix(".certificate.json"), output.with_suffix(".certificate.txt")


def write_release(release: Release, output: Path, *, source: TableFile, force: bool) -> Certificate:
    """Write a release and its certificate, after reading the written table again and verifying it anew.

    Nothing gets its name before everything is written and verified.
    """
    refuse_same_file(source.path, output)
    separator = output_separator(output, source)
    as_json, as_text = certificate_paths(output)
    with ExitStack() as files:
        table = files.enter_context(atomic_write(output, force=force))
        json_file = files.enter_context(atomic_write(as_json, force=force))
        text_file = files.enter_context(atomic_write(as_text, force=force))
        fill_table(release.data, table, output, separator=separator)
        written = parse_table(table.read_bytes(), output, separator=separator)
        verification = verify_table(written.frame, release.plan)
        refuse_unverified(verification, release.evaluation)
        certificate = certify(
            release,
            verification,
            source=FileFacts(source.path.name, source.sha256),
            output=FileFacts(output.name, written.sha256),
        )
        json_file.write_text(certificate.to_json(), encoding="utf-8")
        text_file.write_text(certificate.to_text(), encoding="utf-8")
    return certificate
