"""`kohorte attack` as a user runs it."""

import json

import polars as pl
import pytest

from kohorte.cli.main import main


def table(*rows):
    return pl.DataFrame(rows, schema=["zip", "sex", "diagnosis"], orient="row")


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
        assert "background knowledge  0 to 1              2\n" in printed
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
        assert len(notes["background knowledge"]) == 3
        assert notes["background knowledge"][-1].startswith("counts rows, not people")


class TestPeople:
    @pytest.fixture
    def stays(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        rows = [("p", "11", "flu"), ("p", "11", "gout"), ("q", "12", "flu"), ("r", "12", "flu"), ("r", "12", "gout")]
        original = pl.DataFrame(rows, schema=["patient", "zip", "diagnosis"], orient="row")
        original.write_csv("stays.csv")
        original.drop("patient").write_csv("release.csv")
        (tmp_path / "plan.yaml").write_text(
            "kohorte: 1\nperson: patient\nattributes:\n  patient: {role: identifying}\n"
            "  zip: {role: quasi-identifying, hierarchy: {redaction: {}}}\n  diagnosis: {role: sensitive}\n"
            "models:\n  - {model: k-anonymity, k: 2}\n"
        )

    @pytest.mark.parametrize("table", [["stays.csv"], ["release.csv", "--original", "stays.csv"]])
    def test_people_are_counted_by_the_table_or_by_its_original(self, stays, capsys, table):
        assert main(["attack", *table, "--plan", "plan.yaml", "--only", "homogeneity"]) == 0
        printed = capsys.readouterr().out
        assert printed.splitlines()[:2] == [
            "attack       people hurt  people tried  rows tried",
            "homogeneity            3             3           5",
        ]
        assert "rows, not people" not in printed
        assert main(["attack", *table, "--plan", "plan.yaml", "--json"]) == 0
        answer = json.loads(capsys.readouterr().out)
        assert {attack["unit"] for attack in answer["attacks"]} == {"people"}
        assert answer["open_points"] == []

    @staticmethod
    def json(capsys):
        assert main(["attack", "release.csv", "--plan", "plan.yaml", "--json"]) == 0
        return capsys.readouterr().out

    def test_without_them_rows_are_counted_and_it_is_said(self, stays, capsys):
        assert main(["attack", "release.csv", "--plan", "plan.yaml", "--only", "homogeneity,skewness"]) == 0
        printed = capsys.readouterr().out
        assert printed.splitlines()[0].split() == ["attack", "rows", "hurt", "rows", "tried"]
        answer = self.json(capsys)
        assert "rows_hurt" in answer
        assert "people_hurt" not in answer
        assert "open: 2 attacks count rows, not people: homogeneity, skewness" in printed
        assert "note: counts rows, not people: a person with several rows counts several times" in printed
