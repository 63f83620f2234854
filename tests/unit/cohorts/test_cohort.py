from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
import yaml
from polars.testing import assert_frame_equal

from kohorte.cohorts import cohort, column_names, hierarchy_files, plan_text
from kohorte.cohorts.diagnoses import CODES
from kohorte.cohorts.identity import check_digit
from kohorte.cohorts.more import INSURANCE, MARITAL, WARDS
from kohorte.cohorts.occupations import OCCUPATIONS
from kohorte.errors import InputError
from support.work import counted_calls

ROWS = 20_000


@pytest.fixture(scope="module")
def wide() -> pl.DataFrame:
    frame = cohort(ROWS, wide=True)
    born, admitted = pl.col("birth_date").str.to_date(), pl.col("admission_date").str.to_date()
    birthday_to_come = pl.col("admission_date").str.slice(5) < pl.col("birth_date").str.slice(5)
    return frame.with_columns(
        born=born,
        admitted=admitted,
        age=admitted.dt.year() - born.dt.year() - birthday_to_come.cast(pl.Int32),
    )


def leaves(tree: object, depth: int = 0) -> Iterator[tuple[object, int]]:
    if isinstance(tree, dict):
        for branch in tree.values():
            yield from leaves(branch, depth + 1)
    else:
        assert isinstance(tree, list)
        yield from ((leaf, depth) for leaf in tree)


def labels(tree: object) -> Iterator[object]:
    if isinstance(tree, dict):
        for label, branch in tree.items():
            yield label
            yield from labels(branch)
    else:
        assert isinstance(tree, list)
        yield from tree


def trees() -> dict[str, object]:
    return {name.removesuffix(".yaml"): yaml.safe_load(text) for name, text in hierarchy_files(wide=True).items()}


def test_the_same_seed_gives_the_same_cohort() -> None:
    assert_frame_equal(cohort(1000, seed=7, missing=0.1), cohort(1000, seed=7, missing=0.1))


def test_a_cohort_is_the_same_on_every_machine() -> None:
    # Change these two only on purpose: benchmarks and documentation quote numbers of these cohorts.
    def digest(frame: pl.DataFrame) -> str:
        return hashlib.sha256(frame.write_csv().encode()).hexdigest()[:16]

    assert digest(cohort(1000)) == "1b29c588326526bd"
    assert digest(cohort(1000, seed=2, missing=0.05, wide=True)) == "ddb69e3237e54e3e"


def test_another_seed_gives_other_data() -> None:
    one, two = cohort(1000, seed=1), cohort(1000, seed=2)
    assert all((one[name] != two[name]).any() for name in one.columns)


def test_a_longer_cohort_begins_with_the_shorter_one() -> None:
    assert_frame_equal(cohort(5000, missing=0.2).head(700), cohort(700, missing=0.2))


def test_a_wide_cohort_begins_with_the_columns_of_a_narrow_one() -> None:
    assert_frame_equal(cohort(700, wide=True).select(column_names()), cohort(700))


@pytest.mark.parametrize("wide_columns", [False, True])
def test_all_columns_are_text_and_in_order(wide_columns: bool) -> None:
    frame = cohort(10, wide=wide_columns)
    assert tuple(frame.columns) == column_names(wide=wide_columns)
    assert set(frame.dtypes) == {pl.String}
    assert frame.null_count().sum_horizontal().item() == 0


def test_one_row_is_a_cohort() -> None:
    assert cohort(1, wide=True).shape == (1, 14)


def test_social_security_numbers_are_unique_even_among_many() -> None:
    assert cohort(200_000)["ssn"].is_unique().all()


def test_a_social_security_number_agrees_with_birth_date_initial_and_sex(wide: pl.DataFrame) -> None:
    ssn = wide["ssn"]
    assert ssn.str.contains(r"^9[0-9]{7}[A-Z][0-9]{3}$").all()
    assert (ssn.str.slice(2, 6) == wide["born"].dt.to_string("%d%m%y")).all()
    plain = wide["name"].str.slice(0, 1).str.replace_many({"Ä": "A", "Ö": "O", "Ü": "U", "Ş": "S", "Ç": "C"})
    assert (ssn.str.slice(8, 1) == plain).all()
    assert ((ssn.str.slice(9, 2).cast(pl.Int32) < 50) == (wide["sex"] == "male")).all()


