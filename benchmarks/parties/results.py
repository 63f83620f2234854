"""What was measured, as parties.json holds it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.parties import baseline, runs
from benchmarks.parties.baseline import Compared
from benchmarks.parties.runs import Case, Measured
from kohorte.release import versions

PARTS = ("loss", "adult", "cup", "suppressing", "models", "million")
Tell = Callable[[str], None]


@dataclass(frozen=True)
class Results:
    """The parts that were measured; the others are empty."""

    used: str = ""
    loss: tuple[Compared, ...] = ()
    adult: tuple[Measured, ...] = ()
    cup: tuple[Measured, ...] = ()
    suppressing: tuple[Measured, ...] = ()
    models: tuple[Measured, ...] = ()
    million: tuple[Measured, ...] = ()

    def to_json(self) -> str:
        """The results, one measurement in a line."""
        parts = [f'"used": {json.dumps(self.used)}']
        for name in PARTS:
            entries = ",\n".join(json.dumps(asdict(one)) for one in getattr(self, name))
            parts.append(f'"{name}": [\n{entries}\n]')
        return "{" + ",\n".join(parts) + "}\n"

    @classmethod
    def read(cls, path: Path) -> Results:
        """The results of a file."""
        entry: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            used=entry["used"],
            loss=tuple(Compared(**one) for one in entry["loss"]),
            **{name: tuple(_measured(one) for one in entry.get(name, ())) for name in PARTS[1:]},
        )


def _measured(entry: Mapping[str, Any]) -> Measured:
    return Measured(**{**entry, "case": Case(**entry["case"])})


@dataclass(frozen=True)
class Computing:
    """Measures parts; with `rows`, only the first rows of each table, to try it out."""

    tell: Tell
    rows: int | None = None

    def part(self, name: str) -> tuple[Any, ...]:
        """One part, told line by line."""
        if name in runs.TABLES:
            return self._run(tuple(runs.cases(name)))
        if name == "models":
            return self._run(runs.MODELS)
        return {"loss": self._loss, "suppressing": self._suppressing, "million": self._million}[name]()

    def _loss(self) -> tuple[Compared, ...]:
        found = []
        for one in baseline.compare(self.rows):
            how = "vertical" if one.vertical else "horizontal"
            self.tell(
                f"{one.table.upper()}, {baseline.CRITERIA[one.criterion]}, {how}, {one.parties}: {one.percent:.0f} %"
            )
            found.append(one)
        return tuple(found)

    def _run(self, cases: tuple[Case, ...]) -> tuple[Measured, ...]:
        found = []
        for case in cases:
            found.append(runs.measured(case, self.rows))
            self.tell(runs.judged(found[-1]).text())
        return tuple(found)

    def _suppressing(self) -> tuple[Measured, ...]:
        return self._run(runs.SUPPRESSING)

    def _million(self) -> tuple[Measured, ...]:
        found = runs.million(self.rows or 1_000_000)
        for line in runs.judged_million(found):
            self.tell(line.text())
        return (found,)


def computed(before: Results, parts: tuple[str, ...], tell: Tell, rows: int | None = None) -> Results:
    """These parts measured again, the others as before."""
    computing = Computing(tell, rows)
    used = ", ".join(f"{name} {value}" for name, value in versions().items())
    kept = {name: getattr(before, name) for name in PARTS}
    return Results(used=used, **{**kept, **{name: computing.part(name) for name in parts}})
