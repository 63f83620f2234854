"""Tables with pseudonyms: what is replaced, what stays, what is refused."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import polars as pl
import pytest

from kohorte import InputError
from kohorte.data import read_table
from kohorte.pseudonyms.bulk import Outcome, Wish, pseudonymize, summary
from kohorte.pseudonyms.domains import Domains, definition_of
from kohorte.pseudonyms.kinds import OneWay
from kohorte.sources.batches import TableBatches
from kohorte.trust.folder import TrustFolder
from kohorte.trust.store import ENVIRONMENT

TABLE = """\
patient;name;admission;discharge;note
4711;Anna;01.02.2020;05.02.2020;"a ""quoted"" word"
 4711 ;Anna;15.03.2020;16.03.2020;
;nobody;01.04.2021;02.04.2021;x
4712;"two
lines";28.02.2020;01.03.2020;=1+1
Mu\u0308ller;Otto;31.12.2019;01.01.2020;
Müller;Otto;31.12.2020;;
"""


@pytest.fixture
def domains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Domains:
    monkeypatch.delenv(ENVIRONMENT, raising=False)
    found = Domains(TrustFolder.opened(tmp_path / "trust", create=True))
    for kind in ("one-way", "reversible", "list"):
        found.create(definition_of(kind, kind), actor="anna")
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE, encoding="utf-8-sig", newline="\r\n")
    return path


def run(domains: Domains, table: Path, output: Path, wish: Wish, domain: str = "one-way", **options: int) -> Outcome:
    return pseudonymize(TableBatches(table, **options), output, domains.open(domain), wish, actor="anna")  # type: ignore[arg-type]


@pytest.mark.parametrize("domain", ["one-way", "reversible", "list"])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("block", [20, 1 << 20])
def test_a_column_is_replaced_and_everything_else_stays(
    domains: Domains, table: Path, tmp_path: Path, domain: str, suffix: str, block: int
) -> None:
    output = tmp_path / f"out{suffix}"
    outcome = run(domains, table, output, Wish("patient", drop=("name",)), domain, block=block)
    before, after = read_table(table).frame, read_table(output).frame
    assert after.drop("patient").equals(before.drop("patient", "name"))
    found = after["patient"].to_list()
    assert found[0] == found[1] != found[3]
    assert found[2] is None
    assert found[4] == found[5]
    assert not {"4711", "4712"} & {str(one) for one in found}
    assert (outcome.rows, outcome.pseudonymized, outcome.missing) == (6, 5, 1)
    assert outcome.new == (3 if domain == "list" else 0)


def test_a_one_way_pseudonym_is_the_keyed_hash_of_the_value(domains: Domains, table: Path, tmp_path: Path) -> None:
    run(domains, table, tmp_path / "out.csv", Wish("patient"))
    key = domains.open("one-way").keys.current.derived("one-way")
    number = int.from_bytes(hmac.new(key, b"4711", hashlib.sha256).digest(), "big") % 32**16
    letters = "0123456789ACDEFGHJKLMNPQRTUVWXYZ"
    check = (1 - number * 1024) % 1021
    expected = "".join(letters[number // 32**place % 32] for place in range(15, -1, -1))
    expected += letters[check // 32] + letters[check % 32]
    assert read_table(tmp_path / "out.csv").frame["patient"][0] == expected


def test_the_same_person_has_the_same_pseudonym_in_csv_and_parquet_and_as_a_number(
    domains: Domains, tmp_path: Path
) -> None:
    frame = pl.DataFrame({"patient": [4711, 4712, None], "value": [1, 2, 3]})
    frame.write_csv(tmp_path / "table.csv")
    frame.write_parquet(tmp_path / "whole.parquet")
    frame.with_columns(pl.col("patient").cast(pl.Float64)).write_parquet(tmp_path / "float.parquet")
    found = []
    for name in ("table.csv", "whole.parquet", "float.parquet"):
        run(domains, tmp_path / name, tmp_path / f"out-{name}", Wish("patient"), "list")
        found.append(read_table(tmp_path / f"out-{name}").frame["patient"].to_list())
    assert found[0] == found[1] == found[2]
    assert found[0][2] is None


def test_an_exact_domain_takes_blanks_and_letters_as_they_are_written(
    domains: Domains, table: Path, tmp_path: Path
) -> None:
    domains.create(definition_of("exact", "one-way", exact=True), actor="anna")
    run(domains, table, tmp_path / "out.csv", Wish("patient"), "exact")
    assert read_table(tmp_path / "out.csv").frame["patient"].n_unique() == 6


@pytest.mark.parametrize("domain", ["one-way", "reversible", "list"])
@pytest.mark.parametrize("block", [20, 1 << 20])
def test_dates_of_a_person_move_together(
    domains: Domains, table: Path, tmp_path: Path, domain: str, block: int
) -> None:
    wish = Wish("patient", shift_dates=("admission", "discharge"), within=9)
    outcome = run(domains, table, tmp_path / "out.csv", wish, domain, block=block)
    before, after = read_table(table).frame, read_table(tmp_path / "out.csv").frame
    moved = [
        (after[name].str.to_date("%d.%m.%Y") - before[name].str.to_date("%d.%m.%Y")).dt.total_days().to_list()
        for name in ("admission", "discharge")
    ]
    assert moved[0][0] == moved[0][1] == moved[1][0] == moved[1][1]
    assert moved[0][4] == moved[0][5] == moved[1][4]
    assert all(1 <= abs(days) <= 9 for column in moved for days in column if days is not None)
    assert after["admission"].null_count() == 1
    assert after["discharge"].null_count() == 2
    assert (outcome.dates_shifted, outcome.dates_removed) == (9, 2)


def test_placeholders_go_and_dates_that_stay_are_told(domains: Domains, tmp_path: Path) -> None:
    table = tmp_path / "stays.csv"
    table.write_text("patient,admission,discharge\n1,2020-02-01,9999-12-31\n2,2020-02-03,2020-02-09\n")
    outcome = run(domains, table, tmp_path / "one.csv", Wish("patient", shift_dates=("discharge",)))
    assert (outcome.dates_shifted, outcome.dates_removed, outcome.placeholders_removed) == (1, 0, 1)
    assert "1 removed, because they stand for no date, such as 9999-12-31" in "".join(summary(outcome))
    assert read_table(tmp_path / "one.csv").frame["discharge"][0] is None
    assert [note for note in outcome.notes if "'admission' has dates that are not shifted" in note]
    both = run(domains, table, tmp_path / "two.csv", Wish("patient", shift_dates=("admission", "discharge")))
    assert both.notes == []


def test_dates_of_a_list_stay_the_same_after_a_rotation(domains: Domains, table: Path, tmp_path: Path) -> None:
    wish = Wish("patient", shift_dates=("admission",))
    run(domains, table, tmp_path / "one.csv", wish, "list")
    domains.rotate_key("list", actor="anna")
    run(domains, table, tmp_path / "two.csv", wish, "list")
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_an_old_version_of_the_key_makes_the_old_pseudonyms(domains: Domains, table: Path, tmp_path: Path) -> None:
    wish = Wish("patient", shift_dates=("admission",))
    run(domains, table, tmp_path / "one.csv", wish)
    domains.rotate_key("one-way", actor="anna")
    assert run(domains, table, tmp_path / "two.csv", wish).key_version == 2
    again = Wish("patient", shift_dates=("admission",), key_version=1)
    assert run(domains, table, tmp_path / "three.csv", again).key_version == 1
    one, two, three = ((tmp_path / f"{name}.csv").read_bytes() for name in ("one", "two", "three"))
    assert one == three != two


def test_pseudonyms_of_a_parent_are_checked_before_they_are_pseudonymized(
    domains: Domains, table: Path, tmp_path: Path
) -> None:
    for parent in ("one-way", "reversible", "list"):
        domains.create(definition_of(f"of-{parent}", "one-way", parent=parent), actor="anna")
        first, second = tmp_path / f"{parent}.csv", tmp_path / f"of-{parent}.csv"
        run(domains, table, first, Wish("patient"), parent)
        assert run(domains, first, second, Wish("patient"), f"of-{parent}").pseudonymized == 5
        frame = read_table(first).frame
        known = frame["patient"][3]
        wrong = known[:5] + ("7" if known[5] != "7" else "8") + known[6:]
        broken = tmp_path / f"broken-{parent}.csv"
        frame.with_columns(pl.col("patient").replace(known, wrong)).write_csv(broken)
        for block in (20, 1 << 20):
            with pytest.raises(InputError, match=r"column 'patient', row 4: .*check characters do not fit") as caught:
                run(domains, broken, tmp_path / "no.csv", Wish("patient"), f"of-{parent}", block=block)
            assert caught.value.code == "pseudonym-wrong"
            assert wrong not in caught.value.message
        assert not (tmp_path / "no.csv").exists()


def test_a_value_that_cannot_keep_its_format_is_named_by_its_row(domains: Domains, tmp_path: Path) -> None:
    domains.create(definition_of("cases", "reversible", alphabet="digits", keep_format=True), actor="anna")
    path = tmp_path / "table.csv"
    for text, words in (("12x456", "character 3 is not one of the alphabet"), ("12345", "too short")):
        path.write_text("case,value\n" + "123456,1\n654321,2\n" * 10 + f"{text},3\n")
        with pytest.raises(InputError, match=f"column 'case', row 21: .*{words}") as caught:
            run(domains, path, tmp_path / "out.csv", Wish("case"), "cases", block=30)
        assert caught.value.code == "pseudonym-text-format"
        assert text not in caught.value.message


def test_two_people_with_the_same_pseudonym_are_refused(
    domains: Domains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kohorte.pseudonyms.kinds.one_way.SMALLEST_SPACE", 2)
    domains.create(definition_of("small", "one-way", alphabet="digits", length=3), actor="anna")
    path = tmp_path / "table.csv"
    path.write_text("patient,value\n" + "".join(f"{number},x\n" for number in range(300)))
    for block in (50, 1 << 20):
        with pytest.raises(InputError, match="longer pseudonyms") as caught:
            run(domains, path, tmp_path / "out.csv", Wish("patient"), "small", block=block)
        assert caught.value.code == "pseudonym-coincidence"
    assert not (tmp_path / "out.csv").exists()
    path.write_text("patient,value\n" + "1,x\n" * 300)
    assert run(domains, path, tmp_path / "out.csv", Wish("patient"), "small", block=50).pseudonymized == 300


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        ({"column": "patent"}, "pseudonym-column"),
        ({"column": "patient", "drop": ("nam",)}, "pseudonym-column"),
        ({"column": "patient", "shift_dates": ("day",)}, "pseudonym-column"),
        ({"column": "patient", "drop": ("patient",)}, "pseudonym-column"),
        ({"column": "patient", "drop": ("name", "name")}, "pseudonym-column"),
        ({"column": "patient", "drop": ("admission",), "shift_dates": ("admission",)}, "pseudonym-column"),
        ({"column": "patient", "shift_dates": ("name",)}, "pseudonym-dates"),
        ({"column": "patient", "shift_dates": ("admission",), "within": 0}, "pseudonym-within"),
        ({"column": "patient", "shift_dates": ("admission",), "within": 3651}, "pseudonym-within"),
        ({"column": "patient", "key_version": 2}, "trust-key-lost"),
    ],
)
def test_a_wish_that_cannot_be_fulfilled_is_refused_and_nothing_is_written(
    domains: Domains, table: Path, tmp_path: Path, wish: dict[str, object], code: str
) -> None:
    with pytest.raises(InputError) as caught:
        run(domains, table, tmp_path / "out.csv", Wish(**wish))  # type: ignore[arg-type]
    assert caught.value.code == code
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv", "trust"]


def test_the_table_itself_is_never_the_output(domains: Domains, table: Path) -> None:
    domain = domains.open("list")
    with pytest.raises(InputError) as caught:
        pseudonymize(TableBatches(table), table, domain, Wish("patient"), actor="anna", force=True)
    assert caught.value.code == "output-is-input"


def test_columns_that_look_identifying_and_stay_are_noted(domains: Domains, table: Path, tmp_path: Path) -> None:
    outcome = run(domains, table, tmp_path / "one.csv", Wish("patient"))
    assert any("'name'" in note and "--drop" in note for note in outcome.notes)
    assert run(domains, table, tmp_path / "two.csv", Wish("patient", drop=("name",))).notes == []


def test_every_run_is_in_the_log_with_counts_only(domains: Domains, table: Path, tmp_path: Path) -> None:
    run(domains, table, tmp_path / "out.csv", Wish("patient"), "list")
    entry = list(domains.folder.log.entries())[-1]
    assert (entry["actor"], entry["action"], entry["about"]) == ("anna", "pseudonymize", "domain list")
    assert entry["details"] == {
        "rows": 6,
        "pseudonymized": 5,
        "missing": 1,
        "new": 3,
        "key_version": 1,
        "dates": 0,
    }
    assert "4711" not in domains.folder.log.path.read_text()


def test_a_run_that_stops_in_the_middle_continues_with_the_same_pseudonyms(
    domains: Domains, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.csv"
    path.write_text("patient,value\n" + "".join(f"person {number},x\n" for number in range(40)))
    kind = type(domains.open("list").kind)
    original, given = kind.pseudonyms, []

    def stopping(self: object, originals: list[str], key: object) -> object:
        if len(given) == 2:
            raise KeyboardInterrupt
        made = original(self, originals, key)  # type: ignore[arg-type]
        given.append(dict(zip(originals, made.pseudonyms, strict=True)))
        return made

    monkeypatch.setattr(kind, "pseudonyms", stopping)
    with pytest.raises(KeyboardInterrupt):
        run(domains, path, tmp_path / "out.csv", Wish("patient"), "list", block=100)
    monkeypatch.undo()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["table.csv", "trust"]
    outcome = run(domains, path, tmp_path / "out.csv", Wish("patient"), "list", block=100)
    found = dict(zip(read_table(path).frame["patient"], read_table(tmp_path / "out.csv").frame["patient"], strict=True))
    before = given[0] | given[1]
    assert before.items() <= found.items()
    assert outcome.new == 40 - len(before)
    assert len(set(found.values())) == 40


def test_only_one_way_pseudonyms_can_coincide() -> None:
    assert OneWay.may_coincide


@pytest.mark.parametrize("block", [20, 1 << 20])
def test_only_chosen_rows_are_written_and_errors_name_the_row_of_the_whole_table(
    domains: Domains, table: Path, tmp_path: Path, block: int
) -> None:
    chosen = pl.Series(["4712 ", "Müller", "nobody else", None])
    outcome = run(domains, table, tmp_path / "out.csv", Wish("patient", only=chosen), block=block)
    assert read_table(tmp_path / "out.csv").frame["admission"].to_list() == ["28.02.2020", "31.12.2019", "31.12.2020"]
    assert (outcome.rows, outcome.left_out, outcome.missing) == (3, 3, 0)
    domains.create(definition_of("child", "one-way", parent="list"), actor="anna")
    with pytest.raises(InputError, match="row 4"):
        run(domains, table, tmp_path / "child.csv", Wish("patient", only=chosen), "child", block=block)


@pytest.mark.parametrize("block", [20, 1 << 20])
def test_a_wrong_date_is_named_by_the_row_of_the_whole_table(domains: Domains, tmp_path: Path, block: int) -> None:
    table = tmp_path / "visits.csv"
    table.write_text(
        "patient,day\n1,2020-01-05\n2,2020-01-06\n2,2020-01-07\n3,2020-01-08\n1,nonsense\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="column 'day', row 5:"):
        run(
            domains,
            table,
            tmp_path / "out.csv",
            Wish("patient", shift_dates=("day",), only=pl.Series(["1"])),
            block=block,
        )


def test_nothing_chosen_gives_an_empty_table(domains: Domains, table: Path, tmp_path: Path) -> None:
    outcome = run(domains, table, tmp_path / "out.csv", Wish("patient", only=pl.Series(["x"])))
    assert (outcome.rows, outcome.left_out) == (0, 6)
    assert pl.read_csv(tmp_path / "out.csv", separator=";").height == 0
