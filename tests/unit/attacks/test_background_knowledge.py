"""Attacks with background knowledge, each case worked by hand."""

from dataclasses import replace

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import (
    Knowledge,
    background_knowledge_attack,
    read_knowledge,
)
from kohorte.hierarchies import Dates, Tree
from kohorte.models import KAnonymity

PLAN = ko.Plan(
    attributes={
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive"},
    },
    models=[KAnonymity(2)],
)


def table(*rows):
    return pl.DataFrame(rows, schema=["zip", "sex", "diagnosis"], orient="row")


def known(release, *entries, plan=PLAN):
    knowledge = [Knowledge("diagnosis", excludes, when) for excludes, when in entries]
    return background_knowledge_attack(release, plan, knowledge=knowledge)


class TestAllThatIsKnownIsUsedTogether:
    MEN = table(("11", "m", "flu"), ("11", "m", "flu"), ("11", "m", "breast cancer"), ("11", "m", "malaria"))
    NO_BREAST_CANCER, NO_MALARIA = (["breast cancer"], {"sex": "m"}), (["malaria"], {"zip": "11"})

    def test_two_entries_that_only_together_hurt(self):
        """Men have no breast cancer, nobody in 11 was abroad: the two men with flu are known."""
        assert known(self.MEN, self.NO_BREAST_CANCER).hurt == 0
        assert known(self.MEN, self.NO_MALARIA).hurt == 0
        both = known(self.MEN, self.NO_BREAST_CANCER, self.NO_MALARIA)
        assert (both.hurt, both.facts["at_most"], both.facts["classes"]) == (2, 2, 1)
        assert both.facts["rows_that_contradict"] == 2
        assert any("2 rows have a value" in note for note in both.notes)

    def test_entries_about_different_people_are_not_used_together(self):
        """Of a man only the first is known, of a woman only the second: two values are left for either."""
        release = self.MEN.with_columns(sex=pl.lit("*"))
        attack = known(release, self.NO_BREAST_CANCER, (["malaria"], {"sex": "f"}))
        assert (attack.hurt, attack.facts["at_most"]) == (0, 0)

    def test_where_the_class_does_not_show_the_sex_men_are_hurt_and_women_are_not(self):
        release = table(("11", "*", "flu"), ("11", "*", "flu"), ("11", "*", "breast cancer"))
        attack = known(release, self.NO_BREAST_CANCER)
        assert (attack.hurt, attack.facts["at_most"]) == (0, 2)
        assert (attack.facts["classes"], attack.facts["classes_at_most"]) == (0, 1)

    def test_what_holds_for_everybody_who_can_be_in_a_class_is_certain(self):
        """Neither men nor women of the set have malaria."""
        release = table(("11", "{f, m}", "flu"), ("11", "{f, m}", "malaria"))
        both = (["malaria"], {"sex": "m"}), (["malaria"], {"sex": "f"})
        assert known(release, *both).hurt == 1
        open_cell = release.with_columns(sex=pl.lit("*"))  # may be a third sex, or none given
        assert (known(open_cell, *both).hurt, known(open_cell, *both).facts["at_most"]) == (0, 1)

    def test_a_row_that_can_be_no_mans_is_a_womans(self):
        """Men have neither flu nor malaria, women no malaria: the flu is a woman's, and hers is the only one left."""
        release = table(("11", "{f, m}", "flu"), ("11", "{f, m}", "malaria"), ("11", "{f, m}", "malaria"))
        attack = known(release, (["flu", "malaria"], {"sex": "m"}), (["malaria"], {"sex": "f"}))
        assert (attack.hurt, attack.facts["rows_that_contradict"]) == (1, 2)

    def test_a_condition_within_an_interval(self):
        plan = replace(PLAN, attributes={**PLAN.attributes, "zip": ko.Attribute("quasi-identifying")})
        release = table(("[20-29]", "m", "flu"), ("[20-29]", "m", "stroke"))
        for when, hurt in (("25", (0, 1)), ("31", (0, 0)), ("[20-40]", (1, 1)), ("[25-40]", (0, 1))):
            attack = known(release, (["stroke"], {"zip": when}), plan=plan)
            assert (attack.hurt, attack.facts["at_most"]) == hurt, when

    def test_two_sensitive_attributes_are_one_person(self):
        plan = replace(PLAN, attributes={**PLAN.attributes, "drug": ko.Attribute("sensitive")})
        release = table(("11", "{f, m}", "flu"), ("11", "{f, m}", "malaria")).with_columns(drug=pl.Series(["a", "b"]))
        knowledge = [
            Knowledge("diagnosis", ["malaria"], {"sex": "m"}),
            Knowledge("drug", ["b"], {"sex": "f"}),
        ]
        attack = background_knowledge_attack(release, plan, knowledge=knowledge)
        assert attack.hurt == 1  # a man's diagnosis or a woman's drug: one of them is known

    @pytest.mark.parametrize("limit", ["kinds_of_people.MOST_KINDS", "background_knowledge.MOST_STEPS"])
    def test_too_many_kinds_of_people_are_refused(self, limit, monkeypatch):
        monkeypatch.setattr(f"kohorte.attacks.{limit}", 3)
        entries = [([f"d{n}"], {"zip": f"1{n}"}) for n in range(4)]
        with pytest.raises(ko.InputError) as caught:
            known(table(("1*", "m", "flu"), ("1*", "m", "d1")), *entries)
        assert caught.value.code == "attack-too-large"


