"""`kohorte anonymize`: the best release that satisfies a plan."""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from kohorte.algorithm_names import ALGORITHM_NAMES
from kohorte.cli.exchange.ledger import add_ledger_options, ledger_facts, print_ledger, recording
from kohorte.cli.output import add_table_options, class_sizes, print_json, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.report_options import about, add_report_options, reader, refuse_unread_about, report_view
from kohorte.cli.show_values import add_show_values, show_lost_values, showing_values
from kohorte.cli.sources.large_tables import add_engine_options, outside_table
from kohorte.errors import EngineError, KohorteError
from kohorte.in_words import cost, count, percent, seconds
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    import polars as pl

    from kohorte.data import TableFile
    from kohorte.plans import Plan
    from kohorte.plans.parts import About
    from kohorte.pseudonyms.for_releases import ReleasePseudonyms
    from kohorte.release import Candidate, Certificate
    from kohorte.release.telling.verdict import Verdict
    from kohorte.report.facts import Facts
    from kohorte.sources import DuckDbSource, PostgresqlSource, SparkSource

EPILOG = """\
examples:
  kohorte anonymize patients.csv --plan plan.yaml --output release.csv
  kohorte anonymize patients.parquet --plan plan.yaml --output release.parquet --time-limit 60
  kohorte anonymize patients.csv --plan plan.yaml --dry-run          search, but write nothing
  kohorte anonymize patients.csv --plan plan.yaml --output release.csv --json
  kohorte anonymize visits.parquet --plan plan.yaml --output release.parquet --memory-limit 4GB    beyond memory
  kohorte anonymize visits/ --plan plan.yaml --output release.parquet          all Parquet files of a folder
  kohorte anonymize postgresql://anna@db/clinic/visits --plan plan.yaml --output postgresql://anna@db/clinic/release
  kohorte anonymize visits/ --plan plan.yaml --output release.parquet --engine spark --master spark://head:7077
  kohorte anonymize stays.csv --plan plan.yaml --output release.csv --folder trust    if the plan names a domain

A certificate is written next to the output, as release.certificate.json and release.certificate.txt.
The output file is read again and verified before it gets its name."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    goal = parser.add_mutually_exclusive_group(required=True)
    goal.add_argument("--output", metavar="OUT", help="output file of the release (.csv or .parquet)")
    goal.add_argument("--dry-run", action="store_true", help="search and report, but write nothing")
    parser.add_argument(
        "--algorithm", metavar="A", help=f"use this instead of the plan's: {', '.join(ALGORITHM_NAMES)}"
    )
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="seconds after which the best found so far is used"
    )
    parser.add_argument("--threads", type=int, metavar="N", help="threads that search; the answer is always the same")
    add_report_options(parser, "also write a report for people, as one HTML page")
    parser.add_argument(
        "--folder",
        metavar="FOLDER",
        help="folder of keys and lists, if the plan names a domain (default: KOHORTE_FOLDER)",
    )
    add_engine_options(parser)
    add_ledger_options(parser)
    parser.add_argument("--force", action="store_true", help="replace existing output files")
    add_show_values(parser, ", and values that the release lost")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, search, write, verify."""
    started = time.perf_counter()
    options.report_view = report_view(options)
    options.reader = reader(options, certificate=options.output is not None)
    if options.dry_run and options.ledger is None:
        refuse_unread_about(options)
    with TerminalProgress.of(options) as progress, ExitStack() as closing:
        progress.stage(Stage.CHECKING, "the plan")
        release, certificate, verdict, spans = _released(options, progress, started, closing)
    if options.json:
        formulas = None if certificate is None else certificate.facts["formulas"]
        told = {"formulas": formulas, "verdict": verdict.to_dict(), "seconds": spans}
        print_json(release.to_dict() | told | ledger_facts(options.recorded))
    else:
        _print_summary(release, certificate, verdict, spans["total"])
        print_ledger(options.recorded, options)
        _print_files(options.output, options.report)
    if options.show_values:
        show_lost_values(release.losses)
    return 0


