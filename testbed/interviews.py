"""A made-up survey of health interviews: the shape of the largest public benchmark table, with nobody in it.

Nine quasi-identifiers; 1.19 million rows have about 900,000 distinct tuples.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import yaml

ROWS = 1_190_000
TABLE = "interviews.csv"
STATES = ("married", "never married", "widowed", "divorced", "separated", "with a partner", "not known", "under 14")
ORIGINS = tuple(f"origin {number:02d}" for number in range(1, 17))
SCHOOLS = tuple(f"{number:02d} years of school" for number in range(26))
REGIONS = ("north", "east", "south", "west")
TREES: dict[str, dict[str, tuple[str, ...]]] = {
    "region": {"north or east": REGIONS[:2], "south or west": REGIONS[2:]},
    "marital": {"was or is": STATES[:5], "other": STATES[5:]},
    "origin": {f"group {number}": ORIGINS[4 * number : 4 * number + 4] for number in range(4)},
    "school": {f"stage {number}": SCHOOLS[5 * number : 5 * number + 5] for number in range(6)},
}
WIDTHS = {
    "year": (1997, 2013, [2, 4, 8]),
    "quarter": (1, 5, [2]),
    "person_number": (1, 33, [4, 8, 16]),
    "age": (0, 100, [5, 10, 20]),
}


def interviews(rows: int = ROWS, *, seed: int = 11) -> pl.DataFrame:
    """The answers of so many made-up people."""
    random = np.random.default_rng(seed)

    def skewed(values: int, power: float) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        weights = (1.0 + np.arange(values)) ** -power
        return random.choice(values, rows, p=weights / weights.sum())

    return pl.DataFrame(
        {
            "year": 1997 + random.integers(0, 14, rows),
            "quarter": 1 + random.integers(0, 4, rows),
            "region": pl.Series(REGIONS).gather(skewed(4, 0.3)),
            "person_number": 1 + skewed(25, 2.2),
            "age": random.integers(0, 86, rows),
            "marital": pl.Series(STATES).gather(skewed(8, 1.8)),
            "sex": pl.Series(["female", "male"]).gather(random.integers(0, 2, rows)),
            "origin": pl.Series(ORIGINS).gather(skewed(16, 2.5)),
            "school": pl.Series(SCHOOLS).gather(skewed(26, 1.6)),
        }
    )


def plan_text(*, limit: float) -> str:
    """The plan of the survey, with k = 5 and the metric loss."""
    hierarchies: dict[str, object] = {
        name: {"intervals": {"lower": lower, "upper": upper, "widths": widths, "integer": True}}
        for name, (lower, upper, widths) in WIDTHS.items()
    }
    hierarchies |= {name: {"tree": f"{name}.yaml"} for name in TREES}
    hierarchies["sex"] = {"ordering": {"values": ["female", "male"], "fanouts": []}}
    entry = {
        "kohorte": 1,
        "person": "none",
        "attributes": {
            name: {"role": "quasi-identifying", "hierarchy": hierarchies[name]} for name in interviews(1).columns
        },
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression_limit": limit,
        "metric": {"metric": "loss"},
    }
    return yaml.safe_dump(entry, sort_keys=False)


def write(folder: Path, *, rows: int = ROWS) -> None:
    """Write the table, its plans (`none.yaml` without suppression, `some.yaml` with 5 %), and the trees they name."""
    interviews(rows).write_csv(folder / TABLE)
    for name, limit in (("none", 0.0), ("some", 0.05)):
        (folder / f"{name}.yaml").write_text(plan_text(limit=limit), encoding="utf-8")
    for name, tree in TREES.items():
        text = yaml.safe_dump({group: list(values) for group, values in tree.items()}, sort_keys=False)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
