"""The attack with all rows of one person, by hand and against the definition in plain Python."""

import random
from collections import Counter, defaultdict

import polars as pl
import pytest

import kohorte as ko
from kohorte.attacks import rows_of_one_person_attack, run_attacks
from kohorte.models import KAnonymity
from kohorte.models.diversity.l_diversity_distinct import DistinctLDiversity
from kohorte.release.telling import one_person


def plan(k=2, person="patient", limit=0.0, models=(), **more):
    return ko.Plan(
        attributes={
            "patient": {"role": "identifying"},
            "ward": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
            "sex": {"role": "quasi-identifying"},
            "blood": {"role": "sensitive"},
        }
        | more.pop("attributes", {}),
        models=[KAnonymity(k), *models],
        suppression_limit=limit,
        person=person,
        **more,
    )


def table(*rows):
    return pl.DataFrame(rows, schema=["patient", "ward", "sex", "blood"], orient="row")


def brute_force(original, shown, k):
    """People with fewer than k alike, alone, and with one value left, by the definition."""
    classes, values, own = defaultdict(set), defaultdict(set), defaultdict(set)
    for (person, _, _, blood), cells in zip(original, shown, strict=True):
        own[person].add(blood)
        if set(cells) != {"*"}:
            classes[person].add(cells)
            values[cells].add(blood)
    alike = Counter(frozenset(found) for found in classes.values())
    few = {person for person, found in classes.items() if alike[frozenset(found)] < k}
    alone = {person for person, found in classes.items() if alike[frozenset(found)] == 1}
    single = {
        person
        for person, found in classes.items()
        if len(own[person]) == 1 and None not in own[person] and len(set.intersection(*(values[c] for c in found))) == 1
    }
    return len(few), len(alone), len(single), len(few | single)


class TestByHand:
    ROWS = (
        ("p", "a", "f", "A"),
        ("p", "b", "f", "A"),
        ("q", "a", "f", "B"),
        ("r", "b", "f", "0"),
        ("s", "c", "m", "A"),
        ("t", "c", "m", "B"),
    )

    def test_two_diverse_classes_together_tell_the_value(self):
        original = table(*self.ROWS)
        attack = rows_of_one_person_attack(original.drop("patient"), plan(), original)
        assert attack.hurt == 3  # p, q and r are each alone with their classes; only p has one value left
        assert {name: attack.facts[name] for name in ("people", "k", "fewer_than_k", "alone")} == {
            "people": 5,
            "k": 2,
            "fewer_than_k": 3,
            "alone": 3,
        }
        assert attack.facts["values"] == [
            {
                "attribute": "blood",
                "people_with_several_rows": 1,
                "constant": 1,
                "single_value": 1,
                "by_one_class": 0,
            }
        ]

    def test_a_value_that_changes_is_not_told(self):
        original = table(("p", "a", "f", "A"), ("p", "b", "f", "B"), *self.ROWS[2:])
        attack = rows_of_one_person_attack(original.drop("patient"), plan(), original)
        assert attack.facts["values"][0]["constant"] == 0
        assert attack.facts["values"][0]["single_value"] == 0

    def test_only_people_whose_value_stays_the_same_cost_work(self, monkeypatch):
        """On 200,000 rows of 80,000 people, laying all classes over each other took 40 s and 3 GB."""
        laid, lay = [], one_person._left
        monkeypatch.setattr(one_person, "_left", lambda kept, sets, name: laid.append(sets) or lay(kept, sets, name))
        original = table(("p", "a", "f", "A"), ("p", "b", "f", "B"), *self.ROWS[2:])
        rows_of_one_person_attack(original.drop("patient"), plan(), original)
        (sets,) = laid
        assert sets.height == 4  # all but p

    def test_a_class_of_a_thousand_rows_of_one_person_hurts_this_person(self):
        rows = [("p", "a", "f", "A")] * 1000 + [("q", "c", "m", "B"), ("r", "c", "m", "A")]
        original = table(*rows)
        attack = rows_of_one_person_attack(original.drop("patient"), plan(), original)
        assert (attack.facts["people"], attack.facts["alone"], attack.hurt) == (3, 1, 1)
        assert attack.rows_tried == 1002
        assert attack.facts["values"][0]["by_one_class"] == 1

    def test_a_tie_between_rows_tells_people_apart_by_their_multisets(self):
        rows = [("p", "a", "f", "A", "1"), ("p", "a", "f", "B", "1"), ("q", "a", "f", "A", "2")]
        original = pl.DataFrame(rows, schema=["patient", "ward", "sex", "blood", "case"], orient="row")
        tied = plan(attributes={"case": {"role": "insensitive"}}, linked_by="case")
        untied = plan(attributes={"case": {"role": "insensitive"}})
        released = original.drop("patient")
        assert rows_of_one_person_attack(released, tied, original).facts["alone"] == 2
        assert rows_of_one_person_attack(released, untied, original).facts["alone"] == 0


