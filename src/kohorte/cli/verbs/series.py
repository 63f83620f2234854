"""`kohorte series`: releases of a growing table that only ever get finer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from kohorte.cli.exchange.ledger import (
    add_ledger_options,
    ledger_facts,
    print_ledger,
    print_not_recorded,
    recording,
    releases_not_recorded,
)
from kohorte.cli.output import add_table_options, print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.report_options import ABOUT
from kohorte.in_words import cost, count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.exits.series import SeriesRecording
    from kohorte.series import ReleaseVerdict, Series, SeriesVerification
    from kohorte.series.drafting.growing_table import Figures

EPILOG = """\
examples:
  kohorte series start registry --plan plan.yaml --settings series.yaml
  kohorte series release registry patients-2026.csv --output release-1.csv
  kohorte series status registry patients-2027.csv                    what the next one would be, and what is missing
  kohorte series status registry --picture registry.html              the releases and their regions, drawn
  kohorte series release registry patients-2027.csv --output release-2.csv
  kohorte series verify registry patients-2027.csv release-1.csv release-2.csv
  kohorte series release registry patients-2027.csv --again 1 --output release-1.csv

series.yaml:
  kohorte: 1
  kind: regions                            or full-domain: each attribute at one level, and levels only go down
  regions:                                 the domain of each quasi-identifier whose hierarchy does not define it
    age: {lower: 0, upper: 120, step: 1}
    zip: {digits: 5}
  identified_by: patient_id                so that corrected and withdrawn rows can be told apart
  arrivals: unknown                        or known: also protects people whose time of arrival an attacker knows

The folder contains a secret key and fingerprints of all rows. Keep it secret, and make a copy after every release:
without its latest state the series cannot continue. Rows that cannot be shown yet are held back, and shown by a later
release."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the four actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    start = _action(actions, "start", "begin a series in a new folder")
    start.add_argument("--plan", required=True, metavar="PLAN", help="plan file (YAML)")
    start.add_argument("--settings", metavar="FILE", help="domains, policies and target of the series (YAML)")
    start.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    start.set_defaults(run=run_start)
    release = _action(actions, "release", "make the next release of the table as it is now")
    add_table_options(release, plan=False)
    _add_release_options(release)
    release.set_defaults(run=run_release)
    status = _action(actions, "status", "show the releases so far and, with a table, what the next one would be")
    add_table_options(status, plan=False, required=False)
    status.add_argument("--top", type=int, default=10, metavar="N", help="how many regions to name (default 10)")
    status.add_argument("--picture", metavar="OUT", help="draw the releases and their regions (.html)")
    status.add_argument("--force", action="store_true", help="replace an existing picture")
    status.add_argument("--ledger", metavar="LEDGER", help="say which releases this disclosure ledger does not have")
    status.set_defaults(run=run_status)
    verify = _action(actions, "verify", "replay all releases and check what the series promises")
    add_table_options(verify, plan=False)
    verify.add_argument("releases", metavar="RELEASE", nargs="*", help="files of releases, compared with the series")
    verify.add_argument("--ledger", metavar="LEDGER", help="say which releases this disclosure ledger does not have")
    verify.set_defaults(run=run_verify)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.add_argument("folder", metavar="FOLDER", help="folder of the series")
    return parser


def _add_release_options(parser: argparse.ArgumentParser) -> None:
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--output", metavar="OUT", help="where the release goes (.csv or .parquet)")
    goal.add_argument(
        "--dry-run", action="store_true", help="show what the release would be, without making or writing it"
    )
    parser.add_argument("--again", type=int, metavar="N", help="write release N again instead of making a new one")
    parser.add_argument("--plan", metavar="PLAN", help="refuse a series that was started with another plan")
    add_ledger_options(parser)
    for name in ("recipient", "purpose"):
        parser.add_argument(f"--{name}", metavar="TEXT", help=f"{ABOUT[name]}, as the disclosure ledger notes it")
    parser.add_argument("--force", action="store_true", help="replace existing output files")


