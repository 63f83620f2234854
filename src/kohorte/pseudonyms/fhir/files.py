"""Pseudonymize files of FHIR: a Bundle or a single resource in a .json file, one resource per line in an .ndjson file.

Lines are read and written in batches; the output appears whole or not at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from kohorte.data import atomic_write, refuse_same_file
from kohorte.data.files import refuse_output, unreadable
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.pseudonyms.dates import dates_in_words
from kohorte.pseudonyms.domains import Domains
from kohorte.pseudonyms.fhir.bundles import BUNDLE, bundle
from kohorte.pseudonyms.fhir.json_text import parsed, written
from kohorte.pseudonyms.fhir.kept import Kept
from kohorte.pseudonyms.fhir.pending import Batch, Maker
from kohorte.pseudonyms.fhir.rules import Rules
from kohorte.pseudonyms.fhir.walking import GONE, Counts, Walker

LINES = (".ndjson", ".jsonl")
WHOLE = (".json",)
AT_ONCE = 2000
MEGABYTE = 1_000_000
BOM = b"\xef\xbb\xbf"


@dataclass
class FhirOutcome:
    """What was done, in numbers; never a value."""

    counts: Counts = field(default_factory=Counts)
    kept: Kept = field(default_factory=Kept)
    domains: dict[str, dict[str, int]] = field(default_factory=dict)
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        figures = {**vars(self.counts), "domains": self.domains, **self.kept.to_dict()}
        return figures | {"seconds": round(self.seconds, 3)}

    @property
    def in_words(self) -> list[str]:
        """What was done, in sentences."""
        counts = self.counts
        kinds = ", ".join(f"{count(number)} {name}" for name, number in sorted(counts.resources.items()))
        lines = [f"{count(sum(counts.resources.values()), 'resource')}{kinds and f' ({kinds})'}"]
        if counts.resources_removed:
            lines.append(f"{count(counts.resources_removed, 'resource')} left out")
        for name, figures in self.domains.items():
            new = f", {count(figures['new'], 'new entry', 'new entries')} in the list" if figures["new"] else ""
            lines.append(f"domain {name!r}: {count(figures['values'], 'value')} pseudonymized{new}")
        lines += dates_in_words(
            counts.dates_shifted, counts.dates_removed, counts.placeholders_removed, "they belong to nobody known"
        )
        return [*lines, *self.kept.in_words]


def pseudonymize_fhir(
    path: Path | None,
    output: Path,
    rules: Rules,
    domains: Domains,
    *,
    content: BinaryIO | None = None,
    force: bool = False,
    actor: str,
    progress: ProgressCallback | None = None,
) -> FhirOutcome:
    """Write the resources of a file as the rules say; `content` is read instead if the path is None."""
    _refuse_names(path, output)
    refuse_output(output, force=force)
    if path is not None:
        refuse_same_file(path, output)
    makers = {name: Maker(domains.open(name)) for name in rules.domains}
    outcome = FhirOutcome()
    begun = time.monotonic()
    with atomic_write(output, force=force, private=True) as temporary:
        with temporary.open("wb") as file, _opened(path, content) as source:
            walker = Walker(rules, makers, outcome.counts, outcome.kept)
            dates = None if rules.date_domain is None else (rules.date_domain, rules.within)
            for batch, resources in _parts(source, walker, path, progress):
                batch.fill(makers, dates)
                file.writelines(written(one) + b"\n" for one in resources)
        for name, maker in makers.items():
            maker.finish()
            outcome.domains[name] = {"values": maker.values, "new": maker.new, "key_version": maker.key_version}
        for name, figures in outcome.domains.items():
            domains.folder.log.append("pseudonymize resources", f"domain {name}", actor=actor, **figures)
    outcome.seconds = time.monotonic() - begun
    return outcome


def rehearse_fhir(
    path: Path | None,
    rules: Rules,
    domains: Domains,
    *,
    content: BinaryIO | None = None,
    progress: ProgressCallback | None = None,
) -> FhirOutcome:
    """Say what rules would keep of a file; nothing is written, and no list gets an entry."""
    _refuse_names(path)
    makers = {name: Maker(domains.open(name)) for name in rules.domains}
    outcome = FhirOutcome(kept=Kept(only_lists=True))
    begun = time.monotonic()
    with _opened(path, content) as source:
        for _ in _parts(source, Walker(rules, makers, outcome.counts, outcome.kept), path, progress):
            pass
    outcome.seconds = time.monotonic() - begun
    return outcome


def _refuse_names(*paths: Path | None) -> None:
    for one in paths:
        if one is not None and one.suffix.lower() not in (*LINES, *WHOLE):
            raise InputError(
                f"{one.name}: files of FHIR end in .json (a Bundle or a resource) or .ndjson (one resource per line)",
                code="fhir-file",
            )


def _parts(
    source: BinaryIO, walker: Walker, path: Path | None, progress: ProgressCallback | None
) -> Iterator[tuple[Batch, list[Any]]]:
    whole = path is not None and path.suffix.lower() in WHOLE
    return _whole(source, walker) if whole else _lines(source, walker, path, progress)


def _opened(path: Path | None, content: BinaryIO | None) -> BinaryIO:
    if path is None:
        assert content is not None, "a path or content is given"
        return content
    try:
        return path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None


def _whole(source: BinaryIO, walker: Walker) -> Iterator[tuple[Batch, list[Any]]]:
    """The only value of a file."""
    found = _resource(parsed(source.read().removeprefix(BOM), "the file"), walker, "")
    if found is GONE:
        raise InputError("the rules leave out the only resource of the file, so nothing is left", code="fhir-type")
    yield walker.batch, [found]


def _lines(
    source: BinaryIO, walker: Walker, path: Path | None, progress: ProgressCallback | None
) -> Iterator[tuple[Batch, list[Any]]]:
    """The resources of all lines, in batches; empty lines do not count."""
    size = 0 if path is None else path.stat().st_size
    resources: list[Any] = []
    for number, line in _numbered(source):
        found = _resource(parsed(line, f"line {number}"), walker, f"line {number}")
        if found is not GONE:
            resources.append(found)
        if len(resources) == AT_ONCE:
            yield walker.batch, resources
            walker.batch, resources = Batch(), []
            if path is not None:
                done, of = source.tell() // MEGABYTE, max(size // MEGABYTE, 1)
                tell(progress, Stage.PSEUDONYMIZING, path.name, done=done, of=of, unit="MB")
    yield walker.batch, resources


def _numbered(source: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(source, start=1):
        text = (line.removeprefix(BOM) if number == 1 else line).strip()
        if text:
            yield number, text


def _resource(value: Any, walker: Walker, where: str) -> Any:
    if isinstance(value, dict) and value.get("resourceType") == BUNDLE:
        return bundle(value, walker, where)
    return walker.resource(value, where or "the resource", {})
