"""The actions of `kohorte exchange peers`: the certificate of this house, and the address book."""

from __future__ import annotations

import argparse

from kohorte.cli.output import print_json, print_table, trust_action

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kohorte.trust.folder import TrustFolder


def add_peer_actions(actions: argparse._SubParsersAction[argparse.ArgumentParser], epilog: str) -> None:
    """Add `peers` with its actions."""
    text = "the institutions with which this one exchanges requests and answers"
    below = actions.add_parser("peers", help=text, description=text, epilog=epilog)
    own = below.add_subparsers(dest="peers_action", metavar="ACTION", required=True)
    this = trust_action(own, "own", "show the certificate of this house; with --name make one", epilog)
    this.add_argument("--name", metavar="INSTITUTION", help="name under which others know this house")
    this.add_argument("--output", metavar="OUT", help="also write the certificate, for the others")
    this.set_defaults(run=run_own)
    add = trust_action(own, "add", "add an institution to the address book", epilog)
    add.add_argument("name", metavar="INSTITUTION", help="its name, as it names itself in requests")
    add.add_argument("--address", required=True, metavar="URL", help="where its server is: https://HOST:PORT")
    add.add_argument("--certificate", required=True, metavar="FILE", help="its certificate (PEM)")
    add.add_argument(
        "--fingerprint", required=True, metavar="F", help="its fingerprint, as a person there read it out to you"
    )
    add.add_argument("--contact", action="append", default=[], metavar="TEXT", help="whom to ask there; repeatable")
    add.set_defaults(run=run_add)
    trust_action(own, "list", "list the address book", epilog).set_defaults(run=run_list)
    remove = trust_action(own, "remove", "remove an institution from the address book", epilog)
    remove.add_argument("name", metavar="INSTITUTION", help="its name")
    remove.set_defaults(run=run_remove)


def run_own(options: argparse.Namespace) -> int:
    """Show, or make, the certificate of this house."""
    folder = _folder(options, create=options.name is not None)
    from pathlib import Path

    from kohorte.data.files import atomic_write
    from kohorte.exchange.peers.identity import Identity

    own = Identity.of(folder) if options.name is None else Identity.create(folder, options.name)
    if options.output is not None:
        with atomic_write(Path(options.output), force=False) as temporary:
            temporary.write_text(own.certificate, encoding="ascii")
    if options.json:
        print_json(own.to_dict())
    else:
        print(f"{own.name}\nfingerprint: {own.fingerprint}")
    return 0


def run_add(options: argparse.Namespace) -> int:
    """Add an institution."""
    folder = _folder(options)
    from pathlib import Path

    from kohorte.data.files import read_text
    from kohorte.exchange.peers.address_book import AddressBook

    certificate = read_text(Path(options.certificate), what="certificate", code="exchange-peer-certificate")
    peer = AddressBook(folder).add(
        options.name, options.address, certificate, fingerprint=options.fingerprint, contacts=options.contact
    )
    if options.json:
        print_json(peer.to_dict())
    else:
        print(f"{peer.name}: in the address book")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """List the address book."""
    folder = _folder(options)
    from kohorte.exchange.peers.address_book import AddressBook

    peers = AddressBook(folder).all()
    if options.json:
        print_json({"peers": [peer.to_dict() for peer in peers]})
    elif peers:
        rows = [(peer.name, peer.address, peer.fingerprint, ", ".join(peer.contacts)) for peer in peers]
        print_table(["institution", "address", "fingerprint", "contacts"], rows, data=True)
    else:
        print("the address book is empty")
    return 0


def run_remove(options: argparse.Namespace) -> int:
    """Remove an institution."""
    folder = _folder(options)
    from kohorte.exchange.peers.address_book import AddressBook

    peer = AddressBook(folder).remove(options.name)
    if options.json:
        print_json({"removed": peer.name})
    else:
        print(f"{peer.name}: removed from the address book")
    return 0


def _folder(options: argparse.Namespace, *, create: bool = False) -> TrustFolder:
    from kohorte.trust.libraries import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.trust.folder import TrustFolder

    return TrustFolder.opened(options.folder, create=create)
