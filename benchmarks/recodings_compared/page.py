"""`python -m benchmarks groupings`: ways to group rows, compared, as a page of the documentation."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.recodings_compared import study
from benchmarks.recodings_compared.measures import NAMES, QUERIES
from benchmarks.reproduction.markdown import page, table
from testbed import tables

PAGE = tables.ROOT / "docs" / "benchmarks" / "recodings-compared.md"
JSON = PAGE.with_suffix(".json")
SAMPLES = ("ADULT", "CUP", "cohort", "random")
SETTINGS = (*(f"k={k}" for k in study.CLASSES), *study.MODELS)
COMMAND = "python -m benchmarks groupings"
Found = Mapping[str, Any]


def main(arguments: Sequence[str]) -> int:
    """Compute what is not yet known and write the page; `--render-only` and `--check` compute nothing."""
    parser = argparse.ArgumentParser(prog=COMMAND)
    parser.add_argument("--render-only", action="store_true", help="write the page from the results that are there")
    parser.add_argument("--check", action="store_true", help="fail if the page is not the one of the results")
    given = parser.parse_args(arguments)
    record = study.Record(JSON)
    if given.check:
        fits = PAGE.read_text(encoding="utf-8") == render(record.results)
        print("ok" if fits else f"the page differs from its results: {COMMAND} --render-only")
        return 0 if fits else 1
    if not given.render_only:
        if not tables.available():
            print("benchmarks: the public benchmark tables are not there", file=sys.stderr)
            return 1
        study.samples(record)
        study.small(record)
        study.whole(record)
    PAGE.write_text(render(record.results), encoding="utf-8")
    print(f"wrote {PAGE.name}")
    return 0


def render(results: Found) -> str:
    """The page."""
    return page(
        "Ways to group rows, compared",
        "Mondrian, three published ways to group rows, iterative local recoding and [`least_loss`](../recoding/"
        "least-loss.md) on the same rows and with the same measures. Nothing is suppressed; every class was judged by "
        "the models before it was measured. Lower is better, except for the accuracy.",
        _methods(),
        "## Loss",
        f"{study.SOME:,} rows of each table, drawn at random. *Bound*: a loss that no grouping can go below, "
        "[proven below](#how-far-from-the-best-possible).",
        *(f"**{_title(name)}**\n\n{_losses(results, name)}" for name in SAMPLES),
        _said(results),
        "## What a release is good for",
        f"k = 5, the same rows. *Query error*: the median relative error of {QUERIES:,} random count queries about "
        "one to three quasi-identifiers; each value that a cell can stand for gets the same share. *Accuracy*: of a "
        "logistic regression that learns from the release of 70 % of the rows and predicts the others as they were. "
        "*Means*: by how many standard deviations the mean of a column is off, if an interval stands for its "
        "middle and a set for the mean of its values; categories count by their place in the hierarchy. "
        "*Correlations*: by how much those of two columns are off. Both are means over all columns. *Seconds* are "
        "processor time.",
        *(f"**{_title(name)}**{_learnt(results, name)}\n\n{_uses(results, name)}" for name in SAMPLES),
        "The sample is small: a difference in accuracy below about 0.03 is no difference.",
        "## Whole tables",
        "ADULT (30,162 rows, nine quasi-identifiers) and CUP (63,441 rows, eight). k-member clustering and MDAV need "
        "time that grows with the square of the rows and are left out, as is local recoding, which needs many passes.",
        *(_whole(results, name) for name in ("ADULT", "CUP")),
        "## How far from the best possible",
        f"On {study.SMALL_TABLES} random tables of {study.SMALL_ROWS} rows and three columns (k = 2 and 3 in turn) the "
        "exact optimum is known: all groups of k to 2k - 1 rows are given to an integer program that divides the rows "
        "into groups, solved by HiGHS. Larger groups are not needed, because such a group can be divided in two, whose "
        "cells cover no more. By what share each method loses more than the optimum:",
        _small(results),
        "Tests of the repository repeat this for `least_loss` on 300 tables of up to 24 rows "
        "(tests/unit/recoding/test_least_loss.py).",
        "**The lower bound, and its proof.** Let d(r, x) be what a cell costs that covers the rows r and x, "
        "summed over the columns. The class of r has at least k - 1 other rows. Its cells cover r and each of "
        "them, and a cell that covers more never costs less; so r costs at least d(r, x) for the farthest x of "
        "its class. The farthest of k - 1 rows is at least as far as the (k - 1)-nearest row of r. Hence r costs "
        "at least the distance to its (k - 1)-nearest row, and a release costs at least the mean of these "
        "distances over all rows. The bound holds without suppression, for cells of every kind; it is weak where "
        "neighbours lie in different directions, so that the true optimum lies between it and the best release.",
        f"**How.** `{COMMAND}` computes what is missing in [recodings-compared.json](recodings-compared.json) and "
        "writes this page; `--render-only` does only the last step; delete the file to compute everything again (some "
        f"20 minutes). Machine of this run: {results['machine']}.",
    )


def _methods() -> str:
    return "\n".join(
        [
            "- *Mondrian, strict* and *relaxed*: LeFevre, DeWitt, Ramakrishnan, *Mondrian Multidimensional "
            "k-Anonymity*, ICDE 2006; [the recoders](../recoding/mondrian.md) of Kohorte. *As sets*: the same groups, "
            "each shown by the values that occur in it.",
            "- *k-member clustering*: Byun, Kamra, Bertino, Li, *Efficient k-Anonymization Using Clustering "
            "Techniques*, DASFAA 2007.",
            "- *MDAV*: Domingo-Ferrer, Torra, *Ordinal, Continuous and Heterogeneous k-Anonymity through "
            "Microaggregation*, Data Mining and Knowledge Discovery 11, 2005.",
            "- *Hilbert order and dynamic programming*: Ghinita, Karras, Kalnis, Mamoulis, *Fast Data Anonymization "
            "with Low Information Loss*, VLDB 2007.",
            "- *Iterative local recoding*: Prasser, Kohlmayer, Kuhn, *Efficient and Effective Pruning Strategies for "
            "Health Data De-Identification*, BMC Medical Informatics and Decision Making 16, 2016; "
            "[`local_recoding`](../recoding/local-recoding.md). Its cells are labels of the hierarchy.",
            "",
            "k-member clustering, MDAV and the Hilbert order are short implementations of our own "
            "(benchmarks/recodings_compared/methods.py), shown with the cells of `least_loss`, sets. They know k only: "
            "with another model, a group that fails is merged with the group with which it costs least.",
        ]
    )


def _title(name: str) -> str:
    return {"cohort": "The made-up cohort", "random": "Random correlated columns"}.get(name, name)


def _losses(results: Found, name: str) -> str:
    heads = ["method", *(setting.replace("=", " = ") for setting in SETTINGS)]
    rows = [
        [method, *(_number(results[f"some/{name}/{setting}/{method}"]["loss"]) for setting in SETTINGS)]
        for method in NAMES
    ]
    bounds = [_number(results[f"bound/{name}/some/k={k}"]) for k in study.CLASSES]
    return table(heads, [*rows, ["*bound*", *bounds, *("–" for _ in study.MODELS)]])


def _said(results: Found) -> str:
    """Who loses least, in numbers that a reader can check."""
    best: dict[str, int] = {}
    for name in SAMPLES:
        for setting in SETTINGS:
            found = {method: results[f"some/{name}/{setting}/{method}"]["loss"] for method in NAMES}
            least = min(found, key=lambda method: found[method])
            best[least] = best.get(least, 0) + 1
    said = "; ".join(f"{method}: {count}" for method, count in sorted(best.items(), key=lambda pair: -pair[1]))
    return f"How often each method loses least, of {len(SAMPLES) * len(SETTINGS)} settings: {said}."


def _learnt(results: Found, name: str) -> str:
    found = results.get(f"learnt/{name}")
    if found is None:
        return ""
    return f" (accuracy from the original rows {found[0]:.3f}, of guessing the most frequent class {found[1]:.3f})"


def _uses(results: Found, name: str) -> str:
    columns: dict[str, Callable[[float], str]] = {
        "query_error": _percent,
        "accuracy": _three,
        "means": _three,
        "correlations": _three,
        "seconds": _two,
    }
    rows = []
    for method in NAMES:
        found = results[f"some/{name}/k=5/{method}"]
        rows.append([method, *(say(found[key]) if found[key] is not None else "–" for key, say in columns.items())])
    return table(["method", "query error", "accuracy", "means", "correlations", "seconds"], rows)


def _whole(results: Found, name: str) -> str:
    known = [k for k in study.WHOLE if all(f"whole/{name}/k={k}/{method}" in results for method in study.FAST)]
    heads = ["method"]
    for k in known:
        heads += [f"loss, k = {k}", f"query error, k = {k}", f"seconds, k = {k}"]
    rows = []
    for method in study.FAST:
        cells = [method]
        for k in known:
            found = results[f"whole/{name}/k={k}/{method}"]
            cells += [_number(found["loss"]), _percent(found["query_error"]), _two(found["seconds"])]
        rows.append(cells)
    bounds = results.get(f"bound/{name}/whole")
    if bounds is not None:
        rows.append(["*bound*", *(cell for k in known for cell in (_number(bounds[str(k)]), "–", "–"))])
    return f"**{name}**\n\n{table(heads, rows)}"


def _small(results: Found) -> str:
    rows = [
        [method, _percent(found["median"]), _percent(found["most"]), _percent(found["optimal"])]
        for method, found in ((method, results["small"][method]) for method in study.SMALL)
    ]
    return table(["method", "median", "most", "tables with an optimal result"], rows)


def _number(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.1f} %"


def _two(value: float) -> str:
    return f"{value:.2f}"


def _three(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
