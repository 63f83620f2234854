"""`kohorte serve`: run the service, servers and workers, or some of its parts, in one command."""

from __future__ import annotations

import argparse
import shlex
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from kohorte.errors import InputError
from kohorte.service.parts import Part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.service.settings import Settings

EPILOG = """\
examples:
  kohorte serve --folder service                         for this machine alone, on http://127.0.0.1:8470
  kohorte serve --folder service --host 0.0.0.0 --tls-certificate cert.pem --tls-key key.pem
  kohorte serve --folder house-a --only patients         the patient list alone, for one of two houses
  kohorte serve --folder house --only exchange --host 0.0.0.0    for requests and answers of other institutions
  KOHORTE_DATABASE=postgresql://kohorte@db/kohorte kohorte serve --folder service --processes 4 --workers 2

The first start makes the folder, a key and the tables, and writes a token with which the first data steward is
created into the file setup-token in the folder. One server at a time may use a folder. Keep a copy of the key
(keys/master.key) somewhere else: without it the data are lost."""

FIRST_START = """\
There is no data steward yet. The token that creates the first one is in a file that only its owner can read:

  {path}

It works once, until the next start; then the file is removed:

  curl {address}/api/v1/setup -H 'Content-Type: application/json' -d '{{"token": "'$(cat {quoted})'",
    "email_address": "steward@example.org", "name": "...", "institution": "...", "password": "..."}}'
"""


ONE_PERSON = """\
no way back can be approved: one person set up the accounts of all approvers (users {numbers}) and could
act as any of them. Let one of them type a new password on this machine:
  kohorte user password ADDRESS --folder {folder}"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("--folder", metavar="FOLDER", required=True, help="where the service keeps everything")
    parser.add_argument(
        "--only",
        metavar="PART",
        action="append",
        choices=[str(part) for part in Part],
        help="serve only this part, may be repeated: %(choices)s; without it all, or those of the settings",
    )
    parser.add_argument("--host", metavar="H", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", metavar="N", type=int, default=8470, help="port to listen on (8470); 0: any free one")
    parser.add_argument("--workers", metavar="N", type=int, default=1, help="processes that do jobs (1)")
    parser.add_argument("--processes", metavar="N", type=int, default=1, help="processes that answer requests (1)")
    parser.add_argument(
        "--database", metavar="URL", help="postgresql://... instead of SQLite; better given as KOHORTE_DATABASE"
    )
    parser.add_argument("--key-file", metavar="F", help="file with the master key (FOLDER/keys/master.key)")
    parser.add_argument("--tls-certificate", metavar="F", help="certificate chain (PEM), for https")
    parser.add_argument("--tls-key", metavar="F", help="private key of the certificate (PEM)")
    parser.add_argument(
        "--client-certificates", metavar="F", help="certificates of other services (PEM) that may call this one"
    )
    parser.add_argument(
        "--behind-proxy", action="store_true", help="a proxy in front speaks TLS and sets X-Forwarded-For"
    )
    parser.add_argument("--migrate-only", action="store_true", help="make or update folder, key and tables, then end")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Make what is missing, keep the service running, and print its address as soon as it answers."""
    _refuse_numbers(options)
    from kohorte.service.processes.opening import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.service.context import make_folder
    from kohorte.service.processes.only_server import only_server
    from kohorte.service.processes.serving import Endpoint, keep_running, refuse_unreachable_database
    from kohorte.service.settings import Settings

    settings = Settings.load(
        Path(options.folder),
        database=options.database,
        key_file=options.key_file,
        behind_proxy=options.behind_proxy or None,
        only=tuple(dict.fromkeys(options.only)) if options.only else None,
    )
    if options.migrate_only:
        _prepare(settings, with_token=False)
        print(f"{options.folder}: up to date")
        return 0
    certificate, key = _certificate(options, settings)
    endpoint = Endpoint(
        host=options.host,
        port=options.port,
        certificate=certificate,
        key=key,
        behind_proxy=settings.behind_proxy,
        client_certificates=_path(options.client_certificates),
    )
    with ExitStack() as stack:
        is_new = not settings.folder.is_dir()
        if not is_new:  # the lock says more than a port that is in use
            stack.enter_context(only_server(settings))
        listening = stack.enter_context(endpoint.listening())
        if is_new:
            refuse_unreachable_database(settings)
            make_folder(settings)
            stack.enter_context(only_server(settings))
        announce = partial(_announce, endpoint.address(listening), _prepare(settings, with_token=True))
        keep_running(
            settings,
            endpoint,
            listening,
            processes=options.processes,
            workers=options.workers if Part.RESEARCH in settings.parts else 0,
            worker_command=("kohorte.cli.main", "worker", "--folder", options.folder),
            when_ready=announce,
        )
    return 0


