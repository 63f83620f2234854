"""What was found wrong with risk and attacks, each worked by hand."""

import json
from dataclasses import replace
from statistics import harmonic_mean

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.cli.main import main
from kohorte.data.cohort import hierarchy_files, plan_text
from kohorte.risks.dis_suda import dis_suda, intrusion_score

PLAN = ko.Plan(
    attributes={
        "zip": {"role": "quasi-identifying", "hierarchy": {"redaction": {}}},
        "sex": {"role": "quasi-identifying"},
        "diagnosis": {"role": "sensitive"},
    },
    models=[ko.KAnonymity(2)],
)


def table(*rows):
    return pl.DataFrame(rows, schema=["zip", "sex", "diagnosis"], orient="row")


def known(release, *entries, plan=PLAN):
    knowledge = [ko.Knowledge("diagnosis", excludes, when) for excludes, when in entries]
    return ko.background_knowledge_attack(release, plan, knowledge=knowledge)


class TestAllThatIsKnownIsUsedTogether:
    MEN = table(("11", "m", "flu"), ("11", "m", "flu"), ("11", "m", "breast cancer"), ("11", "m", "malaria"))
    NO_BREAST_CANCER, NO_MALARIA = (["breast cancer"], {"sex": "m"}), (["malaria"], {"zip": "11"})

    def test_two_entries_that_only_together_hurt(self):
        """Men have no breast cancer, nobody in 11 was abroad: the two men with flu are known."""
        assert known(self.MEN, self.NO_BREAST_CANCER).people_hurt == 0
        assert known(self.MEN, self.NO_MALARIA).people_hurt == 0
        both = known(self.MEN, self.NO_BREAST_CANCER, self.NO_MALARIA)
        assert (both.people_hurt, both.facts["at_most"], both.facts["classes"]) == (2, 2, 1)
        assert both.facts["rows_that_contradict"] == 2
        assert any("2 rows have a value" in note for note in both.notes)

    def test_entries_about_different_people_are_not_used_together(self):
        """Of a man only the first is known, of a woman only the second: two values are left for either."""
        release = self.MEN.with_columns(sex=pl.lit("*"))
        attack = known(release, self.NO_BREAST_CANCER, (["malaria"], {"sex": "f"}))
        assert (attack.people_hurt, attack.facts["at_most"]) == (0, 0)

    def test_where_the_class_does_not_show_the_sex_men_are_hurt_and_women_are_not(self):
        release = table(("11", "*", "flu"), ("11", "*", "flu"), ("11", "*", "breast cancer"))
        attack = known(release, self.NO_BREAST_CANCER)
        assert (attack.people_hurt, attack.facts["at_most"]) == (0, 2)
        assert (attack.facts["classes"], attack.facts["classes_at_most"]) == (0, 1)

    def test_what_holds_for_everybody_who_can_be_in_a_class_is_certain(self):
        """Neither men nor women of the set have malaria."""
        release = table(("11", "{f, m}", "flu"), ("11", "{f, m}", "malaria"))
        both = (["malaria"], {"sex": "m"}), (["malaria"], {"sex": "f"})
        assert known(release, *both).people_hurt == 1
        open_cell = release.with_columns(sex=pl.lit("*"))  # may be a third sex, or none given
        assert (known(open_cell, *both).people_hurt, known(open_cell, *both).facts["at_most"]) == (0, 1)

    def test_a_row_that_can_be_no_mans_is_a_womans(self):
        """Men have neither flu nor malaria, women no malaria: the flu is a woman's, and hers is the only one left."""
        release = table(("11", "{f, m}", "flu"), ("11", "{f, m}", "malaria"), ("11", "{f, m}", "malaria"))
        attack = known(release, (["flu", "malaria"], {"sex": "m"}), (["malaria"], {"sex": "f"}))
        assert (attack.people_hurt, attack.facts["rows_that_contradict"]) == (1, 2)

    def test_a_condition_within_an_interval(self):
        plan = replace(PLAN, attributes={**PLAN.attributes, "zip": ko.Attribute("quasi-identifying")})
        release = table(("[20-29]", "m", "flu"), ("[20-29]", "m", "stroke"))
        for when, hurt in (("25", (0, 1)), ("31", (0, 0)), ("[20-40]", (1, 1)), ("[25-40]", (0, 1))):
            attack = known(release, (["stroke"], {"zip": when}), plan=plan)
            assert (attack.people_hurt, attack.facts["at_most"]) == hurt, when

    def test_two_sensitive_attributes_are_one_person(self):
        plan = replace(PLAN, attributes={**PLAN.attributes, "drug": ko.Attribute("sensitive")})
        release = table(("11", "{f, m}", "flu"), ("11", "{f, m}", "malaria")).with_columns(drug=pl.Series(["a", "b"]))
        knowledge = [ko.Knowledge("diagnosis", ["malaria"], {"sex": "m"}), ko.Knowledge("drug", ["b"], {"sex": "f"})]
        attack = ko.background_knowledge_attack(release, plan, knowledge=knowledge)
        assert attack.people_hurt == 1  # a man's diagnosis or a woman's drug: one of them is known

    @pytest.mark.parametrize("limit", ["kinds_of_people.MOST_KINDS", "background_knowledge.MOST_STEPS"])
    def test_too_many_kinds_of_people_are_refused(self, limit, monkeypatch):
        monkeypatch.setattr(f"kohorte.risks.attacks.{limit}", 3)
        entries = [([f"d{n}"], {"zip": f"1{n}"}) for n in range(4)]
        with pytest.raises(ko.InputError) as caught:
            known(table(("1*", "m", "flu"), ("1*", "m", "d1")), *entries)
        assert caught.value.code == "attack-too-large"