def run_start(options: argparse.Namespace) -> int:
    """Begin a series."""
    from kohorte.plans import Plan
    from kohorte.series import Series, SeriesSettings

    settings = None if options.settings is None else SeriesSettings.from_yaml(options.settings)
    series = Series.start(options.folder, Plan.from_yaml(options.plan), settings)
    axes = {domain.name: domain.in_words for domain in series.definition.domains}
    if options.json:
        print_json({"folder": options.folder, "axes": axes})
        return 0
    print(f"series started in {options.folder}; from now on these domains are fixed:")
    for name, words in axes.items():
        print(f"  {name:<24} {words}")
    print("keep the folder secret, and keep copies of it: without its key the series cannot continue")
    return 0


def run_release(options: argparse.Namespace) -> int:
    """Make the next release, preview it, or write an earlier one again."""
    with TerminalProgress.of(options) as progress, _opened(options, progress) as series, ExitStack() as closing:
        from kohorte.data.files import refuse_output
        from kohorte.release import certificate_paths

        if options.output is not None:
            for path in (Path(options.output), *certificate_paths(Path(options.output))):
                refuse_output(path, force=options.force)
        gate = _gate(options, series, closing)
        table = read_data(options, progress)
        if options.again is not None:
            progress.stage(Stage.SEARCHING, f"for release {options.again} among the earlier ones")
            release = series.again(
                options.again, table.frame, options.output, source=table, force=options.force, gate=gate
            )
        elif options.dry_run:
            release = series.preview(table.frame, progress=progress, gate=gate)
        else:
            release = series.release(
                table.frame, options.output, source=table, force=options.force, progress=progress, gate=gate
            )
    if options.json:
        formulas = None if release.certificate is None else release.certificate.facts["formulas"]
        print_json(release.to_dict() | {"formulas": formulas} | ledger_facts(gate))
    else:
        _print_release(release)
        for note in (*release.verdict.reasons, *(() if release.certificate is None else release.certificate.notes)):
            print(f"note: {note}")
        print(f"verdict: {release.verdict.standing}; {release.verdict.sentence('the release')}")
        print_ledger(gate, options)
        print("dry run: nothing was written" if options.dry_run else f"written and verified: {options.output}")
    return 0


def _gate(options: argparse.Namespace, series: Series, closing: ExitStack) -> SeriesRecording | None:
    """The disclosure ledger before this release; None if none is named."""
    from kohorte.disclosures.exits.series import about_release

    number = options.again or len(series.history) + 1
    found = recording(options, series.plan, closing, series=about_release(series.identity, number))
    return cast("SeriesRecording | None", found)


def run_status(options: argparse.Namespace) -> int:
    """Print the history, what the next release would gain, and what is missing."""
    picture = None if options.picture is None else Path(options.picture)
    with TerminalProgress.of(options) as progress, _opened(options, progress) as series:
        if picture is not None:
            series.refuse_picture(picture, needed=() if options.data is None else (options.data,), force=options.force)
        frame = None if options.data is None else read_data(options, progress).frame
        progress.stage(Stage.COUNTING, "what the series shows, and what is missing")
        status = series.status(frame, top=options.top)
        if picture is not None:
            progress.stage(Stage.WRITING, picture.name)
            series.write_picture(picture, status, force=options.force)
    recorded = releases_not_recorded(options, series)
    if options.json:
        print_json(status.to_dict() | recorded)
        return 0
    _print_history(series)
    print_not_recorded(recorded)
    if status.coming is not None:
        print("\nthe next release would be")
        _print_release(status.coming.figures)
    if status.refused is not None:
        print(f"\nthe next release would be refused: {status.refused.message}")
    for line in status.in_words():
        print(line)
    for note in status.open_points if status.coming is None or status.verdict is None else status.verdict.reasons:
        print(f"note: {note}")
    if status.verdict is not None:
        print(f"verdict: {status.verdict.standing}; {status.verdict.sentence('the next release')}")
    if picture is not None:
        print(f"picture: {picture}")
    return 0


