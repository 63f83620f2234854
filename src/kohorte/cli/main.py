"""The command `kohorte`: one file per verb, no privacy logic here."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Any

from kohorte.cli.output import print_error
from kohorte.errors import InternalError, KohorteError

VERBS = (
    "demo", "profile", "hierarchy", "anonymize", "verify", "risk", "attack", "lattice", "algorithms",
    "survey", "series", "query", "party", "serve", "worker", "user", "audit", "service",
)  # fmt: skip

INTERRUPTED = 130
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


def parser() -> argparse.ArgumentParser:
    """Build the parser of the whole command."""
    top = _Parser(
        prog="kohorte",
        description="Share the cohort, not the patients: optimal, verified anonymization of medical tables.",
        epilog=EPILOG,
    )
    top.add_argument("--version", action="store_true", help="print the versions and the kernels in use")
    verbs = top.add_subparsers(dest="verb", metavar="VERB", parser_class=_Parser)
    for verb in VERBS:
        import_module(f"kohorte.cli.verbs.{verb}").add_parser(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    before = _handle_signals()
    options = argparse.Namespace(json=False)
    try:
        _replace_unprintable_characters()
        top = parser()
        options = top.parse_args(arguments, options)
        code = _run(top, options)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KohorteError as error:
        print_error(error, as_json=options.json)
        return error.exit_code
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
        print_error(_unexpected(error), as_json=False)
        return InternalError.exit_code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code


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
    _notice_missing_kernels()
    code: int = options.run(options)
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
    from kohorte.kernels import COMPILED_KERNELS_ARE_MISSING

    if COMPILED_KERNELS_ARE_MISSING:
        print(
            "kohorte: this installation has no compiled kernels; the NumPy kernels give the same answers more slowly",
            file=sys.stderr,
        )


if __name__ == "__main__":
    sys.exit(main())
