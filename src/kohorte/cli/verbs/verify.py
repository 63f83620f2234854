"""`kohorte verify`: does a table satisfy the models of a plan?"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from kohorte.cli.output import add_table_options, class_sizes, print_json, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.cli.sources.large_tables import add_engine_options, outside_table
from kohorte.in_words import count
from kohorte.progress import Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.plans import Plan
    from kohorte.release import Verification
    from kohorte.release.telling.verdict import Verdict
    from kohorte.sources import DuckDbSource, PostgresqlSource, SparkSource

CERTIFICATE = ".certificate.json"
EPILOG = """\
examples:
  kohorte verify release.csv --plan plan.yaml
  kohorte verify release.csv --plan release.certificate.json               with the plan that the certificate states
  kohorte verify release.csv --plan plan.yaml --json
  kohorte verify release.csv --plan plan.yaml --population original.csv    where the plan counts people, releases a
                                                                           subset or has an identifying column
  kohorte verify postgresql://anna@db/clinic/shared.release --plan plan.yaml    a table in a database
  kohorte verify release.parquet --plan plan.yaml --memory-limit 4GB            a file larger than memory

The table is counted from its text, independently of how it was made. Rows whose quasi-identifiers are all *
are suppressed rows and exempt, as long as the plan's suppression limit allows that many.
The verdict is green, amber (the models hold, but a point is open) or red. Exit code 1 if a model does not hold."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    add_table_options(parser)
    parser.add_argument(
        "--population",
        metavar="FILE",
        help="the original table, for plans that count people (person), release a subset or have identifying columns",
    )
    add_engine_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read and verify."""
    with TerminalProgress.of(options) as progress:
        verification, verdict, notes = _verified(options, progress)
    from kohorte.release.telling.verdict import Standing
    from kohorte.release.words import unit_named

    if options.json:
        told = {"verdict": verdict.to_dict(), "warnings": list(verification.open_points), "notes": notes}
        print_json(verification.to_dict() | told)
        return 0 if verification.satisfied else 1
    for model in verification.models:
        print(f"{model.model_in_words}: {model.in_words}; reached {model.reached_in_words}")
    for problem in verification.problems:
        print(f"problem: {problem}")
    sizes = class_sizes(verification.classes, verification.smallest_class, unit_named(verification.unit))
    print(f"{count(verification.rows, 'row')}, {count(verification.suppressed)} suppressed; {sizes}")
    open_points = verdict.reasons if verdict.standing is Standing.AMBER else verification.open_points
    for note in (*open_points, *notes):
        print(f"note: {note}")
    failing = [model for model in verification.models if not model.satisfied]
    by_rows = all(model.may_hold_for_people for model in failing) and not verification.problems
    bad = "does NOT satisfy the plan by rows; people were not counted" if by_rows else "does NOT satisfy the plan"
    print(f"verdict: {verdict.standing}; {verdict.sentence('the table', bad=bad)}")
    return 0 if verification.satisfied else 1


def _is_certificate(name: str) -> bool:
    """Whether a file is a certificate: by its name, or, if somebody has renamed it, by what it states."""
    if name.endswith(CERTIFICATE):
        return True
    try:
        return name.endswith(".json") and "certificate" in json.loads(Path(name).read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def _plan_of_certificate(name: str) -> Plan:
    """The plan that a certificate states: all that a recipient has."""
    from kohorte.data.files import read_text
    from kohorte.errors import InputError
    from kohorte.plans import Plan

    text = read_text(Path(name), what="certificate", code="certificate-unreadable")
    try:
        stated = json.loads(text)["plan"]
    except (ValueError, KeyError, TypeError):
        raise InputError(
            f"{Path(name).name}: is not the certificate of a release", code="certificate-unreadable"
        ) from None
    return Plan.from_dict(stated)


def _verified(options: argparse.Namespace, progress: TerminalProgress) -> tuple[Verification, Verdict, list[str]]:
    """The verification of the table, the verdict on it, and what a reader should know besides."""
    progress.stage(Stage.CHECKING, "the plan")
    from kohorte.data import read_table, without_quotes
    from kohorte.plans import Plan
    from kohorte.release import verify
    from kohorte.release.certificate import table_warnings
    from kohorte.release.telling.certified_person import certified_person_points
    from kohorte.release.telling.compared_original import original_points
    from kohorte.release.telling.formulas import file_points
    from kohorte.release.telling.promises import plan_notes
    from kohorte.release.telling.verdict import judge
    from kohorte.release.write import (
        certified_input,
        certified_points,
        is_certified,
        only_certified,
        other_certificates,
    )

    named = Path(options.plan) if _is_certificate(options.plan) else None
    plan = Plan.from_yaml(options.plan) if named is None else _plan_of_certificate(options.plan)
    outside = outside_table(options, plan, progress)
    if outside is not None:
        return _verified_outside(outside, plan, progress, named)
    file = read_data(options, progress)
    table, _ = without_quotes(file, plan.formulas)
    original = None
    if options.population is not None:
        progress.reading(options.population)
        original = read_table(options.population, separator=options.separator, encoding=options.encoding)
    progress.stage(Stage.VERIFYING, f"{count(table.frame.height, 'row')}")
    verification = verify(table.frame, plan, population=None if original is None else original.frame)
    notes: list[str] = []
    if original is None:
        unclear = certified_person_points(plan, file.frame.columns, certified=is_certified(file, plan))
    else:
        unclear, notes = original_points(file, original, plan, certified_input(file))
    unclear = [*unclear, *other_certificates(file, named)]
    verification = replace(verification, open_points=(*verification.open_points, *unclear))
    open_points = (*table_warnings(table.frame, plan, verification), *file_points(file, plan))
    hidden = [] if original is not None else only_certified(certified_points(file, plan), open_points)
    verification = replace(verification, open_points=(*verification.open_points, *hidden))
    return verification, judge(verification, (*open_points, *hidden)), [*notes, *plan_notes(plan)]


def _verified_outside(
    table: DuckDbSource | PostgresqlSource | SparkSource, plan: Plan, progress: TerminalProgress, named: Path | None
) -> tuple[Verification, Verdict, list[str]]:
    """The same for a table whose rows are counted where they are; a certificate in a database is not looked for."""
    from kohorte.release import verify
    from kohorte.release.certificate import table_warnings
    from kohorte.release.telling.certified_person import certified_person_points
    from kohorte.release.telling.promises import plan_notes
    from kohorte.release.telling.verdict import judge
    from kohorte.release.write import certified_points, is_certified, only_certified, other_certificates
    from kohorte.sources import PostgresqlSource

    file = None if isinstance(table, PostgresqlSource) else table
    progress.stage(Stage.VERIFYING, count(table.rows, "row"))
    verification = verify(table, plan)
    certified = file is not None and is_certified(file, plan)
    unclear = certified_person_points(plan, table.columns, certified=certified)
    unclear = [*unclear, *([] if file is None else other_certificates(file, named))]
    verification = replace(verification, open_points=(*verification.open_points, *unclear))
    open_points = table_warnings(table, plan, verification)
    hidden = [] if file is None else only_certified(certified_points(file, plan), open_points)
    verification = replace(verification, open_points=(*verification.open_points, *hidden))
    return verification, judge(verification, (*open_points, *hidden)), plan_notes(plan)