class TestKnowledgeThatAppliesToNothing:
    RELEASE = table(("11", "m", "flu"), ("11", "m", "malaria"))

    @pytest.mark.parametrize("value", [True, 1.5, None, ["flu"], {"a": "b"}])
    def test_a_value_that_is_no_text_is_refused(self, value):
        for build in (
            lambda: ko.Knowledge("diagnosis", [value]),
            lambda: ko.Knowledge("diagnosis", ["flu"], {"zip": value}),
        ):
            with pytest.raises(ko.InputError) as caught:
                build()
            assert caught.value.code == "knowledge-entry"
            assert "1.5" not in caught.value.message

    def test_whole_numbers_are_what_the_table_shows(self):
        assert ko.Knowledge("diagnosis", [5], {"zip": 11}) == ko.Knowledge("diagnosis", ["5"], {"zip": "11"})

    def test_the_file_names_the_entry_by_its_number(self, tmp_path):
        path = tmp_path / "knowledge.yaml"
        entry = "  - {attribute: diagnosis, excludes: [%s]}\n"
        path.write_text("kohorte: 1\nknowledge:\n" + entry % "flu" + entry % "1.75")
        with pytest.raises(ko.InputError, match="entry 2: excludes: a value is a number with a point") as caught:
            ko.read_knowledge(path)
        assert "1.75" not in caught.value.message

    def test_misspelt_values_are_noted_by_entry_and_never_quoted(self):
        attack = known(self.RELEASE, (["malaria"], {"sex": "m"}), (["malaira", "flu"], {"sex": "mael"}))
        assert attack.people_hurt == 1
        assert attack.facts["knowledge"] == [
            {"entry": 1, "attribute": "diagnosis", "classes": 1, "rows": 2},
            {"entry": 2, "attribute": "diagnosis", "classes": 0, "rows": 0},
        ]
        assert attack.notes[:3] == (
            "entry 2: 1 of 2 excluded values is not in the column 'diagnosis'",
            "entry 2: no row shows its value of 'sex'",
            "entry 2 can be used in no class",
        )
        assert attack.to_dict()["notes"] == list(attack.notes)
        assert not {"malaira", "mael"} & set(" ".join(attack.notes).replace("'", " ").split())

    @pytest.mark.parametrize(
        ("excludes", "when"), [(["malaira"], {}), (["flu"], {"born": "Tuesday"}), (["flu", "gout"], {"born": "1.1.90"})]
    )
    def test_a_value_that_the_hierarchy_does_not_know_is_an_error(self, excludes, when):
        plan = ko.Plan(
            attributes={
                "born": ko.Attribute("quasi-identifying", ko.Dates(format="%Y-%m-%d")),
                "diagnosis": ko.Attribute("sensitive", ko.Tree({"any": ["flu", "malaria"]})),
            },
            models=[ko.KAnonymity(2)],
        )
        release = pl.DataFrame({"born": ["1990", "1990"], "diagnosis": ["flu", "malaria"]})
        good = ko.Knowledge("diagnosis", ["flu"], {"born": "1990-05-01"})
        assert ko.background_knowledge_attack(release, plan, knowledge=[good]).facts["at_most"] == 1
        with pytest.raises(ko.InputError, match="entry 2 of the knowledge") as caught:
            ko.background_knowledge_attack(release, plan, knowledge=[good, ko.Knowledge("diagnosis", excludes, when)])
        assert caught.value.code == "knowledge-value"
        assert not {"malaira", "Tuesday", "gout", "1.1.90"} & set(caught.value.message.split())


