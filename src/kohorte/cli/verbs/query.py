"""`kohorte query`: queries in SQL, answered with noise from a privacy budget."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from kohorte.cli.output import print_json, print_table, read_data
from kohorte.cli.progress import TerminalProgress
from kohorte.errors import InputError
from kohorte.in_words import count, number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.disclosures.exits.noise import AnswerRecording
    from kohorte.dp import QueryAnswer, QueryEstimate, QueryMetadata

EPILOG = """\
examples:
  kohorte query dummy --metadata metadata.yaml --rows 1000 --output dummy.csv
  kohorte query estimate "SELECT sex, AVG(age) FROM PRIORI GROUP BY sex" --metadata metadata.yaml --epsilon 0.1
  kohorte query ask patients.csv "SELECT sex, AVG(age) FROM PRIORI GROUP BY sex" --metadata metadata.yaml --epsilon 0.1
  kohorte query budget --metadata metadata.yaml

metadata.yaml:
  kohorte: 1
  table: PRIORI
  columns:
    age: {datatype: int, min: 0, max: 120}
    sex: {datatype: text, values: [f, m]}
    diagnosis: {datatype: text, cardinality: 200}
  private_id: patient_id
  max_contributions: 1
  budget: {epsilon: 1.0, delta: 1e-6, composition: pure}"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the four actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    ask = _action(actions, "ask", "answer a query with noise, and pay for it from the budget")
    ask.add_argument("data", metavar="DATA", help="CSV or Parquet file")
    _add_query(ask)
    ask.add_argument(
        "--disclosures",
        metavar="LEDGER",
        help="list the answer in this disclosure ledger; people who have withdrawn are not in it",
    )
    ask.add_argument("--recipient", metavar="NAME", help="who gets the answer, as the ledger notes it (researcher)")
    ask.add_argument("--dry-run", action="store_true", help="answer from made-up data; nothing is read or spent")
    ask.add_argument("--separator", metavar="S", help="separator of a CSV file (detected if not given): , ; | tab")
    ask.add_argument("--encoding", metavar="E", help="encoding of a CSV file (UTF-8 if not given), e.g. cp1252")
    estimate = _action(actions, "estimate", "say what a query would cost and how far its answer would be off")
    _add_query(estimate)
    dummy = _action(actions, "dummy", "write made-up data that fits the metadata, to develop queries on")
    dummy.add_argument("--rows", metavar="N", type=int, default=1000, help="how many rows (1000)")
    dummy.add_argument("--seed", metavar="N", type=int, default=0, help="another seed gives another table (0)")
    dummy.add_argument("--output", metavar="OUT", required=True, help="CSV or Parquet file to write")
    dummy.add_argument("--force", action="store_true", help="replace the output if it exists")
    budget = _action(actions, "budget", "show what was spent and what remains")
    for action in (ask, estimate, budget):
        _add_account(action)
    for action, run in ((ask, run_ask), (estimate, run_estimate), (dummy, run_dummy), (budget, run_budget)):
        action.set_defaults(run=run)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text, epilog=EPILOG)
    parser.add_argument("--metadata", metavar="M", required=True, help="metadata file (YAML): columns, bounds, budget")
    parser.add_argument(
        "--plan",
        metavar="PLAN",
        help="plan file (YAML); its identifying attributes cannot be asked about, its person is the private id",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    return parser


def _add_query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sql", metavar="SQL", help="one SELECT with aggregates")
    parser.add_argument("--epsilon", metavar="E", type=float, required=True, help="what the query may cost")
    parser.add_argument(
        "--delta", metavar="D", type=float, default=0.0, help="for GROUP BY with keys that are not public"
    )


def _add_account(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ledger", metavar="L", help="file with what was spent (METADATA.ledger if not given)")
    parser.add_argument("--researcher", metavar="R", default="researcher", help="whose budget is spent (researcher)")


def run_ask(options: argparse.Namespace) -> int:
    """Answer a query; exit code 1 if the budget is not sufficient."""
    from kohorte.dp import dummy_table, query

    metadata = _metadata(options)
    with TerminalProgress(quiet=options.json) as progress, ExitStack() as closing:
        memory = _memory(options, closing)
        table = dummy_table(metadata) if options.dry_run else read_data(options, progress).frame
        if memory is not None:
            table = memory.without_withdrawn(table, metadata)
        answer = query(
            table,
            options.sql,
            metadata,
            epsilon=options.epsilon,
            delta=options.delta,
            ledger=None if options.dry_run else _ledger(options),
            researcher=options.researcher,
        )
        if memory is not None:
            memory.record(answer)
    if options.json:
        print_json({**answer.to_dict(), "dry_run": options.dry_run})
    else:
        if options.dry_run:
            print("made-up data; nothing was spent\n")
        _print_answer(answer)
    return 0


def _memory(options: argparse.Namespace, closing: ExitStack) -> AnswerRecording | None:
    """The disclosure ledger that lists the answer; None if none is named, or the data are made up."""
    if options.disclosures is None:
        return None
    from kohorte.cli.exchange.ledger import opened_ledger

    ledger = closing.enter_context(opened_ledger(options.disclosures))
    from kohorte.disclosures.exits.noise import AnswerRecording

    recipient = options.recipient or options.researcher
    return None if options.dry_run else AnswerRecording(ledger, recipient)


def run_estimate(options: argparse.Namespace) -> int:
    """Estimate the cost of a query; exit code 1 if the budget is not sufficient."""
    from kohorte.dp import estimate_query

    path = _ledger(options)
    estimate = estimate_query(
        options.sql,
        _metadata(options),
        epsilon=options.epsilon,
        delta=options.delta,
        ledger=path if path.exists() else None,
        researcher=options.researcher,
    )
    if options.json:
        print_json(estimate.to_dict())
    else:
        _print_estimate(estimate)
    return 0 if estimate.affordable else 1


def run_dummy(options: argparse.Namespace) -> int:
    """Write made-up data."""
    from kohorte.data import write_table
    from kohorte.dp import dummy_table

    frame = dummy_table(_metadata(options), options.rows, seed=options.seed)
    write_table(frame, options.output, like=None, force=options.force)
    if options.json:
        print_json({"output": options.output, "rows": frame.height, "columns": frame.columns})
    else:
        print(f"{count(frame.height, 'made-up row')} written to {options.output}")
    return 0


def run_budget(options: argparse.Namespace) -> int:
    """Show what was spent and what remains."""
    from kohorte.dp import Account, SqliteLedger
    from kohorte.dp.budget.budget import NOTHING

    metadata, path = _metadata(options), _ledger(options)
    account = Account(metadata.project, options.researcher)
    spent = SqliteLedger(path).of(account).spent() if path.exists() else NOTHING
    budget = metadata.budget
    if options.json:
        shown = {"spent": spent, "remaining": budget.limit - spent, "limit": budget.limit}
        costs = {name: budget.cost_to_dict(cost) for name, cost in shown.items()}
        composition = str(budget.composition)
        print_json({"project": account.project, "researcher": account.researcher, "composition": composition, **costs})
    else:
        print(f"{account.researcher} in {account.project}, composition {budget.composition}")
        print(f"spent      {budget.in_words(spent)}")
        print(f"remaining  {budget.in_words(budget.limit - spent)}")
    return 0


def _metadata(options: argparse.Namespace) -> QueryMetadata:
    from kohorte.dp import QueryMetadata

    if options.plan is None:
        return QueryMetadata.from_yaml(options.metadata)
    from kohorte.data import Role
    from kohorte.plans import Plan

    plan = Plan.from_yaml(options.plan)
    metadata = QueryMetadata.from_yaml(options.metadata, person=plan.person)
    marks = (*metadata.missing_values, *plan.missing_values)
    return replace(metadata.protecting(plan.names(Role.IDENTIFYING)), missing_values=marks)


def _ledger(options: argparse.Namespace) -> Path:
    path = Path(options.ledger) if options.ledger else Path(options.metadata).with_suffix(".ledger")
    if path.suffix.lower() in (".csv", ".yaml", ".yml", ".parquet"):
        raise InputError("--ledger: give the name of a file of its own, such as project.ledger", code="query-ledger")
    return path


def _print_answer(answer: QueryAnswer) -> None:
    header: list[str] = []
    for column in answer.columns:
        header += [column.name] if column.aggregate is None or column.rank_error is not None else [column.name, "+/-"]
    rows = []
    for position, row in enumerate(answer.rows):
        cells: list[object] = []
        for value, column in zip(row, answer.columns, strict=True):
            cells.append(_shown(value))
            if column.aggregate is not None and column.rank_error is None:
                cells.append(_shown(column.half_widths[position]))
        rows.append(cells)
    if rows:
        print_table(header, rows, data=True)
    else:
        print("no rows")
    print()
    for column in answer.columns:
        for note in column.notes:
            print(f"{column.name}: {note}")
        if column.rank_error is not None:
            print(f"{column.name}: off by at most {number(column.rank_error)} ranks with 95 % confidence")
    for note in (*answer.notes, *(f"warning: {warning}" for warning in answer.warnings)):
        print(note)
    print("+/-: how far the noise may have moved a value, with 95 % confidence")
    price = "nothing: the same query was answered before" if answer.from_record else answer.budget.in_words(answer.cost)
    print(f"cost       {price}")
    print(f"remaining  {answer.budget.in_words(answer.remaining)}")


def _shown(value: object) -> object:
    """A number with six digits, other values unchanged; None is unknown."""
    if value is None:
        return "unknown"
    return number(value, 6) if isinstance(value, float) else value


def _print_estimate(estimate: QueryEstimate) -> None:
    sizes = [rows for rows, _ in estimate.columns[0].half_width_at]
    header = ["column", "aggregate", *(f"+/- at {count(rows, 'row')}" for rows in sizes)]
    rows = []
    for column in estimate.columns:
        ranks = None if column.rank_error is None else f"{number(column.rank_error)} ranks"
        widths = [ranks or _shown(width) for _, width in column.half_width_at]
        rows.append([column.name, column.aggregate, *widths])
    print_table(header, rows)
    print()
    if estimate.groups is not None and estimate.groups > 1:
        print(f"{count(estimate.groups)} groups, each with this noise")
    for note in estimate.notes:
        print(note)
    print(
        "+/-: how far the noise would move a value, with 95 % confidence, if values are spread evenly over their bounds"
    )
    print(f"cost       {estimate.budget.in_words(estimate.cost)}")
    print(f"remaining  {estimate.budget.in_words(estimate.remaining)}{'' if estimate.affordable else ': not enough'}")
