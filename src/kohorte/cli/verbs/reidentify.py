"""`kohorte reidentify`: the way back from pseudonyms; one person asks, two others approve, and it is shown once."""

from __future__ import annotations

import argparse
import getpass
import sys
from datetime import UTC, datetime, time
from pathlib import Path

from kohorte.cli.given_pseudonyms import add_pseudonym_options, given_pseudonyms, named_places
from kohorte.cli.output import print_json, print_table, trust_action
from kohorte.cli.passwords import add_password_option, known_password, new_password
from kohorte.cli.reidentify_results import ResultOptions, add_result_options, checked_source, purpose_of
from kohorte.errors import AccessDenied, InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.trust.folder import TrustFolder
    from kohorte.trust.people import Person, Task
    from kohorte.trust.way_back import Request, WayBack

EPILOG = """\
examples:
  kohorte reidentify add-person "Dr. Ada" --role requester --folder trust
  kohorte reidentify add-person Ben --role approver --folder trust
  kohorte reidentify add-person Cleo --role approver --folder trust
  kohorte reidentify add-person Dora --role data-protection-officer --folder trust
  kohorte reidentify request --domain study --file found.csv --column psn --until 2026-12-24 \\
      --purpose "incidental finding, tell the treating physician" --as "Dr. Ada" --folder trust
  kohorte reidentify approve 1 --as Ben --folder trust
  kohorte reidentify approve 1 --as Cleo --folder trust
  kohorte reidentify show 1 --as "Dr. Ada" --output found-people.csv --folder trust
  kohorte reidentify notices --as Dora --folder trust
  kohorte reidentify show 1 --as "Dr. Ada" --with findings.csv --column psn --for list.pub --output to-list.sealed

The result is shown once, and only to the person who asked. Each person has a password, which is asked for on the
terminal or read from the first line of standard input (--password-stdin)."""
ROLES = ("requester", "approver", "data-protection-officer")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    request = _action(actions, "request", "ask for the way back of some pseudonyms")
    origin = request.add_mutually_exclusive_group(required=True)
    origin.add_argument("--domain", metavar="NAME", help="domain of the pseudonyms")
    origin.add_argument("--patients", action="store_true", help="they are PIDs of the patient list of this folder")
    add_pseudonym_options(request)
    request.add_argument("--key-version", type=int, metavar="N", help="version of the key that made them, if needed")
    request.add_argument("--purpose", required=True, metavar="TEXT", help="why, in a sentence")
    request.add_argument("--until", required=True, metavar="DATE", help="last day of the request, such as 2026-12-24")
    request.add_argument(
        "--for", dest="recipient", metavar="PUB", help="the result is only for this key; those who approve see it"
    )
    request.set_defaults(run=run_request)
    for name, text, run in (
        ("approve", "approve a request of another person", run_approve),
        ("decline", "decline a request, or take back one's own", run_decline),
        ("show", "see the result of one's own request, once", run_show),
    ):
        action = _action(actions, name, text)
        action.add_argument("number", type=int, metavar="REQUEST", help="number of the request")
        action.set_defaults(run=run)
        if name == "show":
            action.add_argument("--output", metavar="FILE", help="write a CSV file that only you can read")
            add_result_options(action)
    _action(actions, "list", "list all requests with their purposes").set_defaults(run=run_list)
    _action(actions, "notices", "data protection officers: what happened since you last looked").set_defaults(
        run=run_notices
    )
    _add_person_actions(actions)


def _add_person_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    add = trust_action(actions, "add-person", "add a person with one or more roles", EPILOG)
    add.add_argument(
        "--role", action="append", required=True, choices=ROLES, help="%(choices)s; may be repeated", metavar="ROLE"
    )
    add_password_option(add)
    add.set_defaults(run=run_add_person)
    remove = trust_action(actions, "remove-person", "remove a person; what they did stays in the log", EPILOG)
    remove.set_defaults(run=run_remove_person)
    for action in (add, remove):
        action.add_argument("name", metavar="NAME", help="name of the person")
    trust_action(actions, "people", "list the people of the folder", EPILOG).set_defaults(run=run_list_people)


def _action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str
) -> argparse.ArgumentParser:
    parser = trust_action(actions, name, text, EPILOG)
    parser.add_argument("--as", required=True, dest="person", metavar="PERSON", help="who you are")
    add_password_option(parser)
    return parser


def run_request(options: argparse.Namespace) -> int:
    """Ask for the way back."""
    folder, person = _signed_in(options, "requester")
    wanted = given_pseudonyms(options)
    with named_places(options):
        source = checked_source(options, folder, wanted)
    request = _way_back(folder).ask(
        source, wanted, purpose=purpose_of(options), until=_end_of(options.until), actor=person.name
    )
    _tell(options, request)
    return 0


def run_approve(options: argparse.Namespace) -> int:
    """Approve a request."""
    folder = _folder(options)
    from kohorte.trust.people import People, Task

    password, people = known_password(options), People(folder)
    person = people.signed_in(options.person, password, tasks=[Task.APPROVER])

    def independent(request: Request) -> None:
        others = [name for name in (request.asked_by, *request.approved_by) if name != person.name]
        if people.same_password(password, others):
            raise AccessDenied(
                "an account with the same password has asked for it or approved it; three people need three passwords",
                code="way-back-dependent",
            )

    _tell(options, _way_back(folder).approve(options.number, actor=person.name, check=independent))
    return 0


