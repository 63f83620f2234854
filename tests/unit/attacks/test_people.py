"""Attacks that count people, against definitions in plain Python, on random tables of people with several rows."""

import random
from collections import Counter, defaultdict
from fractions import Fraction

import polars as pl
import pytest

from kohorte.attacks import (
    Knowledge,
    background_knowledge_attack,
    complementary_release_attack,
    homogeneity_attack,
    linkage_attack,
    run_attacks,
    similarity_attack,
    skewness_attack,
    unsorted_matching_attack,
)
from support.wards import KINDS, frame, plan

KNOWLEDGE = (
    Knowledge("diagnosis", ["flu"], {"sex": "m"}),
    Knowledge("diagnosis", ["ulcer", "colic"], {"sex": "f"}),
)


class Random:
    """Random rows (patient, ward, sex, diagnosis), and how a release shows them: some wards coarser or suppressed."""

    def __init__(self, seed, *, people=None):
        chance = random.Random(seed)
        number = chance.randint(4, 30)
        people = people or max(2, number // chance.randint(1, 4))
        values = chance.choice((["flu", "asthma"], [*KINDS], [*KINDS, None]))
        self.rows = [
            (
                f"p{chance.randrange(people)}",
                chance.choice(["11", "12", "21", "22", "31"]),
                chance.choice("mf"),
                chance.choice(values),
            )
            for _ in range(number)
        ]
        if people >= number:
            self.rows = [(f"p{at}", *own) for at, (_, *own) in enumerate(self.rows)]
        self.chance = chance
        self.shown = [self.cells(row) for row in self.rows]

    def cells(self, row, *, coarse="23", gone=()):
        _, ward, sex, _ = row
        if ward[0] in gone:
            return ("*", "*")
        return (f"{ward[0]}*", "*") if ward[0] in coarse else (ward, sex)

    @property
    def original(self):
        return frame(self.rows)

    def release(self, shown=None, *, shuffled=True):
        rows = [(*cells, value) for cells, (*_, value) in zip(shown or self.shown, self.rows, strict=True)]
        table = pl.DataFrame(rows, schema=dict.fromkeys(["ward", "sex", "diagnosis"], pl.String), orient="row")
        return table.sample(fraction=1, shuffle=True, seed=1) if shuffled else table

    @property
    def classes(self):
        """The (person, value) pairs of each class, without suppressed rows."""
        found = defaultdict(list)
        for (person, *_, value), cells in zip(self.rows, self.shown, strict=True):
            if cells != ("*", "*"):
                found[cells].append((person, value))
        return found

    @property
    def everybody(self):
        return [member for members in self.classes.values() for member in members]


def people(members):
    return {person for person, _ in members}


def holders(members):
    return Counter(value for _, value in set(members))


def common(members):
    """The known values that everybody in a class has."""
    return {value for value, count in holders(members).items() if value is not None and count == len(people(members))}


SEEDS = range(10)


@pytest.fixture(params=SEEDS)
def drawn(request):
    found = Random(request.param)
    if request.param % 3 == 0:
        found.shown = [found.cells(row, gone="3") for row in found.rows]
    return found


def both_ways(attack, drawn, *more, **options):
    """The attack on a release with its original, which agrees with that on a table that says whom a row is about."""
    found, _ = both_tables(attack, drawn, *more, **options)
    assert (found.unit, found.people_tried) == ("people", len(people(drawn.everybody)))
    assert found.rows_tried == sum(map(len, drawn.classes.values()))
    return found


def both_tables(attack, drawn, *more, **options):
    found = attack(drawn.release(), plan(), *more, original=drawn.original, **options)
    whom = pl.Series("patient", [row[0] for row in drawn.rows])
    own = attack(drawn.release(shuffled=False).with_columns(whom), plan(), *more, **options)
    assert own == found
    return found, own


def test_homogeneity_counts_people_of_classes_with_a_value_that_everybody_has(drawn):
    hidden = [(row[0], row[3]) for row, cells in zip(drawn.rows, drawn.shown, strict=True) if cells == ("*", "*")]
    classes = [*drawn.classes.values(), *([hidden] if hidden else [])]
    hurt = [members for members in classes if common(members)]
    attack, _ = both_tables(homogeneity_attack, drawn)
    assert (attack.unit, attack.people_tried) == ("people", len({row[0] for row in drawn.rows}))
    assert attack.rows_tried == len(drawn.rows)
    assert attack.hurt == len(set().union(*map(people, hurt)))
    [facts] = attack.facts["attributes"]
    assert facts == {
        "attribute": "diagnosis",
        "classes": len(hurt),
        "rows": sum(map(len, hurt)),
        "people": attack.hurt,
    }


@pytest.mark.parametrize("excluded", [1, 2])
def test_background_knowledge_counts_people_with_one_value_in_a_class_of_few(drawn, excluded):
    hurt = set()
    for members in drawn.classes.values():
        values = set(holders(members))
        own = Counter(person for person, _ in set(members))
        if 1 < len(values) <= excluded + 1 and None not in values and not common(members):
            hurt |= {person for person, count in own.items() if count == 1}
    assert both_ways(background_knowledge_attack, drawn, values_excluded=excluded).hurt == len(hurt)


def test_given_knowledge_is_judged_person_by_person_in_each_class(drawn):
    certain, possible, contradicting = set(), set(), 0
    for (_, cell), members in drawn.classes.items():
        for person in people(members):
            own = {value for one, value in members if one == person}
            cases = []
            for sex in {cell} - {"*"} or {"m", "f", "x"}:
                excluded = {text for piece in KNOWLEDGE if piece.when["sex"] == sex for text in piece.excludes}
                left = set(holders(members)) - excluded
                several = len(holders(members)) > 1 and not common(members)
                cases += [] if own & excluded else [several and len(left) == 1 and None not in left]
            certain |= {person} if cases and all(cases) else set()
            possible |= {person} if any(cases) else set()
            contradicting += 0 if cases else sum(one == person for one, _ in members)
    attack = both_ways(background_knowledge_attack, drawn, knowledge=KNOWLEDGE)
    assert (attack.hurt, attack.facts["at_most"]) == (len(certain), len(possible))
    assert attack.facts["rows_that_contradict"] == contradicting
    assert any("contradicts the table" in note for note in attack.notes) == bool(contradicting)


def test_skewness_compares_shares_of_people(drawn):
    everybody, overall = len(people(drawn.everybody)), holders(drawn.everybody)
    hurt, suspected = set(), set()
    for members in drawn.classes.values():
        for value, count in holders(members).items():
            share = Fraction(count, len(people(members)))
            twice = share >= 2 * Fraction(overall[value], everybody)
            if value is not None and share >= Fraction(1, 2) and twice:
                hurt |= {person for person, own in members if own == value}
                suspected |= people(members)
    attack = both_ways(skewness_attack, drawn)
    assert (attack.hurt, attack.facts["suspected_wrongly"]) == (len(hurt), len(suspected - hurt))


def test_similarity_counts_people_of_classes_with_a_kind_of_value_that_everybody_has(drawn):
    hurt = [
        members
        for members in drawn.classes.values()
        if not common(members) and common([(person, KINDS.get(value)) for person, value in members])
    ]
    assert both_ways(similarity_attack, drawn).hurt == len(set().union(*map(people, hurt)))


def fits(cells, values):
    return all(
        cell == "*" or (cell == value if "*" not in cell else cell[0] == value[0])
        for cell, value in zip(cells, values, strict=True)
    )


def test_linkage_names_classes_of_one_person(drawn):
    register = [(drawn.chance.choice(["11", "12", "21", "31"]), drawn.chance.choice("mf")) for _ in range(8)]
    named, certain, expected = set(), set(), defaultdict(Fraction)
    matching = {cells: [at for at, own in enumerate(register) if fits(cells, own)] for cells in drawn.classes}
    for cells, members in drawn.classes.items():
        found = matching[cells]
        if found:
            chance = Fraction(1, max(len(found), len(people(members))))
            expected |= {person: max(expected[person], chance) for person in people(members)}
        if len(found) == 1 and len(people(members)) == 1:
            named |= set(found)
            others = [people(own) for other, own in drawn.classes.items() if found[0] in matching[other]]
            certain |= people(members) if set().union(*others) == people(members) else set()
    table = pl.DataFrame(register, schema=["ward", "sex"], orient="row")
    attack = both_ways(linkage_attack, drawn, table)
    assert attack.hurt == len(named)
    assert attack.facts["people_who_fit_no_other_row"] == len(certain)
    assert attack.facts["expected_matches"] == pytest.approx(float(sum(expected.values())))


class Two(Random):
    """Two releases of the same rows, one by ward, one by sex; ward 3 is suppressed by the second."""

    def __init__(self, seed):
        super().__init__(seed)
        chance = self.chance
        drawn = [
            (f"p{chance.randrange(14)}", chance.choice(["11", "12", "31"]), chance.choice("mf")) for _ in range(30)
        ]
        self.rows = [(*row, chance.choice([*KINDS])) for row in drawn]
        self.shown = [(ward, "*") for _, ward, *_ in self.rows]
        self.second = [("*", "*") if ward == "31" else ("1*", sex) for _, ward, sex, _ in self.rows]
        sizes = [len(own) for own in (*self.people_of(self.shown).values(), *self.people_of(self.second).values())]
        self.k = min(sizes)

    def people_of(self, shown):
        found = defaultdict(set)
        for (person, *_), cells in zip(self.rows, shown, strict=True):
            if cells[0] != "*":
                found[cells].add(person)
        return found

    @property
    def small(self):
        """The people who are in a pair of classes with fewer than k people."""
        both = zip(self.shown, self.second, strict=True)
        pairs = [("*" if right[0] == "*" else left, right) for left, right in both]
        return set().union(*(own for own in self.people_of(pairs).values() if len(own) < self.k))


@pytest.mark.parametrize("seed", SEEDS)
def test_unsorted_matching_counts_people_in_small_joined_classes(seed):
    drawn = Two(seed)
    releases = [drawn.release(shown, shuffled=False) for shown in (drawn.shown, drawn.second)]
    attack = unsorted_matching_attack(releases[0], plan(9), releases[1], original=drawn.original)
    assert (attack.unit, attack.facts["k"], attack.facts["same_order"]) == ("people", drawn.k, True)
    assert attack.hurt == len(drawn.small)
    whom = pl.Series("patient", [row[0] for row in drawn.rows])
    one, other = (table.with_columns(whom) for table in releases)
    assert unsorted_matching_attack(one, plan(9), other) == attack


def test_complementary_release_claims_nobody_who_is_among_k_people():
    claimed, true = 0, 0
    for seed in range(20):
        drawn = Two(seed)
        releases = drawn.release(drawn.shown), drawn.release(drawn.second)
        attack = complementary_release_attack(releases[0], plan(9), releases[1], original=drawn.original)
        assert (attack.unit, attack.facts["k"]) == ("people", drawn.k)
        assert attack.hurt <= len(drawn.small)
        claimed, true = claimed + attack.hurt, true + len(drawn.small)
    assert claimed > 5
    assert true > claimed


def test_complementary_release_finds_one_person_with_many_rows():
    rows = [("a", "11", "m", "flu")] * 5 + [("b", "11", "f", "ulcer"), ("c", "11", "f", "ulcer")]
    rows += [("d", "12", "m", "colic"), ("e", "12", "f", "ulcer"), ("f", "12", "m", "colic")]
    drawn = Random(1)
    drawn.rows = rows
    left, right = ([(ward, "*") for _, ward, _, _ in rows], [("1*", sex) for _, _, sex, _ in rows])
    releases = drawn.release(left), drawn.release(right)
    by_people = complementary_release_attack(releases[0], plan(3), releases[1], original=frame(rows))
    assert (by_people.hurt, by_people.facts["k"], by_people.facts["smallest_joined_class"]) == (6, 3, 1)
    by_rows = complementary_release_attack(releases[0], plan(3, person="none"), releases[1])
    assert by_rows.hurt == 5  # five rows of a seem to be five people


@pytest.mark.parametrize("seed", range(4))
def test_where_every_row_is_a_person_nothing_changes(seed):
    drawn = Random(seed, people=1000)
    register = drawn.original.select("ward", "sex").head(6)
    shuffled = seed % 2 == 0
    other = [("1*" if ward < "2" else ward, sex) for _, ward, sex, _ in drawn.rows]
    more = {"register": register, "other_release": drawn.release(other, shuffled=shuffled)}
    release = drawn.release(shuffled=shuffled)
    for knowledge in (None, KNOWLEDGE):
        by_people = run_attacks(release, plan(3), original=drawn.original, knowledge=knowledge, **more)
        by_rows = run_attacks(release, plan(3, person="none"), knowledge=knowledge, **more)
        assert [attack.name for attack in by_people][:-1] == [attack.name for attack in by_rows]
        for one, other in zip(by_people, by_rows, strict=False):
            assert (one.unit, other.unit) == ("people", "rows")
            assert (one.name, one.hurt, one.rows_tried) == (other.name, other.hurt, other.rows_tried)
            assert same_facts(one.facts, other.facts)


def same_facts(one, other):
    """The facts of people are those of rows, and more."""
    return all(
        all(same_facts(*pair) for pair in zip(one[key], value, strict=True))
        if isinstance(value, list) and value and isinstance(value[0], dict)
        else one[key] == pytest.approx(value)
        if isinstance(value, float)
        else one[key] == value
        for key, value in other.items()
    )
