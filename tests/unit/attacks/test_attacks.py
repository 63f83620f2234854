"""Each attack against its definition in plain Python, and what it refuses."""

from collections import Counter, defaultdict

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kohorte as ko
from kohorte.attacks import (
    Knowledge,
    background_knowledge_attack,
    complementary_release_attack,
    homogeneity_attack,
    linkage_attack,
    read_knowledge,
    run_attacks,
    similarity_attack,
    skewness_attack,
    unsorted_matching_attack,
)
from kohorte.hierarchies import Tree
from kohorte.models import KAnonymity

TREE = Tree({"lung": ["flu", "asthma"], "gut": ["ulcer"]})
PLAN = ko.Plan(
    attributes={
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": ko.Attribute("sensitive", TREE),
    },
    models=[KAnonymity(2)],
)
KINDS = {"flu": "lung", "asthma": "lung", "ulcer": "gut"}
SCHEMA = {"zip": pl.String, "sex": pl.String, "diagnosis": pl.String}

quasi = st.tuples(st.sampled_from(["11", "12", "1*", "*"]), st.sampled_from(["m", "f", "*"]))
tables = st.lists(st.tuples(quasi, st.sampled_from(["flu", "asthma", "ulcer", None])), min_size=1, max_size=20)


def frame(rows):
    return pl.DataFrame([(*own, value) for own, value in rows], schema=SCHEMA, orient="row")


def classes(rows):
    found = defaultdict(list)
    for own, value in rows:
        if own != ("*", "*"):
            found[own].append(value)
    return found


@given(tables)
def test_homogeneity_by_definition(rows):
    attack = homogeneity_attack(frame(rows), PLAN)
    suppressed = [value for own, value in rows if own == ("*", "*")]
    every = [*classes(rows).values(), *([suppressed] if suppressed else [])]
    alike = [values for values in every if len(set(values)) == 1 and values[0] is not None]
    assert attack.hurt == sum(map(len, alike))
    assert attack.facts["homogeneous_classes"] == len(alike)
    assert attack.rows_tried == len(rows)


@given(tables, st.integers(1, 3))
def test_the_worst_of_background_knowledge_by_definition(rows, excluded):
    attack = background_knowledge_attack(frame(rows), PLAN, values_excluded=excluded)
    few = [values for values in classes(rows).values() if 1 < len(set(values)) <= excluded + 1 and None not in values]
    assert attack.hurt == sum(map(len, few))


PEOPLE = [(zips, sex) for zips in ("11", "12", "13", "21", "33", None) for sex in ("m", "f", "other", None)]
"""Everybody who can be in a row: also with values that no row shows, and without."""

pieces = st.builds(
    lambda excludes, when: Knowledge("diagnosis", sorted(excludes), when),
    st.sets(st.sampled_from(["flu", "asthma", "ulcer"]), min_size=1, max_size=2),
    st.sampled_from(
        [{}, {"sex": "m"}, {"sex": "f"}, {"zip": "11"}, {"sex": "f", "zip": "11"}, {"sex": "m", "zip": "12"}]
    ),
)


def can_be(own, person):
    zips, sex = own
    fits_zip = zips == "*" or person[0] == zips or (zips == "1*" and str(person[0]).startswith("1"))
    return fits_zip and sex in ("*", person[1])


def learnt(values, value, person, knowledge):
    """None if the knowledge says that the person cannot have the value; otherwise whether only that one is left."""
    own = dict(zip(("zip", "sex"), person, strict=True))
    excluded = {text for piece in knowledge if piece.when.items() <= own.items() for text in piece.excludes}
    if value in excluded:
        return None
    return len(set(values)) > 1 and set(values) - excluded == {value} and value is not None


@given(tables, st.lists(pieces, min_size=1, max_size=4))
def test_background_knowledge_by_definition(rows, knowledge):
    """Everybody is tried in every row, with all that is known of that person together."""
    certain = possible = contradicting = 0
    for own, values in classes(rows).items():
        for value in values:
            found = [learnt(values, value, person, knowledge) for person in PEOPLE if can_be(own, person)]
            found = [outcome for outcome in found if outcome is not None]
            certain += bool(found) and all(found)
            possible += any(found)
            contradicting += not found
    attack = background_knowledge_attack(frame(rows), PLAN, knowledge=knowledge)
    assert attack.hurt == certain
    assert attack.facts["at_most"] == possible
    assert attack.facts["rows_that_contradict"] == contradicting


@given(tables)
def test_skewness_by_definition(rows):
    attack = skewness_attack(frame(rows), PLAN, likely=0.5, times=1.5)
    kept = [value for values in classes(rows).values() for value in values]
    hurt = 0
    for values in classes(rows).values():
        for value, count in Counter(values).items():
            share, overall = count / len(values), kept.count(value) / len(kept)
            if value is not None and share >= 0.5 and share >= 1.5 * overall - 1e-12:
                hurt += count
    assert attack.hurt == hurt


@given(tables)
def test_similarity_by_definition(rows):
    rows = [(own, value or "flu") for own, value in rows]
    attack = similarity_attack(frame(rows), PLAN)
    similar = [
        values
        for values in classes(rows).values()
        if len(set(values)) > 1 and len({KINDS[value] for value in values}) == 1
    ]
    assert attack.hurt == sum(map(len, similar))