def _released(
    options: argparse.Namespace, progress: TerminalProgress, started: float, closing: ExitStack
) -> tuple[Candidate, Certificate | None, Verdict, dict[str, float]]:
    """Make and write the release; return it with certificate, verdict and the seconds of each step."""
    from kohorte.release import find_candidate, write_release
    from kohorte.release.write import only_files
    from kohorte.sources import PostgresqlSource, SparkSource

    stated = about(options)
    plan = _plan(options)
    output = Path(options.output) if options.output is not None else None
    _refuse_files(options, plan)
    pseudonymize = _pseudonyms(options, plan)
    ledger = options.recorded = recording(options, plan, closing)
    table: TableFile | DuckDbSource | PostgresqlSource | SparkSource
    outside = outside_table(options, plan, progress, output=options.output)
    if outside is not None:
        table, facts, read = outside, None, time.perf_counter()
        if isinstance(outside, PostgresqlSource) and options.output is not None:
            from kohorte.release.sinks.database import refuse_target, write_to_database

            refuse_target(options.output, plan, outside, force=options.force)
        release = find_candidate(outside, plan, progress=progress)
    else:
        table, release, facts, read = _found_in_memory(options, plan, progress, pseudonymize, stated)
    searched = time.perf_counter()
    certificate = None
    if output is not None:
        commit = only_files if ledger is None else ledger.commit
        written = {"force": options.force, "about": stated, "progress": progress, "language": options.reader.code}
        if isinstance(table, PostgresqlSource):
            certificate = write_to_database(release, options.output, source=table, **written)
        elif isinstance(table, SparkSource):
            from kohorte.release.sinks.folder import write_folder

            certificate = write_folder(release, output, source=table, **written)
        else:
            certificate = write_release(release, output, source=table, commit=commit, **written)
    if facts is not None:
        progress.stage(Stage.WRITING, "the report")
        facts = replace(facts, certificate_sha256=None if certificate is None else certificate.sha256)
        _write_last(Path(options.report), facts, output, force=options.force)
    verdict = _verdict(release) if certificate is None else certificate.verdict
    ended = time.perf_counter()
    spans = {"read": read - started, **release.seconds, "write": ended - searched, "total": ended - started}
    return release, certificate, verdict, spans


def _found_in_memory(
    options: argparse.Namespace,
    plan: Plan,
    progress: TerminalProgress,
    pseudonymize: ReleasePseudonyms | None,
    stated: About,
) -> tuple[TableFile, Candidate, Facts | None, float]:
    """Read the table and search; return its file without rows, what was found, the report, and when it was read."""
    from kohorte.release import find_candidate
    from kohorte.sources import FrameSource

    ledger = options.recorded
    whole = ledger is not None or options.report is not None  # these look at the rows as texts
    table = read_data(options, progress, coded=() if whole else (*plan.quasi_identifiers, *plan.counted_attributes))
    read = time.perf_counter()
    with showing_values(options, table.frame, plan):

        def found(rows: pl.DataFrame) -> Candidate:
            return find_candidate(FrameSource(rows), plan, progress=progress, pseudonymize=pseudonymize)

        if ledger is None:
            release = found(table.frame)
        else:
            progress.stage(Stage.COMPARING, "with earlier releases")
            release = ledger.released(table.frame, found)
            table = replace(table, frame=ledger.rows)
    facts = None if options.report is None else _report(options, table, release, stated, progress)
    return replace(table, frame=table.frame.clear()), release, facts, read  # the original rows are no longer needed


def _pseudonyms(options: argparse.Namespace, plan: Plan) -> ReleasePseudonyms | None:
    """What makes the pseudonyms of the plan; its domains are opened before any work is done."""
    if not plan.pseudonyms:
        return None
    from kohorte.cli.verbs.domain import opened_domains

    domains = opened_domains(options.folder)
    from kohorte.pseudonyms.for_releases import ReleasePseudonyms
    from kohorte.trust.log import account

    found = ReleasePseudonyms(domains, actor=account(), remembered=not options.dry_run)
    for domain in plan.pseudonyms.values():
        found.domain(domain)
    return found


def _refuse_files(options: argparse.Namespace, plan: Plan) -> None:
    """Refuse, before any work is done, files that cannot be written or would replace an input."""
    from kohorte.data import refuse_format, refuse_same_file
    from kohorte.data.files import refuse_output
    from kohorte.release import certificate_paths
    from kohorte.sources.postgresql_session import is_database

    inputs = (options.data, options.plan, *plan.files())
    if options.output is not None and not is_database(options.output):
        output = Path(options.output)
        refuse_output(output, force=options.force)
        for path in (output, *certificate_paths(output)):
            for needed in inputs:
                refuse_same_file(needed, path)
            refuse_output(path, force=options.force)
        refuse_format(output)
    if options.report is not None:
        from kohorte.pages import refuse_page

        refuse_page(Path(options.report), needed=inputs, force=options.force)


