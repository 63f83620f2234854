"""Random small tables for hypothesis."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kohorte import models
from kohorte.models import PrivacyModel
from kohorte.sources import Missing
from support.tables import POPULATION, SUBSET, Levels, Secret, SmallTable

WEIGHTS = st.sampled_from([1.0, 0.5, 0.3, 2.0, 0.0])


@st.composite
def levels(draw: st.DrawFn, *, most_values: int = 5, most_levels: int = 4) -> Levels:
    """Monotone levels over 2 or more values; a level may merge much, little or nothing."""
    count = draw(st.integers(2, most_values))
    columns = [tuple("abcdefgh"[:count])]
    groups = list(range(count))
    for level in range(1, draw(st.integers(1, most_levels - 1))):
        merged = draw(st.lists(st.integers(0, 2), min_size=max(groups) + 1, max_size=max(groups) + 1))
        groups = [merged[group] for group in groups]
        columns.append(tuple(f"{level}-{group}" for group in groups))
    return (*columns, ("*",) * count)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    most_rows: int = 12,
    most_attributes: int = 3,
    missing: tuple[Missing, ...] = (Missing.CATEGORY, Missing.SUPPRESS),
    weighted: bool = True,
    few_levels: bool = False,
) -> SmallTable:
    """Tables of a few rows, with missing values in some."""
    own_levels = levels(most_levels=3) if few_levels else levels()
    domains = draw(st.lists(own_levels, min_size=1, max_size=most_attributes))
    may_miss = missing and draw(st.booleans())
    values = [st.sampled_from((*own[0], None) if may_miss else own[0]) for own in domains]
    rows = draw(st.lists(st.tuples(*values), min_size=1, max_size=most_rows))
    weights = draw(st.tuples(*[WEIGHTS] * len(domains))) if weighted and draw(st.booleans()) else ()
    return SmallTable(
        levels=tuple(domains),
        rows=tuple(rows),
        missing=draw(st.sampled_from(missing)) if may_miss else Missing.CATEGORY,
        weights=weights if sum(weights) > 0 else (),
    )


@st.composite
def limits(draw: st.DrawFn, table: SmallTable) -> int:
    """How many rows may be suppressed: none, some or all."""
    return draw(st.one_of(st.just(0), st.integers(0, len(table.rows))))


@st.composite
def questions(draw: st.DrawFn, **options: int) -> tuple[SmallTable, int, int]:
    """A table, k and the most rows that may be suppressed."""
    table = draw(tables(**options))
    return table, draw(st.integers(1, 4)), draw(limits(table))


# Tables with sensitive attributes and a population

DIAGNOSIS, INCOME, STAGE = "diagnosis", "income", "stage"
"""A sensitive attribute with a hierarchy and missing values, one of numbers, and one with a given order."""


@st.composite
def secret(draw: st.DrawFn, name: str, rows: int) -> Secret:
    """The values of a sensitive attribute; often a few frequent ones."""
    if name == INCOME:
        order = ("9", "10", "11", "100")
    elif name == STAGE:
        order = ("III", "I", "IV", "II")
    else:
        own = draw(levels(most_values=4))
        may_miss = draw(st.booleans())
        values = draw(st.lists(st.sampled_from((*own[0], None) if may_miss else own[0]), min_size=rows, max_size=rows))
        return Secret(tuple(values), levels=own)
    values = draw(st.lists(st.sampled_from(order), min_size=rows, max_size=rows))
    return Secret(tuple(values), order=order)


@st.composite
def guarded_tables(
    draw: st.DrawFn,
    *asking: PrivacyModel,
    most_rows: int = 14,
    most_attributes: int = 2,
    missing: tuple[Missing, ...] = (Missing.CATEGORY, Missing.SUPPRESS),
) -> SmallTable:
    """Tables with the sensitive attributes and the population that models ask for."""
    table = draw(
        tables(most_rows=most_rows, most_attributes=most_attributes, missing=missing, weighted=False, few_levels=True)
    )
    names = dict.fromkeys(name for model in asking for name in model.sensitive)
    others = None
    if any(model.population_source for model in asking):
        values = [st.sampled_from((*own[0], None) if missing else own[0]) for own in table.levels]
        others = tuple(draw(st.lists(st.tuples(*values), max_size=12)))
    return replace(table, secrets=tuple((name, draw(secret(name, len(table.rows)))) for name in names), others=others)


# Models with random parameters


def _sensitive(model: type[PrivacyModel], attribute: str = DIAGNOSIS, **parameters: object) -> st.SearchStrategy:
    return st.builds(model, attribute=st.just(attribute), **parameters)


def _with_population(model: type[PrivacyModel], **parameters: object) -> st.SearchStrategy:
    sources = st.sampled_from([{"subset": SUBSET}, {"population": POPULATION}])
    return st.builds(lambda source, given: model(**source, **given), sources, st.fixed_dictionaries(parameters))


def _decimals(least: int, most: int, scale: int) -> st.SearchStrategy[float]:
    """Numbers of one or two digits behind the point, as people write them."""
    return st.integers(least, most).map(lambda number: number / scale)


_T = _decimals(0, 12, 20)
_BOUNDS = st.tuples(_decimals(0, 10, 10), _decimals(0, 10, 10)).map(sorted)

RANDOM_MODELS: dict[type[PrivacyModel], st.SearchStrategy[PrivacyModel]] = {
    models.KAnonymity: st.builds(models.KAnonymity, k=st.integers(1, 5)),
    models.DistinctLDiversity: _sensitive(models.DistinctLDiversity, l=st.integers(1, 4)),
    models.EntropyLDiversity: _sensitive(models.EntropyLDiversity, l=_decimals(11, 35, 10)),
    models.RecursiveLDiversity: _sensitive(models.RecursiveLDiversity, c=_decimals(5, 40, 10), l=st.integers(1, 3)),
    models.EqualTCloseness: _sensitive(models.EqualTCloseness, t=_T),
    models.OrderedTCloseness: st.sampled_from([INCOME, STAGE]).flatmap(
        lambda name: _sensitive(models.OrderedTCloseness, name, t=_T)
    ),
    models.HierarchicalTCloseness: _sensitive(models.HierarchicalTCloseness, t=_T),
    models.DeltaPresence: st.builds(
        lambda bounds, source, empty: models.DeltaPresence(*bounds, empty_classes=empty, **source),
        _BOUNDS,
        st.sampled_from([{"subset": SUBSET}, {"population": POPULATION}]),
        st.sampled_from(["strict", "ignore"]),
    ),
    models.KMap: _with_population(models.KMap, k=st.integers(1, 6)),
    models.AlphaKAnonymity: _sensitive(models.AlphaKAnonymity, alpha=_decimals(5, 20, 20), k=st.integers(1, 4)),
    models.DeltaDisclosure: _sensitive(models.DeltaDisclosure, delta=_decimals(1, 12, 4)),
    models.BasicBetaLikeness: _sensitive(models.BasicBetaLikeness, beta=_decimals(1, 40, 20)),
    models.EnhancedBetaLikeness: _sensitive(models.EnhancedBetaLikeness, beta=_decimals(1, 40, 20)),
    models.NTCloseness: _sensitive(models.NTCloseness, n=st.integers(1, 10), t=_T),
    models.AverageRisk: st.builds(models.AverageRisk, threshold=_decimals(2, 20, 20)),
    models.SafeHarborRule: st.just(models.SafeHarborRule()),
}