def _certificate(options: argparse.Namespace, settings: Settings) -> tuple[Path | None, Path | None]:
    """The files for TLS: as given or, if the exchange is served by name, those by which other institutions know it."""
    given = _path(options.tls_certificate), _path(options.tls_key)
    if any(given) or settings.behind_proxy or Part.EXCHANGE not in settings.only:
        return given
    from kohorte.exchange.peers.identity import Identity
    from kohorte.trust.folder import TrustFolder

    try:
        own = Identity.of(TrustFolder(settings.trust_folder(Part.EXCHANGE)))
    except InputError as error:
        print(f"kohorte: other institutions cannot reach this service: {error.message}", file=sys.stderr)
        return None, None
    return own.certificate_file, own.key_file


def _prepare(settings: Settings, *, with_token: bool) -> Path | None:
    """Make or update folder, key and tables; return the file with a set-up token when there is no steward yet."""
    from kohorte.service import setup_token
    from kohorte.service.accounts import origins
    from kohorte.service.accounts.setup import fresh_token
    from kohorte.service.context import Service
    from kohorte.service.integrity.verification import wrong_rows
    from kohorte.service.processes.serving import refuse_unreachable_database
    from kohorte.service.projects.ruled_projects import broken_rules
    from kohorte.service.projects.spendings import enter_all
    from kohorte.service.trust.folders import keep_numbers, make_folders

    refuse_unreachable_database(settings)
    with Service.opened(settings, create=True) as service:
        problem = enter_all(service).problem
        if problem is not None:
            print(f"kohorte: {problem}", file=sys.stderr)
        for row in wrong_rows(service.database, service.guard):
            print(f"kohorte: {row.table} {row.id} is not as the service wrote it ({row.problem})", file=sys.stderr)
        for broken in broken_rules(service):
            print(f"kohorte: {broken}; nothing of it leaves", file=sys.stderr)
        make_folders(settings)
        keep_numbers(service)
        origins.fill_in(service)
        if settings.serves_way_back and (numbers := origins.approvers_who_depend_on_one_person(service)):
            words = ONE_PERSON.format(numbers=", ".join(map(str, numbers)), folder=shlex.quote(str(settings.folder)))
            print(f"kohorte: {words}", file=sys.stderr)
        token = fresh_token(service) if with_token else None
    if token is not None:
        return setup_token.write(settings, token)
    if with_token:  # there is a steward, or somebody has removed or changed accounts
        setup_token.remove(settings)
    return None


def _announce(address: str, token_file: Path | None) -> None:
    """Print the address of the service, and at the first start where the set-up token is."""
    if token_file is not None:
        print(FIRST_START.format(path=token_file, quoted=shlex.quote(str(token_file)), address=address))
    print(f"serving on {address} (documentation: {address}/docs); Ctrl-C ends it", flush=True)


def _refuse_numbers(options: argparse.Namespace) -> None:
    if options.processes < 1:
        raise InputError("--processes is a number from 1", code="service-processes")
    if options.workers < 0:
        raise InputError("--workers is a number from 0", code="service-processes")


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
