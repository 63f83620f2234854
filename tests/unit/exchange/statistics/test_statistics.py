"""Tables of frequencies: read from CSV, kept with versions, and looked up so that a gap stays a gap."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kohorte.errors import InputError
from kohorte.exchange.statistics import (
    KINDS,
    Entry,
    Frequency,
    Gap,
    Origin,
    Statistics,
    StatisticsFolder,
    StatisticsTable,
    read_official,
    read_statistics,
    shipped_statistics,
)

ORIGIN = Origin("diseases-at", "disease", "made up", "CC0", "2024-12-31", "people of Austria", 1_000_000)


def table(tmp_path: Path, text: str, origin: Origin = ORIGIN) -> StatisticsTable:
    path = tmp_path / "given.csv"
    path.write_text(text, encoding="utf-8")
    return read_statistics(path, origin)


def share(found: Frequency | Gap) -> float:
    assert isinstance(found, Frequency)
    return found.share


def test_shares_rates_and_counts_are_read_as_the_same_share(tmp_path: Path) -> None:
    texts = ["value,share\nE11,0.07\n", "value,per_100000\nE11,7000\n", "value,count\nE11,70000\n"]
    texts.append("value,count,of\nE11,7,100\n")
    assert [table(tmp_path, text).entries[0].share for text in texts] == pytest.approx([0.07] * 4)


@pytest.mark.parametrize(
    ("text", "column", "row"),
    [
        ("value,share\nE11,0.07\nE12,seven\n", "share", "row 2"),
        ("value,share\nE11,0\n", "share", "row 1"),
        ("value,share\nE11,1.5\n", "share", "row 1"),
        ("value,share\n,0.5\n", "value", "row 1"),
        ("value,share,age\nE11,0.5,old\n", "age", "row 1"),
        ("value,share,country\nE11,0.5,Austria\n", "country", "row 1"),
        ("value,count,of\nE11,1,0\n", "of", "row 1"),
    ],
)
def test_a_wrong_cell_is_refused_with_its_column_and_row_but_not_its_value(
    tmp_path: Path, text: str, column: str, row: str
) -> None:
    with pytest.raises(InputError, match=f"{row}.*'{column}'") as caught:
        table(tmp_path, text)
    assert caught.value.code == "exchange-statistics-cell"
    assert "seven" not in caught.value.message
    assert "Austria" not in caught.value.message


def test_a_value_that_is_given_twice_for_the_same_people_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="rows 1 and 3") as caught:
        table(tmp_path, "value,share\nE11,0.07\nE10,0.1\n e11 ,0.2\n")
    assert caught.value.code == "exchange-statistics-cell"


@pytest.mark.parametrize("text", ["value\nE11\n", "value,share,count\nE11,0.1,1\n", "value,share,colour\nE11,0.1,x\n"])
def test_columns_that_are_missing_or_unknown_are_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError) as caught:
        table(tmp_path, text)
    assert caught.value.code == "exchange-statistics-column"


def test_counts_without_a_whole_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="reference population"):
        table(tmp_path, "value,count\nE11,5\n", replace(ORIGIN, population=None))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Two Words"),
        ("kind", "illness"),
        ("source", ""),
        ("date", "2024"),
        ("population", 0),
        ("licence", "a\nb"),
    ],
)
def test_an_origin_that_says_too_little_is_refused(field: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        replace(ORIGIN, **{field: value})  # type: ignore[arg-type]
    assert caught.value.code == "exchange-statistics-origin"
    assert caught.value.field == field


def test_the_narrowest_figure_that_is_known_is_taken(tmp_path: Path) -> None:
    text = "value,share,age,sex,country\nE11,0.07,,,\nE11,0.2,70-79,,\nE11,0.3,70-79,m,\nE11,0.05,,,AT\n"
    known = Statistics([table(tmp_path, text)])
    assert share(known.frequency("disease", "e11")) == 0.07
    assert share(known.frequency("disease", "E11", {"age": 75})) == 0.2
    assert share(known.frequency("disease", "E11", {"age": 75, "sex": "male"})) == 0.3
    assert share(known.frequency("disease", "E11", {"country": "at"})) == 0.05
    assert share(known.frequency("disease", "E11", {"age": 20, "sex": "female"})) == 0.07


def test_if_only_narrower_figures_exist_the_rarest_counts_and_says_of_how_many(tmp_path: Path) -> None:
    known = Statistics([table(tmp_path, "value,share,sex\nE11,0.07,f\nE11,0.02,m\n")])
    found = known.frequency("disease", "E11")
    assert isinstance(found, Frequency)
    assert (found.share, found.rarest_of, found.by) == (0.02, 2, ("sex",))


def test_the_later_of_two_tables_counts() -> None:
    old = StatisticsTable(replace(ORIGIN, name="old", date="2001-01-01"), [Entry("e11", 0.01)])
    new = StatisticsTable(ORIGIN, [Entry("e11", 0.07)])
    assert share(Statistics([old, new]).frequency("disease", "E11")) == 0.07


def test_what_is_not_known_is_a_gap_and_never_a_zero(tmp_path: Path) -> None:
    known = Statistics([table(tmp_path, "value,share,age\nE11,0.07,40-49\n")])
    assert isinstance(known.frequency("disease", "E99"), Gap)
    assert isinstance(known.frequency("disease", "E11", {"age": 20}), Gap)
    assert isinstance(known.frequency("medication", "methadone"), Gap)


def test_a_finer_code_of_a_disease_is_a_gap_with_an_upper_bound(tmp_path: Path) -> None:
    found = Statistics([table(tmp_path, "value,share\nE11,0.07\n")]).frequency("disease", "E11.9")
    assert isinstance(found, Gap)
    assert found.at_most == 0.07


def test_ages_are_summed_over_the_spans_of_a_pyramid() -> None:
    pyramid = StatisticsTable(replace(ORIGIN, kind="age"), [Entry("0-9", 0.1), Entry("10-19", 0.2)])
    known = Statistics([pyramid])
    assert share(known.frequency("age", "5")) == pytest.approx(0.01)
    assert share(known.frequency("age", "8-11")) == pytest.approx(0.02 + 0.04)
    assert isinstance(known.frequency("age", "47"), Gap)


def test_an_unknown_kind_or_group_is_refused() -> None:
    for ask in (("colour", "red", None), ("disease", "E11", {"height": 180})):
        with pytest.raises(InputError) as caught:
            shipped_statistics().frequency(*ask)  # type: ignore[arg-type]
        assert caught.value.code == "exchange-statistics-kind"


def test_every_import_is_a_version_and_the_latest_is_looked_up(tmp_path: Path) -> None:
    folder = StatisticsFolder(tmp_path / "statistics")
    first = folder.add(StatisticsTable(ORIGIN, [Entry("e11", 0.07, (40, 49), "female", "AT")]))
    second = folder.add(StatisticsTable(ORIGIN, [Entry('with, "comma"', 0.08)]))
    assert (first.version, second.version) == (1, 2)
    assert [one.version for one in folder.versions()] == [1, 2]
    assert share(folder.statistics().frequency("disease", 'With, "comma"')) == 0.08
    assert isinstance(folder.statistics().frequency("disease", "E11"), Gap)


def test_a_table_keeps_all_its_entries_in_the_folder(tmp_path: Path) -> None:
    entries = (Entry("e11", 1e-05, (40, 49), "female", "AT"), Entry("e11", 0.1, (90, 150), None, None))
    folder = StatisticsFolder(tmp_path)
    folder.add(StatisticsTable(ORIGIN, entries))
    [kept] = folder.statistics().tables
    assert tuple(kept.entries) == entries


def test_a_changed_file_of_statistics_is_refused(tmp_path: Path) -> None:
    folder = StatisticsFolder(tmp_path)
    folder.add(StatisticsTable(ORIGIN, [Entry("e11", 0.07)]))
    [path] = tmp_path.glob("*.csv")
    path.write_text(path.read_text().replace("0.07", "0.7"))
    with pytest.raises(InputError) as caught:
        folder.statistics()
    assert caught.value.code == "exchange-statistics-damaged"


def test_a_description_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.0001.json").write_text("{}")
    with pytest.raises(InputError) as caught:
        StatisticsFolder(tmp_path).versions()
    assert caught.value.code == "exchange-statistics-damaged"


def test_what_is_old_and_what_is_missing_is_said(tmp_path: Path) -> None:
    folder = StatisticsFolder(tmp_path)
    folder.add(StatisticsTable(ORIGIN, [Entry("e11", 0.07)]))
    young = folder.problems(oldest_years=10, today=date(2026, 1, 1))
    assert len(young) == len(KINDS) - 1
    assert "medication" in young[0]
    assert "diseases-at" in folder.problems(oldest_years=10, today=date(2036, 1, 1))[0]


def test_the_shipped_statistics_have_every_kind_but_country_and_plausible_sums() -> None:
    known = shipped_statistics()
    assert set(KINDS) - set(known.kinds) == {"country"}
    sums = {one.origin.kind: sum(entry.share for entry in one.entries) for one in known.tables}
    assert sums["age"] == pytest.approx(1)
    assert sums["sex"] == pytest.approx(1)
    assert share(known.frequency("blood-group", "ab-")) < share(known.frequency("blood-group", "A+"))
    assert share(known.frequency("disease", "G12")) < 1e-4 < share(known.frequency("disease", "I10"))
    assert all(one.origin.licence and one.origin.source for one in known.tables)


def official(tmp_path: Path, text: str, layout: str) -> Statistics:
    path = tmp_path / "official.csv"
    path.write_text(text, encoding="utf-8")
    return Statistics([read_official(path, layout, ORIGIN)])


def test_counts_of_diseases_are_added_by_three_characters(tmp_path: Path) -> None:
    known = official(tmp_path, 'icd10,count\nE11.2,300\nE11.9,700\nI10,"2,000"\nTotal,9000\nE10,0\n', "icd10")
    assert share(known.frequency("disease", "E11")) == pytest.approx(0.001)
    assert share(known.frequency("disease", "I10")) == pytest.approx(0.002)
    assert isinstance(known.frequency("disease", "E10"), Gap)


def test_an_age_pyramid_of_eurostat_gives_shares_of_the_latest_year(tmp_path: Path) -> None:
    text = "freq,unit,age,sex,geo,TIME_PERIOD,OBS_VALUE\n" + "".join(
        f"A,NR,{age},{sex},{geo},{year},{people}\n"
        for age, sex, geo, year, people in [
            ("TOTAL", "T", "AT", 2023, 100), ("Y_LT1", "T", "AT", 2023, 10), ("Y47", "T", "AT", 2023, 30),
            ("Y47", "F", "AT", 2023, 20), ("Y_OPEN", "T", "AT", 2023, 1), ("TOTAL", "T", "AT", 2013, 100),
            ("Y47", "T", "AT", 2013, 99), ("TOTAL", "T", "EU27_2020", 2023, 1000), ("UNK", "T", "AT", 2023, 2),
        ]
    )  # fmt: skip
    known = official(tmp_path, text, "age-pyramid")
    assert share(known.frequency("age", "0", {"country": "AT"})) == pytest.approx(0.1)
    assert share(known.frequency("age", "47", {"country": "AT"})) == pytest.approx(0.3)
    assert isinstance(known.frequency("age", "47", {"country": "DE"}), Gap)


def test_occupations_of_eurostat_give_shares_by_sex(tmp_path: Path) -> None:
    text = "freq,isco08,age,sex,geo,TIME_PERIOD,OBS_VALUE\n" + "".join(
        f"A,{code},Y15-74,{sex},AT,2023,{people}\n"
        for code, sex, people in [("TOTAL", "T", 200), ("TOTAL", "F", 100), ("OC2", "T", 40), ("OC2", "F", 30)]
    )
    known = official(tmp_path, text, "occupations")
    assert share(known.frequency("occupation", "2", {"country": "AT"})) == pytest.approx(0.2)
    assert share(known.frequency("occupation", "2", {"sex": "f", "country": "AT"})) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("text", "layout"), [("a,b\n1,2\n", "icd10"), ("icd10,count\nTotal,3\n", "icd10"), ("a\n1\n", "x")]
)
def test_a_table_of_another_layout_is_refused(tmp_path: Path, text: str, layout: str) -> None:
    with pytest.raises(InputError) as caught:
        official(tmp_path, text, layout)
    assert caught.value.code == "exchange-statistics-layout"
