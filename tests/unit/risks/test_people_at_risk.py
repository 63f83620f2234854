"""The risk of people against the definitions in plain Python, on random tables with several rows for one person."""

import random
from collections import Counter
from fractions import Fraction
from itertools import combinations

import polars as pl
import pytest

import kohorte as ko
from kohorte.estimators import ESTIMATORS, Sample
from kohorte.models import KAnonymity
from kohorte.risks import RiskPolicy, compare_risks
from kohorte.risks.distribution import LOWER_ENDS
from support.risk_oracle import PeopleAtRisk, Stay

NAMES = ("a", "b", "c")
KNOWS = ("one_row", "all_rows", "linked")
SEEDS = range(12)


@pytest.fixture(autouse=True)
def no_suspected_identifiers(monkeypatch):
    """Looking for identifiers takes most of the time, and counts nothing."""
    monkeypatch.setattr("kohorte.risks.profile.suspected_identifiers", lambda table, plan: ())


def plan(knows="one_row", person="patient"):
    more = {"linked_by": "case"} if knows == "linked" else {}
    if person == "patient" and knows == "all_rows":
        person = {"column": "patient", "attacker_knows": "all_rows"}
    return ko.Plan(
        attributes={
            "patient": {"role": "identifying"},
            **{name: {"role": "quasi-identifying"} for name in NAMES},
            "case": {"role": "insensitive"},
        },
        models=[KAnonymity(2)],
        suppression_limit=1.0,
        person=person,
        **more,
    )


def stays(seed):
    """Random stays of a few people, some suppressed; cases belong to one person each."""
    chance = random.Random(seed)
    people, found = chance.randint(2, 9), []
    for _ in range(chance.randint(3, 24)):
        person = f"p{chance.randrange(people)}"
        cells = tuple(chance.choice(["x", "y", "z", None]) for _ in NAMES)
        cells = ("*", "*", "*") if chance.random() < 0.1 else cells
        found.append(Stay(person, cells, f"{person}/{chance.randrange(2)}"))
    return found


def frame(rows):
    return pl.DataFrame(
        [(stay.person, *stay.cells, "*" if set(stay.cells) == {"*"} else stay.link) for stay in rows],
        schema=dict.fromkeys(("patient", *NAMES, "case"), pl.String),
        orient="row",
    )


def both(seed, knows, **options):
    """The profile of the raw table, and the definition."""
    rows = stays(seed)
    oracle = PeopleAtRisk(rows, len(NAMES), sets=knows == "all_rows", links=knows == "linked")
    return ko.risk(frame(rows), plan(knows), **options), oracle


