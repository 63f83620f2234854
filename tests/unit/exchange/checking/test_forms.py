"""Which labels a policy allows for dates, dates of birth, ZIP codes and ages."""

from __future__ import annotations

import polars as pl
import pytest

from kohorte.exchange.checking.forms import allowed
from kohorte.exchange.policies import CheckPolicy
from kohorte.hierarchies import Dates, Hierarchy, Redaction, SafeHarbor
from kohorte.hierarchies.builder import Builder
from kohorte.identifiers import Form

DEFAULT, HIPAA = CheckPolicy.named("default"), CheckPolicy.named("hipaa-safe-harbor")


@pytest.mark.parametrize(
    ("policy", "form", "label", "expected"),
    [
        (DEFAULT, Form.ZIP, "101**", True),
        (DEFAULT, Form.ZIP, "1010*", False),
        (HIPAA, Form.ZIP, "101**", False),
        (DEFAULT, Form.DATE, "2024-05", True),
        (DEFAULT, Form.DATE, "2024-05-17", False),
        (HIPAA, Form.DATE, "2024-05", False),
        (HIPAA, Form.DATE, "2024", True),
        (HIPAA, Form.DATE, "May 2024", False),
        (HIPAA, Form.DATE, "Jänner 2024", False),
        (HIPAA, Form.DATE, "2024 or later", True),
        (DEFAULT, Form.DATE, "May 2024", True),
        (DEFAULT, Form.BIRTH, "März 1980", False),
        (DEFAULT, Form.BIRTH, "1980", True),
        (DEFAULT, Form.BIRTH, "1980-02", False),
        (DEFAULT, Form.BIRTH, "1930", True),
        (HIPAA, Form.BIRTH, "1930", False),
        (HIPAA, Form.BIRTH, "1980", True),
        (HIPAA, Form.BIRTH, "[1980, 1990)", True),
        (DEFAULT, Form.AGE, "89", True),
        (DEFAULT, Form.AGE, "90", False),
        (DEFAULT, Form.AGE, "90+", True),
        (DEFAULT, Form.AGE, "80-89", True),
        (DEFAULT, Form.AGE, "[80, 90)", True),
        (DEFAULT, Form.AGE, "90-94", False),
        (DEFAULT, Form.AGE, "old", False),
        (DEFAULT, Form.AGE, "*", True),
        (HIPAA, Form.BIRTH, "*", True),
    ],
)
def test_a_label_is_allowed_or_not(policy: CheckPolicy, form: Form, label: str, expected: bool) -> None:
    assert allowed(pl.Series("x", [label]), None, form, policy).to_list() == [expected]


def finest_level(hierarchy: Hierarchy, builder: Builder | None, form: Form, policy: CheckPolicy) -> int:
    """The lowest level of which all labels are allowed; the top if there is none."""
    levels = [pl.Series("x", sorted(set(labels)), dtype=pl.String) for labels in hierarchy.labels[: hierarchy.top]]
    fits = [bool(allowed(labels, builder, form, policy).all()) for labels in levels]
    return [*fits, True].index(True)


def test_the_finest_level_is_the_lowest_whose_labels_are_all_allowed() -> None:
    dates = Dates("%Y-%m-%d", levels=("month", "year", "decade"))
    hierarchy = dates.build(["1980-05-17", "1990-01-01"], attribute="day")
    assert finest_level(hierarchy, dates, Form.DATE, DEFAULT) == 1
    assert finest_level(hierarchy, dates, Form.BIRTH, DEFAULT) == 2
    codes = Redaction().build(["10101", "20202"], attribute="zip")
    assert finest_level(codes, None, Form.ZIP, DEFAULT) == 2
    assert finest_level(codes, None, Form.ZIP, HIPAA) == codes.top


def test_safe_harbor_allows_zip_codes_by_the_population_of_their_area_only() -> None:
    builder = SafeHarbor("zip")
    hierarchy = builder.build(["10101", "20202"], attribute="zip")
    assert finest_level(hierarchy, builder, Form.ZIP, HIPAA) == 1
    assert set(hierarchy.labels[1]) == {"000"}