def test_the_check_digit_agrees_with_the_specimens_of_other_validators() -> None:
    # 15 070649 C 10 3 and 65 180539 W 00 1, with which public validators document the rule of the VKVV.
    area, date, initial, serial = np.array([(15, 70649, 2, 10), (65, 180539, 22, 0)]).T
    assert check_digit(area, date, initial, serial).tolist() == [3, 1]


def test_social_security_numbers_end_with_their_check_digit(wide: pl.DataFrame) -> None:
    ssn = wide["ssn"]
    parts = [ssn.str.slice(*place).cast(pl.Int64).to_numpy() for place in ((0, 2), (2, 6), (9, 2), (11, 1))]
    initials = np.array([ord(letter) - ord("A") for letter in ssn.str.slice(8, 1)])
    assert (check_digit(parts[0], parts[1], initials, parts[2]) == parts[3]).all()


def test_names_are_family_and_given_name_with_umlauts(wide: pl.DataFrame) -> None:
    assert wide["name"].str.contains(r"^[^,]+, [^,]+$").all()
    assert wide["name"].str.contains("[äöüß]").mean() > 0.1


def test_postal_codes_have_five_digits_and_cluster_around_the_hospital() -> None:
    zips = cohort(100_000)["zip"]
    assert zips.str.contains(r"^[0-9]{5}$").all()
    assert 400 <= zips.n_unique() <= 800
    assert 0.4 < zips.value_counts(sort=True)["count"].head(24).sum() / 100_000 < 0.8
    assert not zips.str.starts_with("0").all()


def test_dates_are_plausible(wide: pl.DataFrame) -> None:
    assert (wide["admitted"] >= wide["born"]).all()
    assert wide["age"].is_between(0, 102).all()
    assert wide["admitted"].dt.year().is_between(2022, 2024).all()
    weekend = wide["admitted"].dt.weekday() > 5
    assert 0.1 < weekend.mean() < 0.25


def test_every_age_group_is_present(wide: pl.DataFrame) -> None:
    shares = [wide["age"].is_between(*ages).mean() for ages in ((0, 0), (1, 17), (18, 64), (65, 79), (80, 102))]
    assert all(0.03 < share < 0.5 for share in shares)


def test_only_women_from_15_to_49_are_pregnant(wide: pl.DataFrame) -> None:
    pregnant = wide.filter(pl.col("diagnosis").str.starts_with("O"))
    assert pregnant.height > 500
    assert pregnant["sex"].unique().to_list() == ["female"]
    assert pregnant["age"].is_between(15, 49).all()


@pytest.mark.parametrize(("codes", "sex"), [(["C54", "D25", "N80", "N83"], "female"), (["C61", "N40", "Q53"], "male")])
def test_diseases_of_one_sex_meet_nobody_else(wide: pl.DataFrame, codes: list[str], sex: str) -> None:
    assert wide.filter(pl.col("diagnosis").is_in(codes))["sex"].unique().to_list() == [sex]


def test_respiratory_diseases_come_in_winter(wide: pl.DataFrame) -> None:
    respiratory = pl.col("diagnosis").str.starts_with("J").mean()
    winter = wide.filter(pl.col("admitted").dt.month().is_in([12, 1, 2])).select(respiratory).item()
    summer = wide.filter(pl.col("admitted").dt.month().is_in([6, 7, 8])).select(respiratory).item()
    assert winter > 2 * summer


def test_children_do_not_work_and_the_old_are_retired(wide: pl.DataFrame) -> None:
    assert set(wide.filter(pl.col("age") < 16)["occupation"]) == {"child", "pupil"}
    assert wide.filter(pl.col("age") >= 67).select((pl.col("occupation") == "retired").mean()).item() > 0.9


def test_height_and_weight_are_whole_numbers_inside_the_intervals(wide: pl.DataFrame) -> None:
    assert wide["height_cm"].cast(pl.Int32).is_between(40, 219).all()
    assert wide["weight_kg"].cast(pl.Int32).is_between(2, 199).all()
    adults = (
        wide.filter(pl.col("age").is_between(25, 60)).group_by("sex").agg(pl.col("height_cm").cast(pl.Int32).mean())
    )
    mean = dict(adults.iter_rows())
    assert 163 < mean["female"] < 168
    assert 176 < mean["male"] < 181