@pytest.mark.parametrize("knows", KNOWS)
@pytest.mark.parametrize("seed", SEEDS)
class TestByDefinition:
    def test_the_prosecutor(self, seed, knows):
        threshold = random.Random(seed).choice([0.2, 0.25, 0.5, 1.0])
        profile, oracle = both(seed, knows, threshold=threshold)
        prosecutor, risks = profile.attackers.prosecutor, oracle.risks
        if not risks:
            assert prosecutor.count == 0
            return
        assert prosecutor.average_risk == prosecutor.success_rate == pytest.approx(float(sum(risks) / len(risks)))
        assert (prosecutor.highest_risk, prosecutor.lowest_risk) == (float(max(risks)), float(min(risks)))
        assert prosecutor.at_highest_risk == risks.count(max(risks))
        assert prosecutor.at_lowest_risk == risks.count(min(risks))
        assert prosecutor.above_threshold == sum(float(risk) > threshold for risk in risks)
        assert prosecutor.count == profile.counted == len(oracle.people)
        assert "people_above_threshold" in prosecutor.to_dict()
        assert not any("rows" in name for name in prosecutor.to_dict())

    def test_people_rows_and_classes(self, seed, knows):
        profile, oracle = both(seed, knows)
        everybody = {stay.person for stay in oracle.stays}
        assert (profile.people, profile.people_losing_all_rows) == (len(everybody), len(everybody - oracle.people))
        assert (profile.rows, profile.suppressed) == (len(oracle.stays), len(oracle.stays) - len(oracle.kept))
        assert profile.classes == len({stay.cells for stay in oracle.kept})
        assert profile.smallest_class == min(oracle.fewest_alike.values(), default=None)
        assert profile.to_dict()["unit"] == "people"
        assert profile.to_dict()["judged_by"] == ("people" if knows == "one_row" else "sets")

    def test_the_distribution(self, seed, knows):
        profile, oracle = both(seed, knows)
        upper = [Fraction(101), *map(Fraction, LOWER_ENDS[:-1])]
        for interval, low, high in zip(profile.distribution, map(Fraction, LOWER_ENDS), upper, strict=True):
            here = sum(low <= 100 * risk < high for risk in oracle.risks)
            assert interval.count == here
            assert interval.share == pytest.approx(here / len(oracle.people) if oracle.people else 0)
            assert set(interval.to_dict()) >= {"people", "people_with_risk_within_interval"}
        assert sum(interval.count for interval in profile.distribution) == len(oracle.people)

    def test_uniques_and_attribute_sets(self, seed, knows):
        profile, oracle = both(seed, knows)
        assert profile.uniqueness.sample_uniques == len(oracle.unique_by(oracle.everything))
        minimal = oracle.minimal(3)
        sets = [chosen for size in (1, 2, 3) for chosen in combinations(range(3), size)]
        assert [found.attributes for found in profile.attribute_sets] == [
            tuple(NAMES[column] for column in chosen) for chosen in sets
        ]
        for found, chosen in zip(profile.attribute_sets, sets, strict=True):
            assert found.uniques == len(oracle.unique_by(chosen))
            assert found.singled_out == len({person for (person, _), own in minimal.items() if chosen in own})
            if oracle.people:
                assert found.distinction == pytest.approx(float(oracle.distinction(chosen)))
                assert found.separation == pytest.approx(float(oracle.separation(chosen)))

    def test_special_uniques(self, seed, knows):
        largest = random.Random(seed).choice([1, 2, 3])
        profile, oracle = both(seed, knows, largest_set=largest)
        special, minimal = profile.special_uniques, oracle.minimal(largest)
        assert special.count == special.to_dict()["people"] == len({person for person, _ in minimal})
        pairs = {(person, chosen) for (person, _), own in minimal.items() for chosen in own}
        assert special.of_size == {
            size: sum(len(chosen) == size for _, chosen in pairs) for size in range(1, largest + 1)
        }
        assert special.highest_score == max(oracle.scores(largest).values(), default=0)
        for column, name in enumerate(NAMES):
            assert special.contributions[name] == pytest.approx(float(oracle.contribution(column, largest)))

    def test_the_rows_at_the_highest_risk(self, seed, knows):
        profile, oracle = both(seed, knows)
        listed = profile.riskiest_rows(len(oracle.stays))
        assert len(listed) == len(oracle.kept)
        groups, minimal = oracle.alike(oracle.everything), oracle.minimal(3)
        for risky in listed:
            stay = oracle.stays[risky.row - 1]
            look = stay.cells if knows == "one_row" else next(iter(oracle.looks(stay.person, oracle.everything)))
            assert risky.class_size == len(groups[look])
            own = sorted(minimal.get((stay.person, look), ()), key=lambda chosen: (len(chosen), chosen))
            assert risky.singled_out_by == tuple(tuple(NAMES[column] for column in chosen) for chosen in own[:5])
            for left_out, name in enumerate(NAMES):
                others = tuple(column for column in range(3) if column != left_out)
                seen = oracle.alike(others)
                if knows == "one_row":
                    alike = seen[tuple(stay.cells[column] for column in others)]
                else:
                    alike = seen[next(iter(oracle.looks(stay.person, others)))]
                assert risky.alike_without[name] == len(alike)
        assert [risky.class_size for risky in listed] == sorted(risky.class_size for risky in listed)
        assert all("people" in one for risky in listed for one in risky.to_dict()["alike_without"])

    def test_the_estimators_get_the_people_of_each_group(self, seed, knows):
        profile, oracle = both(seed, knows, sampling_fraction=0.25)
        sizes = [len(people) for people in oracle.alike(oracle.everything).values()]
        everybody = len({stay.person for stay in oracle.stays})
        uniqueness = profile.uniqueness
        assert uniqueness.population_size == everybody / 0.25
        for estimate in uniqueness.estimates:
            found = ESTIMATORS[estimate.estimator](Sample.of(sizes, 0.25)).uniques
            if found is None:
                assert estimate.uniques is None
            else:
                assert estimate.uniques == pytest.approx(min(found, everybody / 0.25))
        singles = [alike for alike in oracle.fewest_alike.values() if alike == 1]
        pairs = [alike for alike in oracle.fewest_alike.values() if alike == 2]
        if singles:
            expected = len(singles) * 0.25 / (len(singles) * 0.25 + len(pairs) * 0.75)
            assert profile.special_uniques.dis == pytest.approx(expected)
        else:
            assert profile.special_uniques.dis is None


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_with_a_table_of_the_population_everything_is_counted(seed, several):
    """One row for each person, or several with the column that says whom they are about."""
    chance = random.Random(seed)
    rows = [stay for stay in stays(seed) if not stay.suppressed]
    if not several:
        rows = list({stay.person: stay for stay in rows}.values())
    strangers = [Stay(f"q{chance.randrange(9)}", tuple(chance.choice("xyz") for _ in NAMES)) for _ in range(20)]
    pool = [*rows, *strangers] if several else [*rows, *(Stay(f"q{n}", s.cells) for n, s in enumerate(strangers))]
    population = frame(pool) if several else frame(pool).drop("patient")
    profile = ko.risk(frame(rows), plan(), population=population.sample(fraction=1, shuffle=True, seed=seed))
    alike = PeopleAtRisk(pool, 3).alike((0, 1, 2))
    risks = list(PeopleAtRisk(rows, 3).risks_by(Counter({look: len(found) for look, found in alike.items()})).values())
    journalist = profile.attackers.journalist
    assert journalist.highest_risk == float(max(risks))
    assert journalist.at_highest_risk == risks.count(max(risks))
    assert journalist.average_risk == pytest.approx(float(sum(risks) / len(risks)))
    unique = PeopleAtRisk(pool, 3).unique_by((0, 1, 2))
    assert profile.uniqueness.population_uniques == len(unique)
    assert profile.uniqueness.unique_in_both == len(unique & {stay.person for stay in rows})
    assert profile.uniqueness.population_size == len({stay.person for stay in pool})


