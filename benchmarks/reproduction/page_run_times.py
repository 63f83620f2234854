"""The page on how long each search takes."""

from __future__ import annotations

from benchmarks.reproduction import markdown
from benchmarks.reproduction.cases import LIMITS, NUE, SWEEP
from benchmarks.reproduction.compute import ALL, CASES, TIMED
from benchmarks.reproduction.page_checks import sweep_run
from benchmarks.reproduction.published import TABLES
from benchmarks.reproduction.results import Entry, Results, Run

TITLES = {
    "case 1": "Case 1, other models: monotone models, monotone metric (figures 3.17 and 3.19)",
    "case 2": "Case 2: monotone model, metric not monotone (figure 3.23)",
    "case 3": "Case 3: models monotone in part, monotone metric (figure 3.24)",
    "case 4": "Case 4: models monotone in part, metric not monotone (figure 3.25)",
    "case 5": "Case 5: models not monotone, monotone metric (figure 3.26)",
    "case 6": "Case 6: models not monotone, metric not monotone (figure 3.27)",
}


def render(results: Results) -> str:
    """The page."""
    return markdown.page(
        "How long each search takes",
        f"**What.** The evaluation of section 3.9 (figures 3.12 to 3.27) of {markdown.SOURCE}, on "
        "two of its five tables, with its eleven combinations of models: 5-anonymity (k), recursive-(3,4)-diversity "
        "(l), 0.2-closeness with the hierarchical distance (t), (0, 0.2)-presence of a random tenth of the rows (d).",
        markdown.made_by(results)
        + f" Times are in milliseconds, the median of up to {TIMED} runs (fewer if one takes long), all on the same "
        "engine in one process. Reading and encoding the table is not counted, as in the publication.",
        _compared(results),
        "The published times are charts without numbers, measured on another machine with Java; only the order of the "
        "searches can be compared. The published DFS and BFS of cases 2 to 6 tag nothing. Here `depth_first` skips the "
        "nodes below a node that fails permanently, and with a monotone metric both skip the nodes above a solution.",
        "## Case 1: k-anonymity, monotone metric (figures 3.12 and 3.13)",
        f"Arithmetic mean over k = {', '.join(map(str, SWEEP))}, all 9 and 8 quasi-identifiers, `{NUE}`. "
        "[Checks](checks.md) of the same runs.",
        _mean_table(results),
        markdown.picture("run-times-k", "Mean time of each search with k-anonymity"),
        _mean_reading(results),
        *(block for part, metric, limit, _ in CASES for block in _case(results, part, metric, limit)),
        markdown.picture("run-times-cases", "Time of each search in the six cases"),
        "## optimal and ARX",
        _arx(results),
        markdown.picture("run-times-arx", "Time of optimal against the recorded time of ARX, one mark per case"),
    )


def _compared(results: Results) -> str:
    if results.full:
        return "With `--full`, `breadth_first` and `exhaustive` ran on CUP, too: `exhaustive` for two values of k."
    return (
        "`breadth_first` and `exhaustive` are left out on CUP, where they take minutes; `--full` runs them. `samarati` "
        "supports only the metric `height` and is on the page on [checks](checks.md)."
    )


def mean_times(results: Results, table: str, limit: float) -> dict[str, float]:
    """The mean time over all k of each search that ran for all of them."""
    times: dict[str, float] = {}
    for name in ALL:
        runs = [run for k in SWEEP if name != "samarati" and (run := sweep_run(results, table, limit, k, name))]
        if len(runs) == len(SWEEP):
            times[name] = markdown.mean([run.ms for run in runs])
    return times


def _mean_table(results: Results) -> str:
    settings = [(table, limit) for table in TABLES for limit in LIMITS]
    columns = [mean_times(results, *setting) for setting in settings]
    head = ["ms", *(f"{table.upper()}, {limit:.0%}" for table, limit in settings)]
    rows = [
        [f"`{name}`", *(markdown.milliseconds(times[name]) if name in times else "–" for times in columns)]
        for name in ALL
        if any(name in times for times in columns)
    ]
    return markdown.table(head, rows)