people = st.lists(st.tuples(st.sampled_from(["11", "12", "21"]), st.sampled_from(["m", "f"])), min_size=1, max_size=12)
COVERED = {"11": {"11"}, "12": {"12"}, "1*": {"11", "12"}, "*": {"11", "12", "21"}, "m": {"m"}, "f": {"f"}}


@given(tables, people)
def test_linkage_by_definition(rows, register):
    """A person is hurt if a row that stands alone fits nobody else: all compared with all."""

    def fit(own, person):
        return person[0] in COVERED[own[0]] and (own[1] == "*" or own[1] == person[1])

    kept = [own for own, _ in rows if own != ("*", "*")]
    hurt, alone = set(), 0
    for own in kept:
        fitting = [number for number, person in enumerate(register) if fit(own, person)]
        if len(fitting) == 1 and kept.count(own) == 1:
            hurt.add(fitting[0])
            alone += sum(fit(other, register[fitting[0]]) for other in kept) == 1
    table = pl.DataFrame(register, schema={"zip": pl.String, "sex": pl.String}, orient="row")
    attack = linkage_attack(frame(rows), PLAN, table)
    assert attack.hurt == len(hurt)
    assert attack.facts["people_who_fit_no_other_row"] == alone
    assert attack.facts["rows_that_fit_somebody"] == sum(any(fit(own, person) for person in register) for own in kept)


def generalized(rows, zips, sexes):
    """A release at a level of each attribute."""
    shown = {0: lambda text: text, 1: lambda text: text[0] + "*", 2: lambda text: "*"}
    return [((shown[zips](own[0]), own[1] if sexes == 0 else "*"), value) for own, value in rows]


raw = st.lists(
    st.tuples(
        st.tuples(st.sampled_from(["11", "12", "21", "22"]), st.sampled_from(["m", "f"])),
        st.sampled_from(["flu", "asthma", "ulcer"]),
    ),
    min_size=1,
    max_size=20,
)
levels = st.tuples(st.integers(0, 2), st.integers(0, 1))


@given(raw, levels, levels, st.randoms(use_true_random=False))
def test_what_complementary_releases_are_said_to_tell_is_true(rows, one, other, random):
    """Sound: never more people are counted than truly are among fewer than k who are in both of their classes."""
    first, second = generalized(rows, *one), generalized(rows, *other)
    truly = Counter((a, b) for (a, _), (b, _) in zip(first, second, strict=True))
    shuffled = list(second)
    random.shuffle(shuffled)
    attack = complementary_release_attack(frame(first), PLAN, frame(shuffled))
    k = attack.facts["k"]
    in_small = sum(count for (a, b), count in truly.items() if count < k and ("*", "*") not in (a, b))
    assert attack.hurt <= in_small


@given(raw, levels, levels)
def test_in_the_same_order_two_releases_are_joined_row_by_row(rows, one, other):
    first, second = generalized(rows, *one), generalized(rows, *other)
    attack = unsorted_matching_attack(frame(first), PLAN, frame(second))
    joined = Counter((a, b) for (a, _), (b, _) in zip(first, second, strict=True) if ("*", "*") not in (a, b))
    assert attack.facts["same_order"] is bool(joined)
    assert attack.hurt == sum(count for count in joined.values() if count < attack.facts["k"])


def test_rows_in_another_order_are_not_joined():
    rows = [(("11", "m"), "flu"), (("12", "f"), "asthma"), (("21", "m"), "ulcer"), (("22", "f"), "flu")]
    attack = unsorted_matching_attack(frame(rows), PLAN, frame(rows[::-1]))
    assert not attack.facts["same_order"]
    assert attack.hurt == 0
    assert attack.facts["rows_that_contradict"] == 4


def test_all_attacks_that_can_be_run_are_run():
    rows = frame([(("11", "m"), "flu"), (("12", "f"), "asthma")])
    alone = ["homogeneity", "background knowledge", "skewness", "similarity"]
    assert [attack.name for attack in run_attacks(rows, PLAN)] == alone
    with_all = run_attacks(rows, PLAN, register=rows, other_release=rows)
    assert [attack.name for attack in with_all] == ["linkage", *alone, "unsorted matching", "complementary release"]
    without = rows.select("zip", "sex")
    assert len(run_attacks(without, PLAN)) == 0
    assert [attack.name for attack in run_attacks(rows, PLAN, only=["skewness"])] == ["skewness"]


def test_an_attack_is_plain_data_and_tells_no_value():
    rows = frame([(("11", "m"), "flu"), (("12", "f"), "asthma")])
    for attack in run_attacks(rows, PLAN, register=rows, other_release=rows):
        keys = {"name", "rows_hurt", "rows_tried", "people_tried", "unit", "how", "prevented_by", "facts", "notes"}
        assert set(attack.to_dict()) == keys
        assert not {"11", "12", "flu", "asthma"} & set(repr(attack).replace("'", " ").split())