class TestAgainstTheDefinition:
    @pytest.mark.parametrize("seed", range(40))
    def test_random_releases(self, seed):
        chance = random.Random(seed)
        rows = [
            (
                f"p{chance.randrange(8)}",
                chance.choice("abcd"),
                chance.choice("fm"),
                chance.choice(["A", "B", "0", None]),
            )
            for _ in range(chance.randint(6, 30))
        ]
        k, wards = chance.choice((2, 3)), chance.sample("abcd", chance.randint(0, 2))
        shown = [("*", "*") if ward in wards else (ward, sex) for _, ward, sex, _ in rows]
        released = pl.DataFrame(
            [(*cells, blood) for cells, (*_, blood) in zip(shown, rows, strict=True)],
            schema=["ward", "sex", "blood"],
            orient="row",
        ).sample(fraction=1, shuffle=True, seed=seed)
        attack = rows_of_one_person_attack(released, plan(k, limit=1.0), table(*rows))
        facts = attack.facts
        found = (facts["fewer_than_k"], facts["alone"], facts["values"][0]["single_value"], attack.hurt)
        assert found == brute_force(rows, shown, k)

    @pytest.mark.parametrize("seed", range(10))
    def test_more_values_than_fit_into_one_number(self, seed):
        chance = random.Random(seed)
        blood = {f"p{person}": str(chance.randrange(150)) for person in range(150)}
        people = [chance.choice(list(blood)) for _ in range(900)]
        rows = [(person, chance.choice("abcdefgh"), chance.choice("fm"), blood[person]) for person in people]
        shown = [(ward, sex) for _, ward, sex, _ in rows]
        attack = rows_of_one_person_attack(table(*rows).drop("patient"), plan(limit=1.0), table(*rows))
        facts = attack.facts
        found = (facts["fewer_than_k"], facts["alone"], facts["values"][0]["single_value"], attack.hurt)
        assert found == brute_force(rows, shown, 2)
        assert 0 < found[2] < len(set(people))

    @pytest.mark.parametrize("knowledge", ["one_row", "all_rows"])
    def test_a_release_has_the_count_of_its_own_people(self, knowledge):
        patients = many_stays(203, 128)
        models = [DistinctLDiversity("blood", 2)]
        own = plan(3, {"column": "patient", "attacker_knows": knowledge}, models=models)
        release = ko.anonymize(patients, own)
        count = release.rows_of_one_person
        assert count.to_dict().items() <= dict(rows_of_one_person_attack(release.data, own, patients).facts).items()
        assert release.to_dict()["rows_of_one_person"] == count.to_dict()
        assert (count.fewer_than_k == 0) == (knowledge == "all_rows")

    def test_the_certificate_names_the_people_as_an_open_point(self):
        release = ko.anonymize(many_stays(203, 128), plan(3, limit=0.5))
        assert release.rows_of_one_person.people_hurt
        told = ko.certify(release)
        assert any("knows all rows of a person" in warning for warning in told.facts["warnings"])
        assert release.rows_of_one_person.people_hurt == 33
        assert told.facts["release"]["rows_of_one_person"]["people_hurt"] == "about 30"


def many_stays(rows, people):
    chance = random.Random(9)
    blood = {number: chance.choice("AB0") for number in range(people)}
    whom = [*range(people), *(chance.randrange(people) for _ in range(rows - people))]
    return table(*((f"p{n}", chance.choice(["11", "12", "21", "22"]), chance.choice("fm"), blood[n]) for n in whom))


class TestRefused:
    def test_a_plan_that_counts_rows_has_no_rows_of_one_person(self):
        original = table(*TestByHand.ROWS)
        with pytest.raises(ko.InputError) as caught:
            rows_of_one_person_attack(original.drop("patient"), plan(person=None), original)
        assert caught.value.code == "attack-no-person"
        assert ko.anonymize(original, plan(person="none")).rows_of_one_person is None

    def test_the_table_of_other_rows_is_refused(self):
        original = table(*TestByHand.ROWS)
        with pytest.raises(ko.InputError) as caught:
            rows_of_one_person_attack(original.drop("patient"), plan(), table(*TestByHand.ROWS[1:]))
        assert caught.value.code == "people-unclear"

    def test_rows_that_fit_several_classes_are_refused(self):
        original = table(*TestByHand.ROWS)
        released = original.drop("patient").with_columns(ward=pl.Series(["a", "*", "a", "b", "*", "c"]))
        with pytest.raises(ko.InputError) as caught:
            rows_of_one_person_attack(released, plan(), original)
        assert caught.value.code == "people-unclear"

    def test_without_the_original_table_the_attack_is_skipped_and_says_so(self):
        released = table(*TestByHand.ROWS).drop("patient")
        skipped = {attack.name: attack.give for attack in run_attacks(released, plan()).skipped}
        assert skipped["rows of one person"] == "--original FILE (original=)"


def test_other_attacks_say_that_they_count_rows_where_the_plan_counts_people():
    rows = table(("a", "x", "f", "0"), ("a", "x", "f", "0"), ("b", "x", "f", "0"))
    counted = run_attacks(rows.drop("patient"), plan(), only=["homogeneity"])
    assert any("counts rows, not people" in note for note in counted[0].notes)
    stated = run_attacks(rows.drop("patient"), plan(person="none"), only=["homogeneity"])
    assert not stated[0].notes
    own = run_attacks(rows.drop("patient"), plan(), only=["rows-of-one-person"], original=rows)
    assert not own[0].notes
