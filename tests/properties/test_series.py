"""Any growing table through a series: what each release shows, read from its cells in plain Python.

The attacker knows the quasi-identifiers of everybody, has all releases, and recognises the same row in all of them by a
tag that an insensitive column shows.
"""

from __future__ import annotations

import itertools
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, assume, event, given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.series import SeriesRelease
from support.examples import examples

Value = str | None
Person = tuple[Value, ...]

AGES = [str(age) for age in range(60)]
WARDS = ["a1", "a2", "a3", "b1", "b2", "c1"]
TREE = {"A": ["a1", "a2", "a3"], "B": ["b1", "b2"], "C": ["c1"]}
DAYS = [(date(2024, 1, 1) + timedelta(days=7 * number)).isoformat() for number in range(20)]
DOMAINS: dict[str, list[str]] = {"age": AGES, "ward": WARDS, "day": DAYS}
NAMES = tuple(DOMAINS)
DIAGNOSES = ["flu", "tb", "cold", "asthma"]
GAP = range(20, 30)
REFUSED = ("series-nothing-shown", "series-region-fails", "model-beyond-values")


# What a cell means, by the documentation


def covered(name: str, cell: Value) -> frozenset[Value]:
    """The values that a cell stands for."""
    if cell is None:
        return frozenset([None])
    if cell == "* (not missing)":
        return frozenset(DOMAINS[name])
    if cell.endswith(" or missing"):
        return covered(name, cell.removesuffix(" or missing")) | {None}
    if cell == "*":
        return frozenset([*DOMAINS[name], None])
    return frozenset({"age": _ages, "ward": _wards, "day": _days}[name](cell))


def _ages(cell: str) -> list[str]:
    low, _, high = cell.partition("-")
    return [str(age) for age in range(int(low), int(high or low) + 1)]


def _wards(cell: str) -> list[str]:
    return [ward for part in cell.strip("{}").split(", ") for ward in TREE.get(part, [part])]


def _days(cell: str) -> list[str]:
    if not cell.startswith("["):
        return [cell]
    low, high = cell[1:-1].split(", ")
    return [day for day in DAYS if low <= day < high]


# Growing tables


@dataclass(frozen=True)
class Case:
    """A growing table and a series for it."""

    names: tuple[str, ...]
    people: list[tuple[Person, str]] = field(repr=False)
    growth: list[int]
    k: int
    models: list[dict[str, object]]
    missing: str
    arrivals: str
    gapped: bool
    target: dict[str, object] | None

    @property
    def distinct(self) -> int:
        return max((int(str(model["l"])) for model in self.models if "l" in model), default=1)

    @property
    def plan(self) -> ko.Plan:
        hierarchies: dict[str, object] = {"ward": {"tree": TREE}, "day": {"dates": {"levels": ["month"]}}}
        attributes: dict[str, object] = {
            name: {"role": "quasi-identifying"} | ({"hierarchy": hierarchies[name]} if name in hierarchies else {})
            for name in self.names
        }
        return ko.Plan.from_dict(
            {
                "kohorte": 1,
                "attributes": attributes | {"diagnosis": {"role": "sensitive"}, "tag": {"role": "insensitive"}},
                "models": [{"model": "k-anonymity", "k": self.k}, *self.models],
                "missing": self.missing,
                "suppression_limit": 1.0,
            }
        )

    def settings(self, folder: Path) -> ko.SeriesSettings:
        ages = {"pieces": [[0, GAP.start], [GAP.stop, 60]]} if self.gapped else {"lower": 0, "upper": 60}
        domains: dict[str, dict[str, object]] = {
            "age": ages,
            "day": {"lower": "2024-01-01", "upper": "2024-07-01", "step": "day"},
        }
        regions = {name: domains[name] for name in self.names if name in domains}
        return ko.SeriesSettings(regions=regions, arrivals=self.arrivals, target=self.target, folder=folder)

    @property
    def table(self) -> pl.DataFrame:
        rows = [(*person, diagnosis, number) for number, (person, diagnosis) in enumerate(self.people)]
        schema = [*((name, pl.String) for name in (*self.names, "diagnosis")), ("tag", pl.Int64)]
        return pl.DataFrame(rows, schema=schema, orient="row")

    def excluded(self, person: Person) -> bool:
        """Whether a row can never be shown: it lies in the gap, or lacks a value that the plan asks for."""
        age = dict(zip(self.names, person, strict=True)).get("age")
        in_gap = self.gapped and age is not None and int(age) in GAP
        return in_gap or (self.missing == "suppress" and None in person)


