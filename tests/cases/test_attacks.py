"""Attacks of the literature: the tables of PRIORI (section 3.2.4), the rare disease, Sweeney's linkage."""

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import (
    Knowledge,
    background_knowledge_attack,
    complementary_release_attack,
    homogeneity_attack,
    linkage_attack,
    unsorted_matching_attack,
)
from kohorte.hierarchies import Redaction
from kohorte.models import KAnonymity

COLUMNS = ("zip", "born", "sex", "diagnosis")


def table(text):
    return pl.DataFrame([line.split() for line in text.strip().splitlines()], schema=COLUMNS, orient="row")


ORIGINAL = table(
    """
    76139 08.10.1981 m Heuschnupfen
    76133 30.03.1981 w Asthma
    76133 14.12.1989 m Diabetes
    76149 26.06.1981 w Erkältung
    76133 02.08.1981 w Borreliose
    76131 19.01.1985 m Tinnitus
    76133 27.04.1983 m Heuschnupfen
    76135 11.12.1981 w Erkältung
    """
)
TABLE_3_3 = table(
    """
    7613* **.**.198* m Heuschnupfen
    7613* **.**.198* m Diabetes
    7613* **.**.198* m Tinnitus
    7613* **.**.198* m Heuschnupfen
    761** **.**.1981 w Borreliose
    761** **.**.1981 w Erkältung
    761** **.**.1981 w Asthma
    761** **.**.1981 w Erkältung
    """
)
TABLE_3_4 = table(
    """
    76133 **.**.198* * Heuschnupfen
    76133 **.**.198* * Diabetes
    76133 **.**.198* * Borreliose
    76133 **.**.198* * Asthma
    761** **.**.198* * Tinnitus
    761** **.**.198* * Heuschnupfen
    761** **.**.198* * Erkältung
    761** **.**.198* * Erkältung
    """
)


def plan(k, **hierarchies):
    attributes = {name: ko.Attribute("quasi-identifying", hierarchies.get(name)) for name in COLUMNS[:3]}
    return ko.Plan(attributes={**attributes, "diagnosis": {"role": "sensitive"}}, models=[KAnonymity(k)])


class TestComplementaryRelease:
    """Tables 3.3 and 3.4: each is 4-anonymous, both together are not."""

    def test_each_table_is_4_anonymous(self):
        for release in (TABLE_3_3, TABLE_3_4):
            profile = ko.risk(release, plan(4))
            assert (profile.classes, profile.smallest_class) == (2, 4)
            assert profile.attackers.prosecutor.highest_risk == 0.25

    @pytest.mark.parametrize("hierarchies", [{}, {"zip": Redaction()}], ids=["letters alone", "with a hierarchy"])
    def test_joined_by_the_diagnosis_everybody_is_among_two(self, hierarchies):
        attack = complementary_release_attack(TABLE_3_3, plan(4, **hierarchies), TABLE_3_4)
        assert attack.hurt == 8
        assert attack.facts == {
            "linking_columns": ["diagnosis"],
            "k": 4,
            "joined_classes": 4,
            "smallest_joined_class": 2,
        }

    def test_the_order_of_tables_and_rows_does_not_matter(self):
        attack = complementary_release_attack(
            TABLE_3_4.sample(fraction=1, shuffle=True, seed=1), plan(4), TABLE_3_3.reverse()
        )
        assert attack.hurt == 8

    def test_the_same_release_twice_tells_nothing_more(self):
        assert complementary_release_attack(TABLE_3_3, plan(4), TABLE_3_3.reverse()).hurt == 0

    def test_the_original_table_is_open_to_whoever_has_the_register(self):
        attack = linkage_attack(ORIGINAL, plan(4), ORIGINAL.drop("diagnosis"))
        assert attack.hurt == 8
        assert linkage_attack(TABLE_3_3, plan(4, zip=Redaction()), ORIGINAL).hurt == 0


