"""`python -m benchmarks parties`: what joint releases save and cost, as a page of the documentation.

`--part loss` (also adult, cup, suppressing, models, million; several times) measures only that part and keeps the
others; `--rows 2000` tries everything out on the first rows of the tables and writes nothing; `--render-only` writes
the page from the results that are there; `--check` compares them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from benchmarks.parties import published
from benchmarks.parties.baseline import CRITERIA, Compared
from benchmarks.parties.results import PARTS, Results, computed
from benchmarks.parties.runs import MILLION_MEGABYTES, MILLION_SECONDS, TARGETS, Measured, judged, judged_million
from benchmarks.reproduction.markdown import SOURCE, page, table
from testbed import tables

FOLDER = tables.ROOT / "docs" / "benchmarks"
NAME = "parties"
UNKNOWN = "–"
CORES = 2
WHAT = f"""\
**What.** Hospitals that each anonymize for themselves lose more than necessary; how much more than with one release of
all their rows is table 4.1 of {SOURCE}. The first part of this page repeats it for the public tables ADULT and CUP. The
second part measures what it costs to compute the joint release without showing anybody a row, beside section 4.6 of the
same source.

**How.** `python -m benchmarks parties` measures everything and writes [parties.json](parties.json) and, from it, this
page; `--render-only` does only the last step. Versions: {{used}}."""

LOSS = """\
## What is lost if every party anonymizes for itself

In percent: the loss of the joint optimum by the loss of the baseline; 100 would mean that nothing is gained by doing it
jointly. *Loss* is the non-uniform entropy (equation 2.29 of the source) with up to 3 % of the rows suppressed; how
often values and labels occur is counted in all rows. The baselines follow section 4.3:

- *Horizontal*: the rows are divided in their order into equal parts; every party finds the optimum for its own rows.
- *Vertical*: columns as in table 4.2 (for two parties not published: about half of them each). The first party finds
  the optimum for its own columns. The next one gets the classes of rows, and generalizes its columns as little as
  possible so that the classes which result still satisfy the criterion; and so on. All together suppress 3 %.
- *Classes kept*: vertically, the later parties must not divide a class of the first one. Section 4.3 can be read like
  this, too; the other parties need no sensitive values then.
- *As in table 3.1*: [table 3.1](table-3-1.md) of the same source agrees with its publication if the sensitive
  attribute is not a quasi-identifier and the loss counts suppressed rows. Here the same is taken for table 4.1, for
  *classes kept*; the party that has the sensitive attribute begins, because no other could tell whether classes are
  diverse. Horizontally every party measures its loss in its own rows.

{rows}

*Against nothing* compares with the largest loss that there is, that of a table without any quasi-identifier, for the
two sets of quasi-identifiers. Where the published figure is below both ({unreachable}), no baseline can give it with
this metric and these hierarchies: it would have to lose more than a table that shows nothing. Of the 16 figures, {near}
are within five points in one of the readings. The source does not say how the loss of the baselines was computed, which
party begins, and which columns two parties have, so that the figures for two parties are no strict test. It names the
metric; another one does not explain the figures either: against nothing, the joint optimum of CUP with 5-anonymity
loses 17 % measured by [`loss`](../metrics.md), 34 % by `precision` and 40 % by `height`, where 15 and 13 are published.
The direction is confirmed: the joint optimum never loses more than a baseline, and in {better} of {pairs} comparisons
it gains more with three parties than with two."""

RUNS = """\
## Run times and amounts of data

Whole runs with k = 5 and non-uniform entropy, every party and the helper a process of its own, HTTPS between them, all
of them together on two cores. *Seconds* are from the start of the party that begins the run to the written, verified
and signed release: starting the process, reading, the search and the certificate included. *Processor seconds* are
those of all processes together. *Load before* is how many other processes wanted to compute before the run began, on
average over a minute: figures with a load well above 0 are too high. *Published* seconds are
those of tables 4.3 to 4.5 (three or four machines with four cores each, 100 Mbit/s, without reading, for A and B
without the search; Pohlig-Hellman with 192-bit curves, Paillier with 768 bits, where this program has 255 and 128-bit
security). A and B may suppress 5 %, C nothing. *C mirrored* is C with its default, a mirror image of every row, which
doubles the rows; *C imitated* adds 25 % dummy rows, as published. Every release was compared with that of the pooled
rows: levels, cost, and the multiset of rows.

