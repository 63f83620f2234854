"""Tables of frequencies: read from CSV, kept with versions, and looked up so that a gap stays a gap."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from kohorte.data import sha256_of
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


IDENTIFIERS = (
    "anna.huber@home.at", "Anna Huber", "HUBER, ANNA", "Dr. Zwettlinger", "www.home.at", "+43 664 1234567", "10.0.0.7",
    "W 12345 A", "AT61 1904 3002 3457 3201", "1237 010180", "IMG_0412.jpg", "A.B.",
)  # fmt: skip


@pytest.mark.parametrize("value", IDENTIFIERS)
def test_a_table_of_people_is_no_table_of_statistics(tmp_path: Path, value: str) -> None:
    jobs = replace(ORIGIN, kind="occupation")
    with pytest.raises(InputError, match="row 2: column 'value' is a name, a number or an address") as caught:
        table(tmp_path, f'value,share\nteacher,0.02\n"{value}",0.01\n', jobs)
    assert caught.value.code == "exchange-statistics-cell"
    assert value not in caught.value.message


def test_what_an_older_import_has_of_people_is_not_trusted() -> None:
    values = ["teacher", "anna.huber@home.at", "anna huber", "w 12345 a"]
    found = Statistics([StatisticsTable(replace(ORIGIN, kind="occupation"), [Entry(one, 0.1) for one in values])])
    names = ("Teacher", "anna.huber@home.at", "Anna Huber", "W 12345 A")
    assert [found.is_identifier(one) for one in names] == [False, True, True, True]


def test_the_shipped_statistics_name_nobody() -> None:
    shipped = shipped_statistics()
    assert [one.value for each in shipped.tables for one in each.entries if shipped.is_identifier(one.value)] == []


def test_figures_of_the_future_are_refused(tmp_path: Path) -> None:
    made = table(tmp_path, "value,share\nE11,0.1\n", replace(ORIGIN, date="2999-12-31"))
    with pytest.raises(InputError, match="lies in the future") as caught:
        StatisticsFolder(tmp_path / "statistics").add(made)
    assert caught.value.code == "exchange-statistics-origin"
    assert not list((tmp_path / "statistics").glob("*"))


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
    assert 0.98 < sums["age"] <= 1  # rounded down
    assert 0.99 < sums["sex"] <= 1
    assert share(known.frequency("blood-group", "ab-")) < share(known.frequency("blood-group", "A+"))
    assert share(known.frequency("disease", "G12")) < 1e-4 < share(known.frequency("disease", "I10"))
    assert all(one.origin.licence and one.origin.source for one in known.tables)


PUBLISHED = re.compile(r"\b(19|20)[0-9]{2}\b|GEDA|fact sheet|Schweiz|Bericht zum|doi:")


def test_every_shipped_figure_names_its_publication_or_says_that_it_is_an_estimate() -> None:
    for table in shipped_statistics().tables:
        assert table.origin.is_rough, "a page is never green by it"
        assert table.origin.precision is not None
        assert "rounded down" in table.origin.precision
        for entry in table.entries:
            assert entry.source, (table.origin.name, entry.value)
            estimate = entry.source.startswith(
                "estimate of the authors of Kohorte with one digit, without a publication"
            )
            assert estimate or PUBLISHED.search(entry.source), entry.source
            digits = f"{entry.share:e}".partition("e")[0].rstrip("0").rstrip(".").replace(".", "")
            assert len(digits) <= (1 if estimate else 3), (entry.value, entry.share)
            title = table.title_of(entry)
            assert entry.source in title
            assert table.origin.date in title


def test_the_publication_of_a_row_is_read_kept_and_told_with_its_figure(tmp_path: Path) -> None:
    read = table(tmp_path, 'value,share,source\nE11,0.07,"Office, ""A"" 2024"\nI10,0.2,\n')
    assert [entry.source for entry in read.entries] == ['Office, "A" 2024', None]
    folder = StatisticsFolder(tmp_path / "statistics")
    folder.add(replace(read, origin=replace(ORIGIN, precision="whole percents")))
    [kept] = folder.statistics().tables
    assert tuple(kept.entries) == tuple(read.entries)
    assert kept.origin.precision == "whole percents"
    found = folder.statistics().frequency("disease", "E11")
    assert isinstance(found, Frequency)
    assert found.table == 'diseases-at version 1 (Office, "A" 2024, 2024-12-31)'
    other = folder.statistics().frequency("disease", "I10")
    assert isinstance(other, Frequency)
    assert other.table == "diseases-at version 1 (made up, 2024-12-31)"
    with pytest.raises(InputError, match="row 1: column 'source' is one line of text"):
        table(tmp_path, f"value,share,source\nE11,0.07,{'x' * 501}\n")
    with pytest.raises(InputError, match="precision is one line of text"):
        replace(ORIGIN, precision="two\nlines")


def test_a_table_that_was_imported_before_rows_had_a_source_is_still_read(tmp_path: Path) -> None:
    folder = StatisticsFolder(tmp_path)
    made = folder.add(StatisticsTable(ORIGIN, [Entry("e11", 0.07)]))
    old = b'value,share,age,sex,country\n"e11",0.07,,"",\n'
    (tmp_path / "diseases-at.0001.csv").write_bytes(old)
    facts = {**made.to_dict(), "sha256": sha256_of(old)}
    del facts["origin"]["precision"]
    (tmp_path / "diseases-at.0001.json").write_text(json.dumps(facts), encoding="utf-8")
    [kept] = folder.statistics().tables
    assert tuple(kept.entries) == (Entry("e11", 0.07),)


@pytest.mark.parametrize(
    ("wanted", "share"),
    [("80+", 0.07), ("70-150", 0.17), ("80-89", 0.07 * 10 / 71), ("90+", None), ("95", None), ("70-79", 0.1)],
)
def test_how_old_people_of_an_open_span_are_is_not_guessed(tmp_path: Path, wanted: str, share: float | None) -> None:
    """Nobody knows how many of those over 80 are over 90: spread evenly, they would be nearly all."""
    ages = table(tmp_path, "value,share\n70-79,0.1\n80+,0.07\n", replace(ORIGIN, kind="age"))
    found = Statistics([ages]).frequency("age", wanted)
    if share is None:
        assert isinstance(found, Gap)
    else:
        assert isinstance(found, Frequency)
        assert found.share == pytest.approx(share)


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