def test_people_judged_by_all_rows_are_not_looked_up_in_a_population():
    rows = stays(1)
    with pytest.raises(ko.InputError) as caught:
        ko.risk(frame(rows), plan("all_rows"), population=frame(rows))
    assert caught.value.code == "risk-population-sets"


@pytest.mark.parametrize("seed", range(6))
def test_where_every_row_is_a_person_no_figure_changes(seed):
    rows = [Stay(f"p{number}", stay.cells) for number, stay in enumerate(stays(seed))]
    in_people = ko.risk(frame(rows), plan(), sampling_fraction=0.2).to_dict(rows=5)
    in_rows = ko.risk(frame(rows), plan(person="none"), sampling_fraction=0.2).to_dict(rows=5)
    assert _without_names(in_people) == _without_names(in_rows)


def _without_names(found):
    """The figures, with one name for rows, records and people."""
    if isinstance(found, dict):
        left = {
            name: value for name, value in found.items() if name not in ("unit", "judged_by", "people_losing_all_rows")
        }
        if "quasi_identifiers" in left:
            left.pop("people")
        names = {
            name.replace("people_unique_in_table_and_population", "rows_unique_in_population"): name for name in left
        }
        return {
            name.replace("records", "rows").replace("people", "rows"): _without_names(left[own])
            for name, own in names.items()
        }
    return [_without_names(one) for one in found] if isinstance(found, list) else found


class TestReleases:
    """A release lacks the column that says whom a row is about."""

    @pytest.mark.parametrize("knows", KNOWS)
    @pytest.mark.parametrize("seed", SEEDS)
    def test_with_its_original_it_has_the_figures_of_its_people(self, seed, knows):
        rows = stays(seed)
        if any(stay.suppressed for stay in rows):  # rows with the cells of a suppressed row would be suppressed, too
            hidden = {stay.person for stay in rows if stay.suppressed}
            rows = [stay for stay in rows if stay.person not in hidden]
        if not rows:
            return
        released = frame(rows).drop("patient").sample(fraction=1, shuffle=True, seed=seed)
        raw, after = ko.risk(frame(rows), plan(knows)), ko.risk(released, plan(knows), original=frame(rows))
        assert after.to_dict() == raw.to_dict()

    @pytest.mark.parametrize("seed", range(6))
    def test_a_row_of_unknown_person_has_the_highest_risk_of_its_class(self, seed):
        rows = [stay for stay in stays(seed) if not stay.suppressed]
        oracle = PeopleAtRisk(rows, len(NAMES), sets=True)
        profile = ko.risk(frame(rows).drop("patient"), plan("all_rows"), original=frame(rows))
        for risky in profile.riskiest_rows(len(rows)):
            cells = rows[risky.row - 1].cells
            assert risky.class_size == min(oracle.fewest_alike[stay.person] for stay in rows if stay.cells == cells)

    @pytest.mark.parametrize("knows", ["one_row", "all_rows"])
    @pytest.mark.parametrize("seed", range(4))
    def test_a_release_just_made_has_the_figures_of_its_people(self, seed, knows):
        chance = random.Random(seed)
        cells = [tuple(chance.choice("xy") for _ in NAMES) for _ in range(40)]
        table = frame([Stay(f"p{chance.randrange(20)}", own, f"c{n}") for n, own in enumerate(cells)])
        release = ko.anonymize(table, plan(knows))
        profile = ko.risk(release, plan(knows))
        assert profile.unit.many == "people"
        assert profile.smallest_class == release.verification.smallest_class
        assert profile.people == table["patient"].n_unique()
        assert profile.people_losing_all_rows == release.verification.people_losing_all_rows
        if knows == "one_row":
            told = ko.risk(release.data, plan(knows), original=table)
            assert told.to_dict(rows=4) == profile.to_dict(rows=4)

    def test_without_either_rows_are_counted_and_it_says_so(self):
        profile = ko.risk(frame(stays(2)).drop("patient"), plan())
        assert profile.people_not_counted
        assert profile.to_dict()["people_not_counted"] is True
        assert (profile.to_dict()["unit"], profile.people) == ("rows", None)
        assert "rows_above_threshold" in profile.to_dict()["attackers"]["prosecutor"]

    def test_people_and_rows_are_not_compared(self):
        raw, released = frame(stays(2)), frame(stays(2)).drop("patient")
        with pytest.raises(ko.InputError, match="one profile counts people and the other rows") as caught:
            compare_risks(ko.risk(raw, plan()), ko.risk(released, plan()))
        assert caught.value.code == "risk-compare"
        in_rows = compare_risks(ko.risk(raw, plan(), in_rows=True), ko.risk(released, plan()))
        assert in_rows.before.people_not_counted
        in_people = compare_risks(ko.risk(raw, plan()), ko.risk(released, plan(), original=raw))
        names = [name for name, *_ in in_people.figures]
        assert {"unique_people", "people_above_threshold", "special_unique_people", "people"} <= set(names)
        assert not any("unique_rows" in name or "records" in name for name in names)


