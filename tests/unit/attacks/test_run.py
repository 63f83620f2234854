"""Several attacks in one run: which are skipped and why, and what is refused."""

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import (
    Knowledge,
    linkage_attack,
    read_knowledge,
    run_attacks,
    unsorted_matching_attack,
)
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


class TestSkippedAttacks:
    def test_every_attack_that_was_not_run_is_named_with_reason_and_remedy(self):
        attacks = run_attacks(table(("11", "m", "flu"), ("11", "m", "malaria")), PLAN)
        assert [attack.name for attack in attacks] == ["homogeneity", "background knowledge", "skewness"]
        assert {skipped.name: skipped.give for skipped in attacks.skipped} == {
            "linkage": "--register FILE (register=)",
            "similarity": "a hierarchy for a sensitive attribute, in the plan",
            "unsorted matching": "--release FILE (other_release=)",
            "complementary release": "--release FILE (other_release=)",
            "rows of one person": "person in the plan, the column that says whom a row is about",
        }
        assert all(skipped.reason for skipped in attacks.skipped)
        assert set(attacks.to_dict()) == {"attacks", "skipped", "open_points"}

    def test_an_attack_that_would_take_too_long_is_skipped_and_the_others_run(self, monkeypatch):
        monkeypatch.setattr("kohorte.risks.shown.compatible.MOST_WORDS", 1)
        release = table(("1*", "m", "flu"), ("11", "m", "malaria"), ("*", "m", "flu"))
        attacks = run_attacks(release, PLAN, register=table(("11", "m", ""), ("12", "m", ""), ("13", "f", "")))
        assert {skipped.name: skipped.give for skipped in attacks.skipped}["linkage"].startswith("a part of the rows")
        assert len(attacks) == 3

    def test_without_a_sensitive_attribute_nothing_is_run(self):
        attacks = run_attacks(table(("11", "m", "flu")).drop("diagnosis"), PLAN)
        assert (len(attacks), len(attacks.skipped)) == (0, 8)

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            ({"only": 5}, "attack-parameter"),
            ({"only": "linkage"}, "attack-parameter"),
            ({"only": []}, "attack-parameter"),
            ({"only": [5]}, "attack-unknown"),
            ({"knowledge": 5}, "knowledge-entry"),
            ({"knowledge": []}, "knowledge-entry"),
            ({"knowledge": "flu"}, "knowledge-entry"),
            ({"knowledge": ["flu"]}, "knowledge-entry"),
            ({"only": ["homogeneity"], "knowledge": 5}, "knowledge-entry"),
            ({"register": 5}, "frame-unknown"),
            ({"other_release": 5}, "frame-unknown"),
        ],
    )
    def test_wrong_types_are_refused_with_a_code(self, options, code):
        with pytest.raises(ko.InputError) as caught:
            run_attacks(table(("11", "m", "flu")), PLAN, **options)
        assert caught.value.code == code

    @pytest.mark.parametrize("on", [5, "zip", []])
    def test_wrong_columns_of_linkage_are_refused(self, on):
        with pytest.raises(ko.InputError) as caught:
            linkage_attack(table(("11", "m", "flu")), PLAN, table(("11", "m", "flu")), on=on)
        assert caught.value.code == "attack-parameter"

    def test_wrong_types_of_knowledge_are_refused(self):
        for call, code in (
            (lambda: read_knowledge(5), "knowledge-unreadable"),
            (lambda: Knowledge(5, ["flu"]), "knowledge-entry"),
            (lambda: Knowledge("diagnosis", ["flu"], {5: "m"}), "knowledge-entry"),
        ):
            with pytest.raises(ko.InputError) as caught:
                call()
            assert caught.value.code == code

    def test_a_wrong_second_release_is_named_as_such(self):
        with pytest.raises(ko.InputError, match=r"^the other release: "):
            run_attacks(table(("11", "m", "flu")), PLAN, other_release=pl.DataFrame({"fruit": ["apple"]}))

    def test_where_all_rows_are_suppressed_there_is_nothing_to_join(self):
        release = table(("*", "*", "flu"), ("*", "*", "malaria"))
        attack = unsorted_matching_attack(release, PLAN, release)
        assert (attack.hurt, attack.rows_tried) == (0, 0)
        assert "nothing to join" in attack.how
