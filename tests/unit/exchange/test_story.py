"""A story: under a pretext, somebody asks for the patients of a rare drug to learn about his neighbour.

The story is that of the requirements of a checking component for a network of hospitals. The neighbour is one of the
people who get methadone. What the attacker could derive is computed here in plain Python: which sets of people were
told, and whom they separate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.exchange.checking.check import Check
from kohorte.exchange.checking.drafting import Draft
from kohorte.exchange.holding import Holding
from testbed.hospital import holding, patients, request

Checked = Callable[..., Check]
METHADONE: dict[str, Any] = {"attribute": "drug", "is": "methadone"}
FEW, MANY, PEOPLE = 4, 400, 1500
NEIGHBOUR = "P0000000"


def told(draft: Draft) -> dict[int, set[int]]:
    """The people of each class of an answer."""
    classes: dict[int, set[int]] = {}
    for person, shown in zip(draft.disclosure.people.tolist(), draft.disclosure.classes.tolist(), strict=True):
        classes.setdefault(shown, set()).add(person)
    return classes


def smallest_derivable(drafts: Iterable[Draft], everybody: Iterable[int]) -> int:
    """The smallest group of people that the sets of all answers tell apart, by any combination of them."""
    answers = [told(draft) for draft in drafts]
    of_person = {
        person: tuple(frozenset(name for name, members in answer.items() if person in members) for answer in answers)
        for person in everybody
    }
    return min(Counter(of_person.values()).values())


def neighbour(table: pl.DataFrame) -> dict[str, Any]:
    """What the attacker knows about his neighbour."""
    row = table.filter(pl.col("patient") == NEIGHBOUR).row(0, named=True)
    return {"all": [{"attribute": name, "is": row[name]} for name in ("age", "sex", "occupation", "zip")]}


def all_but_the_neighbour(table: pl.DataFrame) -> dict[str, Any]:
    return {"all": [METHADONE, {"not": neighbour(table)}]}


def all_but_a_few(table: pl.DataFrame) -> dict[str, Any]:
    """All but people of one age and occupation: enough patients, of whom one to four get the drug."""
    people = table.unique("patient").with_columns(treated=pl.col("drug") == "methadone")
    cells = people.group_by("age", "occupation").agg(pl.len(), pl.col("treated").sum())
    cell = cells.filter((pl.col("len") >= 5) & pl.col("treated").is_between(1, 4)).sort("age", "occupation").row(0)
    known = [{"attribute": "age", "is": cell[0]}, {"attribute": "occupation", "is": cell[1]}]
    return {"all": [METHADONE, {"not": {"all": known}}]}


@pytest.mark.parametrize("treated", [0, FEW, 60])
def test_few_patients_of_a_rare_drug_are_not_released(check: Checked, treated: int) -> None:
    found = check(request(), patients(2000, people=PEOPLE, treated=treated))
    assert found.record.recommendation == "do not release"
    assert found.draft is None


def test_asking_for_the_neighbour_himself_is_not_answered(check: Checked) -> None:
    table = patients(2000, people=PEOPLE, treated=MANY)
    found = check(request({"all": [METHADONE, neighbour(table)]}), table)
    assert found.record.recommendation == "do not release"


@pytest.mark.parametrize("drug", ["methadone", "ibuprofen"])
def test_asking_for_all_but_the_neighbour_is_not_answered_whether_he_is_treated_or_not(
    check: Checked, drug: str
) -> None:
    table = patients(2000, people=PEOPLE, treated=MANY)
    his = pl.col("patient") == NEIGHBOUR
    table = table.with_columns(drug=pl.when(his).then(pl.lit(drug)).otherwise(pl.col("drug")))
    found = check(request(all_but_the_neighbour(table)), table)
    assert found.record.recommendation == "do not release"
    assert found.record["draft"]["reason"].startswith("what the condition says about known attributes")


def test_if_everybody_who_looks_alike_is_treated_they_are_not_in_the_answer(check: Checked) -> None:
    table = patients(2000, people=PEOPLE, treated=MANY)
    old = (pl.col("occupation") == "farmer") & (pl.col("age").cast(pl.Int64) >= 60) & (pl.col("sex") == "male")
    table = table.with_columns(drug=pl.when(old).then(pl.lit("methadone")).otherwise(pl.col("drug")))
    found = check(request(), table)
    assert found.draft is not None
    assert not found.draft.rows.frame.select(old.any()).item()
    assert found.draft.rows.frame.select((pl.col("occupation") == "farmer").any()).item()


def test_many_patients_are_released_so_that_nobody_stands_out(check: Checked) -> None:
    found = check(request(), patients(2000, people=PEOPLE, treated=MANY))
    assert found.draft is not None
    assert found.record.recommendation == "release with changes"
    assert min(len(members) for members in told(found.draft).values()) >= 5


def second_answer(
    check: Checked, ledger: Ledger, *, institution: str, table: pl.DataFrame, later: pl.DataFrame, house: Holding
) -> tuple[Draft, Draft | None]:
    """The answer to a request for all, then the one to a request for all but a few, or of a later table."""
    first = check(request(), table, house)
    assert first.draft is not None
    ledger.record(first.draft.disclosure, k=house.policy.k, together=house.policy.together)
    condition = METHADONE if later is not table else all_but_a_few(table)
    second = check(request(condition, institution=institution), later, house)
    return first.draft, second.draft


CASES = {
    "asked twice with slightly different conditions": ("Institute A", False),
    "through a second institution": ("Institute C", False),
    "by a growing table": ("Institute A", True),
}


@pytest.mark.parametrize("case", CASES)
def test_comparing_two_answers_singles_out_nobody(check: Checked, ledger: Ledger, case: str) -> None:
    institution, grows = CASES[case]
    table = patients(2000, people=PEOPLE, treated=MANY)
    later = table if not grows else _grown(table)
    first, second = second_answer(
        check, ledger, institution=institution, table=table, later=later, house=holding(most_removed=0.5)
    )
    everybody = set(ledger.fingerprints(later["patient"]).tolist())
    assert second is not None
    assert smallest_derivable([first, second], everybody) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_without_the_memory_the_same_comparison_singles_somebody_out(check: Checked, ledger: Ledger, case: str) -> None:
    """The attack is real: if the first answer is not remembered, the two answers differ in one person."""
    _, grows = CASES[case]
    table = patients(2000, people=PEOPLE, treated=MANY)
    later = table if not grows else _grown(table)
    first = check(request(), table)
    second = check(request(METHADONE if grows else all_but_a_few(table)), later)
    assert first.draft is not None
    assert second.draft is not None
    everybody = set(ledger.fingerprints(later["patient"]).tolist())
    assert smallest_derivable([first.draft, second.draft], everybody) < 5


@pytest.mark.parametrize("remembers", [True, False])
def test_asking_for_other_columns_of_the_same_people_singles_out_nobody_unless_nothing_is_remembered(
    check: Checked, ledger: Ledger, remembers: bool
) -> None:
    table = patients(2000, people=PEOPLE, treated=MANY)
    drafts = []
    for columns in (("age", "sex", "diagnosis"), ("occupation", "diagnosis"), ("age", "occupation", "diagnosis")):
        found = check(request(METHADONE, columns), table, holding(most_removed=0.6))
        if found.draft is not None:
            drafts.append(found.draft)
            if remembers:
                ledger.record(found.draft.disclosure, k=5)
    assert len(drafts) >= (1 if remembers else 2)
    everybody = set(ledger.fingerprints(table["patient"]).tolist())
    assert (smallest_derivable(drafts, everybody) >= 5) is remembers


def _grown(table: pl.DataFrame) -> pl.DataFrame:
    """The table of later: one more patient gets the drug."""
    new = table.filter(pl.col("patient") == "P0000007").head(1).with_columns(patient=pl.lit("P9999999"))
    return pl.concat([table, new])


def test_what_the_memory_finds_is_told_to_the_house_only(check: Checked, ledger: Ledger) -> None:
    table = patients(2000, people=PEOPLE, treated=MANY)
    first = check(request(), table)
    assert first.draft is not None
    ledger.record(first.draft.disclosure)
    second = check(request(all_but_a_few(table)), table)
    assert second.record["memory"]["findings"]
    assert any("earlier answers" in reason for reason in second.record["recommendation"]["reasons"])


def test_who_withdrew_is_in_no_later_answer(check: Checked, ledger: Ledger) -> None:
    table = patients(2000, people=PEOPLE, treated=MANY)
    gone = [f"P{number:07}" for number in range(10, 20)]
    ledger.withdraw(gone)
    found = check(request(), table)
    assert found.draft is not None
    left = set(ledger.fingerprints(gone).tolist())
    assert not left & set(found.draft.disclosure.people.tolist())
