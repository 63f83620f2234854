"""`kohorte demo`: the steps from a raw table to a verified release, on synthetic data."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from kohorte.in_words import count

EPILOG = """\
examples:
  kohorte demo
  kohorte demo --folder try-it --rows 100000 --seed 7
  kohorte demo --serve                      the web interface, filled, with an account for every role

Everybody in the table is invented. The folder holds the table, the plan with its hierarchies, the release and
its certificate; the commands shown can be repeated."""


OTHER_FILES = ("patients.csv", "first-plan.yaml", "release.csv", "release.certificate.json", "release.certificate.txt")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the verb."""
    parser.add_argument("--folder", default="kohorte-demo", metavar="F", help="where to put the files (kohorte-demo)")
    parser.add_argument("--rows", type=int, default=10_000, metavar="N", help="size of the cohort (10000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="random seed of the cohort (1)")
    parser.add_argument("--force", action="store_true", help="replace the files of an earlier demo")
    parser.add_argument(
        "--serve", action="store_true", help="start a filled service with a web interface, for this machine alone"
    )
    parser.add_argument("--port", type=int, default=8470, metavar="N", help="port of the service (8470); 0: a free one")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Run the steps."""
    folder = Path(options.folder)
    if options.serve:
        return _serve(folder / "service", options)
    _write_files(folder, options)
    data, plan, release = (str(folder / name) for name in ("patients.csv", "plan.yaml", "release.csv"))
    force = ["--force"] if options.force else []
    print(f"\n1. A hospital has a table of {count(options.rows)} admissions (made up). What is in it?\n")
    _command("profile", data, "--write-plan", str(folder / "first-plan.yaml"), *force)
    print("\n2. A data steward wrote a plan: plan.yaml. Does the raw table satisfy it?\n")
    _command("verify", data, "--plan", plan)
    print("\n3. No. Make the best table that does:\n")
    _command("anonymize", data, "--plan", plan, "--output", release, *force)
    print("\n4. The release, as a researcher sees it:\n")
    _head(Path(release))
    print("\n5. Anyone who receives it can check it:\n")
    _command("verify", release, "--plan", plan)
    print(f"\nEverything is in {folder}. Read {folder / 'release.certificate.txt'} next.")
    return 0


def _serve(folder: Path, options: argparse.Namespace) -> int:
    """Fill a service in a folder of its own, print its accounts, and serve it to this machine until Ctrl-C."""
    from kohorte.cli.main import main
    from kohorte.cli.output import print_table
    from kohorte.errors import InputError
    from kohorte.service.processes.opening import refuse_missing_libraries

    refuse_missing_libraries()
    from kohorte.service.context import Service
    from kohorte.service.processes.demonstration import fill
    from kohorte.service.processes.only_server import only_server
    from kohorte.service.settings import Settings
    from kohorte.service.trust.folders import make_folders

    if folder.exists():
        if not options.force:
            raise InputError(
                f"{folder}: a demonstration is there already; --force replaces it, "
                f"kohorte serve --folder {folder} starts it again",
                code="output-exists",
            )
        with only_server(Settings.load(folder, {})):  # never remove the folder of a service that runs
            shutil.rmtree(folder)
    settings = Settings.load(folder, {})
    print("Filling a service with made-up patients: this takes a few seconds.", flush=True)
    with Service.opened(settings, create=True) as service:
        make_folders(settings)
        accounts = fill(service, rows=options.rows, seed=options.seed)
    print("\nOne account for every kind of person; the passwords are shown only now:\n")
    print_table(
        ["role", "e-mail address", "password"], [[one.role, one.email_address, one.password] for one in accounts]
    )
    print("\nOpen the address below in a browser on this machine and sign in. Ctrl-C ends the service.\n", flush=True)
    return main(["serve", "--folder", str(folder), "--port", str(options.port)])


def _write_files(folder: Path, options: argparse.Namespace) -> None:
    from kohorte.cohorts import cohort, hierarchy_files, plan_text
    from kohorte.data import atomic_write, write_table
    from kohorte.data.files import refuse_output
    from kohorte.errors import EngineError

    table = cohort(options.rows, seed=options.seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise EngineError(f"{folder}: the folder cannot be made", code="folder-not-made") from None
    texts = {"plan.yaml": plan_text(), **hierarchy_files()}
    for name in (*texts, *OTHER_FILES):
        refuse_output(folder / name, force=options.force)
    for name, text in texts.items():
        with atomic_write(folder / name, force=options.force) as temporary:
            temporary.write_text(text, encoding="utf-8")
    write_table(table, folder / "patients.csv", like=None, force=options.force)


def _command(*arguments: str) -> None:
    """Show a command and run it."""
    from kohorte.cli.main import INTERRUPTED, main
    from kohorte.errors import InputError

    print("$ kohorte " + " ".join(arguments), flush=True)
    code = main(arguments)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code > 1:
        raise InputError("the demo stops here; its files stay for you to look at", code="demo-stopped")


def _head(release: Path) -> None:
    from kohorte.cli.output import print_table
    from kohorte.data import read_table

    frame = read_table(release).frame.head(6)
    print_table(frame.columns, [["" if cell is None else cell for cell in row] for row in frame.iter_rows()], data=True)