def run_decline(options: argparse.Namespace) -> int:
    """Decline a request."""
    folder, person = _signed_in(options, "requester", "approver")
    own_only = "approver" not in person.tasks
    _tell(options, _way_back(folder).decline(options.number, actor=person.name, own_only=own_only))
    return 0


def run_show(options: argparse.Namespace) -> int:
    """Show the result."""
    output = None if options.output is None else Path(options.output)
    if output is not None:
        from kohorte.data.files import refuse_output

        refuse_output(output, force=False)
    folder, person = _signed_in(options, "requester")
    result = ResultOptions.of(options, folder)  # reads keys and tables before the one time is used up
    result.refuse_other_recipient(options.number, actor=person.name)
    found = result.show(options.number, output, actor=person.name)
    if options.json:
        shown = {"found": found.to_dicts()} if output is None else {}
        print_json({"request": options.number, "pseudonyms": found.asked, "unknown": found.unknown, **shown})
        return 0
    if output is None:
        found.print_to(sys.stdout)
    print(f"request {options.number}: shown, and cannot be shown again", file=sys.stderr)
    if found.unknown:
        print(f"unknown{found.where}: {found.unknown} of {found.asked}", file=sys.stderr)
    return 0


def run_list(options: argparse.Namespace) -> int:
    """List all requests."""
    folder, _ = _signed_in(options, *ROLES)
    requests, now = _way_back(folder).all(), datetime.now(UTC)
    if options.json:
        print_json({"requests": [request.to_dict(now) for request in requests]})
        return 0
    if not requests:
        print("there are no requests")
        return 0
    rows = [
        (
            str(one.number),
            str(one.state(now)),
            one.source,
            one.items,
            one.asked_by,
            ", ".join(one.approved_by),
            f"{one.until:%Y-%m-%d %H:%M} UTC",
            one.purpose,
        )
        for one in requests
    ]
    print_table(["request", "state", "from", "pseudonyms", "asked by", "approved by", "until", "purpose"], rows)
    return 0


def run_notices(options: argparse.Namespace) -> int:
    """Tell a data protection officer what happened."""
    folder, person = _signed_in(options, "data-protection-officer")
    notices = _way_back(folder).notices(actor=person.name)
    if options.json:
        print_json({"notices": notices})
        return 0
    for one in notices:
        details = ", ".join(f"{name} {value}" for name, value in one["details"].items())
        print(f"{one['at'][:19]} UTC  {one['actor']}: {one['action']}, {one['about']}{details and f' ({details})'}")
    if not notices:
        print("nothing has happened since you last looked")
    return 0


def run_add_person(options: argparse.Namespace) -> int:
    """Add a person."""
    folder = _folder(options, create=True)
    from kohorte.trust.people import People, Task

    person = People(folder).add(
        options.name, map(Task, options.role), new_password(options), actor=f"account {getpass.getuser()}"
    )
    if options.json:
        print_json(person.to_dict())
    else:
        print(f"person {person.name!r}: {', '.join(person.tasks)}")
    return 0


def run_remove_person(options: argparse.Namespace) -> int:
    """Remove a person."""
    folder = _folder(options)
    from kohorte.trust.people import People

    People(folder).remove(options.name, actor=f"account {getpass.getuser()}")
    if options.json:
        print_json({"removed": options.name})
    else:
        print(f"person {options.name!r} removed")
    return 0


def run_list_people(options: argparse.Namespace) -> int:
    """List the people."""
    folder = _folder(options)
    from kohorte.trust.people import People

    people = People(folder).all()
    if options.json:
        print_json({"people": [person.to_dict() for person in people]})
    elif people:
        print_table(["person", "roles"], [(person.name, ", ".join(person.tasks)) for person in people])
    else:
        print("the folder has no people yet")
    return 0


def _folder(options: argparse.Namespace, *, create: bool = False) -> TrustFolder:
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.trust.folder import TrustFolder

    return TrustFolder.opened(options.folder, create=create)


def _signed_in(options: argparse.Namespace, *roles: str) -> tuple[TrustFolder, Person]:
    """The folder, and the person who proved with a password that they have one of the roles."""
    folder = _folder(options)
    from kohorte.trust.people import People, Task

    tasks: list[Task] = list(map(Task, roles))
    person = People(folder).signed_in(options.person, known_password(options), tasks=tasks)
    return folder, person


def _way_back(folder: TrustFolder) -> WayBack:
    from kohorte.trust.way_back import WayBack

    return WayBack(folder)


def _end_of(day: str) -> datetime:
    try:
        return datetime.combine(datetime.strptime(day, "%Y-%m-%d").date(), time.max, tzinfo=UTC)
    except ValueError:
        raise InputError("--until: is a date such as 2026-12-24", code="way-back-until") from None


def _tell(options: argparse.Namespace, request: Request) -> None:
    now = datetime.now(UTC)
    if options.json:
        print_json(request.to_dict(now))
        return
    data = request.to_dict(now)
    missing = data["approvals_missing"]
    words = f"; approvals missing: {missing}" if data["state"] == "open" else ""
    print(f"request {request.number}: {data['state']}{words}; until {request.until:%Y-%m-%d %H:%M} UTC")
