"""`kohorte user`: the users of the research service, from the machine that it runs on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from kohorte.cli.output import print_json, print_table, service_action
from kohorte.cli.passwords import add_password_option, new_password
from kohorte.data.files import read_text
from kohorte.service.permissions import Role
from kohorte.service.processes.opening import opened

EPILOG = """\
examples:
  kohorte user create john@example.com --name "John Doe" --steward --folder service
  kohorte user create jane@example.com --name "Jane Doe" --password-stdin --folder service < password.txt
  kohorte user create joe@example.com --name "Joe Doe" --role data-protection-officer --role approver --folder service
  kohorte user create clinic@example.com --name "Clinic" --role source --certificate clinic.pem --folder service
  kohorte user list --folder service
  kohorte user password jane@example.com --folder service
  kohorte user disable jane@example.com --folder service

A password has at least 12 characters. It is asked for twice on a terminal, or read from the first line of standard
input; as an argument others on the machine could read it."""
MOST_SHOWN = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the four actions of the verb."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    create = service_action(actions, "create", "create a user with one or more roles", EPILOG)
    create.add_argument("--name", metavar="NAME", required=True, help="name of the user")
    create.add_argument("--institution", metavar="I", default="", help="institution that the user belongs to")
    create.add_argument(
        "--certificate", metavar="FILE", help="certificate of another service (PEM), instead of a password"
    )
    create.add_argument("--steward", action="store_true", help="the same as --role steward")
    create.add_argument(
        "--role",
        metavar="ROLE",
        action="append",
        choices=[str(role) for role in Role],
        default=[],
        help="a role of the user, may be repeated: %(choices)s; without it a researcher",
    )
    shown = service_action(actions, "list", "list the users", EPILOG)
    disable = service_action(
        actions, "disable", "keep a user from signing in, and end all sessions of the user", EPILOG
    )
    password = service_action(actions, "password", "set a new password, and end all sessions of the user", EPILOG)
    for action in (create, disable, password):
        action.add_argument("email_address", metavar="ADDRESS", help="e-mail address of the user")
    for action in (create, password):
        add_password_option(action)
    for action, run in ((create, run_create), (shown, run_list), (disable, run_disable), (password, run_password)):
        action.set_defaults(run=run)


def run_create(options: argparse.Namespace) -> int:
    """Create a user."""
    with opened(options.folder) as service:
        from kohorte.service import setup_token
        from kohorte.service.accounts import users

        row = users.create(
            service,
            email_address=options.email_address,
            name=options.name,
            institution=options.institution,
            password=new_password(options) if options.certificate is None else None,
            certificate=_certificate(options.certificate),
            roles=_roles(options),
            by=None,
        )
        if Role.STEWARD in _roles(options):
            setup_token.remove(service.settings)  # it creates the first steward only
    _print_done(options, row, f"user {row.id} created")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """List the users."""
    with opened(options.folder) as service:
        from kohorte.service.accounts import users

        rows, _ = users.listed(service, limit=MOST_SHOWN, page=1)
    if options.json:
        print_json({"users": [users.user_to_dict(row) for row in rows]})
        return 0
    lines = [
        (
            row.id,
            row.email_address,
            row.name,
            row.institution,
            ", ".join(users.user_to_dict(row)["roles"]),
            "disabled" if row.disabled_at is not None else "",
        )
        for row in rows
    ]
    if lines:
        print_table(["id", "e-mail address", "name", "institution", "roles", ""], lines)
    else:
        print("the service has no users yet")
    return 0


def run_disable(options: argparse.Namespace) -> int:
    """Keep a user from signing in."""
    with opened(options.folder) as service:
        from kohorte.service.accounts import users

        row = users.change_by_hand(service, options.email_address, users.Changes(disabled=True))
    _print_done(options, row, f"user {row.id} disabled, all sessions ended")
    return 0


def run_password(options: argparse.Namespace) -> int:
    """Set a new password."""
    with opened(options.folder) as service:
        from kohorte.service.accounts import users

        changes = users.Changes(password=new_password(options))
        row = users.change_by_hand(service, options.email_address, changes)
    _print_done(options, row, f"password of user {row.id} set, all sessions ended")
    return 0


def _certificate(path: str | None) -> str | None:
    return None if path is None else read_text(Path(path), what="certificate", code="user-certificate")


def _roles(options: argparse.Namespace) -> set[Role]:
    named = set(map(Role, options.role)) | ({Role.STEWARD} if options.steward else set())
    return named or {Role.RESEARCHER}


def _print_done(options: argparse.Namespace, row: Any, words: str) -> None:
    from kohorte.service.accounts.users import user_to_dict

    if options.json:
        print_json(user_to_dict(row))
    else:
        print(words)
