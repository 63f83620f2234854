"""Releases that are compared with a population: a file, or the table of which a part is released."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import Ordering, Redaction
from kohorte.models import DeltaPresence, KAnonymity, KMap
from kohorte.release.anonymization import find_candidate
from kohorte.sources import FrameSource

PEOPLE = pl.DataFrame(
    {
        "zip": ["81667", "81667", "81671", "81672", "80331", "80331", "80333", "80335", "10115", "10115"],
        "sex": ["m", "m", "f", "f", "m", "f", "f", "m", "f", "f"],
        "chosen": [1, 0, 1, 0, 1, 0, 1, 0, 1, 0],
        "diagnosis": ["flu", "gout"] * 5,
    }
)


def plan_of(*models: Any, **options: Any) -> ko.Plan:
    return ko.Plan(
        attributes={
            "zip": ko.Attribute("quasi-identifying", Redaction(length=5)),
            "sex": ko.Attribute("quasi-identifying"),
            "chosen": ko.Attribute("insensitive"),
            "diagnosis": ko.Attribute("sensitive"),
        },
        models=models,
        order="input",
        **options,
    )


def without_flag(plan: ko.Plan) -> ko.Plan:
    attributes = {name: attribute for name, attribute in plan.attributes.items() if name != "chosen"}
    return ko.Plan(attributes=attributes, models=plan.models, order="input")


def shares(data: pl.DataFrame, release: ko.Release) -> list[float]:
    """The share of the people like each row that is released, counted by hand."""
    level = release.levels["zip"]

    def shown(zip_: str, sex: str) -> tuple[str, str]:
        masked = "*" if level == 5 else zip_[: 5 - level] + "*" * level
        return masked, "*" if release.levels["sex"] else sex

    people = [shown(zip_, sex) for zip_, sex in PEOPLE.select("zip", "sex").iter_rows()]
    rows = list(data.select("zip", "sex").iter_rows())
    return [rows.count(row) / people.count(row) for row in rows]


class TestSubset:
    model = DeltaPresence(minimum=0.3, maximum=0.6, subset="chosen")

    def test_only_flagged_rows_are_released_and_the_flag_is_gone(self) -> None:
        release = ko.anonymize(PEOPLE, plan_of(self.model))
        assert release.rows == release.data.height == 5
        assert release.data.columns == ["zip", "sex", "diagnosis"]
        assert release.data["diagnosis"].to_list() == ["flu"] * 5
        assert all(0.3 <= share <= 0.6 for share in shares(release.data, release))

    def test_the_release_is_the_least_general_that_holds(self) -> None:
        release = ko.anonymize(PEOPLE, plan_of(self.model, metric="height"))
        finer = [levels for levels in [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1)] if sum(levels) < sum(release.node)]
        for levels in finer:
            fake = type("Fake", (), {"levels": dict(zip(("zip", "sex"), levels, strict=True))})()
            chosen = PEOPLE.filter(pl.col("chosen") == 1)
            masked = chosen.with_columns(
                pl.col("zip").str.slice(0, 5 - levels[0]) + "*" * levels[0],
                pl.lit("*").alias("sex") if levels[1] else pl.col("sex"),
            )
            assert not all(0.3 <= share <= 0.6 for share in shares(masked, fake))

    def test_a_release_is_verified_with_the_original_table(self) -> None:
        plan = plan_of(self.model)
        release = ko.anonymize(PEOPLE, plan)
        verdict = ko.verify(release.data, plan, population=PEOPLE)
        assert verdict.satisfied
        lowest, highest = verdict.models[0].reached  # type: ignore[misc]
        assert 0.3 <= lowest <= highest <= 0.6
        raw = PEOPLE.filter(pl.col("chosen") == 1).drop("chosen")
        assert not ko.verify(
            raw, plan_of(DeltaPresence(minimum=0, maximum=0.6, subset="chosen")), population=PEOPLE
        ).satisfied

    def test_without_the_original_table_a_release_cannot_be_verified(self) -> None:
        plan = plan_of(self.model)
        with pytest.raises(ko.InputError, match="--population") as caught:
            ko.verify(ko.anonymize(PEOPLE, plan).data, plan)
        assert caught.value.code == "verify-needs-population"

    def test_other_models_look_at_the_flagged_rows_alone(self) -> None:
        release = ko.anonymize(PEOPLE, plan_of(self.model, KAnonymity(k=3)))
        sizes = release.data.group_by("zip", "sex").len()["len"]
        assert sizes.min() >= 3

    @pytest.mark.parametrize("flag", [[True, False] * 5, ["yes", "no"] * 5, ["JA", "nein"] * 5, [1.0, 0.0] * 5])
    def test_a_flag_may_be_written_in_several_ways(self, flag: list[object]) -> None:
        release = ko.anonymize(PEOPLE.with_columns(pl.Series("chosen", flag)), plan_of(self.model))
        assert release.rows == 5

    @pytest.mark.parametrize("flag", [[0, 1, 2] + [0] * 7, ["yes", "maybe"] * 5, [1, None] * 5])
    def test_a_flag_that_is_not_binary_is_refused_with_its_rows(self, flag: list[object]) -> None:
        with pytest.raises(ko.InputError, match=r"'chosen' .* row") as caught:
            ko.anonymize(PEOPLE.with_columns(pl.Series("chosen", flag)), plan_of(self.model))
        assert caught.value.code == "subset-not-binary"
        assert "maybe" not in caught.value.message

    def test_a_flag_that_chooses_nobody_is_refused(self) -> None:
        with pytest.raises(ko.InputError) as caught:
            ko.anonymize(PEOPLE.with_columns(chosen=pl.lit(0)), plan_of(self.model))
        assert caught.value.code == "subset-empty"

    @pytest.mark.parametrize("name", ["zip", "diagnosis", "nobody"])
    def test_the_flag_must_be_a_column_that_is_not_released_otherwise(self, name: str) -> None:
        with pytest.raises(ko.InputError, match="models: entry 1") as caught:
            plan_of(DeltaPresence(minimum=0, maximum=1, subset=name))
        assert caught.value.code == "plan-subset"

    def test_two_subsets_in_one_plan_are_refused(self) -> None:
        with pytest.raises(ko.InputError) as caught:
            ko.Plan(
                attributes={
                    "zip": {"role": "quasi-identifying"},
                    "a": {"role": "insensitive"},
                    "b": {"role": "insensitive"},
                },
                models=[KMap(k=2, subset="a"), KMap(k=2, subset="b")],
            )
        assert caught.value.code == "plan-subset"

    def test_people_like_whom_nobody_is_released_violate_a_minimum_unless_they_are_ignored(self) -> None:
        lonely = pl.concat([PEOPLE, PEOPLE.head(1).with_columns(zip=pl.lit("99999"), chosen=pl.lit(0, dtype=pl.Int64))])
        strict = plan_of(DeltaPresence(minimum=0.1, maximum=1, subset="chosen"), metric="height")
        ignore = plan_of(
            DeltaPresence(minimum=0.1, maximum=1, subset="chosen", empty_classes="ignore"), metric="height"
        )
        assert ko.anonymize(lonely, strict).levels == {"zip": 5, "sex": 0}
        assert sum(ko.anonymize(lonely, ignore).node) < 5

    def test_suppressing_everybody_does_not_satisfy_a_minimum(self) -> None:
        """Half of the people of every kind are chosen, so no class is below 0.1 or above 0.4 of its kind."""
        entry = {"minimum": 0.1, "maximum": 0.4, "subset": "chosen"}
        strict = plan_of(DeltaPresence(**entry), suppression_limit=1)  # type: ignore[arg-type]
        for algorithm in ("optimal", "exhaustive"):
            with pytest.raises(ko.NoSolution, match=r"5 of 5 rows .* a model does not allow that") as caught:
                ko.anonymize(PEOPLE, replace(strict, search=algorithm))
            assert caught.value.code == "no-solution"
        starred = PEOPLE.filter(pl.col("chosen") == 1).drop("chosen").with_columns(zip=pl.lit("*"), sex=pl.lit("*"))
        assert not ko.verify(starred, strict, population=PEOPLE).satisfied
        for model in (DeltaPresence(0.0, 0.4, subset="chosen"), DeltaPresence(0.1, 0.4, "ignore", subset="chosen")):
            assert ko.anonymize(PEOPLE, plan_of(model, suppression_limit=1)).suppressed == 5

    def test_everybody_as_stars_satisfies_a_minimum_if_their_share_does(self) -> None:
        """One of three people of each kind is chosen, but of two kinds nobody: only all together are within."""
        table = pl.DataFrame(
            {"zip": ["1", "1", "2", "3"], "sex": ["m", "m", "f", "f"], "chosen": [1, 1, 0, 0], "diagnosis": ["flu"] * 4}
        )
        plan = plan_of(DeltaPresence(minimum=0.5, maximum=0.5, subset="chosen"), suppression_limit=1)
        release = ko.anonymize(table, plan)
        assert release.levels == {"zip": 5, "sex": 1}
        assert release.suppressed == 0
        assert ko.verify(release.data, plan, population=table).satisfied
        alone = ko.verify(release.data, plan_of(DeltaPresence(0.6, 0.9, subset="chosen")), population=table)
        assert not alone.satisfied

    def test_later_rows_are_transformed_by_their_flag(self) -> None:
        release = ko.anonymize(PEOPLE, plan_of(self.model))
        assert release.transform(PEOPLE).equals(release.data)
        assert release.transform(PEOPLE.drop("chosen")).height == 10

    def test_a_hierarchy_made_from_the_data_is_the_same_for_search_and_verification(self) -> None:
        """A value that only an excluded row has must not shift the groups of the others."""
        table = pl.DataFrame({"a": ["a", "b", "c", "d", "e"] * 2, "b": [None, *"xxxx"] * 2, "in": [1] * 5 + [0] * 5})
        plan = ko.Plan(
            attributes={
                "a": ko.Attribute("quasi-identifying", Ordering(fanouts=[2])),
                "b": ko.Attribute("quasi-identifying"),
                "in": ko.Attribute("insensitive"),
            },
            models=[KMap(k=4, subset="in")],
            suppression_limit=0.5,
            missing="suppress",
        )
        release = ko.anonymize(table, plan)
        assert ko.verify(release.data, plan, population=table).satisfied

    def test_missing_values_of_rows_that_are_not_flagged_are_refused_before_the_search(self) -> None:
        table = PEOPLE.with_columns(sex=pl.when(pl.col("chosen") == 1).then("sex"))
        with pytest.raises(ko.InputError, match="not flagged") as caught:
            ko.anonymize(table, plan_of(self.model, missing="refuse"))
        assert caught.value.code == "missing-refused"

    def test_the_certificate_counts_the_rows_of_the_input_and_of_the_release(self) -> None:
        facts = ko.certify(ko.anonymize(PEOPLE, plan_of(self.model))).facts
        assert (facts["input"]["rows"], facts["output"]["rows"]) == (10, 5)  # type: ignore[index]


class TestFile:
    @pytest.fixture
    def citizens(self, tmp_path: Path) -> Path:
        PEOPLE.select("zip", "sex").with_columns(street=pl.lit("some")).write_csv(tmp_path / "citizens.csv")
        return tmp_path

    def table(self) -> pl.DataFrame:
        return PEOPLE.filter(pl.col("chosen") == 1).drop("chosen")

    def plan(self, folder: Path, *models: dict[str, object]) -> ko.Plan:
        entry = without_flag(plan_of(KAnonymity(k=1))).to_dict()
        return ko.Plan.from_dict({**entry, "models": list(models)}, folder=folder)

    def test_every_class_stands_for_k_people(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 3, "population": "citizens.csv"})
        release = ko.anonymize(self.table(), plan)
        verdict = ko.verify(release.data, plan)
        assert verdict.satisfied
        assert verdict.models[0].reached >= 3  # type: ignore[operator]
        assert release.rows == 5

    def test_a_plan_with_a_population_is_written_and_read_back(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 3, "population": "citizens.csv"})
        assert ko.Plan.from_dict(plan.to_dict(), folder=citizens) == plan
        assert plan.files() == (citizens / "citizens.csv",)

    def test_a_population_of_the_whole_gives_what_the_subset_gives(self, citizens: Path) -> None:
        bounds = {"model": "delta-presence", "minimum": 0.3, "maximum": 0.6}
        by_file = ko.anonymize(self.table(), self.plan(citizens, {**bounds, "population": "citizens.csv"}))
        by_flag = ko.anonymize(PEOPLE, plan_of(DeltaPresence(minimum=0.3, maximum=0.6, subset="chosen")))
        assert by_file.levels == by_flag.levels
        assert by_file.data.equals(by_flag.data)

    @pytest.mark.parametrize(
        ("change", "code", "words"),
        [
            (lambda people: people.drop("sex"), "population-columns", "'sex'"),
            (lambda people: people.rename({"sex": "gender", "zip": "plz"}), "population-columns", "'zip'"),
            (
                lambda people: people.with_columns(sex=pl.lit(None, dtype=pl.String)),
                "population-missing-values",
                "'sex'",
            ),
            (lambda people: people.filter(pl.col("zip") != "81671"), "population-lacks-rows", "1 row (2)"),
            (lambda people: people.clear(), "table-no-rows", "citizens.csv"),
        ],
    )
    def test_a_population_that_does_not_fit_is_refused(
        self, citizens: Path, change: Any, code: str, words: str
    ) -> None:
        change(PEOPLE.select("zip", "sex")).write_csv(citizens / "citizens.csv")
        plan = self.plan(citizens, {"model": "k-map", "k": 2, "population": "citizens.csv"})
        with pytest.raises(ko.InputError) as caught:
            ko.anonymize(self.table(), plan)
        assert caught.value.code == code
        assert words in caught.value.message

    def test_a_population_file_that_is_missing_is_refused(self, citizens: Path) -> None:
        with pytest.raises(ko.KohorteError, match=r"nobody\.csv"):
            ko.anonymize(self.table(), self.plan(citizens, {"model": "k-map", "k": 2, "population": "nobody.csv"}))

    def test_a_table_that_is_no_part_of_the_population_does_not_pass(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 1, "population": "citizens.csv"})
        twice = pl.concat([self.table()] * 3)
        verdict = ko.verify(twice, plan)
        assert not verdict.satisfied
        assert all(model.satisfied for model in verdict.models)
        assert "not everybody is in it" in verdict.problems[0]

    def test_rows_like_nobody_in_the_population_reach_nothing(self, citizens: Path) -> None:
        bounds = {"model": "delta-presence", "minimum": 0, "maximum": 1, "population": "citizens.csv"}
        stranger = self.table().with_columns(zip=pl.lit("81667"), sex=pl.lit("f"))
        verdict = ko.verify(stranger, self.plan(citizens, bounds))
        assert not verdict.satisfied
        assert verdict.models[0].reached is None

    def test_too_many_stars_do_not_satisfy_the_plan(self, citizens: Path) -> None:
        bounds = {"model": "delta-presence", "minimum": 0, "maximum": 1, "population": "citizens.csv"}
        starred = self.table().with_columns(
            zip=pl.Series(["*", "*", "81667", "80331", "10115"]), sex=pl.Series(["*", "*", "m", "m", "f"])
        )
        assert not ko.verify(starred, self.plan(citizens, bounds)).satisfied

    def test_the_certificate_has_the_hash_of_the_population(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 2, "population": "citizens.csv"})
        facts = ko.certify(ko.anonymize(self.table(), plan)).facts
        digest = hashlib.sha256((citizens / "citizens.csv").read_bytes()).hexdigest()
        assert facts["populations_sha256"] == {"citizens.csv": digest}

    def test_an_original_table_is_refused_where_the_plan_has_no_subset(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 2, "population": "citizens.csv"})
        with pytest.raises(ko.InputError) as caught:
            ko.verify(self.table(), plan, population=PEOPLE)
        assert caught.value.code == "verify-population-unneeded"

    def test_a_column_at_no_level_of_its_hierarchy_cannot_be_compared(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 2, "population": "citizens.csv"})
        with pytest.raises(ko.InputError) as caught:
            ko.verify(self.table().with_columns(zip=pl.lit("Munich")), plan)
        assert caught.value.code == "verify-level-unclear"

    def test_the_level_is_found_from_the_labels(self, citizens: Path) -> None:
        plan = self.plan(citizens, {"model": "k-map", "k": 1, "population": "citizens.csv"})
        for level in range(5):
            masked = self.table().with_columns(pl.col("zip").str.slice(0, 5 - level) + "*" * level)
            people = PEOPLE.with_columns(pl.col("zip").str.slice(0, 5 - level) + "*" * level)
            counts = people.group_by("zip", "sex").len()
            own = masked.join(counts, on=["zip", "sex"])["len"]
            assert ko.verify(masked, plan).models[0].reached == own.min()


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_every_release_with_a_population_passes_its_verification(seed: int) -> None:
    """`find_candidate` is not verified by itself; verification counts people with polars, from labels alone."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(4, 40))
    table = pl.DataFrame(
        {
            "zip": random.choice(["81667", "81671", "80331", "10115"], rows),
            "sex": random.choice(["m", "f", ""], rows),
            "chosen": random.permutation([1] + [int(flag) for flag in random.integers(0, 2, rows - 1)]),
            "diagnosis": random.choice(["flu", "gout"], rows),
        }
    )
    minimum, maximum = sorted(float(share) for share in random.choice([0, 0.1, 0.3, 0.6, 1.0], 2))
    models = [
        DeltaPresence(
            minimum=minimum,
            maximum=maximum,
            subset="chosen",
            empty_classes=str(random.choice(["strict", "ignore"])),
        ),
        KMap(k=int(random.integers(1, 4)), subset="chosen"),
    ]
    plan = plan_of(
        *models,
        suppression_limit=float(random.choice([0, 0.3, 1])),
        missing=str(random.choice(["category", "suppress"])),
    )
    try:
        release = ko.anonymize(table, plan)
    except ko.NoSolution:
        return
    assert find_candidate(FrameSource(table), plan).levels == release.levels
    if minimum > 0 and models[0].empty_classes == "strict":
        assert release.classes > 0
    if not release.all_starred:
        assert ko.verify(release.data, plan, population=table).satisfied
