"""The command `kohorte`: one file per verb, no privacy logic here."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from types import FrameType

from kohorte.cli.output import print_error
from kohorte.errors import KohorteError

VERBS = ("demo", "profile", "hierarchy", "anonymize", "verify", "lattice")

INTERRUPTED = 130

EPILOG = """\
first steps:
  kohorte demo                                  a small story on made-up data
  kohorte profile patients.csv --write-plan plan.yaml
  kohorte anonymize patients.csv --plan plan.yaml --output release.csv
  kohorte verify release.csv --plan plan.yaml

exit codes: 0 done, 1 the goal was not met, 2 wrong use or bad input, 3 something underneath failed"""


class _Parser(argparse.ArgumentParser):
    """Wrong use names the nearest option and ends with exit code 2, without repeating what may be data."""

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
        import_module(f"kohorte.cli.{verb}").add_parser(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    top = parser()
    options = top.parse_args(arguments)
    signal.signal(signal.SIGTERM, _terminated)
    try:
        if options.version:
            return _print_versions()
        if options.verb is None:
            top.print_help()
            return 0
        _notice_missing_kernels()
        code: int = options.run(options)
    except KohorteError as error:
        print_error(error, as_json=getattr(options, "json", False))
        return error.exit_code
    except KeyboardInterrupt:
        print("kohorte: interrupted; nothing was written", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone, and wants no more
        return 0
    return code


def _terminated(number: int, frame: FrameType | None) -> None:
    """End as Ctrl-C does, so that temporary files are removed."""
    del number, frame
    raise KeyboardInterrupt


def _print_versions() -> int:
    from kohorte.release import versions

    for name, value in versions().items():
        print(f"{name} {value}")
    return 0


def _notice_missing_kernels() -> None:
    from kohorte.kernels import COMPILED_KERNELS_ARE_MISSING

    if COMPILED_KERNELS_ARE_MISSING:
        print(
            "kohorte: this installation has no compiled kernels; the NumPy kernels give the same answers more slowly",
            file=sys.stderr,
        )


if __name__ == "__main__":
    sys.exit(main())
