"""What `kohorte patients` prints for people."""

from __future__ import annotations

from kohorte.cli.output import print_table
from kohorte.in_words import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.patients.identity import Identity
    from kohorte.patients.list.cases import Case
    from kohorte.patients.list.history import History
    from kohorte.patients.list.registration import Registrations


def print_history(found: History) -> None:
    """Print what happened to a PID."""
    also = f", also {', '.join(found.joined)}" if found.joined else ""
    print(f"{found.pid}{also}: {count(len(found.records), 'record')}")
    lines = [
        (
            line["at"],
            line["pid"],
            line["what"],
            *(_or_dash(line[name]) for name in ("record", "other_pid", "weight")),
            line["actor"],
        )
        for line in found.events
    ]
    print_table(["at (UTC)", "pid", "what", "record", "other PID", "bits", "by"], lines, data=True)


def _or_dash(value: object) -> str:
    return "-" if value is None else str(value)


def print_registrations(found: Registrations, output: str | None) -> None:
    """Print what became of the rows of a table."""
    figures = found.to_dict()
    names = ("new", "known", "grey", "insufficient")
    print(f"{count(figures['rows'], 'row')}: {', '.join(f'{count(figures[name])} {name}' for name in names)}")
    if found.before:
        print(f"note: {count(found.before, 'row')} had been registered by an earlier run of the same table")
    if found.insufficient:
        print(
            f"note: {_rows(found.insufficient)} got no PID: a family name with a birth date, or with first name and "
            "postcode, or an insurance number is needed"
        )
        if output is not None:
            print(f"note: {count(len(found.insufficient), 'row')} without a PID left out of the output")
    if found.dates_not_understood:
        print(f"note: {_rows(found.dates_not_understood)}: the birth date was not understood and was left out")
    if figures["known_by_little"]:
        print(
            f"note: {count(figures['known_by_little'], 'row')} known by a description that is equal but says little: "
            "without first name, full birth date or insurance number"
        )
    if figures["not_compared_with_all"]:
        print(
            f"note: {count(figures['not_compared_with_all'], 'row')} shared a name or date with so many records that "
            "not all of them were compared"
        )
    print(f"the list has {count(found.people, 'person', 'people')}; {count(found.cases, 'open case')}")
    if found.cases and not found.dry_run:
        print("decide: kohorte patients match")
    if found.dry_run:
        print("dry run: nothing was stored")
    elif output is not None:
        print(f"written: {output}")


def _rows(numbers: list[int]) -> str:
    from kohorte.patients.patient_list import SHOWN_ROWS

    shown = ", ".join(map(str, numbers[:SHOWN_ROWS])) + (", ..." if len(numbers) > SHOWN_ROWS else "")
    return f"{count(len(numbers), 'row')} ({shown})"


def print_cases(found: list[Case]) -> None:
    """Print the open cases, without names."""
    if not found:
        print("no open cases")
        return
    lines = [
        (case.number, case.pid, case.other_pid, round(case.weight, 1), _doubts(case), case.opened) for case in found
    ]
    print_table(["case", "pid", "other PID", "bits", "what does not agree", "opened (UTC)"], lines, data=True)


def _doubts(case: Case) -> str:
    return "; ".join(f"{name} {level}" for name, level in case.levels.items() if level != "equal") or "nothing"


def print_case(case: Case) -> None:
    """Print how the data of a case agrees, without the data."""
    print(f"case {case.number}: is {case.pid} the same person as {case.other_pid}? {case.weight:.1f} bits")
    print_table(["field", "agreement"], list(case.levels.items()), data=True)


def print_side_by_side(mine: Identity, others: list[Identity]) -> None:
    """Show names to the person who decides: the record in question, and the records of the other person."""
    from kohorte.patients.identity import FIELDS

    header = ["field", "this record", *(f"other person, record {number}" for number in range(1, len(others) + 1))]
    rows = [
        (field.replace("_", " "), *(_printable(value) for value in values))
        for field, *values in zip(FIELDS, mine.values, *(other.values for other in others), strict=True)
    ]
    print_table(header, rows, data=True)


def _printable(text: str) -> str:
    """A value without characters that a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