class TestSkippedAttacks:
    def test_every_attack_that_was_not_run_is_named_with_reason_and_remedy(self):
        attacks = ko.run_attacks(table(("11", "m", "flu"), ("11", "m", "malaria")), PLAN)
        assert [attack.name for attack in attacks] == ["homogeneity", "background knowledge", "skewness"]
        assert {skipped.name: skipped.give for skipped in attacks.skipped} == {
            "linkage": "--register FILE (register=)",
            "similarity": "a hierarchy for a sensitive attribute, in the plan",
            "unsorted matching": "--release FILE (other_release=)",
            "complementary release": "--release FILE (other_release=)",
        }
        assert all(skipped.reason for skipped in attacks.skipped)
        assert set(attacks.to_dict()) == {"attacks", "skipped"}

    def test_an_attack_that_would_take_too_long_is_skipped_and_the_others_run(self, monkeypatch):
        monkeypatch.setattr("kohorte.risks.attacks.compatible.MOST_WORDS", 1)
        release = table(("1*", "m", "flu"), ("11", "m", "malaria"), ("*", "m", "flu"))
        attacks = ko.run_attacks(release, PLAN, register=table(("11", "m", ""), ("12", "m", ""), ("13", "f", "")))
        assert {skipped.name: skipped.give for skipped in attacks.skipped}["linkage"].startswith("a part of the rows")
        assert len(attacks) == 3

    def test_without_a_sensitive_attribute_nothing_is_run(self):
        attacks = ko.run_attacks(table(("11", "m", "flu")).drop("diagnosis"), PLAN)
        assert (len(attacks), len(attacks.skipped)) == (0, 7)

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
            ko.run_attacks(table(("11", "m", "flu")), PLAN, **options)
        assert caught.value.code == code

    @pytest.mark.parametrize("on", [5, "zip", []])
    def test_wrong_columns_of_linkage_are_refused(self, on):
        with pytest.raises(ko.InputError) as caught:
            ko.linkage_attack(table(("11", "m", "flu")), PLAN, table(("11", "m", "flu")), on=on)
        assert caught.value.code == "attack-parameter"

    def test_wrong_types_of_knowledge_are_refused(self):
        for call, code in (
            (lambda: ko.read_knowledge(5), "knowledge-unreadable"),
            (lambda: ko.Knowledge(5, ["flu"]), "knowledge-entry"),
            (lambda: ko.Knowledge("diagnosis", ["flu"], {5: "m"}), "knowledge-entry"),
        ):
            with pytest.raises(ko.InputError) as caught:
                call()
            assert caught.value.code == code

    def test_a_wrong_second_release_is_named_as_such(self):
        with pytest.raises(ko.InputError, match=r"^the other release: "):
            ko.run_attacks(table(("11", "m", "flu")), PLAN, other_release=pl.DataFrame({"fruit": ["apple"]}))

    def test_where_all_rows_are_suppressed_there_is_nothing_to_join(self):
        release = table(("*", "*", "flu"), ("*", "*", "malaria"))
        attack = ko.unsorted_matching_attack(release, PLAN, release)
        assert (attack.people_hurt, attack.rows_tried) == (0, 0)
        assert "nothing to join" in attack.how


