"""The solution space where people are counted, against a count in plain Python, and what it says about its unit."""

from __future__ import annotations

import json
import re
from collections import Counter

import pytest

import kohorte as ko
from support.stays import Stays, judged

K = 3


@pytest.mark.parametrize("knowledge", ["one_row", "all_rows"])
@pytest.mark.parametrize("seed", range(6))
def test_every_node_is_judged_and_measured_in_people(seed: int, knowledge: str) -> None:
    stays = Stays.drawn(seed)
    plan = stays.plan(K, limit=0.3, person={"column": "patient", "attacker_knows": knowledge})
    space = ko.solution_space(stays.frame, plan)
    facts = space.to_dict()
    assert (facts["unit"], facts["people"], facts["rows"]) == ("people", 40, 100)
    for node, entry in zip(Stays.nodes(), facts["nodes"], strict=True):  # type: ignore[call-overload]
        suppressed, classes, fewest = judged(stays, node, K, all_rows=knowledge == "all_rows")
        assert entry["levels"] == list(node)
        assert (entry["suppressed"], entry["classes"], entry["smallest_class"]) == (suppressed, classes, fewest)
        if sum(node) < 6:  # where everything is removed, suppressed rows cannot be told from the others
            assert entry["anonymous"] == (suppressed <= 30)


def test_a_table_by_rows_says_rows() -> None:
    stays = Stays.drawn(1, people=100)
    space = ko.solution_space(stays.frame, stays.plan(K, person="none"))
    assert (space.to_dict()["unit"], space.to_dict()["people"]) == ("rows", None)
    for picture in (space.to_html(), space.to_svg()):
        assert "The models and the smallest class count rows." in plain(picture)
        assert "people" not in plain(picture)


def plain(picture: str) -> str:
    """The words of a picture as they are read: without script, lines of an image joined."""
    text = re.sub(r"<script.*?</script>|<style.*?</style>", "", picture, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", text).replace("\u00a0", " ").split())


@pytest.mark.parametrize("kind", ["to_html", "to_svg"])
def test_pictures_name_the_unit_and_the_smallest_class_in_it(kind: str) -> None:
    stays = Stays.drawn(2)
    space = ko.solution_space(stays.frame, stays.plan(K))
    assert space.best is not None
    said = plain(getattr(space, kind)())
    assert "count people (patient), not rows: the table has 40 people." in said
    assert f"smallest class {space.best.smallest_class} people" in said
    assert "smallest (people)" in said


def test_by_all_rows_the_smallest_group_is_named_as_what_it_is() -> None:
    stays = Stays.drawn(3)
    person = {"column": "patient", "attacker_knows": "all_rows"}
    space = ko.solution_space(stays.frame, stays.plan(K, limit=1.0, person=person))
    assert space.best is not None
    said = plain(space.to_html())
    assert f"fewest alike in all their rows {space.best.smallest_class} people" in said
    assert "40 people, judged by all their rows together" in said


def test_levels_are_named_by_their_meaning_with_an_example_that_many_share() -> None:
    stays = Stays.drawn(4)
    space = ko.solution_space(stays.frame, stays.plan(K))
    ward, age, sex = space.to_dict()["levels_in_words"]  # type: ignore[misc]
    tens = Counter(decade for decade, _ in {(row[2] // 10, row[0]) for row in stays.rows})
    most = max(tens.values())
    assert most >= 10
    labels = [f"[{10 * ten}, {10 * ten + 10})" for ten in tens if tens[ten] == most]
    examples = {f"intervals of 10, for instance {label} (1 of 3)" for label in labels}
    assert age[1] in examples
    assert ward == ["as it is (0 of 2)", "first character (1 of 2)", "removed (top level, 2 of 2)"]
    cells = re.findall(r'<g class="node"[^>]*aria-label="([^"]*)"', space.to_html())
    assert len(cells) == 24
    assert all(": " in name and " of 2)" in name and " of 3)" in name for name in cells)
    script = json.loads(space.to_html().split('id="space">')[1].split("</script>")[0])
    assert script["meanings"] == [ward, age, sex]
    assert "for instance" not in json.dumps(script["short_meanings"])


def test_a_label_that_few_share_is_no_example() -> None:
    stays = Stays.drawn(4, people=9, rows=30)
    space = ko.solution_space(stays.frame, stays.plan(2))
    assert "for instance" not in json.dumps(space.to_dict()["levels_in_words"])


def test_a_table_with_repeated_identifiers_is_noted_where_the_plan_counts_rows() -> None:
    stays = Stays.drawn(5)
    space = ko.solution_space(stays.frame, stays.plan(K, person=None))
    note = "rows are counted, not people: 'patient' has 40 different values in 100 rows"
    assert note in " ".join(space.to_dict()["notes"])  # type: ignore[call-overload]
    assert all("rows are counted, not people" in plain(picture) for picture in (space.to_html(), space.to_svg()))
