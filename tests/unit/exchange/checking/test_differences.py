"""Two answers whose difference would tell what nearly all people who look alike have in common.

Nearly all farmers below 40 get methadone, and few of the older ones. All farmers who get it, less those of 40 and more,
are the younger ones. How certain the attacker can be is computed here from the table and the rows that were shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from kohorte.data import Role
from kohorte.disclosures.exits.stored import from_bytes, to_bytes
from kohorte.disclosures.ledger import Ledger
from kohorte.errors import PrivacyViolation
from kohorte.exchange.checking.check import Check
from kohorte.exchange.holding import Holding
from kohorte.exchange.request import Request
from kohorte.plans.parts import Attribute
from testbed.hospital import holding, patients, request

Checked = Callable[..., Check]
METHADONE: dict[str, Any] = {"attribute": "drug", "is": "methadone"}
DIABETES: dict[str, Any] = {"attribute": "diagnosis", "is": "E11"}
OLDER: dict[str, Any] = {"attribute": "age", "at_least": 40}
EVERYBODY: dict[str, Any] = {"attribute": "age", "at_least": 20}
NAMES = ("sex", "occupation")
PAIRS = {
    "a condition about the drug": (request(METHADONE, NAMES), request({"all": [METHADONE, OLDER]}, NAMES)),
    "answers that show the drug": (request(EVERYBODY, (*NAMES, "drug")), request(OLDER, (*NAMES, "drug"))),
}


def young_farmers_get(drugs: list[str], *, older: list[str], people: int = 2000) -> pl.DataFrame:
    """One row per patient: farmers below 40 get these drugs by turns, farmers of 40 and more the others."""
    table = patients(people, people=people, treated=people * 3 // 10).unique("patient", maintain_order=True)
    farmer, young = pl.col("occupation") == "farmer", pl.col("age").cast(pl.Int64) < 40
    number = pl.col("patient").str.slice(1).cast(pl.Int64) // 2

    def turn(these: list[str]) -> pl.Expr:
        return number.map_elements(lambda one: these[one % len(these)], return_dtype=pl.String)

    own = pl.when(farmer & young).then(turn(drugs)).when(farmer).then(turn(older)).otherwise(pl.col("drug"))
    return table.with_columns(drug=own)


TABLE = young_farmers_get(["methadone"] * 40 + ["ibuprofen"], older=["methadone", *["ibuprofen"] * 3])


def answered(check: Checked, ledger: Ledger, asked: Request, table: pl.DataFrame) -> pl.DataFrame:
    found = check(asked, table, holding(most_removed=0.5))
    assert found.draft is not None
    ledger.record(found.draft.disclosure, k=5)
    return found.draft.found.table.in_memory("test")


def treated(shown: pl.DataFrame, *, sex: str) -> int:
    """How many farmers of one sex an answer says to get methadone."""
    who = (pl.col("occupation") == "farmer") & (pl.col("sex") == sex)
    return shown.filter(who & (pl.col("drug") == "methadone") if "drug" in shown.columns else who).height


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("swapped", [False, True])
def test_a_difference_does_not_tell_what_nearly_all_who_look_alike_get(
    check: Checked, ledger: Ledger, pair: str, swapped: bool
) -> None:
    everybody, older = PAIRS[pair]
    order = (older, everybody) if swapped else (everybody, older)
    first, second = (answered(check, ledger, asked, TABLE) for asked in order)
    assert first.height > 100
    assert second.height > 100  # others are answered
    alike = TABLE.filter((pl.col("occupation") == "farmer") & (pl.col("age").cast(pl.Int64) < 40))
    for sex in ("female", "male"):
        one, other = treated(first, sex=sex), treated(second, sex=sex)
        certain = abs(one - other) / alike.filter(pl.col("sex") == sex).height
        assert not one or not other or certain <= 0.9


@pytest.mark.parametrize("swapped", [False, True])
def test_a_difference_does_not_tell_which_diagnosis_nearly_all_who_are_left_have(
    check: Checked, ledger: Ledger, swapped: bool
) -> None:
    """Of the farmers who get methadone, the younger ones have E11, and two of five of the older ones."""
    half = young_farmers_get(["methadone", "ibuprofen"], older=["methadone", "ibuprofen"])
    farmer, young = pl.col("occupation") == "farmer", pl.col("age").cast(pl.Int64) < 40
    some = pl.col("patient").str.slice(1).cast(pl.Int64) // 4 % 5 < 2
    own = pl.when(farmer & (young | some)).then(pl.lit("E11")).otherwise(pl.col("diagnosis"))
    table = half.with_columns(diagnosis=own)
    asked = [request(condition, (*NAMES, "diagnosis")) for condition in (METHADONE, {"all": [METHADONE, OLDER]})]
    first, second = (answered(check, ledger, one, table) for one in (reversed(asked) if swapped else asked))
    assert first.height > 100
    assert second.height > 100
    for sex in ("female", "male"):
        farmers = [
            shown.filter((pl.col("occupation") == "farmer") & (pl.col("sex") == sex)) for shown in (first, second)
        ]
        assert farmers[0].height > 10
        assert not farmers[1].height


def of_farmers_who_get_methadone(who: pl.Expr) -> pl.DataFrame:
    """Some of the farmers who get methadone have E11, and a fifth of all others."""
    half = young_farmers_get(["methadone", "ibuprofen"], older=["methadone", "ibuprofen"], people=10_000)
    treated_farmer = (pl.col("occupation") == "farmer") & (pl.col("drug") == "methadone")
    return half.with_columns(diagnosis=pl.when(treated_farmer & who).then(pl.lit("E11")).otherwise(pl.col("diagnosis")))


@pytest.mark.parametrize("swapped", [False, True])
def test_a_second_sensitive_attribute_in_a_condition_tells_as_much_as_if_it_were_shown(
    check: Checked, ledger: Ledger, swapped: bool
) -> None:
    """All who get methadone, and those of them who have E11: no woman who farms is missing in the second answer."""
    table = of_farmers_who_get_methadone(pl.col("sex") == "female")
    asked = [request(condition, NAMES) for condition in (METHADONE, {"all": [METHADONE, DIABETES]})]
    shown = [answered(check, ledger, one, table) for one in (reversed(asked) if swapped else asked)]
    several, certain = shown if not swapped else reversed(shown)
    assert treated(several, sex="female") > 10
    assert not treated(certain, sex="female")
    assert treated(certain, sex="male") > 10


def test_what_a_condition_says_is_subtracted_from_what_was_shown(check: Checked, ledger: Ledger) -> None:
    """The diagnoses of all who get methadone, less the older ones who have E11: all younger farmers have it."""
    table = of_farmers_who_get_methadone(pl.col("age").cast(pl.Int64) < 40)
    first = answered(check, ledger, request(METHADONE, (*NAMES, "diagnosis")), table)
    older = answered(check, ledger, request({"all": [METHADONE, OLDER, DIABETES]}, NAMES), table)
    for sex in ("female", "male"):
        assert treated(first, sex=sex) > 10
        assert not treated(older, sex=sex)
    assert older.height > 50


EITHER: dict[str, Any] = {"any": [METHADONE, DIABETES]}
SPAN: dict[str, Any] = {"all": [{"attribute": "weight", "at_least": 70}, {"attribute": "weight", "at_most": 80}]}


def treated_or_diabetic(young: pl.Expr) -> pl.DataFrame:
    """Young farmers get methadone or have E11, by turns, and weigh 70 to 80 kg; so do less than half of all others."""
    table = young_farmers_get(["methadone", "ibuprofen"], older=["methadone", *["ibuprofen"] * 4], people=10_000)
    number = pl.col("patient").str.slice(1).cast(pl.Int64)
    diabetic = pl.when(pl.col("drug") == "methadone").then(pl.lit("I10")).otherwise(pl.lit("E11"))
    weight = pl.when(young).then(70 + number % 11).otherwise(55 + number % 37)
    own = pl.when(young).then(diabetic).otherwise(pl.col("diagnosis"))
    return table.with_columns(diagnosis=own, weight=weight.cast(pl.String))


@pytest.mark.parametrize("condition", [EITHER, SPAN])
@pytest.mark.parametrize("swapped", [False, True])
def test_a_difference_does_not_tell_that_nearly_all_who_are_left_satisfy_the_whole_condition(
    check: Checked, ledger: Ledger, condition: dict[str, Any], swapped: bool
) -> None:
    """No single comparison holds for most of the younger farmers."""
    young = (pl.col("occupation") == "farmer") & (pl.col("age").cast(pl.Int64) < 40)
    table, house = treated_or_diabetic(young), with_sensitive("weight", "kg")
    shown = []
    for asked in (condition, {"all": [condition, OLDER]})[:: -1 if swapped else 1]:
        found = check(request(asked, NAMES), table, house)
        assert found.draft is not None
        ledger.record(found.draft.disclosure, k=5)
        shown.append(found.draft.found.table.in_memory("test").filter(pl.col("occupation") == "farmer").height)
    assert shown[0] > 100
    assert shown[1] == 0


def with_sensitive(name: str, contents: str) -> Holding:
    house = holding(most_removed=0.5, gaps="ignore")
    attributes = {**house.plan.attributes, name: Attribute(Role.SENSITIVE)}
    return replace(house, plan=replace(house.plan, attributes=attributes), contents={name: contents})


@pytest.mark.parametrize("swapped", [False, True])
def test_another_column_with_the_same_meaning_is_no_way_around(check: Checked, ledger: Ledger, swapped: bool) -> None:
    """All who get methadone, and those of 40 and more who get N07BC02."""
    code = pl.when(pl.col("drug") == "methadone").then(pl.lit("N07BC02")).otherwise(pl.lit("M01AE01"))
    table, house = TABLE.with_columns(code=code), with_sensitive("code", "atc")
    shown = []
    for asked in (METHADONE, {"all": [{"attribute": "code", "is": "N07BC02"}, OLDER]})[:: -1 if swapped else 1]:
        found = check(request(asked, NAMES), table, house)
        assert found.draft is not None
        ledger.record(found.draft.disclosure, k=5)
        shown.append(found.draft.found.table.in_memory("test"))
    assert treated(shown[0], sex="female") > 10
    assert treated(shown[1], sex="female") == 0
    assert shown[1].height > 100


def test_two_sensitive_attributes_of_which_neither_follows_from_the_other_are_answered(
    check: Checked, ledger: Ledger
) -> None:
    asked = [request(condition, NAMES) for condition in (METHADONE, {"all": [METHADONE, DIABETES]})]
    table = of_farmers_who_get_methadone(pl.lit(value=False))
    shown = [answered(check, ledger, one, table) for one in asked]
    assert all(treated(one, sex=sex) > 5 for one in shown for sex in ("female", "male"))


def test_differences_of_groups_that_have_little_in_common_are_answered(check: Checked, ledger: Ledger) -> None:
    mixed = young_farmers_get(["methadone", "ibuprofen"], older=["methadone", *["ibuprofen"] * 3])
    everybody, older = PAIRS["a condition about the drug"]
    shown = [answered(check, ledger, asked, mixed) for asked in (everybody, older)]
    assert all(treated(one, sex=sex) > 10 for one in shown for sex in ("female", "male"))


def test_an_answer_that_left_after_the_check_counts(check: Checked, ledger: Ledger) -> None:
    """Two requests are checked, then both are answered: the second draft is as it lay in the folder of the house."""
    everybody, older = (check(asked, TABLE).draft for asked in PAIRS["a condition about the drug"])
    assert everybody is not None
    assert older is not None
    ledger.record(everybody.disclosure, k=5)
    with pytest.raises(PrivacyViolation) as refused:
        ledger.record(from_bytes(to_bytes(older.disclosure)), k=5)
    assert refused.value.code == "disclosure-refused"
    assert "look alike" in str(refused.value)
    assert len(ledger.releases()) == 1


def test_how_people_look_takes_little_room_in_a_stored_draft(check: Checked) -> None:
    """What several comparisons have in common is stored once."""
    table = of_farmers_who_get_methadone(pl.lit(value=False))
    draft = check(request({"all": [METHADONE, DIABETES]}, NAMES), table).draft
    assert draft is not None
    assert len(draft.disclosure.alike) == 3
    stored = from_bytes(to_bytes(draft.disclosure))
    for one, other in zip(stored.alike, draft.disclosure.alike, strict=True):
        assert (one.about, one.most, one.ordinary) == (other.about, other.most, other.ordinary)
        assert one.own.tolist() == other.own.tolist()
        rows = [sorted(zip(*map(list, (of.people, of.looks, *of.facts)), strict=True)) for of in (one, other)]
        assert rows[0] == rows[1]
    assert len(to_bytes(draft.disclosure)) < 1.7 * len(
        to_bytes(replace(draft.disclosure, alike=draft.disclosure.alike[:1]))
    )


def test_who_gets_hardly_any_of_the_usual_drugs_gets_one_of_the_others(check: Checked) -> None:
    usual: dict[str, Any] = {"attribute": "drug", "in": ["ibuprofen", "metformin"]}
    substitutes = ["methadone", "buprenorphine"] * 15 + ["ibuprofen", "metformin"]
    for condition in (usual, {"not": usual}):
        found = check(request(condition, NAMES), young_farmers_get(substitutes, older=substitutes))
        assert found.draft is not None
        shown = found.draft.found.table.in_memory("test")
        assert shown.height > 100
        assert "farmer" not in shown["occupation"]
