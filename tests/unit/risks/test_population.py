"""The population of a recoded release, counted by hand and person by person."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.cohorts import hierarchy_files, plan_text
from kohorte.hierarchies import Intervals, Tree
from kohorte.models import KAnonymity

AGES = ko.Plan(
    attributes={
        "age": ko.Attribute("quasi-identifying", Intervals(lower=0, upper=100, widths=[10], integer=True)),
        "city": ko.Attribute("quasi-identifying", Tree({"north": ["Bremen", "Kiel"], "south": ["Ulm"]})),
    },
    models=[KAnonymity(2)],
)


class TestPopulationOfARecodedRelease:
    PEOPLE = pl.DataFrame(
        {
            "age": ["25", "26", "28", "28", "29", "40", None],
            "city": ["Kiel", "Bremen", "Kiel", "Ulm", "Bremen", "Ulm", "Kiel"],
        }
    )

    @pytest.mark.parametrize(
        ("age", "city", "people"),
        [
            ("[25-28]", "north", 3),
            ("[25-28]", "*", 4),
            ("[25-28] or missing", "Kiel", 3),
            ("*", "{Kiel, Ulm}", 5),
            ("[28-40]", "*", 4),
            ("40", "Ulm", 1),
        ],
    )
    def test_the_people_whom_a_class_covers_are_counted(self, age, city, people):
        """Beside a row (*, north) that covers five people, so that the columns stand at no single level."""
        release = pl.DataFrame({"age": [age, "*"], "city": [city, "north"]})
        profile = ko.risk(release, AGES, population=self.PEOPLE)
        risks = {row.row: row.journalist_risk for row in profile.riskiest_rows(2)}
        assert risks == {1: pytest.approx(1 / people), 2: pytest.approx(1 / 5)}
        assert profile.attackers.journalist.basis == "counted in a table of the population"
        assert profile.uniqueness.unique_in_both == (people == 1)

    def test_people_whom_no_class_can_hold_are_missed(self):
        release = pl.DataFrame({"age": ["[25-28]", "*"], "city": ["north", "Ulm"]})
        with pytest.raises(ko.InputError, match="too few people like 1 row of the table") as caught:
            ko.risk(release, AGES, population=self.PEOPLE.filter(pl.col("city") != "Ulm"))
        assert caught.value.code == "population-lacks-rows"

    def test_a_label_of_two_meanings_is_refused(self):
        plan = ko.Plan(
            attributes={
                "city": ko.Attribute("quasi-identifying", Tree({"Kiel": ["Kiel", "Bremen"], "south": ["Ulm"]})),
                "sex": ko.Attribute("quasi-identifying"),
            },
            models=[KAnonymity(2)],
        )
        people = pl.DataFrame({"city": ["Kiel", "Bremen", "Ulm"], "sex": ["m", "f", "f"]})
        release = pl.DataFrame({"city": ["Kiel", "*"], "sex": ["m", "f"]})
        with pytest.raises(ko.InputError) as caught:
            ko.risk(release, plan, population=people)
        assert caught.value.code == "risk-population-levels"

    def test_what_would_take_too_long_is_refused(self, monkeypatch):
        monkeypatch.setattr("kohorte.risks.shown.compatible.MOST_WORDS", 1)
        with pytest.raises(ko.InputError) as caught:
            ko.risk(pl.DataFrame({"age": ["[25-28]", "*"], "city": ["north", "Kiel"]}), AGES, population=self.PEOPLE)
        assert caught.value.code == "attack-too-large"

    @pytest.mark.parametrize("missing", [0.0, 0.05])
    @pytest.mark.parametrize("algorithm", ["mondrian", "local_recoding", "cell_suppression"])
    def test_recoded_releases_against_a_count_person_by_person(self, tmp_path, algorithm, missing):
        """The cohort is recoded; everybody of a larger population is compared with every class by `overlap` alone."""
        from kohorte.risks.shown.meaning import overlap
        from kohorte.risks.shown.table import ShownTable

        for name, text in {"plan.yaml": plan_text(), **hierarchy_files()}.items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        search = ko.SearchOptions(algorithm=algorithm)
        plan = replace(ko.Plan.from_yaml(tmp_path / "plan.yaml"), search=search, suppression_limit=0.2)
        everybody = ko.cohort(800, missing=missing, seed=4)
        release = ko.anonymize(everybody.head(300), plan).data
        people = [tuple(row) for row in everybody.select(plan.quasi_identifiers).cast(pl.String).iter_rows()]
        shown = ShownTable.of(release, plan.quasi_identifiers)
        covered = np.ones((shown.classes, len(people)), dtype=bool)
        for number, name in enumerate(shown.names):
            builder, values = plan.attributes[name].hierarchy, tuple({person[number] for person in people})
            matrix = overlap(shown.texts[number], values, builder, attribute=name, right_are_values=True).matrix
            positions = [values.index(person[number]) for person in people]
            covered &= matrix[shown.cells[:, number]][:, positions]
        expected = 1 / covered.sum(axis=1)
        journalist = ko.risk(release, plan, population=everybody, largest_set=0).attackers.journalist
        assert journalist.highest_risk == pytest.approx(expected.max())
        assert journalist.average_risk == pytest.approx(float(expected @ shown.sizes) / shown.kept_rows)