def test_children_are_unmarried(wide: pl.DataFrame) -> None:
    assert wide.filter(pl.col("age") < 18)["marital_status"].unique().to_list() == ["single"]


@pytest.mark.parametrize("fraction", [0.0, 0.1, 1.0])
def test_the_missing_fraction_is_met_in_three_columns_only(fraction: float) -> None:
    gaps = cohort(ROWS, missing=fraction).null_count().row(0, named=True)
    for name, count in gaps.items():
        expected = fraction if name in ("zip", "occupation", "blood_group") else 0
        assert count / ROWS == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("rows", [0, -5])
def test_fewer_than_one_row_is_refused(rows: int) -> None:
    with pytest.raises(InputError) as caught:
        cohort(rows)
    assert caught.value.code == "cohort-rows"


@pytest.mark.parametrize("missing", [-0.1, 1.1, float("nan")])
def test_a_missing_fraction_outside_0_to_1_is_refused(missing: float) -> None:
    with pytest.raises(InputError) as caught:
        cohort(1, missing=missing)
    assert caught.value.code == "cohort-missing"


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        cohort(1, seed=-1)
    assert caught.value.code == "cohort-seed"


def test_a_hundred_thousand_rows_are_made_with_few_steps_in_python_for_each() -> None:
    _, calls = counted_calls(lambda: cohort(100_000, wide=True))
    assert calls < 500_000, calls


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("diagnosis", CODES),
        ("occupation", OCCUPATIONS),
        ("marital_status", MARITAL),
        ("insurance", INSURANCE),
        ("ward", WARDS),
        ("blood_group", ("A+", "A-", "B+", "B-", "AB+", "AB-", "O+", "O-")),
    ],
)
def test_a_tree_holds_exactly_the_values_of_its_column(name: str, values: tuple[str, ...]) -> None:
    found = [leaf for leaf, _ in leaves(trees()[name])]
    assert sorted(map(str, found)) == sorted(values)


@pytest.mark.parametrize("name", trees())
def test_every_value_of_the_cohort_is_in_its_tree(wide: pl.DataFrame, name: str) -> None:
    assert set(wide[name]) <= {leaf for leaf, _ in leaves(trees()[name])}


@pytest.mark.parametrize("name", trees())
def test_trees_are_text_of_one_depth_without_a_label_twice(name: str) -> None:
    tree = trees()[name]
    every = list(labels(tree))
    assert all(isinstance(label, str) for label in every)
    assert len(set(every)) == len(every)
    assert len({depth for _, depth in leaves(tree)}) == 1


def test_the_diagnoses_come_from_all_chapters_and_stand_in_their_block() -> None:
    tree = trees()["diagnosis"]
    assert isinstance(tree, dict)
    assert len(tree) == 22
    for blocks in tree.values():
        for block, codes in blocks.items():
            first, last = block.split()[0].split("-")
            assert all(first <= code <= last for code in codes)


@pytest.mark.parametrize(("wide_columns", "quasi"), [(False, 5), (True, 9)])
def test_the_plan_names_every_column_and_only_files_that_exist(wide_columns: bool, quasi: int) -> None:
    plan = yaml.safe_load(plan_text(wide=wide_columns))
    attributes = plan["attributes"]
    assert tuple(attributes) == column_names(wide=wide_columns)
    assert [attribute["role"] for attribute in attributes.values()].count("quasi-identifying") == quasi
    hierarchies = [attribute.get("hierarchy", {}) for attribute in attributes.values()]
    assert {hierarchy["tree"] for hierarchy in hierarchies if "tree" in hierarchy} <= set(
        hierarchy_files(wide=wide_columns)
    )


def test_the_plan_says_what_it_asks_for() -> None:
    plan = yaml.safe_load(plan_text())
    del plan["attributes"]
    assert plan == {
        "kohorte": 1,
        "person": "none",
        "models": [{"model": "k-anonymity", "k": 5}],
        "suppression_limit": 0.05,
        "metric": {"metric": "loss"},
        "search": {"algorithm": "optimal"},
        "missing": "category",
        "output": {"order": "shuffled"},
    }
