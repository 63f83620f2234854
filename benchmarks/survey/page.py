"""`python -m benchmarks survey`: the estimators of a survey against the published tables, as a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.survey import criteria
from benchmarks.survey.drawing import drawings
from benchmarks.survey.results import ESTIMATORS, Case, compute, read, to_json
from testbed import orwell

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
RESULTS = "survey.json"
PAGE = "survey.md"
TEXT = """\
# The estimators of a survey, by the criteria of their author

**What.** Matthias Rauterberg, *Wie anonym sind anonymisierte Datensätze wirklich?*, proposes four estimators of the
number of people who are alone with their answers (FG, RT, RR, OR), applies them to nine tables for eight numbers of
people, and judges them by three criteria. This page repeats that, with the expectation added. Where he looks for the
most unfavourable (BU) and for a favourable table by hand, the largest and the smallest number that any table with these
frequencies can have are computed. [How to plan a survey](../how-to/plan-a-survey.md) says what the estimators are.

**How.** `python -m benchmarks survey` (also a part of `make reproduce`) computes everything and writes
[survey.json](survey.json) and, from it, this page and its plots; `--render-only` does only the last step, `--check`
compares. In the copy of the paper that was used, table 4 cannot be read, nor the frequencies of table 7, nor the lines
for 60 people of table 1. Figures 4 and 6 are beside tables 3 and 5; that they draw these is read from their places, and
the curves themselves cannot be read. So the plots are compared with the printed tables.

## Result

| estimator | anchoring | natural behaviour: mean (largest) spread | safety | largest shortfall |
|---|---:|---:|---:|---:|
{judged}

*Anchoring*: lines of table 9 (one combination of answers) in which the estimate is 1 / N. *Natural behaviour*: the
estimate minus the worst case should be about constant as N grows; the spread is the largest minus the smallest
difference of a table, in percentage points, so less is better. *Safety*: lines of the other tables in which the
estimate is not below the worst case; the shortfall is in percentage points.

The author concludes that OR alone is anchored, behaves naturally, and is safe but for one line of table 6. This is so:

- Against the worst cases that he found by hand, OR is below in {below_printed}.
- Against those that exist, it is below in {below_computed}.

So OR is no bound. The expectation answers another question: how many people are alone if they answer
as the frequencies say. It is never above the worst case, and with one combination of answers it is 0, because
nobody is alone. Therefore Kohorte judges by the expectation, shows the worst case beside it, and calls the others
coefficients.

{criteria_plots}

## Figures 2, 4 and 6

{figures}

## The observed columns

*Printed* is what the author found by hand; *computed* is the smallest number that any table with these frequencies can
have (favourable), or the largest (unfavourable). For each printed number, a table with exactly so many single cells and
these frequencies exists (a test constructs it). In {same_best} of {lines_best} lines the printed favourable number is
the smallest one, in {same_worst} of {lines_worst} the printed unfavourable number is the largest one; in no line is a
printed number outside. **Bold**: different. {bounded}

{observed}
"""


def main(arguments: Sequence[str]) -> int:
    """Write or check the page; exit code 1 if it is not what survey.json gives."""
    rendered_only = {"--render-only", "--check"} & set(arguments)
    cases = read(FOLDER / RESULTS) if rendered_only else compute()
    files = rendered(cases)
    if "--check" in arguments:
        stored = {name: (FOLDER / name).read_text(encoding="utf-8") for name in files}
        wrong = [name for name, text in files.items() if _without_style(stored[name]) != _without_style(text)]
        print("\n".join(f"WRONG  {name}" for name in wrong) or f"ok     {PAGE} and its plots")
        return 1 if wrong else 0
    for name, text in files.items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    print(f"wrote {', '.join(files)}")
    return 0


def _without_style(text: str) -> str:
    """A file without the style of the page kit, whose colours may change without this page being wrong."""
    return re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)


def rendered(cases: tuple[Case, ...]) -> dict[str, str]:
    """All files by name."""
    plots = {f"survey-{drawing.name}.svg": drawing.file(drawing.caption) for drawing in drawings(cases)}
    return {RESULTS: to_json(cases), PAGE: page(cases), **plots}


def page(cases: tuple[Case, ...]) -> str:
    """The page as Markdown."""
    shown = {drawing.name: f"![{drawing.title}](survey-{drawing.name}.svg)" for drawing in drawings(cases)}
    figures = [
        f"{shown[f'figure-{published}']}\n\nTable {table}: {_frequencies(table)}."
        for published, table in orwell.FIGURES.items()
    ]
    same_best, lines_best = _same(cases, lambda case: case.printed_best, lambda case: case.best)
    same_worst, lines_worst = _same(cases, lambda case: case.printed_worst, lambda case: case.worst)
    return TEXT.format(
        judged="\n".join(_row(criteria.judge(cases, name)) for name in ESTIMATORS),
        below_printed=_below(cases, criteria.printed),
        below_computed=_below(cases, criteria.computed),
        criteria_plots=f"{shown['behaviour']}\n\n{shown['safety']}",
        figures="\n\n".join(figures),
        same_best=same_best,
        lines_best=lines_best,
        same_worst=same_worst,
        lines_worst=lines_worst,
        bounded=_bounded(cases),
        observed="\n\n".join(_observed([case for case in cases if case.table == table]) for table in orwell.TABLES),
    )


def _row(judged: criteria.Judged) -> str:
    anchored = f"{judged.anchored} of {judged.lines}"
    spread = f"{judged.mean_spread:.0f} ({judged.largest_spread:.0f})"
    safe = f"{judged.safe} of {judged.cases}"
    return f"| {judged.name} | {anchored} | {spread} | {safe} | {judged.largest_shortfall:.0f} |"


def _below(cases: Sequence[Case], reference: criteria.Reference) -> str:
    found = criteria.judge(cases, "OR", reference)
    return (
        f"{found.cases - found.safe} of {found.cases} lines, by up to {found.largest_shortfall:.1f} percentage points"
    )


def _same(cases: Sequence[Case], printed: Callable[[Case], int | None], ours: Callable[[Case], int]) -> tuple[int, int]:
    known = [(number, ours(case)) for case in cases if (number := printed(case)) is not None]
    return sum(number == found for number, found in known), len(known)


def _bounded(cases: Sequence[Case]) -> str:
    open_ones = sum(not case.worst_exact for case in cases)
    if not open_ones:
        return "All computed numbers are exact."
    return f"In {open_ones} lines the computed unfavourable number is a proven bound, not exact."


def _frequencies(table: int) -> str:
    names = ("sex", "school", "age")
    shares = (", ".join(f"{float(p):.2f}" for p in question) for question in orwell.TABLES[table])
    return "; ".join(f"{name} {share}" for name, share in zip(names, shares, strict=True))


def _observed(cases: Sequence[Case]) -> str:
    head = f"| table {cases[0].table}: N | " + " | ".join(str(case.people) for case in cases) + " |"
    lines = [head, "|---|" + "---:|" * len(cases)]
    for name, printed, ours in (
        ("favourable", [case.printed_best for case in cases], [case.best for case in cases]),
        ("unfavourable", [case.printed_worst for case in cases], [case.worst for case in cases]),
    ):
        pairs = list(zip(printed, ours, strict=True))
        lines.append(f"| {name}, printed | " + " | ".join("–" if p is None else str(p) for p, _ in pairs) + " |")
        marked = (str(found) if p in (None, found) else f"**{found}**" for p, found in pairs)
        lines.append(f"| {name}, computed | " + " | ".join(marked) + " |")
    return "\n".join(lines)