{rows}

{targets}"""

SUPPRESSING = """\
## What suppression costs in protocol C

Without suppression the search excludes nearly all combinations of levels; with it, it has to look at more of them, and
each costs the decryption of a counter for every class.

{rows}"""

MODELS = """## What models of sensitive values cost in protocol C

The sensitive attribute is that of table 4.2 and no quasi-identifier. Each class has a counter for every value that
occurs in it, and the sizes of classes are decrypted first. Every release was compared with that of the pooled rows.

{rows}"""
MILLION = """\
## One million rows

{rows}"""


def main(arguments: Sequence[str]) -> int:
    """Measure, write or check; exit code 1 if an answer is wrong, a target is missed or the page is not up to date."""
    options = _options(arguments)
    results = FOLDER / f"{NAME}.json"
    found = Results.read(results) if results.exists() else Results()
    if options.check:
        same = (FOLDER / f"{NAME}.md").read_text(encoding="utf-8") == rendered(found)
        print(f"ok     {NAME}.md" if same else f"WRONG  {NAME}.md")
        return 0 if same else 1
    if not options.render_only:
        if not tables.available():
            print("benchmarks: the public benchmark tables are not there", file=sys.stderr)
            return 1
        found = computed(found, tuple(options.part or PARTS), _tell, options.rows)
    if options.rows is None:
        results.write_text(found.to_json(), encoding="utf-8")
        (FOLDER / f"{NAME}.md").write_text(rendered(found), encoding="utf-8")
        print(f"wrote {NAME}.json and {NAME}.md to {FOLDER.relative_to(tables.ROOT)}")
    return 0 if all(_good(found)) else 1


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks parties")
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--render-only", action="store_true")
    parser.add_argument("--check", action="store_true")
    return parser.parse_args(arguments)


def _tell(text: str) -> None:
    print(text, flush=True)


def _good(found: Results) -> list[bool]:
    lines = [judged(one) for one in (*found.adult, *found.cup, *found.suppressing, *found.models)]
    lines += [line for one in found.million for line in judged_million(one)]
    return [line.right and line.within for line in lines]


def rendered(found: Results) -> str:
    """The page as Markdown; parts that were not measured say so."""
    blocks = [WHAT.format(used=found.used)]
    blocks.append(_loss_block(found.loss) if found.loss else _missing("loss"))
    runs = (*found.adult, *found.cup)
    blocks.append(RUNS.format(rows=_runs(runs), targets=_targets(runs)) if runs else _missing("adult"))
    blocks += [] if found.cup else [_missing("cup")]
    blocks.append(
        SUPPRESSING.format(rows=_suppressing(_beside(found))) if found.suppressing else _missing("suppressing")
    )
    blocks.append(MODELS.format(rows=_suppressing(found.models)) if found.models else _missing("models"))
    blocks.append(MILLION.format(rows=_million(found.million[0])) if found.million else _missing("million"))
    return page("Releases of several parties: what they save, and what they cost", *blocks)


def _beside(found: Results) -> list[Measured]:
    """The runs that may suppress rows, each after the same run that may not."""
    known = {one.case: one for one in found.adult}
    pairs = [(known.get(replace(one.case, limit=0.0)), one) for one in found.suppressing]
    return [one for pair in pairs for one in pair if one is not None]


def _missing(part: str) -> str:
    return f"The part *{part}* was not measured."


def _loss_block(found: Sequence[Compared]) -> str:
    below = [one for one in found if _published(one) < min(one.nothing_percent, one.like_3_1_nothing_percent)]
    near = sum(any(abs(percent - _published(one)) <= NEAR for percent in _readings(one)) for one in found)
    pairs = [
        (two, three)
        for two in found
        for three in found
        if (two.table, two.criterion, two.vertical) == (three.table, three.criterion, three.vertical)
        and (two.parties, three.parties) == (2, 3)
    ]
    better = sum(three.percent < two.percent for two, three in pairs)
    unreachable = f"{len(below)} of {len(found)} lines"
    return LOSS.format(rows=_losses(found), unreachable=unreachable, near=near, better=better, pairs=len(pairs))


NEAR = 5
"""So many points are a small difference."""


def _readings(one: Compared) -> list[float]:
    kept = [] if one.kept_percent is None else [one.kept_percent]
    return [one.percent, *kept, one.like_3_1_percent]


def _published(one: Compared) -> int:
    return published.LOSS[one.table, one.criterion, one.vertical, one.parties]


def _losses(found: Sequence[Compared]) -> str:
    readings = ("here", "classes kept", "as in table 3.1", "against nothing")
    head = ("table, criterion", "distribution", "parties", "published", *readings)
    rows = [
        (
            f"{one.table.upper()}, {CRITERIA[one.criterion]}",
            "vertical" if one.vertical else "horizontal",
            str(one.parties),
            str(_published(one)),
            f"{one.percent:.0f}",
            UNKNOWN if one.kept_percent is None else f"{one.kept_percent:.0f}",
            f"{one.like_3_1_percent:.0f}",
            f"{one.nothing_percent:.0f}; {one.like_3_1_nothing_percent:.0f}",
        )
        for one in found
    ]
    return table(head, rows)


def _runs(found: Sequence[Measured]) -> str:
    times = ("published", "seconds", "processor seconds", "load before", "search")
    head = ("table, protocol", "distribution", "parties", *times, "published MB", "MB", "messages")
    rows = []
    for one in found:
        case = one.case
        key = (case.table, case.protocol, case.vertical, case.parties)
        sent = published.MEGABYTES.get(key)
        rows.append(
            (
                f"{case.table.upper()}, {case.kind}",
                "vertical" if case.vertical else "horizontal",
                str(case.parties),
                f"{published.SECONDS[key]:g}",
                f"{one.seconds:.1f}",
                f"{one.processor:.1f}",
                f"{one.load:.1f}",
                f"{one.phases.get('anonymize', 0.0):.2f}",
                UNKNOWN if sent is None else f"{sent:g}",
                f"{one.megabytes:.1f}",
                f"{one.messages:,}",
            )
        )
    return table(head, rows)


def _targets(found: Sequence[Measured]) -> str:
    """The runs that have a target."""
    known = {one.case: one for one in found}
    rows = [
        (
            f"{case.title}",
            f"{target:g}",
            f"{known[case].seconds:.1f}" if case in known else UNKNOWN,
            f"{known[case].load:.1f}" if case in known else UNKNOWN,
            f"{known[case].processor / CORES:.1f}" if case in known else UNKNOWN,
        )
        for case, target in TARGETS.items()
    ]
    head = ("run", "at most", "measured", "load before", "processor seconds by two cores")
    return (
        "Targets of whole runs, in seconds. The last column is what two cores without other work need at least:\n\n"
        + table(head, rows)
    )


def _suppressing(found: Sequence[Measured]) -> str:
    head = ("run", "nodes checked", "published tests", "seconds", "processor seconds", "load before", "MB", "messages")
    rows = [
        (
            one.case.title,
            f"{one.checked:,}",
            str(published.TESTS[one.case.table]) if one.case.limit == 0 else UNKNOWN,
            f"{one.seconds:.1f}",
            f"{one.processor:.1f}",
            f"{one.load:.1f}",
            f"{one.megabytes:.1f}",
            f"{one.messages:,}",
        )
        for one in found
    ]
    return table(head, rows)


def _million(one: Measured) -> str:
    head = (
        "1,000,000 generated rows, nine quasi-identifiers, k = 5, 5 %, protocol B, horizontal, 3 parties",
        "at most",
        "measured",
    )
    memory = max((megabytes for name, megabytes in one.memory.items() if name != "helper"), default=0.0)
    rows = [
        ("seconds of the whole run", f"{MILLION_SECONDS:g}", f"{one.seconds:.1f}"),
        ("processor seconds of all processes", UNKNOWN, f"{one.processor:.1f}"),
        ("load before", UNKNOWN, f"{one.load:.1f}"),
        ("memory of the helper, MB", f"{MILLION_MEGABYTES:g}", f"{one.memory.get('helper', 0.0):.0f}"),
        ("memory of the largest party, MB", UNKNOWN, f"{memory:.0f}"),
        ("sent, MB", UNKNOWN, f"{one.megabytes:.1f}"),
    ]
    return table(head, rows)