TWO = frame([(("11", "m"), "flu"), (("12", "f"), "asthma")])


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: linkage_attack(TWO, PLAN, pl.DataFrame({"name": ["A"]})), "attack-no-common-columns"),
        (lambda: linkage_attack(TWO, PLAN, TWO, on=["zipp"]), "attack-no-common-columns"),
        (lambda: linkage_attack(TWO, PLAN, TWO.head(0)), "table-no-rows"),
        (lambda: linkage_attack(TWO.head(0), PLAN, TWO), "table-no-rows"),
        (lambda: homogeneity_attack(TWO.drop("diagnosis"), PLAN), "attack-no-sensitive"),
        (lambda: skewness_attack(TWO, PLAN, likely=0), "attack-parameter"),
        (lambda: skewness_attack(TWO, PLAN, times=1), "attack-parameter"),
        (lambda: similarity_attack(TWO, PLAN, level=0), "attack-parameter"),
        (lambda: background_knowledge_attack(TWO, PLAN, values_excluded=0), "attack-parameter"),
        (lambda: background_knowledge_attack(TWO, PLAN, knowledge=["flu"]), "knowledge-entry"),
        (
            lambda: background_knowledge_attack(TWO, PLAN, knowledge=[Knowledge("diagnose", ["flu"])]),
            "knowledge-attribute",
        ),
        (
            lambda: background_knowledge_attack(
                TWO, PLAN, knowledge=[Knowledge("diagnosis", ["flu"], {"diagnosis": "flu"})]
            ),
            "knowledge-attribute",
        ),
        (lambda: Knowledge("diagnosis", "flu"), "knowledge-entry"),
        (lambda: Knowledge("diagnosis", ["flu"], ["m"]), "knowledge-entry"),
        (lambda: unsorted_matching_attack(TWO, PLAN, TWO.head(1)), "attack-rows-differ"),
        (lambda: complementary_release_attack(TWO, PLAN, TWO.head(1)), "attack-rows-differ"),
        (
            lambda: complementary_release_attack(TWO, PLAN, TWO.with_columns(diagnosis=pl.lit("flu"))),
            "attack-rows-differ",
        ),
        (
            lambda: complementary_release_attack(TWO, PLAN, TWO.with_columns(zip=pl.lit("33"))),
            "attack-rows-differ",
        ),
        (lambda: run_attacks(TWO, PLAN, only=["linkege"]), "attack-unknown"),
        (lambda: run_attacks(TWO, PLAN, only=["linkage"]), "attack-needs-table"),
    ],
)
def test_what_cannot_be_attacked_is_refused(call, code):
    with pytest.raises(ko.InputError) as caught:
        call()
    assert caught.value.code == code


def test_without_a_hierarchy_nothing_is_similar():
    plan = ko.Plan(
        attributes={name: {"role": role} for name, role in (("zip", "quasi-identifying"), ("diagnosis", "sensitive"))},
        models=[KAnonymity(2)],
    )
    with pytest.raises(ko.InputError) as caught:
        similarity_attack(TWO.drop("sex"), plan)
    assert caught.value.code == "attack-no-hierarchy"


def test_knowledge_is_read_from_a_file(tmp_path):
    path = tmp_path / "knowledge.yaml"
    path.write_text("kohorte: 1\nknowledge:\n  - {attribute: diagnosis, when: {sex: m}, excludes: [flu]}\n")
    assert read_knowledge(path) == (Knowledge("diagnosis", ["flu"], {"sex": "m"}),)
    assert "flu" not in repr(read_knowledge(path))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("knowledge: []", "knowledge-yaml"),
        ("kohorte: 1\nknowledge: []", "knowledge-entry"),
        ("kohorte: 1\nknowledge: [flu]", "knowledge-entry"),
        ("kohorte: 1\nknowledge: [{attribute: diagnosis}]", "knowledge-entry"),
        ("kohorte: 1\nknowledge: [{attribute: a, excludes: [b], if: c}]", "knowledge-entry"),
        ("kohorte: 1\nkohorte: 1", "knowledge-yaml"),
    ],
)
def test_wrong_knowledge_is_refused(tmp_path, text, code):
    path = tmp_path / "knowledge.yaml"
    path.write_text(text)
    with pytest.raises(ko.InputError) as caught:
        read_knowledge(path)
    assert caught.value.code == code
    path.write_bytes(b"\xff\xfe")
    for wrong in (path, tmp_path, tmp_path / "none.yaml"):
        with pytest.raises(ko.InputError) as caught:
            read_knowledge(wrong)
        assert caught.value.code == "knowledge-unreadable"


def test_a_vague_row_heals_nobody_whom_another_row_leads_to():
    """(*, m) fits both men as well, and hid that each of the other rows fits one man only."""
    table = pl.DataFrame({"zip": ["11", "12", "*"], "sex": ["m", "m", "m"]})
    register = pl.DataFrame({"zip": ["11", "12", "21"], "sex": ["m", "m", "m"]})
    attack = linkage_attack(table.with_columns(pl.Series("diagnosis", ["flu"] * 3)), PLAN, register)
    assert (attack.hurt, attack.facts["people_who_fit_no_other_row"]) == (2, 0)