class TestKnowledgeThatAppliesToNothing:
    RELEASE = table(("11", "m", "flu"), ("11", "m", "malaria"))

    @pytest.mark.parametrize("value", [True, 1.5, None, ["flu"], {"a": "b"}])
    def test_a_value_that_is_no_text_is_refused(self, value):
        for build in (
            lambda: Knowledge("diagnosis", [value]),
            lambda: Knowledge("diagnosis", ["flu"], {"zip": value}),
        ):
            with pytest.raises(ko.InputError) as caught:
                build()
            assert caught.value.code == "knowledge-entry"
            assert "1.5" not in caught.value.message

    def test_whole_numbers_are_what_the_table_shows(self):
        assert Knowledge("diagnosis", [5], {"zip": 11}) == Knowledge("diagnosis", ["5"], {"zip": "11"})

    def test_the_file_names_the_entry_by_its_number(self, tmp_path):
        path = tmp_path / "knowledge.yaml"
        entry = "  - {attribute: diagnosis, excludes: [%s]}\n"
        path.write_text("kohorte: 1\nknowledge:\n" + entry % "flu" + entry % "1.75")
        with pytest.raises(ko.InputError, match="entry 2: excludes: a value is a number with a point") as caught:
            read_knowledge(path)
        assert "1.75" not in caught.value.message

    def test_misspelt_values_are_noted_by_entry_and_never_quoted(self):
        attack = known(self.RELEASE, (["malaria"], {"sex": "m"}), (["malaira", "flu"], {"sex": "mael"}))
        assert attack.hurt == 1
        assert attack.facts["knowledge"] == [
            {"entry": 1, "attribute": "diagnosis", "classes": 1, "rows": 2},
            {"entry": 2, "attribute": "diagnosis", "classes": 0, "rows": 0},
        ]
        assert attack.notes[:3] == (
            "entry 2: 1 of 2 excluded values is not in the column 'diagnosis'",
            "entry 2: no row shows its value of 'sex'",
            "entry 2 cannot be used in any class",
        )
        assert attack.to_dict()["notes"] == list(attack.notes)
        assert not {"malaira", "mael"} & set(" ".join(attack.notes).replace("'", " ").split())

    @pytest.mark.parametrize(
        ("excludes", "when"), [(["malaira"], {}), (["flu"], {"born": "Tuesday"}), (["flu", "gout"], {"born": "1.1.90"})]
    )
    def test_a_value_that_the_hierarchy_does_not_know_is_an_error(self, excludes, when):
        plan = ko.Plan(
            attributes={
                "born": ko.Attribute("quasi-identifying", Dates(format="%Y-%m-%d")),
                "diagnosis": ko.Attribute("sensitive", Tree({"any": ["flu", "malaria"]})),
            },
            models=[KAnonymity(2)],
        )
        release = pl.DataFrame({"born": ["1990", "1990"], "diagnosis": ["flu", "malaria"]})
        good = Knowledge("diagnosis", ["flu"], {"born": "1990-05-01"})
        assert background_knowledge_attack(release, plan, knowledge=[good]).facts["at_most"] == 1
        with pytest.raises(ko.InputError, match="entry 2 of the knowledge") as caught:
            background_knowledge_attack(release, plan, knowledge=[good, Knowledge("diagnosis", excludes, when)])
        assert caught.value.code == "knowledge-value"
        assert not {"malaira", "Tuesday", "gout", "1.1.90"} & set(caught.value.message.split())