class TestUnsortedMatching:
    """Figure 3.2: two 2-anonymous tables in the order of the original one."""

    PLAN = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in ("zip", "sex")}, models=[KAnonymity(2)])
    MIDDLE = pl.DataFrame({"zip": ["761**"] * 4, "sex": ["m", "w", "w", "m"]})
    RIGHT = pl.DataFrame({"zip": ["76149", "76149", "76133", "76133"], "sex": ["*"] * 4})

    def test_joined_row_by_row_everybody_is_unique(self):
        attack = unsorted_matching_attack(self.MIDDLE, self.PLAN, self.RIGHT)
        assert attack.hurt == 4
        assert attack.facts["smallest_joined_class"] == 1

    def test_kohorte_shuffles_the_rows_unless_it_is_told_not_to(self):
        original = pl.DataFrame({"zip": [f"{n:03}" for n in range(400)], "sex": ["m", "w"] * 200, "visit": range(400)})
        own = {"zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}}, "visit": {"role": "insensitive"}}
        attributes = {**own, "sex": {"role": "quasi-identifying"}}
        for order, same in (("input", True), ("shuffled", False)):
            made = ko.Plan(attributes=attributes, models=[KAnonymity(5)], order=order)
            release = ko.anonymize(original, made).data.drop("visit")
            attack = unsorted_matching_attack(release, made, original.drop("visit"))
            assert attack.facts["same_order"] is same
            assert (attack.hurt > 0) is False  # the original table has classes of one: nothing is promised


class TestHomogeneityAndBackgroundKnowledge:
    def test_table_3_5(self):
        shown = [["7622*", "1932", sex, illness] for sex, illness in (("w", "cold"), *[("m", "cancer")] * 3)]
        attack = homogeneity_attack(pl.DataFrame(shown, schema=COLUMNS, orient="row"), plan(3))
        assert attack.hurt == 4  # the woman is alone in her class, too
        assert attack.facts["homogeneous_classes"] == 2

    def test_table_3_6(self):
        shown = [
            ["7622*", year, "*", illness]
            for year, illness in (("1953", "cold"), ("1954", "breast"), ("1954", "diabetes"), ("1954", "breast"))
        ]
        release = pl.DataFrame(shown, schema=COLUMNS, orient="row")
        male = Knowledge("diagnosis", ["breast"], {"sex": "m", "born": "1954"})
        attack = background_knowledge_attack(release, plan(3), knowledge=[male])
        assert (attack.hurt, attack.facts["at_most"]) == (0, 1)  # the one with diabetes, if that is a man
        men = release.with_columns(sex=pl.lit("m"))
        assert background_knowledge_attack(men, plan(3), knowledge=[male]).hurt == 1
        female = Knowledge("diagnosis", ["cold"], {"sex": "w"})
        assert background_knowledge_attack(release, plan(3), knowledge=[female]).hurt == 0

    def test_the_rare_disease_of_the_literature(self):
        """60,000 rows, three sensitive values, classes of five: 12,000 / 81 = 148 classes and 740 people."""
        rng = np.random.default_rng(2007)
        release = pl.DataFrame(
            {
                "zip": [str(number // 5) for number in range(60_000)],
                "born": ["*"] * 60_000,
                "sex": ["*"] * 60_000,
                "diagnosis": rng.choice(["a", "b", "c"], 60_000),
            }
        )
        attack = homogeneity_attack(release, plan(5))
        assert attack.facts["classes"] == 12_000
        found = attack.facts["homogeneous_classes"]
        assert abs(found - 12_000 / 81) < 3 * np.sqrt(12_000 / 81)
        assert attack.hurt == 5 * found

    def test_the_rare_disease_on_average(self):
        """Twenty tables: the mean is within one in twenty of 148.1."""
        rng = np.random.default_rng(1)
        counts = []
        for _ in range(20):
            values = rng.integers(3, size=(12_000, 5))
            release = pl.DataFrame({"zip": np.repeat(np.arange(12_000), 5), "diagnosis": values.ravel()})
            own = ko.Plan(
                attributes={"zip": {"role": "quasi-identifying"}, "diagnosis": {"role": "sensitive"}},
                models=[KAnonymity(5)],
            )
            counts.append(homogeneity_attack(release, own).hurt / 5)
        assert np.mean(counts) == pytest.approx(12_000 / 81, rel=0.05)


class TestSweeney:
    """A register of voters with names is joined with hospital records by ZIP code, date of birth and sex."""

    ATTRIBUTES = (
        ("zip", "quasi-identifying"),
        ("birth_date", "quasi-identifying"),
        ("sex", "quasi-identifying"),
        ("diagnosis", "sensitive"),
    )
    PLAN = ko.Plan(attributes={name: {"role": role} for name, role in ATTRIBUTES}, models=[KAnonymity(2)])
    KEYS = ("zip", "birth_date", "sex")

    def test_linkage_finds_exactly_the_uniques(self):
        town = ko.cohort(20_000, seed=5).with_columns(pl.col("zip").cast(pl.String).str.slice(0, 3))
        voters = town.select("name", *self.KEYS)
        alone = town.select(pl.len().over(self.KEYS) == 1).to_series()
        attack = linkage_attack(
            town.select(*self.KEYS, "diagnosis"), self.PLAN, voters.sample(fraction=1, shuffle=True, seed=2)
        )
        assert 0 < attack.hurt < 20_000
        assert attack.hurt == int(alone.sum())

    def test_a_sample_is_hurt_where_the_whole_town_has_nobody_alike(self):
        town = ko.cohort(20_000, seed=6).with_columns(pl.col("zip").cast(pl.String).str.slice(0, 3))
        alike = town.with_columns(people=pl.len().over(self.KEYS))
        sample = alike.sample(3_000, seed=3)
        attack = linkage_attack(sample.select(*self.KEYS, "diagnosis"), self.PLAN, town.select("name", *self.KEYS))
        assert attack.hurt == int((sample["people"] == 1).sum())
        assert attack.facts["rows_that_fit_somebody"] == 3_000
        exact = ko.risk(sample.select(*self.KEYS, "diagnosis"), self.PLAN, population=town.select(self.KEYS))
        assert exact.uniqueness.unique_in_both == attack.hurt
