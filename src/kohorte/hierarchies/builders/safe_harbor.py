"""ZIP codes, dates and ages in the form that HIPAA Safe Harbor (45 CFR 164.514(b)(2)) permits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies.area_populations import areas_of, read_areas
from kohorte.hierarchies.builder import Builder, Labels, Options, placeable
from kohorte.hierarchies.files import file_name
from kohorte.hierarchies.labels import SUPPRESSED
from kohorte.hierarchies.options import choice, refuse_unknown
from kohorte.hierarchies.timestamps import TimestampFormat

KINDS = ("zip", "date", "age")
DATES_OF = ("event", "birth")
MANY_PEOPLE = 20_000
SMALL_AREA = "000"
OLDEST_AGE = 89
OLDEST_LABEL = "90+"
FORMAT = "%Y-%m-%d"
_BELONGS = {"populations": "zip", "format": "date", "of": "date", "as_of": "date"}


@dataclass(frozen=True)
class SafeHarbor(Builder):
    """Level 1 is what Safe Harbor permits, level 2 is `*`; only level 0 must not be released (`minimum_level: 1`).

    `zip`: the first three digits if, by the file `populations`, more than 20,000 people live in all ZIP codes that
    begin with them; otherwise, and for areas that the file lacks, `000`. `date`: the year; for a date of `birth`, all
    years of birth of people over 89 at `as_of` become one category. `age`: up to 89, then `90+`. Other values are left
    out: a ZIP code that lost its leading zero is not guessed.
    """

    name: ClassVar[str] = "safe_harbor"

    kind: str
    populations: str | None = None
    format: str = FORMAT
    of: str = "event"
    as_of: str | None = None
    folder: Path = field(default=Path(), compare=False, repr=False)
    content: str | None = field(default=None, compare=False, repr=False)
    """The text of the file of populations, for callers without files."""

    def __post_init__(self) -> None:
        choice(self.kind, KINDS, option="safe_harbor: kind")
        choice(self.of, DATES_OF, option="safe_harbor: of")
        for option, kind in _BELONGS.items():
            if self.kind != kind and getattr(self, option) != self._options()[option]:
                raise InputError(
                    f"safe_harbor: {option} is only valid for kind: {kind}", code="hierarchy-option-invalid"
                )
        if self.populations is not None:
            object.__setattr__(self, "populations", file_name(self.populations, option="safe_harbor: populations"))
        if self.as_of is not None:
            object.__setattr__(self, "as_of", _iso_date(self.as_of).isoformat())
        if self.of == "birth" and self.as_of is None:
            raise InputError(
                "safe_harbor: of: birth needs as_of, the day on which ages over 89 are determined, "
                "for example as_of: 2026-01-01",
                code="hierarchy-option-missing",
            )
        if self.kind == "date":
            _ = self._reader

    @cached_property
    def _reader(self) -> TimestampFormat:
        return TimestampFormat(self.format)

    @property
    def oldest_year(self) -> int | None:
        """The last year of birth of people over 89; None unless the date is a date of birth."""
        return None if self.of != "birth" or self.as_of is None else _iso_date(self.as_of).year - OLDEST_AGE - 1

    def meaning(self, level: int, top: int) -> str:
        """What Safe Harbor permits."""
        del level, top
        return {"zip": "first three digits of large areas", "date": "year", "age": f"age up to {OLDEST_AGE}"}[self.kind]

    def files(self) -> tuple[Path, ...]:
        """The file of the populations, if there is one."""
        return () if self.populations is None else (self.folder / self.populations,)

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:
        """The safe form of every value that has one."""
        known = placeable(values).to_frame()
        notes: tuple[str, ...] = ()
        if self.kind == "zip":
            safe, notes = self._zip_codes(known["0"], attribute=attribute)
        elif self.kind == "date":
            safe = self._years(known["0"])
        else:
            safe = _ages(known["0"])
        return Labels(safe.select("0", "1", pl.lit(SUPPRESSED).alias("2")), notes=notes)

    def safe(self, shown: pl.Series, *, attribute: str) -> pl.Series:
        """Return which cells of a release have the safe form."""
        starred = shown == SUPPRESSED
        if self.kind == "zip":
            return starred | shown.is_in([SMALL_AREA, *self._large_areas(attribute=attribute)])
        if self.kind == "age":
            return starred | (shown == OLDEST_LABEL) | shown.str.contains("^(?:[0-9]|[1-8][0-9])$")
        if self.oldest_year is None:
            return starred | shown.str.contains("^[0-9]{4}$")
        later = shown.str.extract("^([0-9]{4})$").cast(pl.Int64) > self.oldest_year
        return starred | (shown == self._oldest_years) | later.fill_null(value=False)

    @property
    def _oldest_years(self) -> str:
        return f"{self.oldest_year:04} or earlier"

    def _large_areas(self, *, attribute: str) -> list[str]:
        return [area for area, people in self.areas(attribute=attribute).items() if people > MANY_PEOPLE]

    def areas(self, *, attribute: str) -> dict[str, int]:
        """The population of each area by the file; empty without a file, so that every area counts as small."""
        if self.content is not None:
            return areas_of(self.content, "populations", attribute=attribute)
        if self.populations is None:
            return {}
        return read_areas(self.populations, folder=self.folder, attribute=attribute)

    def _zip_codes(self, values: pl.Series, *, attribute: str) -> tuple[pl.DataFrame, tuple[str, ...]]:
        areas = self.areas(attribute=attribute)
        large = [area for area, people in areas.items() if people > MANY_PEOPLE]
        known = values.filter(values.str.contains("^[0-9]{5}(?:-[0-9]{4})?$")).to_frame()
        area = pl.col("0").str.slice(0, 3)
        unknown = known.select(area.filter(~area.is_in(list(areas))).n_unique()).item()
        given = self.populations or self.content is not None
        source = "in the file" if given else "because no file is given"
        note = f"{unknown} areas have no population {source}: they become {SMALL_AREA}"
        label = pl.when(area.is_in(large)).then(area).otherwise(pl.lit(SMALL_AREA)).alias("1")
        return known.with_columns(label), (note,) if unknown else ()

    def _years(self, values: pl.Series) -> pl.DataFrame:
        known = self._reader.read(values).select(pl.col("text").alias("0"), "year")
        label = pl.col("year").cast(pl.String).str.zfill(4)
        if self.oldest_year is not None:
            label = pl.when(pl.col("year") <= self.oldest_year).then(pl.lit(self._oldest_years)).otherwise(label)
        return known.with_columns(label.alias("1"))

    @classmethod
    def from_dict(cls, options: Options, *, folder: Path) -> Self:
        """From `{kind: zip, populations: zip3.csv}` and the like."""
        if not isinstance(options, Mapping) or "kind" not in options:
            raise InputError(
                f"safe_harbor: write {{kind: ...}} with one of {', '.join(KINDS)}", code="hierarchy-option-missing"
            )
        refuse_unknown(options, tuple(cls._options()), where=cls.name)
        settings: dict[str, Any] = dict(options)
        return cls(**settings, folder=folder)


def _ages(values: pl.Series) -> pl.DataFrame:
    known = values.filter(values.str.contains("^(?:0|[1-9][0-9]?|1[0-4][0-9]|150)$")).to_frame()
    old = pl.col("0").cast(pl.Int64) > OLDEST_AGE
    return known.with_columns(pl.when(old).then(pl.lit(OLDEST_LABEL)).otherwise("0").alias("1"))


def _iso_date(text: object) -> date:
    try:
        return date.fromisoformat(str(text))
    except ValueError:
        raise InputError(
            "safe_harbor: as_of must be a date such as 2026-01-01", code="hierarchy-option-invalid"
        ) from None
