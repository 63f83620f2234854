"""Turn official open tables into tables of frequencies: users download them, Kohorte does not ship them.

Three layouts are known. `icd10` has one row per code of a disease, with a number of cases. `age-pyramid` and
`occupations` are tables of Eurostat as SDMX-CSV, the format of its download page: one row per combination, with the
columns `geo`, `sex`, `age`, `TIME_PERIOD` and `OBS_VALUE`, and for occupations `isco08`.

Source
    Eurostat, API for data access: SDMX-CSV 1.0, and the tables demo_pjan (population by age and sex) and lfsa_egais
    (employment by occupation). WHO, ICD-10, three-character categories.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import polars as pl

from kohorte.data import as_text, read_table
from kohorte.errors import InputError, nearest
from kohorte.exchange.statistics.entries import OLDEST, StatisticsTable
from kohorte.exchange.statistics.origin import Origin
from kohorte.exchange.statistics.reading import entries_of, refuse_identifiers

ICD = r"^[A-Za-z][0-9][0-9]"
TOTALS = ("TOTAL", "T")
SEXES = {"F": "female", "M": "male"}
YEARS = re.compile(r"Y([0-9]{1,3})")
SPANS = re.compile(r"Y([0-9]{1,3})-([0-9]{1,3})")
OPEN = re.compile(r"Y_GE([0-9]{1,3})")
STATUS, EMPLOYED = "wstatus", "EMP"
"""The table counts employed people by status; the other statuses are parts of them."""
NO_RESPONSE = "NRP"
OBSERVED = ("geo", "sex", "age", "TIME_PERIOD", "OBS_VALUE")


def read_official(path: str | Path, layout: str, origin: Origin) -> StatisticsTable:
    """Read a downloaded table of a known layout; its latest year is taken, and `date` of the origin stays as given."""
    kind, build = kind_of_layout(layout), LAYOUTS[layout][1]
    source = Path(path).name
    frame = read_table(path).frame
    frame = pl.DataFrame([as_text(column) for column in frame.get_columns()])
    made = build(frame, source)
    if not made.height:
        raise InputError(f"{source}: no row has the layout {layout}", code="exchange-statistics-layout")
    refuse_identifiers(made["value"], source)
    origin = replace(origin, kind=kind)
    return StatisticsTable(origin, tuple(entries_of(made, origin, source=source)))


def kind_of_layout(layout: str) -> str:
    """The kind of values that a table of a layout is about."""
    if layout not in LAYOUTS:
        raise InputError(
            f"unknown layout {layout!r}{nearest(layout, LAYOUTS)}; known are {', '.join(LAYOUTS)}",
            code="exchange-statistics-layout",
        )
    return LAYOUTS[layout][0]


def _icd10(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """Cases by code: codes are cut to three characters and their cases added; every other column stays."""
    _need(frame, ("icd10", "count"), source)
    codes = frame.filter(pl.col("icd10").str.contains(ICD)).with_columns(
        pl.col("icd10").str.slice(0, 3).str.to_uppercase().alias("value"), _whole("count", source)
    )
    by = [name for name in ("age", "sex", "country") if name in frame.columns]
    grouped = codes.group_by("value", *by, maintain_order=True).agg(pl.col("count").sum())
    return grouped.filter(pl.col("count") > 0).with_columns(pl.col("count").cast(pl.String))


def _age_pyramid(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """People by age: shares of all people of the country."""
    latest = _latest(frame, OBSERVED, source).with_columns(_whole("OBS_VALUE", source))
    total = latest.filter(pl.col("age").is_in(TOTALS), pl.col("sex").is_in(TOTALS)).select("geo", of="OBS_VALUE")
    ages = latest.filter(pl.col("sex").is_in(TOTALS)).with_columns(
        pl.col("age").map_elements(_age, return_dtype=pl.String).alias("value")
    )
    return _shares(ages.drop_nulls("value").join(total, on="geo"), "value", "geo")


def _occupations(frame: pl.DataFrame, source: str) -> pl.DataFrame:
    """Employed people by occupation (ISCO-08): shares of all employed people of the country, and by sex."""
    frame = frame.filter(pl.col(STATUS) == EMPLOYED) if STATUS in frame.columns else frame
    latest = _latest(frame, (*OBSERVED, "isco08"), source).with_columns(_whole("OBS_VALUE", source))
    widest = latest.filter(pl.col("age") == _widest(latest["age"]))
    total = widest.filter(pl.col("isco08").is_in(TOTALS)).select("geo", "sex", of="OBS_VALUE")
    rows = widest.filter(~pl.col("isco08").is_in((*TOTALS, NO_RESPONSE))).join(total, on=["geo", "sex"])
    rows = rows.with_columns(pl.col("isco08").str.strip_prefix("OC").alias("value"))
    return _shares(rows, "value", "geo", "sex")


def _shares(rows: pl.DataFrame, *names: str) -> pl.DataFrame:
    sex = [pl.col("sex").replace_strict(SEXES, default=None, return_dtype=pl.String)] if "sex" in names else []
    grouped = rows.group_by(*names, maintain_order=True).agg(count=pl.col("OBS_VALUE").sum(), of=pl.col("of").first())
    positive = grouped.filter((pl.col("count") > 0) & (pl.col("count") <= pl.col("of")))
    country = pl.col("geo").str.slice(0, 2).alias("country")
    return positive.select("value", pl.col("count").cast(pl.String), pl.col("of").cast(pl.String), country, *sex)


def _latest(frame: pl.DataFrame, needed: tuple[str, ...], source: str) -> pl.DataFrame:
    """The rows of the latest year that are about one country."""
    _need(frame, needed, source)
    countries = frame.filter(pl.col("geo").str.contains("^[A-Z]{2}$"), pl.col("OBS_VALUE").is_not_null())
    return countries.filter(pl.col("TIME_PERIOD") == pl.col("TIME_PERIOD").max().over("geo"))


def _widest(ages: pl.Series) -> str:
    """The span of ages that the table as a whole is about."""
    spans = {text: SPANS.fullmatch(text) for text in ages.unique().drop_nulls()}
    widths = {text: int(found[2]) - int(found[1]) for text, found in spans.items() if found is not None}
    totals = [text for text in spans if text in TOTALS]
    return totals[0] if totals else max(sorted(widths), key=lambda text: widths[text], default="TOTAL")


def _age(code: str) -> str | None:
    if found := YEARS.fullmatch(code):
        return found[1]
    return "0" if code == "Y_LT1" else f"100-{OLDEST}" if code == "Y_OPEN" else None


def _whole(column: str, source: str) -> pl.Expr:
    del source
    return pl.col(column).str.replace_all(",", "").cast(pl.Float64, strict=False).fill_null(0).alias(column)


def _need(frame: pl.DataFrame, names: tuple[str, ...], source: str) -> None:
    if missing := [name for name in names if name not in frame.columns]:
        raise InputError(
            f"{source}: the layout needs the columns {', '.join(names)}; {missing[0]!r} is missing",
            code="exchange-statistics-layout",
        )


Build = Callable[[pl.DataFrame, str], pl.DataFrame]
LAYOUTS: Mapping[str, tuple[str, Build]] = MappingProxyType(
    {"icd10": ("disease", _icd10), "age-pyramid": ("age", _age_pyramid), "occupations": ("occupation", _occupations)}
)
"""The kind of values of each layout, and how it is read."""