def _mean_reading(results: Results) -> str:
    lines = []
    for table in TABLES:
        for limit in LIMITS:
            times = mean_times(results, table, limit)
            order = sorted(times, key=times.__getitem__)
            lines.append(
                f"- {table.upper()}, {limit:.0%}: {', '.join(f'`{name}`' for name in order)}. `optimal` is "
                f"{times['flash'] / times['optimal']:.1f} times as fast as `flash` and "
                f"{times['ola'] / times['optimal']:.1f} times as fast as `ola`."
            )
    return (
        "From fast to slow:\n\n"
        + "\n".join(lines)
        + "\n\nThe published order is Flash, OLA, depth-first Flash, Incognito, "
        "breadth-first, with depth-first Flash before OLA on ADULT. Here OLA comes later although it counts few nodes: "
        "it jumps, so fewer nodes are rolled up, and between its checks it tests whether whole sublattices are tagged. "
        "How its time is divided between the two was not measured."
    )


def _case(results: Results, part: str, metric: str, limit: float) -> list[str]:
    entries = results.of(part)
    names = [name for name in ALL if any(entry.run(name) for entry in entries)]
    rows = [
        [f"{entry.table.upper()} ({entry.models})", *(_cell(entry.run(name)) for name in names)] for entry in entries
    ]
    for table in TABLES:
        own = [entry for entry in entries if entry.table == table]
        rows.append([f"**{table.upper()}, mean**", *(_mean_cell(own, name) for name in names)])
    return [
        f"## {TITLES[part]}",
        f"`{metric}`, {limit:.0%} suppression, without the sensitive attribute among the quasi-identifiers (lattices "
        "of 4,320 and 9,000 nodes). Milliseconds, and checks in brackets; means are geometric.",
        markdown.table([part, *(f"`{name}`" for name in names)], rows),
        _case_reading(results, part),
    ]


def _cell(run: Run | None) -> str:
    return f"{markdown.milliseconds(run.ms)} ({run.checks:,})" if run else markdown.UNMEASURED


def case_mean(entries: list[Entry], name: str) -> tuple[float, float] | None:
    """The geometric means of time and checks, where the search ran in all of these cases."""
    runs = [run for entry in entries if (run := entry.run(name))]
    if not runs or len(runs) < len(entries):
        return None
    return (
        markdown.geometric_mean(run.ms for run in runs),
        markdown.geometric_mean(run.checks for run in runs),
    )


def _mean_cell(entries: list[Entry], name: str) -> str:
    means = case_mean(entries, name)
    return f"{markdown.milliseconds(means[0])} ({means[1]:,.0f})" if means else markdown.UNMEASURED


def _case_reading(results: Results, part: str) -> str:
    sentences = []
    for table in TABLES:
        own = results.of(part, table=table)
        means = {name: found for name in ALL if (found := case_mean(own, name))}
        fastest = min(means, key=lambda name: means[name][0])
        published = min((name for name in means if name != "optimal"), key=lambda name: means[name][0])
        factor = means[published][0] / means["optimal"][0]
        sentences.append(
            f"{table.upper()}: fastest is `{fastest}`; of the published searches `{published}`, which takes "
            f"{factor:.1f} times as long as `optimal`."
        )
    return " ".join(sentences)


def _arx(results: Results) -> str:
    rows = []
    for table in TABLES:
        for limit in LIMITS:
            factors = [
                entry.arx_ms / run.ms
                for entry in results.of("reference", table=table, limit=limit)
                if entry.arx_ms and (run := entry.run("optimal"))
            ]
            mean = markdown.geometric_mean(factors)
            rows.append(
                [
                    f"{table.upper()}, {limit:.0%}",
                    str(len(factors)),
                    f"{mean:.1f}",
                    f"{min(factors):.1f}",
                    f"{max(factors):.1f}",
                ]
            )
    return (
        "ARX 3.9 was timed warm (Java) on a two-core machine, not on this one: for orientation only. Time of ARX "
        "divided "
        "by the time of `optimal`, over the 64 [reference cases](checks.md#the-reference-cases-and-arx):\n\n"
        + markdown.table(["", "cases", "mean (geometric)", "smallest", "largest"], rows)
    )
