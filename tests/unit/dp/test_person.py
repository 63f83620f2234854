"""The person of a plan is the private id of queries, in one way."""

from __future__ import annotations

import polars as pl
import pytest

from kohorte.dp import QueryMetadata, dummy_table, estimate_query, query, typed_table
from kohorte.errors import InputError
from kohorte.plans.person import Person

COLUMNS = {"age": {"datatype": "int", "min": 0, "max": 100}}
BUDGET = {"epsilon": 100}


def metadata(**changes: object) -> QueryMetadata:
    return QueryMetadata.from_dict({"table": "T", "columns": COLUMNS, "budget": BUDGET, **changes})


def stays() -> pl.DataFrame:
    """Two clinics number their patients alike: 3 numbers, 6 people, 60 rows."""
    rows = range(60)
    return pl.DataFrame(
        {
            "clinic": [f"c{row % 2}" for row in rows],
            "patient": [f"p{row // 2 % 3}" for row in rows],
            "age": [50 for _ in rows],
        }
    )


def rows_counted(private_id: object) -> float:
    answer = query(stays(), "SELECT COUNT(*) FROM T", metadata(private_id=private_id), epsilon=50)
    [[found]] = answer.rows
    assert isinstance(found, int | float)
    return found


def test_several_columns_together_are_one_person() -> None:
    assert rows_counted(["clinic", "patient"]) == 6
    assert rows_counted("patient") == 3
    assert rows_counted("none") == 60


def test_spellings_of_one_identifier_are_one_person() -> None:
    clean = stays()
    spelled = clean.with_columns(
        patient=pl.when(pl.int_range(60) % 4 > 1)
        .then(pl.col("patient").str.to_uppercase() + "\u00a0")
        .otherwise("patient")
    )
    for frame in (clean, spelled):
        [[found]] = query(frame, "SELECT COUNT(*) FROM T", metadata(private_id="patient"), epsilon=50).rows
        assert found == 3


def test_rows_that_do_not_say_whom_they_are_about_are_left_out_and_the_answer_says_so() -> None:
    known = stays().with_columns(patient=pl.when(pl.col("patient") != "p2").then("patient"))
    answer = query(known, "SELECT COUNT(*) FROM T", metadata(private_id="patient"), epsilon=50)
    [[found]] = answer.rows
    assert found == 2
    assert any("rows that do not say whom they are about are left out" in note for note in answer.notes)


def test_one_column_in_a_list_is_the_same_as_its_name() -> None:
    assert metadata(private_id=["patient"]) == metadata(private_id="patient")
    assert metadata(private_id=["patient"]).sha256 == metadata(private_id="patient").sha256
    both = metadata(private_id=["clinic", "patient"])
    assert QueryMetadata.from_dict(both.to_dict()) == both


@pytest.mark.parametrize("given", [[], ["a", "a"], [1, 2], 7, ""])
def test_a_private_id_that_is_no_list_of_columns_is_refused(given: object) -> None:
    with pytest.raises(InputError) as refused:
        metadata(private_id=given)
    assert refused.value.code == "query-metadata"


def test_the_person_of_a_plan_becomes_the_private_id() -> None:
    assert metadata().about(Person(("clinic", "patient"))).person_columns == ("clinic", "patient")
    assert metadata().about(Person()).rows_are_people
    assert metadata().about(None) == metadata()
    assert metadata(private_id="patient").about(Person(("patient",))) == metadata(private_id="patient")


@pytest.mark.parametrize("person", [Person(("clinic", "patient")), Person()])
def test_a_plan_and_metadata_that_contradict_each_other_are_refused(person: Person) -> None:
    with pytest.raises(InputError) as refused:
        metadata(private_id="patient").about(person)
    assert refused.value.code == "query-person"


def test_a_table_with_repeated_identifiers_is_refused_until_it_is_said_whom_a_row_is_about() -> None:
    with pytest.raises(InputError) as refused:
        typed_table(stays(), metadata())
    assert refused.value.code == "person-unstated"
    assert "'patient' has 3 different values in 60 rows" in refused.value.message
    assert "p0" not in refused.value.message
    for stated in ("none", "patient", ["clinic", "patient"]):
        assert typed_table(stays(), metadata(private_id=stated)).frame.height == 60


