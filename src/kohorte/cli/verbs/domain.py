"""`kohorte domain`: domains of pseudonyms, each with its own key."""

from __future__ import annotations

import argparse

from kohorte.cli.confirmation import add_confirmation, confirm
from kohorte.cli.given_pseudonyms import add_pseudonym_options, given_pseudonyms, named_places
from kohorte.cli.output import print_json, print_table, trust_action
from kohorte.errors import InputError
from kohorte.in_words import count
from kohorte.trust.libraries import refuse_missing_libraries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.pseudonyms.domains import Domains

EPILOG = """\
examples:
  kohorte domain create study --kind one-way --folder trust
  kohorte domain create samples --kind list --prefix S- --length 8 --folder trust
  kohorte domain create export --kind reversible --parent study --folder trust
  kohorte domain create cases --kind reversible --keep-format --alphabet digits --folder trust
  kohorte domain list --folder trust
  kohorte domain rotate-key study --folder trust
  kohorte domain forget samples --file withdrawn.csv --column label --folder trust
  kohorte domain destroy-key study --folder trust

kinds:
  one-way     a keyed hash: nothing is stored, and there is no way back
  reversible  the value, encrypted: nothing is stored, and the holder of the key can turn it back
  list        a random or numbered pseudonym, remembered in a sealed list

The folder has the keys. Keep copies of it in a safe place: pseudonyms of a lost key can never be made again or
resolved. KOHORTE_FOLDER names the folder if --folder is not given; lists are in PostgreSQL if KOHORTE_TRUST_DATABASE
has an address."""

BACKUPS = "note: copies and backups of the folder and its database still have it until they are destroyed, too"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = trust_action(actions, "create", "make a domain with a new key", EPILOG)
    create.add_argument("name", metavar="NAME", help="small letters, digits, and _ . - after the first")
    create.add_argument("--kind", required=True, metavar="K", help="one-way, reversible or list")
    _add_shape(create)
    create.add_argument("--parent", metavar="NAME", help="the values are pseudonyms of this domain, and are checked")
    create.add_argument("--numbered", action="store_true", help="a list that counts 1, 2, 3 instead of drawing")
    create.add_argument("--keep-format", action="store_true", help="reversible: as long as the value, same alphabet")
    create.add_argument("--exact", action="store_true", help="blanks around a value and its Unicode form count")
    create.set_defaults(run=run_create)
    trust_action(actions, "list", "show all domains", EPILOG).set_defaults(run=run_list)
    rotate = trust_action(
        actions, "rotate-key", "give a domain a new version of its key; old pseudonyms stay resolvable", EPILOG
    )
    rotate.add_argument("name", metavar="NAME", help="the domain")
    rotate.set_defaults(run=run_rotate)
    forget = trust_action(actions, "forget", "destroy entries of a list: nobody can find these people again", EPILOG)
    add_pseudonym_options(forget)
    forget.set_defaults(run=run_forget)
    destroy = trust_action(
        actions, "destroy-key", "destroy the key of a domain: nobody can find its people again", EPILOG
    )
    destroy.add_argument("--key-version", type=int, metavar="N", help="only this old version (default: the whole key)")
    destroy.set_defaults(run=run_destroy)
    for action in (forget, destroy):
        action.add_argument("name", metavar="NAME", help="the domain")
        add_confirmation(action)


def _add_shape(create: argparse.ArgumentParser) -> None:
    create.add_argument(
        "--alphabet",
        metavar="A",
        help="unambiguous (default), digits, hexadecimal, letters, alphanumeric, or the characters themselves",
    )
    create.add_argument("--length", type=int, metavar="N", help="characters without prefix and check characters")
    create.add_argument("--prefix", default="", metavar="P", help="what every pseudonym begins with")
    create.add_argument("--check", metavar="C", help="check characters: two (default), none, or pid (a code for PIDs)")


