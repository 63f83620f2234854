"""`python -m benchmarks linkage`: record linkage of generated patients, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.linkage.exchange import Exchange
from benchmarks.linkage.results import SINGLE, Quality, Results, compute
from kohorte.in_words import count

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"
RESULTS = "linkage.json"
PAGE = "linkage.md"
HEADER = """\
| data | automatic matches | of these wrong | precision | found automatically | found, with grey | grey rows | \
of these the right person |
|---|---:|---:|---:|---:|---:|---:|---:|
"""
TEXT = """\
# Record linkage of generated patients

**What.** How well does `kohorte patients register` recognise people? A list of {people} generated people; then {rows}
rows, of which half are people of the list described again with errors, and half are strangers. The truth is known.

**How.** `python -m benchmarks linkage` generates everything from a seed (testbed/identities.py), measures, and writes
[linkage.json](linkage.json) and from it this page; `--render-only` does only the last step, `--check` compares. It
needs Splink (`pip install splink`), which is no dependency of Kohorte. [The patient list](../patients.md) explains
weights and thresholds.

**The patients.** German, Turkish, Polish, Russian, Arabic, southern European and Vietnamese names with their
frequencies and a long tail of rare ones; families with one name and one address, twins among them; nine in ten have an
insurance number. The errors and their shares are in the last table; a row has on average {errors:.1f} of them.

**How far to trust it.** Generated patients are not real ones: their errors are independent of each other, and the
generator and the rules have the same authors. Rules and weights were chosen while looking at patients of other seeds;
the seeds of this page were not looked at before everything was fixed.

## Result

{kohorte}

*Precision*: the share of the automatic matches that are right. *Found*: the share of the rows about people of the list;
a grey row counts as found if its cases show the right person. *Grey rows*: the share of all rows that somebody has to
decide. The requirement is a precision of at least 0.999, and at least 0.95 found with grey.

The wrong matches of other seeds, which were looked at one by one, were people who share, or nearly share, names and
birth date by chance. Speed with all fields: {speed} rows in a second of processor time on one core, with all
comparisons, sealing and storing in SQLite ({seconds} s for {rows} rows on a machine of two cores that did other work as
well).

## Compared with Splink

Splink {splink_version} on DuckDB with the comparisons of its library (`NameComparison`, `DateOfBirthComparison`, exact
matches), trained on the same data as its quick start does, on names in lower case. The best candidate of a row is taken
from the given probability on: 0.95 as in its quick start, and a stricter one, where its precision is about that of
Kohorte. From 0.2 on a row is grey.

{splink}

Splink sees the whole table at once, in plain text, and learns its weights from it. Kohorte registers one row after the
other against a sealed list, with weights that do not change, and asks by rule about twins, newborn children and
contradicting numbers, also where the weight alone would decide. Splink was not tuned here: it can be told more about
German names and about fields that depend on each other.

## Two lists without names

Two lists of {list_people} people each, with {common} in common, of whom the other house has a description with errors.
Both are encoded as Bloom filters with keyed hashes and compared without names
([how](../patients.md#two-lists-without-names)).

| data | matches | of these wrong | precision | found by a match | found, with grey | grey pairs |
|---|---:|---:|---:|---:|---:|---:|
{exchange}

{encoded} records were encoded in a second of processor time.

## Single errors

{single} rows each with this error and no other, with all fields, against the same list. *Share* is how often the error
occurs in the tables above.

| error | share | automatic | grey | lost | wrong |
|---|---:|---:|---:|---:|---:|
{singles}
"""


def main(arguments: Sequence[str]) -> int:
    """Measure and write the page, only write it, or compare it with the results."""
    if "--render-only" not in arguments and "--check" not in arguments:
        (FOLDER / RESULTS).write_text(compute().to_json(), encoding="utf-8")
    results = Results.from_json((FOLDER / RESULTS).read_text(encoding="utf-8"))
    text = render(results)
    if "--check" in arguments:
        same = (FOLDER / PAGE).read_text(encoding="utf-8") == text
        held = kept(results)
        print("ok" if same and held else "wrong: run `python -m benchmarks linkage --render-only`" if held else "wrong")
        return 0 if same and held else 1
    (FOLDER / PAGE).write_text(text, encoding="utf-8")
    return 0


def kept(results: Results) -> bool:
    """Whether precision and recall are what is required."""
    return all(quality.precision >= 0.999 and quality.recall >= 0.95 for quality in results.kohorte)


def render(results: Results) -> str:
    """The page."""
    best = results.kohorte[0]
    return TEXT.format(
        people=count(best.people),
        rows=count(best.rows),
        errors=sum(single.share for single in results.singles),
        kohorte=_table(results.kohorte),
        splink=_table(results.splink),
        splink_version=results.splink_version,
        speed=count(round(best.rows / best.processor_seconds / 100) * 100),
        seconds=f"{best.seconds:.0f}",
        list_people=count(results.exchange[0].people),
        common=count(results.exchange[0].common),
        exchange="\n".join(map(_exchange, results.exchange)),
        encoded=count(round(min(one.encoded_per_second for one in results.exchange), -2)),
        single=SINGLE,
        singles="\n".join(
            f"| {one.error} | {one.share:.1%} | {one.automatic} | {one.grey} | {one.lost} | {one.wrong} |"
            for one in results.singles
        ),
    )


def _table(qualities: Iterable[Quality]) -> str:
    return HEADER + "\n".join(
        f"| {one.scenario} | {count(one.automatic_right + one.automatic_wrong)} | {one.automatic_wrong} | "
        f"{one.precision:.5f} | {one.automatic_recall:.4f} | {one.recall:.4f} | {one.grey:.2%} | "
        f"{count(one.grey_right)} of {count(one.grey_right + one.grey_wrong)} |"
        for one in qualities
    )


def _exchange(one: Exchange) -> str:
    matches = one.matches_right + one.matches_wrong
    found = one.matches_right + one.grey_right
    return (
        f"| {one.scenario} | {count(matches)} | {one.matches_wrong} | {one.matches_right / matches:.5f} | "
        f"{one.matches_right / one.common:.4f} | {found / one.common:.4f} | {count(one.grey_right + one.grey_wrong)} |"
    )