def test_a_table_with_a_column_that_numbers_people_by_its_content_is_refused() -> None:
    people = [row // 2 for row in range(60)]
    frame = pl.DataFrame(
        {"Nr": [f"{at * 7919 % 10007:05}" for at in people], "sex": [("m", "f")[at * 7 % 3 % 2] for at in people]}
    ).with_columns(age=pl.lit(50), birth=pl.Series([str(1940 + at * 11 % 60) for at in people]))
    with pytest.raises(InputError) as refused:
        typed_table(frame, metadata())
    assert refused.value.code == "person-unstated"
    assert "'Nr' has 30 different values in 60 rows" in refused.value.message
    for stated in ("none", "Nr"):
        assert typed_table(frame, metadata(private_id=stated)).frame.height == 60


def test_an_identifying_column_of_any_name_is_looked_at_and_one_without_repetition_is_accepted() -> None:
    frame = stays().rename({"patient": "key17"})
    assert typed_table(frame, metadata()).frame.height == 60
    with pytest.raises(InputError) as refused:
        typed_table(frame, metadata(identifying=["key17"]))
    assert refused.value.code == "person-unstated"
    unique = frame.with_columns(key17=pl.int_range(60).cast(pl.String))
    assert typed_table(unique, metadata(identifying=["key17"])).frame.height == 60


def test_no_column_of_the_person_can_be_queried_and_distinct_needs_a_single_one() -> None:
    both = metadata(private_id=["clinic", "patient"])
    for sql in ("SELECT COUNT(clinic) FROM T", "SELECT COUNT(DISTINCT patient) FROM T"):
        with pytest.raises(InputError):
            query(stays(), sql, both, epsilon=1)
    assert set(dummy_table(both, 10).columns) == {"clinic", "patient", "age"}


def wards() -> pl.DataFrame:
    """Sixty patients with one number in three wards each."""
    cells = [(patient, ward) for patient in range(60) for ward in range(3)]
    return pl.DataFrame(
        {
            "patient": [f"secret-{patient}" for patient, _ in cells],
            "ward": [f"w{ward}" for _, ward in cells],
            "age": [50 for _ in cells],
        }
    )


@pytest.mark.parametrize(
    ("private_id", "said"),
    [
        (["patient", "ward"], "people may be counted several times: private_id ('patient', 'ward')"),
        ("none", "rows are counted, not people: private_id states that every row is another person"),
        ("case_number", "people may be counted several times: private_id ('case_number')"),
    ],
)
def test_a_private_id_that_the_table_contradicts_is_warned_of_without_figures(private_id: object, said: str) -> None:
    frame = wards().with_columns(case_number=pl.int_range(180).cast(pl.String))
    [warning] = query(frame, "SELECT COUNT(*) FROM T", metadata(private_id=private_id), epsilon=50).warnings
    assert warning.startswith(said)
    assert warning.endswith("write 'private_id: patient' if it says whom a row is about")
    assert "secret" not in warning
    assert not any(letter.isdigit() for letter in warning), "a figure would be an answer without noise"


@pytest.mark.parametrize(("frame", "private_id"), [(wards(), "patient"), (stays(), ["clinic", "patient"])])
def test_a_private_id_that_nothing_contradicts_gets_no_warning(frame: pl.DataFrame, private_id: object) -> None:
    answer = query(frame, "SELECT COUNT(*) FROM T", metadata(private_id=private_id), epsilon=50)
    assert answer.warnings == ()
    assert "warnings" not in answer.to_dict()


def test_rows_of_a_person_can_be_bounded_if_only_the_plan_says_who_it_is() -> None:
    given = {"table": "T", "columns": COLUMNS, "budget": BUDGET, "max_contributions": 3}
    found = QueryMetadata.from_dict(given, person=Person(("patient",)))
    assert found == metadata(private_id="patient", max_contributions=3)
    for person in (None, Person()):
        with pytest.raises(InputError, match="needs a private_id, or a plan with person"):
            QueryMetadata.from_dict(given, person=person)


def test_an_answer_by_rows_is_warned_of_until_somebody_says_that_rows_are_people() -> None:
    frame = pl.DataFrame({"age": [50] * 60})
    answer = query(frame, "SELECT COUNT(*) FROM T", metadata(), epsilon=50)
    [warning] = answer.warnings
    assert warning.startswith("rows are counted, not people: nobody has said that every row is another person")
    assert not any(letter.isdigit() for letter in warning), "a figure would be an answer without noise"
    assert "every row counts as a different person, which nobody has stated" in answer.notes
    estimated = estimate_query("SELECT COUNT(*) FROM T", metadata(), epsilon=50)
    assert "every row counts as a different person, which nobody has stated" in estimated.notes
    stated = query(frame, "SELECT COUNT(*) FROM T", metadata(private_id="none"), epsilon=50)
    assert stated.warnings == ()
    assert "every row counts as a different person" in stated.notes