class TestTablesOfTheSpecification:
    def test_a_class_of_ten_rows_of_three_patients(self):
        """203 rows of 128 patients: one class has ten rows of three patients, all others five people or more."""
        rows = [Stay(f"p{number % 3}", ("x", "x", "x")) for number in range(10)]
        rows += [Stay(f"p{3 + number % 125}", ("y", "y", "y")) for number in range(193)]
        profile = ko.risk(frame(rows), plan())
        assert (profile.rows, profile.people, profile.classes, profile.smallest_class) == (203, 128, 2, 3)
        prosecutor = profile.attackers.prosecutor
        assert prosecutor.highest_risk == 1 / 3
        assert (prosecutor.at_highest_risk, prosecutor.above_threshold) == (3, 3)
        assert prosecutor.average_risk == pytest.approx(2 / 128)
        in_rows = ko.risk(frame(rows), plan(person="none"))
        assert in_rows.smallest_class == 10

    def test_a_class_of_a_thousand_rows_of_one_person(self):
        rows = [Stay("p", ("x", "x", "x"))] * 1000 + [Stay(f"q{number}", ("y", "y", "y")) for number in range(10)]
        profile = ko.risk(frame(rows), plan(), population_size=1_100)
        assert profile.smallest_class == profile.uniqueness.sample_uniques == 1
        assert profile.attackers.prosecutor.highest_risk == 1
        assert profile.attackers.prosecutor.above_threshold == 1
        assert profile.attackers.prosecutor.average_risk == pytest.approx(2 / 11)
        assert profile.uniqueness.sampling_fraction == 11 / 1_100
        assert profile.special_uniques.count == 1
        assert profile.riskiest_rows(1)[0].singled_out_by == (("a",), ("b",), ("c",))

    def test_a_population_smaller_than_the_people_is_refused_not_smaller_than_the_rows(self):
        rows = [Stay("p", ("x", "x", "x"))] * 1000 + [Stay("q", ("x", "x", "x"))]
        assert ko.risk(frame(rows), plan(), population_size=2).people == 2
        with pytest.raises(ko.InputError, match="fewer than the 2 people"):
            ko.risk(frame(rows), plan(), population_size=1)


def test_a_policy_weighs_people_where_people_are_counted():
    rows = [Stay("p", ("x", "x", "x"))] * 5 + [Stay("q", ("y", "y", "y")), Stay("r", ("y", "y", "y"))]
    policy = RiskPolicy({"records_affected_by_highest_prosecutor_risk": 1})
    weighted = ko.risk(frame(rows), plan(), policy=policy).weighted
    assert weighted.risk == pytest.approx(1 / 3)  # one of three people; five of seven rows
    assert weighted.parts[0][0] == "people_affected_by_highest_prosecutor_risk"
    assert ko.risk(frame(rows), plan(person="none"), policy=policy).weighted.risk == pytest.approx(2 / 7)