def run_verify(options: argparse.Namespace) -> int:
    """Replay and compare; exit code 1 if anything is not as promised."""
    with TerminalProgress.of(options) as progress, _opened(options, progress) as series:
        frame = read_data(options, progress).frame
        progress.stage(Stage.VERIFYING, f"{count(len(series.history), 'release')} of the series")
        found = series.verify(frame, options.releases)
    recorded = releases_not_recorded(options, series)
    if options.json:
        print_json(found.to_dict() | recorded)
    else:
        _print_verification(found)
        print_not_recorded(recorded)
    return 0 if found.satisfied else 1


@contextmanager
def _opened(options: argparse.Namespace, progress: TerminalProgress) -> Iterator[Series]:
    """Open the series; print its notices to standard error, also after a failure."""
    progress.stage(Stage.CHECKING, "the series")
    from kohorte.plans import Plan
    from kohorte.series import Series

    plan = getattr(options, "plan", None)
    series = Series.open(options.folder, plan=None if plan is None else Plan.from_yaml(plan))
    try:
        yield series
    finally:
        progress.done()
        for notice in series.notices:
            print(f"kohorte: {notice}", file=sys.stderr)


def _print_release(release: Figures) -> None:
    print(
        f"release {release.number}: {count(release.rows, 'row')}, {count(release.shown)} shown "
        f"({count(release.new)} for the first time), {count(release.held)} held back"
    )
    unit = ("row", "rows") if release.people is None else ("person", "people")
    if release.people is not None:
        print(f"the rows that are shown are about {count(release.people, *unit)}")
    smallest = f"the smallest with {count(release.smallest_region, *unit)}"
    if release.levels is None:
        print(f"{count(release.regions, 'region')}, {smallest}; {count(release.splits, 'split')}")
    else:
        levels = ", ".join(f"{name} {level}" for name, level in release.levels.items())
        print(f"levels {levels}: {count(release.regions, 'class', 'classes')}, {smallest}")
    before = f" (the same rows before: {cost(release.loss_before)})" if release.number > 1 else ""
    print(f"loss {cost(release.loss)}{before}")
    if release.waited:
        wait = "waits" if release.waited == 1 else "wait"
        print(f"{count(release.waited, 'region')} {wait} for rows that allow a split towards the target")
    gone = (("corrected", release.corrected), ("withdrawn", release.withdrawn), ("no longer shown", release.withheld))
    for what, rows in gone:
        if rows:
            print(f"note: {count(rows, 'row')} {what}; what was released remains public")


def _print_history(series: Series) -> None:
    header = ["release", "time (UTC)", "rows", "shown", "held", "new", "regions", "smallest", "loss"]
    lines = [
        (
            entry.number,
            entry.time[:16].replace("T", " "),
            entry.rows,
            entry.shown,
            entry.held,
            entry.new,
            entry.regions,
            entry.smallest_region,
            cost(entry.loss),
        )
        for entry in series.history
    ]
    if lines:
        print_table(header, lines)
    else:
        print("the series has no release yet")


def _print_verification(found: SeriesVerification) -> None:
    for release in found.releases:
        print(f"release {release.number}: {_verdict_in_words(release)}")
    for file in found.files:
        if file.number is not None:
            how = "byte for byte" if file.same_bytes else "the same rows and cells"
            print(f"{file.name}: is release {file.number}, {how}")
    for problem in found.problems:
        print(f"problem: {problem}")
    for note in found.verdict.reasons if found.satisfied else ():
        print(f"note: {note}")
    said = found.verdict.sentence("the series", "keeps its promises", "does NOT keep its promises")
    print(f"verdict: {found.verdict.standing}; {said}")


def _verdict_in_words(release: ReleaseVerdict) -> str:
    if release.problems:
        return "FAILS"
    finer = "finer than before, or the same"
    if release.models is None:
        return f"{finer}; {count(release.gone, 'row')} gone since, so that the models cannot be checked again"
    return (
        f"models hold, {finer}; linked with all before, at least {count(release.candidates)} {release.unit} fit every "
        f"person ({count(release.candidates_by_arrival)} if the arrival is known)"
    )
