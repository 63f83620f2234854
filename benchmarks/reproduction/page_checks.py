"""The page on how many nodes each search counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.reproduction import markdown
from benchmarks.reproduction.cases import LIMITS, NUE, SWEEP
from benchmarks.reproduction.compute import ALL, MARKED
from benchmarks.reproduction.published import FLASH_CHECKS, TABLES
from benchmarks.reproduction.results import Entry, Pair, Results, Run, pairs


def more_checks(results: Results) -> list[Pair]:
    """The cases in which `optimal` counted more nodes than two-phase Flash."""
    return [pair for pair in pairs(results.entries) if pair.ratio > 1]


def mean_ratio(results: Results, part: str, table: str, limit: float) -> float:
    """The geometric mean over k of the checks of `optimal` per check of two-phase Flash."""
    return markdown.geometric_mean(pair.ratio for pair in pairs(results.of(part, table=table, limit=limit)))


def render(results: Results) -> str:
    """The page."""
    return markdown.page(
        "How many nodes each search counts",
        "**What.** A search spends most of its time counting nodes (*checks*). This page gives the checks of every "
        "search, the roll-ups (checked nodes that were built from a finer one) and the tags (nodes that were decided "
        f"without a check), as in figures 3.15 and 3.16 of {markdown.SOURCE}. It also compares `optimal` "
        "with `flash_two_phase` and ARX.",
        markdown.made_by(results) + " All numbers of this page are the same in every run.",
        "## k-anonymity",
        f"All 9 and 8 quasi-identifiers, lattices of 12,960 and 45,000 nodes, `{NUE}` (`samarati`: `height`). In every "
        "case all searches found a release of the same cost. `flash_parallel` ran with two threads.",
        _left_out(results),
        markdown.picture("checks", "Checks of each search against k, for two tables and two limits"),
        *_sweep_tables(results, "Checks", lambda run: run.checks),
        *_sweep_tables(results, "Roll-ups", lambda run: run.rolled_up),
        _tags(results),
        "## Basic Flash, as published",
        _flash(results),
        "## optimal against two-phase Flash",
        _against_two_phase(results),
        markdown.picture("checks-optimal", "Checks of optimal against those of two-phase Flash, one mark per case"),
        _more(results),
        "## The reference cases, and ARX",
        _references(results),
        _reference_table(results),
    )


def _left_out(results: Results) -> str:
    marked = " and ".join(map(str, MARKED))
    cup = (
        f"on CUP `samarati`, `breadth_first` and `exhaustive` ran only for k = {marked}."
        if results.full
        else "`samarati`, `breadth_first` and `exhaustive` are left out on CUP, where they take minutes; `--full` runs "
        "them."
    )
    return f"`exhaustive` counts all nodes for every k and ran only for k = {marked}; {cup}"


def sweep_run(results: Results, table: str, limit: float, k: int, algorithm: str) -> Run | None:
    """The run of a search for one k, or None where it was left out."""
    part = "height" if algorithm == "samarati" else "sweep"
    found = results.of(part, table=table, limit=limit, models=f"k={k}")
    return found[0].run(algorithm) if found else None


def _sweep_tables(results: Results, title: str, number: Callable[[Run], int]) -> Iterator[str]:
    yield f"### {title}"
    for table in TABLES:
        for limit in LIMITS:
            rows = []
            for name in ALL:
                runs = [sweep_run(results, table, limit, k, name) for k in SWEEP]
                if any(runs):
                    rows.append([f"`{name}`", *(f"{number(run):,}" if run else markdown.UNMEASURED for run in runs)])
            yield markdown.table([f"{table.upper()}, {limit:.0%}, k =", *map(str, SWEEP)], rows)


def _tags(results: Results) -> str:
    runs = [(entry, run) for entry in results.entries for run in entry.runs]
    complete = all(run.checks + run.tagged == entry.lattice for entry, run in runs)
    assert complete, "a search left nodes unsettled"
    return (
        f"### Tags\n\nIn all {len(runs):,} runs of this reproduction every node was either checked or tagged: the tags "
        "are the size of the lattice minus the checks. For k = 5 these shares of the lattice were tagged:\n\n"
        + _tag_table(results)
    )


def _tag_table(results: Results) -> str:
    head = ["k = 5", *(f"{table.upper()}, {limit:.0%}" for table in TABLES for limit in LIMITS)]
    rows = []
    for name in ALL:
        runs = [sweep_run(results, table, limit, 5, name) for table in TABLES for limit in LIMITS]
        cells = [f"{run.tagged:,} ({run.tagged / (run.tagged + run.checks):.1%})" if run else "–" for run in runs]
        rows.append([f"`{name}`", *cells])
    return markdown.table(head, rows)


def _flash(results: Results) -> str:
    rows = []
    for (table, k), published in FLASH_CHECKS.items():
        run = sweep_run(results, table, 0.0, k, "flash")
        assert run is not None
        arx = [e for e in results.of("reference", table=table, limit=0.0, metric=NUE) if e.models == f"k={k}"]
        rows.append([f"{table.upper()}, k = {k}", str(published), str(run.checks), str(arx[0].arx_checks)])
    head = ["no suppression", "published (section 4.6.4.3)", "`flash`", "ARX, recorded"]
    return (
        markdown.table(head, rows) + "\n\nThree of the four are lower by one; perhaps one node (the top or the bottom) "
        "was checked beforehand; the text does not say. On ADULT with k = 5 the difference is not "
        "explained. The order of section 3.8 leaves ties, but breaking them at random gave between 174 and 192 checks "
        "(20 runs), and the number recorded for ARX differs from the published one, too."
    )


def _against_two_phase(results: Results) -> str:
    rows = []
    for part, metric in (("sweep", NUE), ("loss", "loss")):
        for table in TABLES:
            for limit in LIMITS:
                found = list(pairs(results.of(part, table=table, limit=limit)))
                ratios = [pair.ratio for pair in found]
                rows.append(
                    [
                        f"{table.upper()}, {limit:.0%}, `{metric}`",
                        f"{markdown.geometric_mean(pair.optimal.checks for pair in found):,.0f}",
                        f"{markdown.geometric_mean(pair.two_phase.checks for pair in found):,.0f}",
                        f"{markdown.geometric_mean(ratios):.3f}",
                        f"{max(ratios):.3f}",
                    ]
                )
    head = ["twelve k, 2 to 100", "`optimal`, mean", "`flash_two_phase`, mean", "ratio, mean", "ratio, worst"]
    return "Means are geometric.\n\n" + markdown.table(head, rows)


def _more(results: Results) -> str:
    compared = list(pairs(results.entries))
    more = more_checks(results)
    if not more:
        return f"In none of the {len(compared)} cases of this reproduction did `optimal` need more checks."
    rows = [[_name(pair.entry), str(pair.optimal.checks), str(pair.two_phase.checks)] for pair in more]
    return (
        f"In {len(more)} of the {len(compared)} cases of this reproduction `optimal` needed more checks:\n\n"
        + markdown.table(["case", "`optimal`", "`flash_two_phase`"], rows)
    )


def _name(entry: Entry) -> str:
    return f"{entry.part}: {entry.title}"


def _references(results: Results) -> str:
    found = list(pairs(results.of("reference")))
    lines = []
    for limit in LIMITS:
        own = [pair for pair in found if pair.entry.limit == limit]
        arx = [pair.optimal.checks / (pair.entry.arx_checks or 1) for pair in own]
        two_phase = markdown.geometric_mean(pair.ratio for pair in own)
        lines.append(
            f"- {limit:.0%} suppression, {len(own)} cases: `optimal` needs {two_phase:.3f} of the checks of two-phase "
            f"Flash and {markdown.geometric_mean(arx):.3f} of those of ARX (geometric means); more than ARX in "
            f"{sum(value > 1 for value in arx)}."
        )
    return (
        "64 problems that ARX 3.9 solved; in each case `optimal` finds the cost of its optimum. The checks of ARX "
        "were recorded. "
        "For some metrics (`precision` above all) ARX counts fewer nodes than two-phase Flash as published can, so it "
        "prunes by more than monotonicity.\n\n" + "\n".join(lines)
    )


def _reference_table(results: Results) -> str:
    rows = [
        [pair.entry.title, f"{pair.optimal.checks:,}", f"{pair.two_phase.checks:,}", f"{pair.entry.arx_checks:,}"]
        for pair in pairs(results.of("reference"))
    ]
    return markdown.table(["case", "`optimal`", "`flash_two_phase`", "ARX"], rows)
