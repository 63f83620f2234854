"""`kohorte envelope`: seal medical data for one recipient, so that services in between cannot read it."""

from __future__ import annotations

import argparse
from pathlib import Path

from kohorte.cli.output import add_table_options, print_json, table_in_batches
from kohorte.errors import InputError
from kohorte.in_words import NOBODY, count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.envelopes.keys import PrivateKey, PublicKey

EPILOG = """\
examples:
  kohorte envelope keys registry                                    registry.key stays there, registry.pub is given away
  kohorte envelope seal report.pdf --for registry.pub --output report.sealed
  kohorte envelope open report.sealed --key registry.key --output report.pdf
  kohorte envelope seal visits.csv --keep pid --for registry.pub --output sealed.csv       row by row
  kohorte pseudonymize sealed.csv --domain study --column pid --output passed-on.csv       elsewhere, reads nothing
  kohorte envelope open passed-on.csv --key registry.key --output visits.csv
  kohorte envelope seal visits.csv --keep pid --for registry.pub --from clinic.key --output sealed.csv
  kohorte envelope open sealed.csv --key registry.key --from clinic.pub --output visits.csv

Compare the fingerprint of a public key with its owner on another way, such as the telephone. Without --from, everybody
who has the public key of the recipient could have sealed."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the three actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    keys = _action(actions, "keys", "make a key pair: NAME.key and NAME.pub")
    keys.add_argument("name", metavar="NAME", help="path without an ending")
    keys.add_argument("--json", action="store_true", help="print one JSON object and nothing else")
    keys.set_defaults(run=run_keys)
    seal = _action(actions, "seal", "seal a file, or the columns of a table but for those to keep")
    seal.add_argument("--for", required=True, dest="recipient", metavar="PUB", help="public key of the recipient")
    seal.add_argument("--from", dest="sender", metavar="KEY", help="private key of the sender, as a proof of origin")
    seal.add_argument("--keep", nargs="+", default=[], metavar="COLUMN", help="columns that stay in plain: row by row")
    seal.set_defaults(run=run_seal)
    open_ = _action(actions, "open", "open a sealed file, or the sealed column of a table")
    open_.add_argument("--key", required=True, metavar="KEY", help="private key of the recipient")
    open_.add_argument(
        "--from", dest="senders", action="append", default=[], metavar="PUB", help="who must have sealed; repeatable"
    )
    open_.add_argument("--complete", action="store_true", help="refuse a table of which rows are missing")
    open_.set_defaults(run=run_open)
    for action in (seal, open_):
        add_table_options(action, plan=False)
        action.add_argument("--output", required=True, metavar="OUT", help="where the result goes")
        action.add_argument("--force", action="store_true", help="replace an existing output")


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    return actions.add_parser(name, help=text, description=text, epilog=EPILOG)


def run_keys(options: argparse.Namespace) -> int:
    """Make a key pair."""
    _refuse_missing_libraries()
    from kohorte.envelopes.keys import make_keys

    public = make_keys(Path(options.name))
    if options.json:
        print_json({"fingerprint": public.fingerprint})
        return 0
    print(f"{options.name}.key opens envelopes; it stays here, and without it nothing can be opened")
    print(f"{options.name}.pub is for those who seal; fingerprint {public.fingerprint}")
    return 0


def run_seal(options: argparse.Namespace) -> int:
    """Seal a file or a table."""
    _refuse_missing_libraries()
    from kohorte.data.files import refuse_output
    from kohorte.envelopes.files import seal_file
    from kohorte.envelopes.keys import read_private, read_public
    from kohorte.envelopes.tables import seal_table

    output = Path(options.output)
    refuse_output(output, force=options.force)
    recipient = read_public(Path(options.recipient))
    sender = None if options.sender is None else read_private(Path(options.sender))
    if not options.keep:
        size = seal_file(Path(options.data), output, recipient, sender=sender, force=options.force)
        figures: dict[str, object] = {"bytes": size}
        words = f"{count(size, 'byte')} sealed"
    else:
        done = seal_table(
            table_in_batches(options), output, options.keep, recipient, sender=sender, force=options.force
        )
        figures = {"rows": done.rows, "columns": done.columns}
        words = f"{count(done.columns, 'column')} of {count(done.rows, 'row')} sealed"
    if options.json:
        print_json(figures | {"recipient": recipient.fingerprint, "output": options.output})
    else:
        print(f"{words} for the key {recipient.fingerprint}: {options.output}")
    return 0


def run_open(options: argparse.Namespace) -> int:
    """Open a file or a table."""
    _refuse_missing_libraries()
    from kohorte.data.files import refuse_output
    from kohorte.envelopes.files import is_envelope
    from kohorte.envelopes.keys import read_private, read_public

    refuse_output(Path(options.output), force=options.force)
    key = read_private(Path(options.key))
    senders = [read_public(Path(path)) for path in options.senders]
    if options.data != "-" and is_envelope(Path(options.data)):
        if options.complete:
            raise InputError("--complete is for tables; a sealed file is always complete", code="envelope-table")
        return _open_file(options, key, senders)
    return _open_table(options, key, senders)


def _open_file(options: argparse.Namespace, key: PrivateKey, senders: list[PublicKey]) -> int:
    from kohorte.envelopes.files import open_file

    size, sender = open_file(Path(options.data), Path(options.output), key, senders=senders, force=options.force)
    name = "nobody" if sender is None else sender.fingerprint
    if options.json:
        print_json({"bytes": size, "senders": [name], "output": options.output})
        return 0
    print(f"{count(size, 'byte')} opened: {options.output}")
    _tell_senders([name], checked=bool(senders))
    return 0


def _open_table(options: argparse.Namespace, key: PrivateKey, senders: list[PublicKey]) -> int:
    from kohorte.envelopes.tables import open_table

    done = open_table(
        table_in_batches(options),
        Path(options.output),
        key,
        senders=senders,
        complete=options.complete,
        force=options.force,
    )
    if options.json:
        print_json(done.to_dict() | {"output": options.output})
        return 0
    print(f"{count(done.rows, 'row')} opened, {count(done.columns, 'column')} each: {options.output}")
    if not done.rows:
        print(f"{NOBODY}; the names of the sealed columns are in the rows, so that it has only the others")
    if done.missing:
        print(f"note: {count(done.missing, 'row')} of what was sealed did not come")
    _tell_senders(done.senders, checked=bool(senders))
    return 0


def _tell_senders(senders: list[str], *, checked: bool) -> None:
    if checked:
        print("sealed by the given sender" if len(senders) == 1 else "sealed by the given senders")
        return
    known = [name for name in senders if name != "nobody"]
    print("note: the envelope does not say who sealed it" if not known else f"sealed by the key {', '.join(known)}")


def _refuse_missing_libraries() -> None:
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