AGES = ko.Plan(
    attributes={
        "age": ko.Attribute("quasi-identifying", ko.Intervals(lower=0, upper=100, widths=[10], integer=True)),
        "city": ko.Attribute("quasi-identifying", ko.Tree({"north": ["Bremen", "Kiel"], "south": ["Ulm"]})),
    },
    models=[ko.KAnonymity(2)],
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
        assert profile.uniqueness.rows_unique_in_population == (people == 1)

    def test_people_whom_no_class_can_hold_are_missed(self):
        release = pl.DataFrame({"age": ["[25-28]", "*"], "city": ["north", "Ulm"]})
        with pytest.raises(ko.InputError, match="too few people like 1 row of the table") as caught:
            ko.risk(release, AGES, population=self.PEOPLE.filter(pl.col("city") != "Ulm"))
        assert caught.value.code == "population-lacks-rows"

    def test_a_label_of_two_meanings_is_refused(self):
        plan = ko.Plan(
            attributes={
                "city": ko.Attribute("quasi-identifying", ko.Tree({"Kiel": ["Kiel", "Bremen"], "south": ["Ulm"]})),
                "sex": ko.Attribute("quasi-identifying"),
            },
            models=[ko.KAnonymity(2)],
        )
        people = pl.DataFrame({"city": ["Kiel", "Bremen", "Ulm"], "sex": ["m", "f", "f"]})
        release = pl.DataFrame({"city": ["Kiel", "*"], "sex": ["m", "f"]})
        with pytest.raises(ko.InputError) as caught:
            ko.risk(release, plan, population=people)
        assert caught.value.code == "risk-population-levels"

    def test_what_would_take_too_long_is_refused(self, monkeypatch):
        monkeypatch.setattr("kohorte.risks.attacks.compatible.MOST_WORDS", 1)
        with pytest.raises(ko.InputError) as caught:
            ko.risk(pl.DataFrame({"age": ["[25-28]", "*"], "city": ["north", "Kiel"]}), AGES, population=self.PEOPLE)
        assert caught.value.code == "attack-too-large"

    @pytest.mark.parametrize("missing", [0.0, 0.05])
    @pytest.mark.parametrize("algorithm", ["mondrian", "local_recoding", "cell_suppression"])
    def test_recoded_releases_against_a_count_person_by_person(self, tmp_path, algorithm, missing):
        """The cohort is recoded; everybody of a larger population is compared with every class by `overlap` alone."""
        from kohorte.risks.attacks.meaning import overlap
        from kohorte.risks.shown_table import ShownTable

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
            places = [values.index(person[number]) for person in people]
            covered &= matrix[shown.cells[:, number]][:, places]
        expected = 1 / covered.sum(axis=1)
        journalist = ko.risk(release, plan, population=everybody, largest_set=0).attackers.journalist
        assert journalist.highest_risk == pytest.approx(expected.max())
        assert journalist.average_risk == pytest.approx(float(expected @ shown.sizes) / shown.kept_rows)


class TestDisSuda:
    """Elliot and Manning's score, from sdcMicro's definition: 1 / (1 + (U / DIS - U) / (s^q A)), A the sum of s^-q."""

    def test_the_score_of_a_file_by_hand(self):
        """Three unique rows, two pairs, one of three; a tenth drawn: 0.3 / (0.3 + 4 * 0.9)."""
        sizes = np.array([1, 1, 1, 2, 2, 3])
        assert intrusion_score(sizes, 0.1) == pytest.approx(0.3 / 3.9)
        assert intrusion_score(sizes, 1.0) == 1
        assert intrusion_score(np.array([1, 3]), 0.1) == 1  # nothing speaks against a match
        assert intrusion_score(np.array([2, 3]), 0.1) is None

    def test_scores_of_rows_by_the_definition_of_sdcmicro(self):
        scores, dis, attributes = np.array([6.0, 2.0, 0.0, 1.0]), 0.25, 4
        q, uniques = 1 + (8 - attributes) / 20, 3
        total = sum(1 / s**q for s in scores if s)
        expected = [1 / (1 + (uniques / dis - uniques) / (s**q * total)) if s else 0 for s in scores]
        assert dis_suda(scores, dis, attributes) == pytest.approx(expected)

    def test_the_harmonic_mean_over_the_uniques_is_the_score_of_the_file(self):
        rng = np.random.default_rng(3)
        people = pl.DataFrame({name: rng.integers(4, size=120).astype(str) for name in "abcd"})
        plan = ko.Plan(attributes={name: {"role": "quasi-identifying"} for name in "abcd"}, models=[ko.KAnonymity(2)])
        profile = ko.risk(people, plan, sampling_fraction=0.05)
        rows = [row for row in profile.riskiest_rows(120) if row.class_size == 1]
        assert len(rows) > 20
        assert harmonic_mean([row.dis_suda for row in rows]) == pytest.approx(profile.special_uniques.dis)
        assert sorted(rows, key=lambda row: row.score) == sorted(rows, key=lambda row: (row.dis_suda, row.score))

    def test_without_a_sampling_fraction_or_a_score_there_is_none(self):
        plan = ko.Plan(attributes={"a": {"role": "quasi-identifying"}}, models=[ko.KAnonymity(2)])
        people = pl.DataFrame({"a": ["x", "y", "y"]})
        assert ko.risk(people, plan).special_uniques.dis is None
        assert [row.dis_suda for row in ko.risk(people, plan).riskiest_rows(3)] == [None] * 3
        rows = ko.risk(people, plan, population_size=12).riskiest_rows(3)
        assert [row.dis_suda for row in rows] == [pytest.approx(0.25 / (0.25 + 2 * 0.75)), None, None]
        assert ko.risk(people, plan, population_size=12).to_dict(rows=1)["riskiest_rows"][0]["dis_suda"] < 1


class TestTheCommand:
    @pytest.fixture
    def files(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        table(("1*", "*", "flu"), ("1*", "*", "breast cancer")).write_csv("release.csv")
        (tmp_path / "plan.yaml").write_text(
            "kohorte: 1\nattributes:\n  zip: {role: quasi-identifying, hierarchy: {redaction: {}}}\n"
            "  sex: {role: quasi-identifying}\n  diagnosis: {role: sensitive}\n"
            "models:\n  - {model: k-anonymity, k: 2}\n"
        )
        (tmp_path / "knowledge.yaml").write_text(
            "kohorte: 1\nknowledge:\n  - {attribute: diagnosis, when: {sex: m}, excludes: [breast cancer, gout]}\n"
        )
        return ["attack", "release.csv", "--plan", "plan.yaml", "--knowledge", "knowledge.yaml"]

    def test_words_have_the_range_the_notes_and_what_was_not_run(self, files, capsys):
        assert main(files) == 0
        printed = capsys.readouterr().out
        assert "background knowledge  0 to 1                2\n" in printed
        assert "note: entry 1: 1 of 2 excluded values is not in the column 'diagnosis'" in printed
        assert "note: entry 1: no row shows its value of 'sex'" in printed
        assert "\nnot run\n  linkage: it needs a second table, with names; give --register FILE" in printed
        assert "gout" not in printed

    def test_json_has_them_too(self, files, capsys):
        assert main([*files, "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert answer["skipped"][0]["name"] == "linkage"
        assert set(answer["skipped"][0]) == {"name", "reason", "give"}
        notes = {attack["name"]: attack["notes"] for attack in answer["attacks"]}
        assert len(notes["background knowledge"]) == 2
