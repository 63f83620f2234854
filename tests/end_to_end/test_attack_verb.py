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
