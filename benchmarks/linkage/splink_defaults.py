"""The same patients linked by Splink with the comparisons of its library and the training of its quick start.

Splink is not a dependency: `pip install splink` before this benchmark is run.
"""

from __future__ import annotations

import logging
import time
from importlib.metadata import version as installed
from typing import Any

import polars as pl

from benchmarks.linkage.data import Data
from benchmarks.linkage.results import Quality
from testbed import identities

AUTOMATIC, GREY = (0.95, 0.9995), 0.2
"""Probabilities from which on a pair is taken for a match (the quick start has 0.95), and from which on it is grey."""
NAMES = ("vorname", "nachname")


def version() -> str:
    """The version of Splink."""
    return installed("splink")


def qualities(scenario: str, data: Data) -> list[Quality]:
    """Link the rows to the list, and compare the best candidate of each row with the truth."""
    started, processor = time.perf_counter(), time.process_time()
    pairs = _pairs(data)
    seconds, processor_seconds = time.perf_counter() - started, time.process_time() - processor
    best = pairs.sort("probability", descending=True).unique("row", keep="first", maintain_order=True)
    chosen = dict(zip(best["row"], best.select("known", "probability").rows(), strict=True))
    candidates: dict[int, set[int]] = {}
    for row, known in pairs.filter(pl.col("probability") >= GREY).select("row", "known").rows():
        candidates.setdefault(row, set()).add(known)
    return [
        _quality(f"{scenario}, from {threshold}", data, chosen, candidates, threshold, (processor_seconds, seconds))
        for threshold in AUTOMATIC
    ]


def _quality(
    scenario: str,
    data: Data,
    chosen: dict[int, tuple[int, float]],
    candidates: dict[int, set[int]],
    threshold: float,
    seconds: tuple[float, float],
) -> Quality:
    counts = dict.fromkeys(("automatic_right", "automatic_wrong", "grey_right", "grey_wrong", "lost"), 0)
    for row, truth in enumerate(data.truth):
        known, probability = chosen.get(row, (-1, 0.0))
        if probability >= threshold:
            counts["automatic_right" if known == truth else "automatic_wrong"] += 1
        elif probability >= GREY:
            counts["grey_right" if truth in candidates[row] else "grey_wrong"] += 1
        elif truth is not None:
            counts["lost"] += 1
    about_known = sum(truth is not None for truth in data.truth)
    return Quality(
        scenario,
        len(data.known),
        len(data.rows),
        about_known,
        **counts,
        insufficient=0,
        processor_seconds=round(seconds[0], 1),
        seconds=round(seconds[1], 1),
    )


def _pairs(data: Data) -> pl.DataFrame:
    """All pairs that Splink compares and scores: row, position in the list, probability."""
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    logging.disable(logging.WARNING)  # it tells every step
    database = DuckDBAPI()
    tables = [
        database.register(_frame(people).to_arrow(), dataset_display_name=name)
        for name, people in (("known", data.known), ("rows", data.rows))
    ]
    used = {name for name in _frame(data.rows[:1000]).columns if any(getattr(p, name, "") for p in data.rows[:1000])}
    rules = [("geburtsdatum",), NAMES, ("nachname", "plz"), ("versichertennummer",)]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=[comparison for name, comparison in _comparisons().items() if name in used],
        blocking_rules_to_generate_predictions=[block_on(*rule) for rule in rules if used >= set(rule)],
    )
    linker = Linker(tables, settings)
    linker.training.estimate_probability_two_random_records_match([block_on(*NAMES, "geburtsdatum")], recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(block_on(*NAMES))
    linker.training.estimate_parameters_using_expectation_maximisation(block_on("geburtsdatum"))
    predicted: Any = linker.inference.predict(threshold_match_probability=0.01)
    found: pl.DataFrame = predicted.as_duckdbpyrelation().pl()
    first_is_known = pl.col("source_dataset_l") == "known"
    return found.select(
        row=pl.when(first_is_known).then("unique_id_r").otherwise("unique_id_l"),
        known=pl.when(first_is_known).then("unique_id_l").otherwise("unique_id_r"),
        probability="match_probability",
    )


def _comparisons() -> dict[str, Any]:
    import splink.comparison_library as library

    return {
        "vorname": library.NameComparison("vorname"),
        "nachname": library.NameComparison("nachname"),
        "geburtsdatum": library.DateOfBirthComparison("geburtsdatum", input_is_string=True),
        "geschlecht": library.ExactMatch("geschlecht"),
        "plz": library.ExactMatch("plz").configure(term_frequency_adjustments=True),
        "versichertennummer": library.ExactMatch("versichertennummer"),
    }


def _frame(people: list[identities.Person]) -> pl.DataFrame:
    """The people as Splink's guides advise to prepare them: lower case."""
    frame = identities.frame(people).with_columns(pl.col(NAMES).str.to_lowercase())
    return frame.with_row_index("unique_id").with_columns(pl.col("unique_id").cast(pl.Int64))
