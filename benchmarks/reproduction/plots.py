"""The pictures of the pages: SVG with a clear background, in colours that can be read on white and on black."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.reproduction.cases import LIMITS, SWEEP
from benchmarks.reproduction.compute import ALL, CASES, VARIANTS
from benchmarks.reproduction.page_checks import sweep_run
from benchmarks.reproduction.page_run_times import case_mean, mean_times
from benchmarks.reproduction.page_table_3_1 import cells
from benchmarks.reproduction.published import TABLES
from benchmarks.reproduction.results import Results, pairs

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GREY = "#7d7d7d"
COLOURS = {
    "optimal": "#e6550d",
    "flash": "#3182bd",
    "flash_depth_first": "#2ca25f",
    "flash_two_phase": "#756bb1",
    "flash_parallel": "#17a2b8",
    "ola": "#b8860b",
    "incognito": "#d6409f",
    "samarati": "#8c6d31",
    "breadth_first": "#969696",
    "depth_first": "#6b8e23",
    "exhaustive": "#a0522d",
}
STYLE: Any = {
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "kohorte",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.edgecolor": GREY,
    "axes.labelcolor": GREY,
    "axes.titlesize": 9,
    "axes.titlecolor": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.color": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "xtick.minor.bottom": False,
    "ytick.minor.left": False,
}


def draw(results: Results, folder: Path) -> None:
    """Write all pictures."""
    pictures: dict[str, Callable[[Results], Figure]] = {
        "table-3-1": _table_3_1,
        "checks": _checks,
        "checks-optimal": _optimal,
        "run-times-k": _times_k,
        "run-times-cases": _times_cases,
        "run-times-arx": _times_arx,
    }
    with _style():
        for name, make in pictures.items():
            text = StringIO()
            make(results).savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
            (folder / f"{name}.svg").write_text(_smaller(text.getvalue()), encoding="utf-8")


def _smaller(svg: str) -> str:
    """The same picture without comments, indentation and digits that nobody sees."""
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", svg)
    return "\n".join(line.strip() for line in svg.splitlines() if line.strip()) + "\n"


@contextmanager
def _style() -> Iterator[None]:
    import matplotlib as mpl

    mpl.use("svg")
    with mpl.rc_context(STYLE):
        yield


def _panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, list(axes.ravel())


def _legend(figure: Figure, axes: list[Axes]) -> None:
    """One legend below all panels, with every label once."""
    found: dict[str, Artist] = {}
    for panel in axes:
        handles, labels = panel.get_legend_handles_labels()
        found |= dict(zip(labels, handles, strict=True))
    figure.legend(list(found.values()), list(found), loc="outside lower center", ncols=min(5, len(found)))


def _table_3_1(results: Results) -> Figure:
    figure, axes = _panels(2, 4, 9, 5.4)
    for panel, (table, metric) in zip(axes, ((t, m) for t in TABLES for m in VARIANTS), strict=True):
        own = [cell for cell in cells(results, metric, VARIANTS[metric][0]) if cell.table == table]
        places = range(len(own), 0, -1)
        for place, cell in zip(places, own, strict=True):
            panel.plot([cell.published, cell.ours], [place, place], color=GREY, linewidth=1)
        panel.plot([cell.published for cell in own], places, "o", markersize=7, mfc="none", mec=GREY, label="published")
        panel.plot([cell.ours for cell in own], places, "o", markersize=3.5, color=COLOURS["optimal"], label="ours")
        panel.set_yticks(list(places), [f"({cell.models})" for cell in own])
        panel.set_xlim(0, 105)
        panel.set_title(f"{table.upper()}, {metric}, %")
    _legend(figure, axes)
    return figure


def _checks(results: Results) -> Figure:
    figure, axes = _panels(2, 2, 9, 7)
    for panel, (table, limit) in zip(axes, ((t, s) for t in TABLES for s in LIMITS), strict=True):
        for name in ALL:
            points = [(k, run.checks) for k in SWEEP if (run := sweep_run(results, table, limit, k, name))]
            if points:
                width = 2.2 if name == "optimal" else 1.1
                panel.plot(*zip(*points, strict=True), "o-", label=name, color=COLOURS[name], ms=3, linewidth=width)
        _log(panel, x=True)
        panel.set_xticks([2, 5, 10, 20, 50, 100], ["2", "5", "10", "20", "50", "100"])
        panel.set_title(f"{table.upper()}, {limit:.0%} suppression")
        panel.set_xlabel("k")
        panel.set_ylabel("checks")
    _legend(figure, axes)
    return figure


def _log(panel: Axes, *, x: bool = False, y: bool = True) -> None:
    if x:
        panel.set_xscale("log")
    if y:
        panel.set_yscale("log")
    panel.grid(visible=True, axis="both" if x and y else "y", color=GREY, alpha=0.25, linewidth=0.6)


def _optimal(results: Results) -> Figure:
    points = [(p.two_phase.checks, p.optimal.checks, p.entry.limit) for p in pairs(results.entries)]
    return _against(points, "checks of flash_two_phase", "checks of optimal")


def _times_arx(results: Results) -> Figure:
    entries = [(entry.arx_ms, entry.run("optimal"), entry.limit) for entry in results.of("reference")]
    points = [(arx, run.ms, limit) for arx, run, limit in entries if arx is not None and run is not None]
    return _against(points, "ARX, ms (recorded, another machine)", "optimal, ms")


def _against(points: Sequence[tuple[float, float, float]], across: str, up: str) -> Figure:
    figure, (panel,) = _panels(1, 1, 5.5, 4.4)
    for limit, name in zip(LIMITS, ("flash", "optimal"), strict=True):
        own = [(x, y) for x, y, at in points if at == limit]
        panel.plot(
            *zip(*own, strict=True), "o", ms=4, alpha=0.75, color=COLOURS[name], label=f"{limit:.0%} suppression"
        )
    ends = [min(min(x, y) for x, y, _ in points), max(max(x, y) for x, y, _ in points)]
    panel.plot(ends, ends, color=GREY, linewidth=1, linestyle="--", label="equal")
    _log(panel, x=True)
    panel.set_xlabel(across)
    panel.set_ylabel(up)
    _legend(figure, [panel])
    return figure


def _times_k(results: Results) -> Figure:
    figure, axes = _panels(1, 4, 9, 3.2)
    for panel, (table, limit) in zip(axes, ((t, s) for t in TABLES for s in LIMITS), strict=True):
        times = mean_times(results, table, limit)
        order = sorted(times, key=times.__getitem__, reverse=True)
        panel.barh(order, [times[name] for name in order], color=[COLOURS[name] for name in order])
        panel.set_xscale("log")
        panel.grid(visible=True, axis="x", color=GREY, alpha=0.25, linewidth=0.6)
        panel.set_title(f"{table.upper()}, {limit:.0%}, ms")
        panel.tick_params(axis="y", labelsize=7)
    return figure


def _times_cases(results: Results) -> Figure:
    figure, axes = _panels(2, 1, 9, 6)
    for panel, table in zip(axes, TABLES, strict=True):
        for place, (part, *_) in enumerate(CASES):
            entries = results.of(part, table=table)
            means = {name: found[0] for name in ALL if (found := case_mean(entries, name))}
            width = 0.85 / len(means)
            for number, (name, ms) in enumerate(means.items()):
                panel.bar(place - 0.425 + (number + 0.5) * width, ms, width * 0.9, color=COLOURS[name], label=name)
        panel.set_xticks(range(len(CASES)), [part for part, *_ in CASES])
        _log(panel)
        panel.set_title(f"{table.upper()}, geometric mean over the models, ms")
    _legend(figure, axes)
    return figure