def few_of(values: list[str]) -> st.SearchStrategy[Value]:
    """Mostly a few values, so that rows are equal and regions crowded; now and then any, or none."""
    return st.one_of(st.sampled_from(values[:: len(values) // 5]), st.sampled_from(values), st.none())


@st.composite
def cases(draw: st.DrawFn) -> Case:
    names = draw(st.sampled_from([names for n in (1, 2, 3) for names in itertools.combinations(NAMES, n)]))
    person = st.tuples(*(few_of(DOMAINS[name]) for name in names))
    people = draw(st.lists(st.tuples(person, st.sampled_from(DIAGNOSES)), min_size=8, max_size=70))
    k = draw(st.integers(1, 4))
    extra: list[dict[str, object]] = [
        {"model": "l-diversity_distinct", "attribute": "diagnosis", "l": 2},
        {"model": "t-closeness_equal", "attribute": "diagnosis", "t": 0.6},
    ]
    return Case(
        names=names,
        people=people,
        growth=sorted(draw(st.lists(st.integers(4, len(people)), min_size=1, max_size=4))),
        k=k,
        models=draw(st.lists(st.sampled_from(extra), unique_by=lambda model: str(model["model"]))),
        missing=draw(st.sampled_from(["category", "suppress"])),
        arrivals=draw(st.sampled_from(["unknown", "known"])),
        gapped=draw(st.booleans()),
        target=draw(st.none() | st.builds(target, st.sampled_from(["wait", "nearest"]), st.sampled_from([0.0, 0.3]))),
    )


def target(policy: str, tolerance: float) -> dict[str, object]:
    return {"expected_rows": 60, "data": "other.csv", "policy": policy, "tolerance": tolerance}


# What came out


@dataclass(frozen=True)
class Shown:
    """One release: the cells and the diagnosis of every tag, and how many rows the table had."""

    rows: int
    held: int
    cells: dict[int, tuple[frozenset[Value], ...]] = field(repr=False)
    diagnoses: dict[int, str] = field(repr=False)


def released(case: Case, folder: Path) -> list[Shown]:
    """Make the releases that are not refused, each of the table in another order; the series verifies itself."""
    others = case.table.filter(~pl.Series([case.excluded(person) for person, _ in case.people]))
    if case.target is not None:
        assume(others.height >= 4 and others["diagnosis"].n_unique() >= case.distinct)
        others.drop("tag").write_csv(folder / "other.csv")
    series = ko.Series.start(folder / "series", case.plan, case.settings(folder))
    found: list[Shown] = []
    for number, rows in enumerate(case.growth):
        table = case.table[:rows].sample(fraction=1, shuffle=True, seed=number)
        release = next_release(series, table)
        if release is None:
            continue
        assert ko.verify(release.data, case.plan).satisfied
        found.append(_read(case, release))
    verdict = series.verify(case.table[: case.growth[-1]])
    assert verdict.satisfied, verdict.problems
    assert len(verdict.releases) == len(found)
    return found


def next_release(series: ko.Series, table: pl.DataFrame) -> SeriesRelease | None:
    """The next release; None if it is refused because the rows are too few or too much alike."""
    try:
        return series.release(table)
    except ko.KohorteError as refused:
        if refused.code not in REFUSED:
            raise
        event(refused.code)
        return None


def _read(case: Case, release: SeriesRelease) -> Shown:
    cells, diagnoses = {}, {}
    for *texts, diagnosis, tag in release.data.rows():
        assert tag not in cells
        cells[tag] = tuple(covered(name, text) for name, text in zip(case.names, texts, strict=True))
        diagnoses[tag] = diagnosis
    return Shown(release.rows, release.held, cells, diagnoses)


def fits(person: Person, cells: tuple[frozenset[Value], ...]) -> bool:
    return all(value in cell for value, cell in zip(person, cells, strict=True))


def candidates(person: Person, releases: list[Shown]) -> list[int]:
    """The tags that the last release shows and that fit a person wherever they are shown."""
    return [
        tag
        for tag in releases[-1].cells
        if all(fits(person, shown.cells[tag]) for shown in releases if tag in shown.cells)
    ]


def by_arrival(tags: list[int], releases: list[Shown]) -> list[list[int]]:
    """The same tags, apart by the release that first showed them."""
    arrival = {tag: next(n for n, shown in enumerate(releases) if tag in shown.cells) for tag in tags}
    return [[tag for tag in tags if arrival[tag] == number] for number in sorted(set(arrival.values()))]


@pytest.mark.slow
@examples(60, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_every_release_of_any_growing_table_hides_everybody_among_k(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        releases = released(case, Path(folder))
    for number, shown in enumerate(releases, start=1):
        _shows_the_truth(case, shown)
        everybody = {person for person, _ in case.people[: shown.rows]}
        for person, so_far in itertools.product(everybody, ([shown], releases[:number])):
            tags = candidates(person, so_far)
            groups = by_arrival(tags, so_far) if case.arrivals == "known" else [tags]
            for group in filter(None, groups):
                assert len(group) >= case.k
                assert len({shown.diagnoses[tag] for tag in group}) >= case.distinct
    for before, after in itertools.pairwise(releases):
        assert before.cells.keys() <= after.cells.keys(), "nobody who was shown is left out later"
        for tag, cells in before.cells.items():
            assert all(later <= cell for later, cell in zip(after.cells[tag], cells, strict=True)), "only ever finer"


def _shows_the_truth(case: Case, shown: Shown) -> None:
    """Each shown row tells of its own values, each once; rows that are held back do not appear."""
    assert len(shown.cells) + shown.held == shown.rows
    for tag, cells in shown.cells.items():
        person, diagnosis = case.people[tag]
        assert tag < shown.rows
        assert fits(person, cells)
        assert shown.diagnoses[tag] == diagnosis
        assert not case.excluded(person)
    # Regions do not overlap; only of missing values `*` leaves open whether it stands for them, too.
    for person in {case.people[tag][0] for tag in shown.cells}:
        if None not in person:
            assert len({shown.cells[tag] for tag in candidates(person, [shown])}) == 1


@pytest.mark.slow
@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_equal_rows_are_counted_as_often_as_they_occur(case: Case) -> None:
    """Without a tag many rows are equal in all columns; none is lost or doubled from table to table."""
    plan = ko.Plan.from_dict(_without_tag(case.plan.to_dict()))
    with tempfile.TemporaryDirectory() as folder:
        case.table.write_csv(Path(folder) / "other.csv")
        try:
            series = ko.Series.start(Path(folder) / "series", plan, case.settings(Path(folder)))
        except ko.InputError:
            assume(False)
        before: Counter[str] = Counter()
        for rows in case.growth:
            table = case.table[:rows].drop("tag")
            release = next_release(series, table[::-1])
            if release is None:
                continue
            told = Counter(release.data["diagnosis"].to_list())
            assert before <= told <= Counter(table["diagnosis"].to_list())
            assert release.new == told.total() - before.total()
            before = told
        if before:
            with pytest.raises(ko.InputError) as lost:
                series.release(case.table[: case.growth[0] - 1].drop("tag"))
            assert lost.value.code == "series-withdrawn"


def _without_tag(entry: dict[str, object]) -> dict[str, object]:
    attributes = entry["attributes"]
    assert isinstance(attributes, dict)
    return entry | {"attributes": {name: one for name, one in attributes.items() if name != "tag"}}
