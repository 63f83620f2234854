"""The steps of a check: verdicts, figures counted in people, the draft, and the chained record."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from kohorte.disclosures.ledger import Ledger
from kohorte.errors import InputError
from kohorte.exchange.checking.check import Check, check_request
from kohorte.exchange.checking.local_look import local_look, people_risk
from kohorte.exchange.checking.shown_labels import numbered_classes
from kohorte.exchange.checking.steps import NAMES, CheckRecord
from kohorte.exchange.holding import Holding
from kohorte.exchange.statistics import Entry, Origin, Statistics, StatisticsTable, shipped_statistics
from kohorte.plans import Plan
from kohorte.release import Candidate, find_candidate, write_release
from testbed.hospital import PLAN, holding, patients, request

Checked = Callable[..., Check]
IBUPROFEN: dict[str, Any] = {"attribute": "drug", "is": "ibuprofen"}
TABLE = patients(900, people=700, treated=350)
TODAY = date(2026, 11, 17)


def with_columns(**roles: str) -> Holding:
    """The hospital with more columns, which have no statistics."""
    attributes = {**PLAN["attributes"], **{name: {"role": role} for name, role in roles.items()}}
    return replace(holding(), plan=Plan.from_dict({**PLAN, "attributes": attributes}))


def verdicts(found: Check) -> dict[str, dict[str, Any]]:
    return {one["attribute"]: one for one in found.record["verdicts"]["verdicts"]}


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("telephone", ["1"] * 900, "class 4"),
        ("remark", ["none"] * 500 + ["ask a@b.example"] + ["none"] * 399, "class 6"),
        ("code", [f"{number * 7919 % 100_000:05}" for number in range(900)], "class 18"),
        ("mrn", ["7"] * 900, "class 8"),
    ],
)
def test_what_can_identify_by_name_or_content_is_dropped_whatever_its_role(
    check: Checked, name: str, values: list[str], why: str
) -> None:
    table = TABLE.with_columns(pl.Series(name, values))
    found = check(request(IBUPROFEN, ("age", "sex", name)), table, with_columns(**{name: "insensitive"}))
    assert verdicts(found)[name]["treatment"] == "drop"
    assert why in verdicts(found)[name]["reasons"][0]
    assert found.draft is not None
    assert name not in found.draft.found.table.columns


def test_columns_of_the_person_and_other_identifying_columns_are_dropped(check: Checked) -> None:
    found = check(request(IBUPROFEN, ("age", "sex", "name", "patient")), TABLE)
    assert {name: one["treatment"] for name, one in verdicts(found).items() if one["treatment"] == "drop"} == {
        "name": "drop",
        "patient": "drop",
    }
    assert found.draft is not None
    assert set(found.draft.found.table.columns) <= {"age", "sex"}


def test_a_zip_code_is_shown_with_three_digits_at_most(check: Checked) -> None:
    found = check(request(IBUPROFEN, ("sex", "zip")), TABLE)
    assert found.draft is not None
    assert verdicts(found)["zip"]["level"] >= 2
    shown = found.draft.found.table.in_memory("test")["zip"].unique()
    assert all(len(text.rstrip("*")) <= 3 for text in shown)


def test_a_sensitive_date_that_shows_the_day_is_dropped(check: Checked) -> None:
    days = [f"2024-05-{1 + number % 28:02}" for number in range(900)]
    table = TABLE.with_columns(pl.Series("treatment_date", days))
    found = check(request(IBUPROFEN, ("age", "sex", "treatment_date")), table, with_columns(treatment_date="sensitive"))
    assert verdicts(found)["treatment_date"]["treatment"] == "drop"
    assert "date" in verdicts(found)["treatment_date"]["reasons"][0]


def test_ages_over_89_are_not_told_apart(check: Checked) -> None:
    ages = [str(90 + number % 5) if number % 4 == 0 else "50" for number in range(900)]
    table = TABLE.with_columns(pl.Series("age", ages), pl.Series("patient", numbers(900)))
    found = check(request(IBUPROFEN, ("age", "sex")), table, holding(rare_value=1e-9, rare_combination=2))
    assert found.draft is not None
    shown = found.draft.found.table.in_memory("test")["age"].unique()
    assert not set(shown) & {str(age) for age in range(90, 95)}
    assert "the policy allows no finer age" in verdicts(found)["age"]["reasons"]


def test_a_value_that_is_rare_in_the_world_is_left_out_although_it_is_frequent_here(check: Checked) -> None:
    work = ["pilot" if number % 9 == 0 else "teacher" for number in range(900)]
    table = TABLE.with_columns(pl.Series("occupation", work), pl.Series("patient", numbers(900)))
    found = check(request(IBUPROFEN, ("sex", "occupation")), table, holding(rare_value=0.001))
    assert found.draft is not None
    assert "pilot" not in found.draft.rows.frame["occupation"].to_list()
    assert verdicts(found)["occupation"]["treatment"] == "suppress values"


def test_a_combination_that_few_people_of_the_area_have_is_not_shown(check: Checked) -> None:
    small = replace(holding(rare_combination=50), population=2_000)
    found = check(request(IBUPROFEN, ("sex", "occupation")), TABLE, small)
    if found.draft is not None:
        assert found.draft.fewest_expected is not None
        assert found.draft.fewest_expected >= 50
        shown = set(found.draft.found.table.in_memory("test")["occupation"])
        assert not shown & {"farmer", "nurse", "teacher", "student"}


def test_what_the_statistics_do_not_know_counts_as_rare(check: Checked) -> None:
    work = ["librarian" if number % 9 == 0 else "teacher" for number in range(900)]
    table = TABLE.with_columns(pl.Series("occupation", work), pl.Series("patient", numbers(900)))
    strict = check(request(IBUPROFEN, ("sex", "occupation")), table)
    open_ = check(request(IBUPROFEN, ("sex", "occupation")), table, holding(gaps="ignore"))
    assert strict.draft is not None
    assert open_.draft is not None
    assert "librarian" not in strict.draft.rows.frame["occupation"].to_list()
    assert "librarian" in open_.draft.rows.frame["occupation"].to_list()


def test_a_sensitive_value_that_nearly_everybody_has_is_not_told(check: Checked) -> None:
    table = TABLE.with_columns(diagnosis=pl.lit("I10"))
    found = check(request(IBUPROFEN, ("age", "sex", "diagnosis")), table)
    assert verdicts(found)["diagnosis"]["treatment"] == "drop"
    assert "unequal weight" in verdicts(found)["diagnosis"]["reasons"][0]


def test_an_attribute_that_the_condition_fixes_is_not_sent(check: Checked) -> None:
    found = check(request(IBUPROFEN, ("age", "sex", "drug")), TABLE)
    assert verdicts(found)["drug"]["reasons"] == ["the condition tells it already"]


def test_a_condition_on_an_identifying_column_is_never_answered(check: Checked) -> None:
    found = check(request({"attribute": "name", "starts_with": "Patient"}), TABLE)
    assert found.record.recommendation == "do not release"


def test_the_rarer_the_condition_the_larger_the_base_set_must_be(check: Checked) -> None:
    common = check(request(IBUPROFEN), TABLE)
    rare = check(request(), TABLE)
    unknown = check(request({"attribute": "drug", "is": "drug X"}), TABLE)
    needed = [one.record["global look-up"]["needed_people"] for one in (common, rare, unknown)]
    assert needed == [30, 100, 300]


def test_the_draft_is_what_the_ledger_will_remember_row_by_row(check: Checked, tmp_path: Path) -> None:
    """The classes that are remembered are those of the written file, counted here from its text."""
    found = check(request(IBUPROFEN), TABLE)
    assert found.draft is not None
    write_release(found.draft.found, tmp_path / "draft.csv")
    written = pl.read_csv(tmp_path / "draft.csv", infer_schema=False)
    of_file = written.group_by("age", "sex", "occupation").len()["len"].sort().to_list()
    of_ledger = sorted(np.bincount(found.draft.disclosure.classes).tolist())
    assert of_file == of_ledger
    people = defaultdict(set)
    for person, shown in zip(found.draft.disclosure.people, found.draft.disclosure.classes, strict=True):
        people[int(shown)].add(int(person))
    assert min(map(len, people.values())) >= 5
    assert "*" not in written["sex"].to_list()


def test_an_answer_never_says_how_many_rows_were_left_out(check: Checked, tmp_path: Path) -> None:
    found = check(request(IBUPROFEN, ("age", "sex", "zip", "occupation")), TABLE)
    assert found.draft is not None
    write_release(found.draft.found, tmp_path / "draft.csv")
    certificate = json.loads((tmp_path / "draft.certificate.json").read_text())
    assert certificate["verification"]["suppressed"] == 0
    assert certificate["verification"]["rows"] == pl.read_csv(tmp_path / "draft.csv").height


def test_figures_of_the_base_set_are_counted_in_people() -> None:
    chance = np.random.default_rng(5)
    people = chance.integers(0, 60, 200)
    values = np.array(["a", "b", "c", "rare", ""])[np.minimum(chance.integers(0, 40, 200) // 10, 4)]
    frame = pl.DataFrame({"x": [value or None for value in values], "y": (people % 7).astype(str)})
    found = local_look(frame, ("x", "y"), people, k=30)
    with_value = defaultdict(set)
    combined = defaultdict(set)
    for person, x, y in zip(people.tolist(), frame["x"], frame["y"], strict=True):
        combined[x, y].add(person)
        if x is not None:
            with_value[x].add(person)
    assert found.people == len(set(people.tolist()))
    assert found.attributes["x"].values == len(with_value)
    small = [members for members in with_value.values() if len(members) < 30]
    assert found.attributes["x"].outstanding_people == len(set().union(*small))
    assert found.attributes["x"].largest_share == max(map(len, with_value.values())) / found.people
    alone = [members for members in combined.values() if len(members) == 1]
    assert found.unique_people == len(set().union(*alone))
    classes = numbered_classes(frame)
    sizes = {key: len(members) for key, members in combined.items()}
    keys = list(zip(frame["x"], frame["y"], strict=True))
    risks = defaultdict(float)
    for person, key in zip(people.tolist(), keys, strict=True):
        risks[person] = max(risks[person], 1 / sizes[key])
    profile = people_risk(classes, people)
    assert profile.highest == max(risks.values())
    assert profile.average == pytest.approx(sum(risks.values()) / len(risks))
    assert profile.people_at_highest == sum(value == max(risks.values()) for value in risks.values())


def test_missing_or_stale_statistics_are_refused(ledger: Ledger) -> None:
    old = Statistics(
        [replace(table, origin=replace(table.origin, date="2001-01-01")) for table in shipped_statistics().tables]
    )
    few = Statistics([one for one in shipped_statistics().tables if one.origin.kind != "medication"])
    for statistics, code in ((old, "exchange-statistics-stale"), (few, "exchange-statistics-missing")):
        with pytest.raises(InputError) as caught:
            check_request(request(), TABLE, holding(), statistics, ledger, today=TODAY)
        assert caught.value.code == code


def test_statistics_of_kinds_that_the_request_does_not_need_may_be_old(ledger: Ledger) -> None:
    origin = Origin("marks", "visible-mark", "made up", "CC0", "1990-01-01", "people")
    tables = [*shipped_statistics().tables, StatisticsTable(origin, [Entry("scar", 0.1)])]
    found = check_request(request(IBUPROFEN), TABLE, holding(), Statistics(tables), ledger, today=TODAY)
    assert found.draft is not None


@pytest.mark.parametrize("day", [date(2027, 1, 1), date(2020, 1, 1)])
def test_an_expired_request_and_one_that_is_valid_too_long_are_refused(ledger: Ledger, day: date) -> None:
    with pytest.raises(InputError) as caught:
        check_request(request(), TABLE, holding(), shipped_statistics(), ledger, today=day)
    assert caught.value.code == "exchange-request-expired"


def test_a_column_that_the_table_or_the_plan_does_not_have_is_refused(check: Checked) -> None:
    for asked in (request(IBUPROFEN, ("age", "colour")), request({"attribute": "colour", "is": "red"})):
        with pytest.raises(InputError) as caught:
            check(asked, TABLE)
        assert caught.value.code == "exchange-request-column"


def test_a_record_is_chained_and_any_change_is_noticed(check: Checked) -> None:
    record = check(request(IBUPROFEN), TABLE).record
    text = record.to_json()
    assert CheckRecord.from_json(text, source="check.json") == record
    assert [step.previous for step in record.steps[1:]] == [step.sha256 for step in record.steps[:-1]]
    for name in NAMES:
        data = json.loads(text)
        data["steps"][NAMES.index(name)]["content"]["more"] = 1
        with pytest.raises(InputError) as caught:
            CheckRecord.from_json(json.dumps(data), source="check.json")
        assert caught.value.code == "exchange-check-changed"
    for wrong in ("[]", "{", json.dumps({"steps": json.loads(text)["steps"][1:]})):
        with pytest.raises(InputError):
            CheckRecord.from_json(wrong, source="check.json")


def test_no_record_contains_a_value_of_the_table_but_those_of_the_request(check: Checked) -> None:
    table = TABLE.with_columns(occupation=pl.lit("CANARY WORK"), diagnosis=pl.lit("CANARY DISEASE"))
    text = check(request(IBUPROFEN), table).record.to_json()
    assert "CANARY" not in text.upper().replace("CANARY_", "")
    assert "P0000" not in text


@pytest.mark.parametrize(
    "change",
    [
        {"person": None}, {"person": "none"}, {"person": {"column": "patient", "attacker_knows": "all_rows"}},
    ],
    ids=str,
)  # fmt: skip
def test_a_plan_that_does_not_recognise_people_is_refused(change: dict[str, Any]) -> None:
    data = {key: value for key, value in {**PLAN, **change}.items() if value is not None}
    with pytest.raises(InputError) as caught:
        replace(holding(), plan=Plan.from_dict(data))
    assert caught.value.code == "exchange-plan"


@pytest.mark.parametrize(
    "wrong",
    [
        {"institution": ""}, {"population": 0}, {"statistics": {"colour": "age"}}, {"statistics": {"age": "x"}},
        {"country": "Austria"},
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_description_of_the_table_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        replace(holding(), **wrong)
    assert caught.value.code == "exchange-holding"


def test_counting_and_sorting_number_classes_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = np.random.default_rng(5)
    rows = pl.DataFrame({name: [str(one) for one in dice.integers(0, 9, 500)] for name in "abc"})
    counted = numbered_classes(rows)
    assert sorted(set(counted.tolist())) == list(range(rows.n_unique()))
    monkeypatch.setattr("kohorte.exchange.checking.shown_labels.SMALL", 0)
    assert (numbered_classes(rows) == counted).all()


def test_notes_about_people_are_searched_once_and_stay_with_the_draft(
    check: Checked, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = check(request(), TABLE).draft
    assert first is not None
    ledger.record(first.disclosure)
    ledger.withdraw(first.rows.frame["patient"][:1])  # has to be left out with others, in a second round
    searched, rounds = [], []

    def counted(source: object, plan: Plan, **_: object) -> tuple[str, ...]:
        searched.append(plan)
        return ("a note",)

    def candidate(*given: Any, **options: Any) -> Candidate:
        rounds.append(given)
        return find_candidate(*given, **options)

    for module in ("kohorte.exchange.checking.drafting", "kohorte.release.anonymization"):
        monkeypatch.setattr(f"{module}.person_notes", counted, raising=False)
    monkeypatch.setattr("kohorte.exchange.checking.drafting.find_candidate", candidate)
    draft = check(request(), TABLE).draft
    assert draft is not None
    assert draft.found.person_notes == ("a note",)
    assert len(rounds) > 1
    assert len(searched) == 1