def _report(
    options: argparse.Namespace, table: TableFile, candidate: Candidate, stated: About, progress: TerminalProgress
) -> Facts:
    """Measure the risk before and after; this needs the original rows."""
    from kohorte.release import Release
    from kohorte.release.certificate import FileFacts
    from kohorte.report.write import report_of

    progress.stage(Stage.VERIFYING, "the release")
    release = Release.verified(candidate)
    progress.stage(Stage.ESTIMATING, "the risk before and after, for the report")
    facts = report_of(table.frame, release.plan, release=release, view=options.report_view)
    named = replace(facts.table, file=FileFacts(table.path.name, table.sha256))
    return replace(facts, about=stated, table=named, language=options.reader)


def _write_last(path: Path, facts: Facts, output: Path | None, *, force: bool) -> None:
    """Write the report; if that fails, the error says whether the release was written."""
    try:
        _write_report(path, facts, output, force=force)
    except KohorteError as error:
        if output is None:
            raise
        raise EngineError(
            f"{path}: the report was not written ({error.code}); {output} and its certificate were written and "
            "verified, and are whole",
            code="report-not-written",
        ) from None


def _write_report(path: Path, facts: Facts, output: Path | None, *, force: bool) -> None:
    """Write the report, with the hash of the release if it was written."""
    from kohorte.data import sha256_of
    from kohorte.pages import write_text
    from kohorte.release.certificate import FileFacts
    from kohorte.report.page import to_html

    if output is not None and facts.after is not None:
        facts = replace(facts, after=replace(facts.after, file=FileFacts(output.name, sha256_of(output))))
    write_text(path, to_html(facts), force=force)


def _plan(options: argparse.Namespace) -> Plan:
    """The plan, with the options of the command line."""
    from kohorte.plans import Plan

    plan = Plan.from_yaml(options.plan)
    search = plan.search
    if options.algorithm is not None:
        search = search.for_algorithm(options.algorithm)
    if options.time_limit is not None:
        search = replace(search, time_limit=options.time_limit)
    if options.threads is not None:
        search = replace(search, threads=options.threads)
    return replace(plan, search=search)


def _verdict(candidate: Candidate) -> Verdict:
    """The verdict on what was found and not written: counted again from its rows."""
    from kohorte.release import Release, warnings
    from kohorte.release.telling.verdict import judge

    release = Release.verified(candidate)
    return judge(release.verification, warnings(release))


def _print_summary(release: Candidate, certificate: Certificate | None, verdict: Verdict, duration: float) -> None:
    from kohorte.release.telling.loss_words import lost_in_numbers
    from kohorte.release.telling.promises import plan_notes
    from kohorte.release.words import levels_in_words, unit_of

    unit = unit_of(release.plan)
    share = percent(release.suppressed / release.rows)
    print(f"{count(release.rows, 'row')}, {count(release.suppressed)} of them suppressed ({share})")
    print(class_sizes(release.classes, release.smallest_class, unit))
    if release.people is not None:
        some, everything = release.people.losing(release.suppressed)
        print(
            f"{unit.count(release.people.people)}: {count(some)} lose rows, {count(everything)} of them all their rows"
        )
    for name, shown in levels_in_words(release).items():
        print(f"  {name:<24} {shown}")
    print(f"{release.plan.metric.name} {cost(release.cost)} ({release.verdict})")
    if release.one_row_cost is not None:
        print(f"with attacker_knows: one_row, {release.plan.metric.name} would be {cost(release.one_row_cost)}")
    print(f"{release.effort}, {seconds(duration)} in all")
    for lost in lost_in_numbers(release.losses):
        print(f"lost: {lost}")
    notes = plan_notes(release.plan) if certificate is None else certificate.notes
    for note in (*verdict.reasons, *notes):
        print(f"note: {note}")
    print(f"verdict: {verdict.standing}; {verdict.sentence('the release')}")


def _print_files(output: str | None, report: str | None) -> None:
    from kohorte.release import certificate_paths
    from kohorte.sources.postgresql_session import Address, is_database

    if output is None:
        print("dry run: no release was written" if report else "dry run: nothing was written")
    elif is_database(output):
        table = Address.parse(output).table
        print(f"written and verified: {table}; certificate: {table}_certificate")
    else:
        print(f"written and verified: {output}; certificate: {certificate_paths(Path(output))[1].name}")
    if report is not None:
        print(f"report: {report}")