def run_create(options: argparse.Namespace) -> int:
    """Make a domain; the folder is made only for a definition that is possible."""
    refuse_missing_libraries()
    from kohorte.pseudonyms.domains import definition_of
    from kohorte.trust.log import account

    definition = definition_of(
        options.name,
        options.kind,
        alphabet=options.alphabet,
        length=options.length,
        prefix=options.prefix,
        check=options.check,
        parent=options.parent,
        exact=options.exact,
        numbered=options.numbered,
        keep_format=options.keep_format,
    )
    domains = opened_domains(options.folder, create=True)
    domain = domains.create(definition, actor=account())
    if options.json:
        print_json(domain.definition.figures)
        return 0
    print(f"domain {definition.name!r}: {definition.kind}, {domain.kind.in_words}")
    for note in domain.kind.notes:
        print(f"note: {note}")
    print(f"its key is in {domains.key_path(definition.name)}; keep a copy in a safe place")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print all domains, and what is wrong with their keys."""
    domains = opened_domains(options.folder)
    from kohorte.pseudonyms.definition import KeyState

    found = domains.definitions()
    states = {one.name: domains.key_state(one) for one in found}
    if options.json:
        shown = [one.figures | {"key_state": states[one.name]} for one in found]
        print_json({"domains": shown, "lost": domains.lost()})
        return 0
    header = ["domain", "kind", "parent", "alphabet", "length", "prefix", "check", "key"]
    rows = [
        (
            one.name,
            one.kind,
            one.parent or "",
            one.shape.alphabet.name,
            str(one.length) if one.kind != "reversible" else "",
            one.prefix,
            one.check,
            f"version {max(one.keys)}" if states[one.name] is KeyState.USABLE else str(states[one.name]),
        )
        for one in found
    ]
    if rows:
        print_table(header, rows)
    elif not domains.lost():
        print("the folder has no domain yet")
    for problem in [domains.key_problem(one) for one in found] + [domains.lost_error(name) for name in domains.lost()]:
        if problem is not None:
            print(f"note: {problem.message}")
    return 0


def run_rotate(options: argparse.Namespace) -> int:
    """Give a domain a new version of its key."""
    domains = opened_domains(options.folder)
    from kohorte.trust.log import account

    domain = domains.rotate_key(options.name, actor=account())
    if options.json:
        print_json(domain.definition.figures)
        return 0
    print(f"domain {options.name!r}: version {domain.keys.current.version} of its key is current")
    print(f"{domain.kind.after_rotation}; keep a copy of {domains.key_path(options.name)}")
    return 0


def run_forget(options: argparse.Namespace) -> int:
    """Destroy entries of a list."""
    wanted = given_pseudonyms(options)
    if not wanted:
        raise InputError("give --pseudonym, or --file and --column", code="way-back-pseudonyms")
    domains = opened_domains(options.folder)
    from kohorte.trust.log import account

    kind = domains.open(options.name).kind
    if options.dry_run:
        with named_places(options):
            known = kind.originals(wanted)
        found = sum(one is not None for one in known)
        words = f"{count(found, 'entry', 'entries')} of the list would be destroyed"
        return _would(options, {"asked_for": len(wanted), "entries": found}, words)
    _confirm(options, f"the link of {count(len(wanted), 'pseudonym')} to people will be destroyed")
    with named_places(options):
        found = domains.forget(options.name, wanted, actor=account())
    if options.json:
        print_json({"domain": options.name, "asked_for": len(wanted), "entries": found})
        return 0
    print(f"domain {options.name!r}: {count(found, 'entry', 'entries')} of the list destroyed, and the log says so")
    print(BACKUPS)
    return 0


def run_destroy(options: argparse.Namespace) -> int:
    """Destroy a key."""
    domains = opened_domains(options.folder)
    from kohorte.trust.log import account

    definition = domains.definition(options.name)
    if options.dry_run:
        would = [one for one in definition.keys if options.key_version in (None, one)]
        return _would(options, {"destroyed": would}, f"{count(len(would), 'version')} of its key would be destroyed")
    what = "its key" if options.key_version is None else f"version {options.key_version} of its key"
    _confirm(options, f"{what} will be destroyed, and with it the link of all pseudonyms that it made")
    gone = domains.destroy_key(options.name, options.key_version, actor=account())
    if options.json:
        print_json({"domain": options.name, "destroyed": list(gone)})
        return 0
    print(f"domain {options.name!r}: {what} is destroyed, and the log says so")
    print(BACKUPS)
    return 0


def _confirm(options: argparse.Namespace, what: str) -> None:
    confirm(options, what, options.name, "the name of the domain")


def _would(options: argparse.Namespace, figures: dict[str, object], words: str) -> int:
    """Tell what would be destroyed."""
    if options.json:
        print_json({"domain": options.name, **figures, "dry_run": True})
    else:
        print(f"dry run: domain {options.name!r}: {words}; nothing was")
    return 0


def opened_domains(folder: str | None, *, create: bool = False) -> Domains:
    """Open the domains of a folder; the libraries of the extra must be installed."""
    refuse_missing_libraries()
    from kohorte.pseudonyms.domains import Domains
    from kohorte.trust.folder import TrustFolder

    return Domains(TrustFolder.opened(folder, create=create))
