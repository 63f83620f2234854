"""What is lost if every party anonymizes for itself, beside the joint optimum: table 4.1 of the source.

Everything but the optimal search is counted here with polars, from the files of the hierarchies. The loss is the
non-uniform entropy (equation 2.29): the sum over all cells of log2 of how many rows have the label that is shown, by
how many have the value; both are counted in the table of all parties. Rows that are suppressed are not counted
separately, as in the equation.

- Horizontal: every party finds the optimum for its own rows; it may suppress 3 % of them.
- Vertical: the first party finds the optimum for its own columns. The next one gets the classes of rows, and
  generalizes its columns as little as possible so that the classes which result still satisfy the criterion (section
  4.1.2); and so on. All together may suppress 3 % of the rows.
- Vertical, classes kept: as before, but no class of the first party may be divided (section 4.3), for which the others
  need not know the sensitive values.
- As in table 3.1: what reproduces table 3.1 of the same source, taken for this table. The sensitive attribute is not
  among the quasi-identifiers, also for 5-anonymity; the loss counts suppressed rows (equations 3.3 to 3.5). Vertically
  the party that has the sensitive attribute begins, because no other could tell whether classes are diverse, and the
  others show only `*`; horizontally the losses of the parties are added, each measured
  in its own rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

import kohorte as ko
from benchmarks.models import RECURSIVE
from testbed import joint, tables

LIMIT = 0.03
K, C, L = 5, 4, 3
CRITERIA = {"k": "5-anonymity", "l": "recursive (4,3)-diversity"}


@dataclass(frozen=True)
class Compared:
    """The loss of the joint optimum in percent of that of a baseline; `kept` only vertically."""

    table: str
    criterion: str
    vertical: bool
    parties: int
    percent: float
    kept_percent: float | None
    nothing_percent: float
    """In percent of the loss of a table without any quasi-identifier, which is the largest that there is."""
    like_3_1_percent: float
    """Read as table 3.1 has to be read."""
    like_3_1_nothing_percent: float


def compare(rows: int | None = None) -> Iterator[Compared]:
    """All cells of the table; with `rows`, only the first rows of each table."""
    for table in ("adult", "cup"):
        frame = ko.read_table(tables.DATA / f"{table}.csv").frame.cast(pl.String).head(rows or 10**9)
        for criterion in CRITERIA:
            subject, other = Subject.of(table, criterion, frame), LikeTable31.of(table, criterion, frame)
            for vertical, parties in itertools.product((True, False), (2, 3)):
                yield _compared(subject, other, vertical=vertical, parties=parties)


@dataclass(frozen=True, eq=False)
class Subject:
    """A table with its criterion: the labels of every cell at every level, and what each costs."""

    table: str
    criterion: str
    frame: pl.DataFrame = field(repr=False)
    plan: ko.Plan
    labels: Mapping[str, Sequence[pl.Series]] = field(repr=False)
    bits: Mapping[str, Sequence[pl.Series]] = field(repr=False)
    optimum: float

    @classmethod
    def of(cls, table: str, criterion: str, frame: pl.DataFrame) -> Subject:
        """Look up all labels, and find the optimum for all rows and columns."""
        plan = (
            tables.plan(table, k=K, limit=LIMIT, metric="non_uniform_entropy")
            if criterion == "k"
            else tables.sensitive_plan(table, limit=LIMIT, models=[RECURSIVE])
        )
        labels = {name: _labels(table, name, frame[name]) for name in plan.quasi_identifiers}
        bits = {name: [_bits(frame[name], own) for own in labels[name]] for name in labels}
        best = ko.anonymize(frame, plan)
        counted = sum(_sum(bits[name][level]) for name, level in best.levels.items())
        assert best.optimal, "the optimum is proven"
        assert abs(counted - best.cost) < 1e-6 * best.cost, "the loss is counted in the same way"
        return cls(table, criterion, frame, plan, labels, bits, counted)

    def nothing(self) -> float:
        """The loss of a table that shows nothing of the quasi-identifiers."""
        return sum(_sum(own[-1]) for own in self.bits.values())


def _labels(table: str, name: str, values: pl.Series) -> list[pl.Series]:
    text = (tables.DATA / "hierarchies" / f"{table}_hierarchy_{name}.csv").read_text(encoding="utf-8")
    rows = [line.split(";") for line in text.splitlines()]
    keys = [row[0] for row in rows]
    return [values.replace_strict(keys, [row[level] for row in rows]) for level in range(len(rows[0]))]


def _bits(values: pl.Series, labels: pl.Series) -> pl.Series:
    """For each cell, the logarithm of how many rows have its label, by how many have its value."""
    both = pl.DataFrame({"value": values, "label": labels})
    return both.select((pl.len().over("label") / pl.len().over("value")).log(2)).to_series()


def _sum(bits: pl.Series) -> float:
    return float(bits.sum())


@dataclass(frozen=True, eq=False)
class LikeTable31:
    """A table with its criterion, as table 3.1 has to be read."""

    table: str
    frame: pl.DataFrame = field(repr=False)
    plan: ko.Plan
    optimum: float
    most: Mapping[str, float]
    """The loss of each column if it shows only `*`."""

    @classmethod
    def of(cls, table: str, criterion: str, frame: pl.DataFrame) -> LikeTable31:
        """Find the optimum for all rows and columns."""
        names = [name for name in tables.QUASI_IDENTIFIERS[table] if name != tables.SENSITIVE[table]]
        plan = cls._plan(table, criterion, names)
        most = {name: _sum(_bits(frame[name], _labels(table, name, frame[name])[-1])) for name in names}
        return cls(table, frame, plan, ko.anonymize(frame, plan).cost, most)

    @staticmethod
    def _plan(table: str, criterion: str, names: Sequence[str]) -> ko.Plan:
        """The plan in which these columns are quasi-identifiers."""
        sensitive = tables.SENSITIVE[table]
        attributes = {
            name: {
                "role": "quasi-identifying" if name in names else "sensitive" if name == sensitive else "insensitive",
                "hierarchy": {"csv": f"hierarchies/{table}_hierarchy_{name}.csv"},
            }
            for name in tables.QUASI_IDENTIFIERS[table]
        }
        diverse = {**RECURSIVE, "attribute": sensitive}
        entry = {
            "kohorte": 1,
            "attributes": attributes,
            "models": [{"model": "k-anonymity", "k": K} if criterion == "k" else diverse],
            "suppression_limit": LIMIT,
            "metric": {"metric": "non_uniform_entropy_suppression"},
        }
        return ko.Plan.from_dict(entry, folder=tables.DATA)

    def percent(self, criterion: str, *, vertical: bool, parties: int) -> float:
        """The loss of the optimum in percent of that of the baseline."""
        if not vertical:
            parts = joint.divided_rows(self.frame, parties).values()
            return 100 * self.optimum / sum(ko.anonymize(part, self.plan).cost for part in parts)
        has_sensitive = next(own for own in joint.COLUMNS[self.table, parties] if tables.SENSITIVE[self.table] in own)
        begins = [name for name in has_sensitive if name in self.most]
        first = ko.anonymize(self.frame, self._plan(self.table, criterion, begins)).cost
        return 100 * self.optimum / (first + sum(lost for name, lost in self.most.items() if name not in begins))


def _compared(subject: Subject, other: LikeTable31, *, vertical: bool, parties: int) -> Compared:
    kept = None
    if vertical:
        columns = [
            [name for name in own if name in subject.plan.quasi_identifiers]
            for own in joint.COLUMNS[subject.table, parties]
        ]
        baseline = _one_after_another(subject, columns, divide=True)
        kept = _one_after_another(subject, columns, divide=False)
    else:
        baseline = _each_alone(subject, parties)
    return Compared(
        subject.table,
        subject.criterion,
        vertical,
        parties,
        percent=100 * subject.optimum / baseline,
        kept_percent=None if kept is None else 100 * subject.optimum / kept,
        nothing_percent=100 * subject.optimum / subject.nothing(),
        like_3_1_percent=other.percent(subject.criterion, vertical=vertical, parties=parties),
        like_3_1_nothing_percent=100 * other.optimum / sum(other.most.values()),
    )


def _each_alone(subject: Subject, parties: int) -> float:
    """The loss if every party finds the optimum for its own rows."""
    loss, first = 0.0, 0
    for part in joint.divided_rows(subject.frame, parties).values():
        levels = ko.anonymize(part, subject.plan).levels
        loss += sum(_sum(subject.bits[name][level].slice(first, part.height)) for name, level in levels.items())
        first += part.height
    return loss


def _one_after_another(subject: Subject, columns: Sequence[Sequence[str]], *, divide: bool) -> float:
    """The loss if every party generalizes its columns so that the classes of the parties before it remain good.

    Without `divide`, only the first party decides what the classes are.
    """
    loss, left = 0.0, int(LIMIT * subject.frame.height)
    classes, rows = (
        pl.Series("class", [0] * subject.frame.height, dtype=pl.UInt32),
        pl.int_range(subject.frame.height, eager=True),
    )
    for number, own in enumerate(columns):
        if not own:
            continue
        best = min(
            (choice for choice in _choices(subject, own, classes, rows, whole=number > 0 and not divide)),
            key=lambda choice: (choice.loss, choice.suppressed) if choice.suppressed <= left else (float("inf"), 0),
        )
        loss += best.loss
        left -= best.suppressed
        classes, rows = best.classes, best.rows
    return loss


@dataclass(frozen=True, eq=False)
class Choice:
    """Levels of one party: the loss of its columns, the rows that go, and the classes of those that remain."""

    loss: float
    suppressed: int
    classes: pl.Series
    rows: pl.Series


def _choices(
    subject: Subject, own: Sequence[str], classes: pl.Series, rows: pl.Series, *, whole: bool
) -> Iterator[Choice]:
    """All combinations of levels of one party."""
    for node in itertools.product(*(range(len(subject.labels[name])) for name in own)):
        shown = [subject.labels[name][level].gather(rows).alias(name) for name, level in zip(own, node, strict=True)]
        together = pl.DataFrame([classes.alias("class"), *shown])
        names = ["class", *own]
        if whole and together.n_unique(subset=names) > together["class"].n_unique():
            continue
        numbers = together.select(pl.struct(names).rank("dense").cast(pl.UInt32).alias("class")).to_series()
        good = _good(subject, numbers, rows)
        loss = sum(_sum(subject.bits[name][level]) for name, level in zip(own, node, strict=True))
        yield Choice(loss, int((~good).sum()), numbers.filter(good), rows.filter(good))


def _good(subject: Subject, classes: pl.Series, rows: pl.Series) -> pl.Series:
    """Tell of each row whether its class satisfies the criterion."""
    good = pl.DataFrame([classes.alias("class")]).select(pl.len().over("class") >= K).to_series()
    if subject.criterion == "k":
        return good
    sensitive = subject.frame[tables.SENSITIVE[subject.table]].gather(rows)
    counts = pl.DataFrame({"class": classes, "value": sensitive}).group_by("class", "value").len()
    diverse = (
        counts.sort("len", descending=True)
        .group_by("class", maintain_order=True)
        .agg((pl.col("len").first() < C * pl.col("len").slice(L - 1).sum()).alias("diverse"))
    )
    found = pl.DataFrame({"class": classes}).join(diverse, on="class", how="left", maintain_order="left")["diverse"]
    return good & found
