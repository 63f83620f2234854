"""The command `kohorte`: one file per verb, no privacy logic here."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import gc
import os
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any

from kohorte.errors import InternalError, KohorteError

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "demo": "all steps on synthetic data",
        "profile": "look at a table and propose a first plan",
        "hierarchy": "build, check and show hierarchies",
        "anonymize": "make the best release that satisfies a plan",
        "verify": "check a table against the models of a plan",
        "risk": "measure how likely people are found in a table",
        "attack": "run attacks on a table and count whom they hurt",
        "lattice": "evaluate every combination of levels",
        "tradeoff": "what other values of k, limit and epsilon would cost",
        "algorithms": "compare all algorithms on one table",
        "survey": "plan a survey: the risk before data is collected",
        "series": "release a growing table repeatedly",
        "query": "ask in SQL, get answers with noise from a budget",
        "disclosures": "the memory of releases: what left, and what a new one would tell",
        "folder": "verify, back up and repair a folder of keys and lists",
        "domain": "domains of pseudonyms and their keys",
        "pseudonymize": "replace a column of a table by pseudonyms",
        "envelope": "seal medical data for one recipient",
        "reidentify": "the way back from pseudonyms, approved by two people",
        "exchange": "check requests of other institutions before anything is sent",
        "party": "anonymize the tables of several institutions together",
        "patients": "the patient list: one PID per person, decided cases, forgetting",
        "serve": "run the research service",
        "worker": "do the jobs of a service",
        "user": "the users of the research service",
        "audit": "the audit log of the research service",
        "service": "key and backups of the service",
    }
)
"""The verbs, in the order of the help text, and what each does."""

INTERRUPTED = 130
OBJECTS_BEFORE_COLLECTING = 100_000
"""Loading modules makes many objects that stay; looking among them for garbage took 40 to 55 of 425 ms of CPU."""
STOPPING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

EPILOG = """\
first steps:
  kohorte demo                                  all steps on synthetic data
  kohorte profile patients.csv --write-plan plan.yaml
  kohorte anonymize patients.csv --plan plan.yaml --output release.csv
  kohorte verify release.csv --plan plan.yaml

exit codes: 0 done, 1 the goal was not met, 2 wrong use or bad input, 3 something underneath failed"""


class _Parser(argparse.ArgumentParser):
    """A parser that keeps the layout of help texts and accepts no abbreviated options."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        kwargs.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        kwargs.setdefault("allow_abbrev", False)
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]


def parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    """Build the parser of the command; only the verb that the arguments name is loaded and has its options."""
    top = _Parser(
        prog="kohorte",
        description="Share the cohort, not the patients: optimal, verified anonymization of medical tables.",
        epilog=EPILOG,
    )
    top.add_argument("--version", action="store_true", help="print the versions and the kernels in use")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    listed = {verb: VERBS[verb] for verb in VERBS if verb == chosen} or VERBS  # parsers of the others take time
    for verb, text in listed.items():
        if verb == chosen:
            module = import_module(f"kohorte.cli.verbs.{verb}")
            module.add_options(verbs.add_parser(verb, help=text, description=module.__doc__, epilog=module.EPILOG))
        else:
            verbs.add_parser(verb, help=text)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    gc.set_threshold(OBJECTS_BEFORE_COLLECTING)
    before = _handle_signals()
    options = argparse.Namespace(json=False)
    try:
        _replace_unprintable_characters()
        given = sys.argv[1:] if arguments is None else list(arguments)
        top = parser(given)
        options = top.parse_args(given, options)
        code = _run(top, options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KohorteError as error:
        from kohorte.cli.refusals import note_refusal

        note_refusal(options, error)
        return _print_error(error, as_json=options.json)
    except KeyboardInterrupt:
        print("kohorte: interrupted; no file is half written", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        _close_output()  # the reader of our output, such as `head`, has ended
        return 0
    except Exception as error:  # noqa: BLE001 - the message of a library could contain data
        if isinstance(error.__cause__, KeyboardInterrupt):  # Python wraps it if it is raised while a class is created
            print("kohorte: interrupted; no file is half written", file=sys.stderr)
            return INTERRUPTED
        _close_output()
        return _print_error(_unexpected(error), as_json=False)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code


def _print_error(error: KohorteError, *, as_json: bool) -> int:
    from kohorte.cli.output import print_error

    print_error(error, as_json=as_json)
    return error.exit_code


def _replace_unprintable_characters() -> None:
    """Replace characters that the terminal cannot show, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


def _run(top: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if options.version:
        return _print_versions()
    if options.verb is None:
        top.print_help()
        return 0
    code: int = options.run(options)
    _notice_missing_kernels()
    return code


def _handle_signals() -> dict[int, Any]:
    """Let SIGTERM and SIGHUP end the command as Ctrl-C does; return the previous handlers."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    found = {number: signal.getsignal(number) for number in STOPPING}
    before: dict[int, Any] = {n: handler for n, handler in found.items() if handler not in (None, signal.SIG_IGN)}
    for number in before:
        signal.signal(number, _stop)
    return before


def _stop(number: int, frame: FrameType | None) -> None:
    """Stop at the first signal and ignore further ones while temporary files are removed.

    Polars can raise KeyboardInterrupt itself before this handler runs; then it is not raised again.
    """
    del number, frame
    for other in STOPPING:
        signal.signal(other, signal.SIG_IGN)
    if not isinstance(sys.exc_info()[1], KeyboardInterrupt):
        raise KeyboardInterrupt


def _unexpected(error: Exception) -> InternalError:
    """Name the type of an unexpected error and its line, without its message, which could contain data."""
    import traceback

    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if "kohorte" in Path(place.filename).parts] or places
    place = f"{Path(ours[-1].filename).name}, line {ours[-1].lineno}" if ours else "an unknown place"
    return InternalError(
        f"unexpected {type(error).__name__} in {place}; please report this, without your data", code="unexpected"
    )


def _close_output() -> None:
    """Discard the rest of the output, so that Python does not try to write it at exit."""
    with contextlib.suppress(OSError, ValueError, AttributeError):  # there may be no standard output
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _print_versions() -> int:
    from kohorte.release import versions

    for name, value in versions().items():
        print(f"{name} {value}")
    return 0


@cache
def _notice_missing_kernels() -> None:
    """Say that the kernels that were used are not the compiled ones; loading them only to say so would take time."""
    kernels = sys.modules.get("kohorte.kernels")
    if kernels is not None and kernels.COMPILED_KERNELS_ARE_MISSING:
        print(
            "kohorte: this installation has no compiled kernels; the NumPy kernels give the same answers more slowly",
            file=sys.stderr,
        )


def command() -> None:
    """Run the command in a process of its own, and end the process."""
    codes: list[int] = []
    atexit.register(_end_at_once, codes)  # called after threads have ended and everything registered later has run
    codes.append(main())
    sys.exit(codes[0])


def _end_at_once(codes: list[int]) -> None:
    """Leave it to the system to free the memory: object by object it took 70 of 560 ms on a table of 30,000 rows."""
    if codes:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # nobody reads it, or there is none
                stream.flush()
        os._exit(codes[0])


if __name__ == "__main__":
    command()
