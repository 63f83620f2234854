"""`python -m benchmarks reproduce`: repeat the evaluation of Kohlmayer (2015) and write docs/benchmarks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from benchmarks.reproduction.claims import RESULTS, check, pages
from benchmarks.reproduction.compute import compute
from benchmarks.reproduction.results import Results, read_results
from testbed import tables

FOLDER = tables.ROOT / "docs" / "benchmarks"


def main(arguments: Sequence[str]) -> int:
    """Run the command; exit code 1 if something that it needs is missing."""
    options = _parser().parse_args(arguments)
    if options.check:
        return check(read_results(FOLDER / RESULTS), FOLDER)
    reason = _missing(render_only=options.render_only)
    if reason is not None:
        print(f"benchmarks: {reason}", file=sys.stderr)
        return 1
    results = read_results(FOLDER / RESULTS) if options.render_only else compute(full=options.full)
    write(results, FOLDER)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks reproduce", description=__doc__)
    parser.add_argument("--full", action="store_true", help="run the slow searches on CUP, too: some ten minutes more")
    parser.add_argument("--render-only", action="store_true", help="only write the pages again from results.json")
    parser.add_argument("--check", action="store_true", help="check results.json and the pages, and write nothing")
    return parser


def _missing(*, render_only: bool) -> str | None:
    if find_spec("matplotlib") is None:
        return "the plots need matplotlib: pip install 'kohorte[plots]', or make reproduce"
    if render_only and not (FOLDER / RESULTS).is_file():
        return f"there is no {RESULTS} to render; run the command without --render-only"
    if not render_only and not tables.available():
        return "the public benchmark tables are not there"
    return None


def write(results: Results, folder: Path) -> None:
    """Write results, pages and plots; everything is rendered before the first file is written."""
    from benchmarks.reproduction import plots

    texts = {RESULTS: results.to_json(), **pages(results)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    plots.draw(results, folder)
    print(f"wrote {', '.join(texts)} and the plots to {folder.relative_to(tables.ROOT)}")
