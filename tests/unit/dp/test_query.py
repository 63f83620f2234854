"""Questions from SQL to noisy rows: what is paid, what is free, what is shown, what stops an attack."""

from __future__ import annotations

import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import kohorte as ko
from kohorte.dp import QueryAnswer, dummy_table, libraries
from kohorte.dp.budget.budget import Budget
from kohorte.dp.budget.ledger import Account
from kohorte.dp.budget.sqlite_ledger import SqliteAccount, SqliteLedger
from kohorte.dp.noise import releasing
from kohorte.dp.schema.typed import typed_table
from kohorte.errors import BudgetExceeded, EngineError, InputError
from support.questions import AGGREGATES, metadata, patients

TELLING = metadata(budget={"epsilon": 100.0, "delta": 1e-3})
"""With so much epsilon the noise is small, so that answers can be compared with the truth."""


def ask(sql: str, frame: pl.DataFrame, **options: object) -> QueryAnswer:
    return ko.query(frame, sql, TELLING, **{"epsilon": 90.0, **options})  # type: ignore[arg-type]


def test_answers_are_near_the_truth_and_within_their_half_widths() -> None:
    frame = patients(2_000)
    answer = ask("SELECT COUNT(*), SUM(age), AVG(age), VARIANCE(age), STDDEV(weight), MEDIAN(age) FROM PRIORI", frame)
    [row] = answer.rows
    ages, weights = frame["age"].to_list(), frame["weight"].to_list()
    truth = [2_000, sum(ages), statistics.mean(ages), statistics.variance(ages), statistics.stdev(weights)]
    for value, true, column in zip(row, truth, answer.columns, strict=False):
        [width] = column.half_widths
        assert isinstance(value, int | float)
        assert width is not None
        assert abs(value - true) <= width * 3 + 0.01 * abs(true)
    assert abs(float(row[5] or 0) - statistics.median(ages)) <= 2
    assert answer.columns[5].rank_error is not None
    assert answer.columns[5].half_widths == (None,)


def test_groups_are_those_of_the_metadata_also_where_nobody_is() -> None:
    frame = patients(300).with_columns(sex=pl.lit("f"))
    answer = ask("SELECT sex, COUNT(*) AS n FROM PRIORI GROUP BY sex", frame)
    assert [row[0] for row in answer.rows] == ["f", "m"]
    assert abs(int(answer.rows[1][1] or 0)) < 5


def test_the_answer_has_the_form_of_the_source() -> None:
    answer = ask("SELECT married, AVG(age) FROM PRIORI GROUP BY married", patients(500))
    assert set(answer.query_result) == {"married", "Col1"}
    assert answer.query_result["married"] == {"0": False, "1": True}
    assert answer.to_dict()["query_result"] == answer.query_result


def test_keys_that_are_not_public_need_delta_and_hide_rare_ones() -> None:
    frame = pl.concat([patients(500), patients(1).with_columns(pid=pl.lit("x"), diagnosis=pl.lit("rare"))])
    sql = "SELECT diagnosis, AVG(age) FROM PRIORI GROUP BY diagnosis"
    with pytest.raises(InputError, match="delta above 0"):
        ask(sql, frame)
    answer = ask(sql, frame, delta=1e-4)
    assert [row[0] for row in answer.rows] == ["K0", "K1", "K2", "K3", "K4"]
    assert float(answer.cost.delta) == 1e-4
    assert any("are not shown" in note for note in answer.notes)


def test_a_delta_that_is_not_needed_is_not_spent() -> None:
    assert ask("SELECT COUNT(*) FROM PRIORI", patients(5), delta=1e-4).cost.delta == 0


def test_having_order_and_limit_choose_from_what_is_released() -> None:
    sql = "SELECT sex, married, COUNT(*) AS n FROM PRIORI GROUP BY married, sex"
    frame = patients(900)
    every = ask(sql, frame)
    assert len(every.rows) == 4
    some = ask(f"{sql} HAVING n > 200 OR sex = 'x' ORDER BY n DESC, 1 LIMIT 3", frame)
    assert [row[0] for row in some.rows] == ["f", "f"]
    assert len(some.columns[2].half_widths) == 2
    assert ask(f"{sql} ORDER BY sex DESC LIMIT 0", frame).rows == ()


def test_a_mean_of_nobody_is_unknown() -> None:
    answer = ask("SELECT AVG(age), STDDEV(age) FROM PRIORI WHERE age = 3", patients(1), epsilon=99.0)
    assert all(value is None or isinstance(value, float) for value in answer.rows[0])


def test_the_same_question_is_free_and_has_the_same_answer(tmp_path: Path) -> None:
    book, frame = tmp_path / "b.ledger", patients(100)
    told = metadata(budget={"epsilon": 1.0})
    first = ko.query(
        frame,
        "SELECT sex, AVG(age) FROM PRIORI WHERE age > 3 AND sex = 'f' GROUP BY sex",
        told,
        epsilon=0.5,
        ledger=book,
    )
    same = "select AVG(age) AS mean, sex, count(age) n FROM priori WHERE (sex='f') AND 3 < age GROUP BY sex ORDER BY n"
    again = ko.query(frame, same, told, epsilon=0.5, ledger=book)
    assert again.from_record
    assert not first.from_record
    assert again.cost.amount == 0
    assert again.remaining == first.remaining
    assert {row[1]: row[0] for row in again.rows} == dict(first.rows)


@pytest.mark.parametrize("change", ["table", "epsilon", "researcher", "bounds", "where"])
def test_another_question_is_paid_for(tmp_path: Path, change: str) -> None:
    book, frame, told = tmp_path / "b.ledger", patients(100), metadata()
    sql, epsilon, researcher = "SELECT AVG(age) FROM PRIORI", 0.5, "jane"
    ko.query(frame, sql, told, epsilon=epsilon, ledger=book, researcher=researcher)
    if change == "table":
        frame = frame.with_columns(age=pl.col("age") + 1)
    elif change == "bounds":
        told = metadata(max_contributions=2)
    sql = f"{sql} WHERE age > 3" if change == "where" else sql
    epsilon = 0.4 if change == "epsilon" else epsilon
    researcher = "john" if change == "researcher" else researcher
    assert not ko.query(frame, sql, told, epsilon=epsilon, ledger=book, researcher=researcher).from_record


def test_new_metadata_do_not_renew_the_budget(tmp_path: Path) -> None:
    book = tmp_path / "b.ledger"
    ko.query(patients(9), "SELECT COUNT(*) FROM PRIORI", metadata(budget={"epsilon": 1}), epsilon=0.9, ledger=book)
    told = metadata(budget={"epsilon": 1}, max_contributions=2)
    with pytest.raises(BudgetExceeded):
        ko.query(patients(9), "SELECT COUNT(*) FROM PRIORI", told, epsilon=0.2, ledger=book)


def test_the_same_question_of_many_threads_is_paid_once_and_has_one_answer(tmp_path: Path) -> None:
    book, told = SqliteLedger(tmp_path / "b.ledger"), metadata(budget={"epsilon": 1.0})
    typed = typed_table(patients(200), told)

    def asked(number: int) -> tuple[object, bool]:
        sql = f"SELECT sex, AVG(age) AS a{number} FROM PRIORI GROUP BY sex"
        answer = ko.query(typed, sql, told, epsilon=0.3, ledger=book)
        return answer.rows, answer.from_record

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(asked, range(24)))
    assert len({rows for rows, _ in found}) == 1
    assert [from_record for _, from_record in found].count(False) == 1
    assert float(book.of(Account("PRIORI")).spent().amount) == 0.3


def test_many_threads_with_different_questions_get_their_own_answers(tmp_path: Path) -> None:
    """Plans, mechanisms and the database are shared; what comes out is not."""
    book, told = SqliteLedger(tmp_path / "b.ledger"), metadata(budget={"epsilon": 100.0, "delta": 0.1})
    tables = [typed_table(patients(1_000 * (size + 1)), told) for size in range(3)]

    def asked(number: int) -> None:
        size, low = number % 3, 20 + number % 7
        truth = patients(1_000 * (size + 1)).filter(pl.col("age") > low)
        sql = f"SELECT diagnosis, COUNT(*) AS n, MEDIAN(age) FROM PRIORI WHERE age > {low} GROUP BY diagnosis"
        answer = ko.query(tables[size], sql, told, epsilon=20.0, delta=1e-3, ledger=book, researcher=f"r{number % 30}")
        for diagnosis, count, _ in answer.rows:
            assert abs(int(count or 0) - truth.filter(pl.col("diagnosis") == diagnosis).height) < 10

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(asked, range(60)))
    for researcher in range(30):
        assert book.of(Account("PRIORI", f"r{researcher}")).spent().amount in (20, 40)


def test_what_was_asked_before_makes_nothing_allowed() -> None:
    """Questions that were made ready are kept: not for other budgets, columns or prices."""
    sql, frame = "SELECT AVG(age) FROM PRIORI", patients(5)
    scales = []
    for epsilon, most in ((1.0, 1), (0.5, 1), (1.0, 4)):
        answer = ko.query(frame, sql, metadata(max_contributions=most), epsilon=epsilon)
        scales.append(answer.columns[0].scales[0])
    assert scales == pytest.approx([2, 4, 8])
    for wrong, options in (
        (metadata(budget={"epsilon": 0.5}), {"epsilon": 1.0}),
        (metadata().protecting(["age"]), {"epsilon": 1.0}),
        (metadata(), {"epsilon": True}),
        (metadata(), {"epsilon": 1.0, "delta": False}),
    ):
        with pytest.raises((InputError, BudgetExceeded)):
            ko.query(frame, sql, wrong, **options)  # type: ignore[arg-type]


def test_an_odd_price_or_query_is_refused() -> None:
    for options in ({"epsilon": 10**400}, {"epsilon": 1.0, "delta": 10**400}, {"epsilon": 1.0, "delta": 1e-200}):
        with pytest.raises(InputError):
            ko.query(patients(3), "SELECT COUNT(*) FROM PRIORI", metadata(), **options)  # type: ignore[arg-type]
    for sql in (["SELECT"], None):
        with pytest.raises(InputError, match="a query is a text"):
            ko.query(patients(3), sql, metadata(), epsilon=1.0)  # type: ignore[arg-type]


def test_a_differencing_attack_is_stopped_by_the_budget(tmp_path: Path) -> None:
    """Two counts that differ by one person, each asked as often as possible: what is learnt stays below the budget."""
    book, told = tmp_path / "b.ledger", metadata(budget={"epsilon": 2.0})
    frame, answers = patients(200), 0
    for number in range(1_000):
        try:
            ko.query(frame, f"SELECT COUNT(*) FROM PRIORI WHERE age < {200 + number}", told, epsilon=0.25, ledger=book)
        except BudgetExceeded:
            break
        answers += 1
    assert answers == 8
    for sql in (
        "SELECT COUNT(*) FROM PRIORI WHERE age <> 20",
        "SELECT SUM(age) FROM PRIORI",
        "SELECT COUNT(*) FROM PRIORI",
    ):
        with pytest.raises(BudgetExceeded):
            ko.query(frame, sql, told, epsilon=1e-6, ledger=book)
    known = ko.query(frame, "SELECT COUNT(*) FROM PRIORI WHERE age < 200", told, epsilon=0.25, ledger=book)
    assert known.from_record


def test_a_refused_query_spends_nothing(tmp_path: Path) -> None:
    book, told = tmp_path / "b.ledger", metadata()
    for sql, options in {
        "SELECT * FROM PRIORI": {},
        "SELECT AVG(lab) FROM PRIORI": {},
        "SELECT COUNT(*) FROM PRIORI": {"epsilon": -1.0},
        "SELECT COUNT(*) FROM PRIORI WHERE age > 1": {"delta": 2.0},
        "SELECT COUNT(*) FROM PRIORI GROUP BY diagnosis": {"delta": 0.0},
        "SELECT COUNT(*) FROM PRIORI GROUP BY age, sex, married": {"frame": patients(3).drop("age")},
    }.items():
        frame = options.pop("frame", patients(3))  # type: ignore[call-overload]
        with pytest.raises(InputError):
            ko.query(frame, sql, told, **{"epsilon": 0.1, "ledger": book, **options})
    assert not book.exists() or SqliteLedger(book).of(Account("PRIORI")).spent().amount == 0


def test_a_crash_after_the_payment_has_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book, told = tmp_path / "b.ledger", metadata()

    def fail(self: object, table: object) -> None:
        raise EngineError("gone", code="query-engine")

    monkeypatch.setattr(releasing.Releaser, "release", fail)
    with pytest.raises(EngineError):
        ko.query(patients(3), "SELECT COUNT(*) FROM PRIORI", told, epsilon=0.5, ledger=book)
    assert float(SqliteLedger(book).of(Account("PRIORI")).spent().amount) == 0.5
    monkeypatch.undo()
    monkeypatch.setattr("kohorte.dp.budget.sqlite_ledger.ANSWERED_WITHIN_SECONDS", 0)
    assert not ko.query(patients(3), "SELECT COUNT(*) FROM PRIORI", told, epsilon=0.5, ledger=book).from_record


def test_nothing_is_measured_before_it_is_paid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real = releasing.Releaser.release
    monkeypatch.setattr(SqliteAccount, "reserve", lambda self, *args: calls.append("paid") or 1)
    monkeypatch.setattr(SqliteAccount, "record", lambda self, *args: calls.append("recorded"))
    monkeypatch.setattr(
        releasing.Releaser, "release", lambda self, table: calls.append("measured") or real(self, table)
    )
    ko.query(patients(3), "SELECT COUNT(*) FROM PRIORI", metadata(), epsilon=0.5, ledger=tmp_path / "b.ledger")
    assert calls == ["paid", "measured", "recorded"]


def test_too_many_public_groups_are_refused() -> None:
    columns = {name: {"datatype": "int", "min": 0, "max": 999} for name in ("a", "b")}
    with pytest.raises(InputError, match="more than 10,000 groups"):
        ko.estimate_query("SELECT COUNT(*) FROM PRIORI GROUP BY a, b", metadata(columns=columns), epsilon=1.0)


def test_more_numbers_than_can_be_given_in_time_are_refused() -> None:
    others = {f"b{number}": {"datatype": "int", "min": 0, "max": 9} for number in range(13)}
    told = metadata(columns={"a": {"datatype": "int", "min": 0, "max": 4_000}, **others})
    sums = ", ".join(f"SUM({name})" for name in others)
    ko.estimate_query("SELECT a, MEDIAN(a) FROM PRIORI GROUP BY a", told, epsilon=1.0)
    with pytest.raises(InputError, match="more than 5,000 quantiles"):
        ko.estimate_query("SELECT a, MEDIAN(a), MIN(a) FROM PRIORI GROUP BY a", told, epsilon=1.0)
    with pytest.raises(InputError, match="more than 50,000 numbers"):
        ko.estimate_query(f"SELECT a, {sums} FROM PRIORI GROUP BY a", told, epsilon=1.0)


def test_files_and_frames_of_pandas_are_tables_too(tmp_path: Path) -> None:
    frame = patients(50)
    frame.write_csv(tmp_path / "p.csv")
    for table in (tmp_path / "p.csv", str(tmp_path / "p.csv"), pd.DataFrame(frame.to_dict(as_series=False))):
        answer = ko.query(table, "SELECT COUNT(*), SUM(age) FROM PRIORI WHERE married = TRUE", TELLING, epsilon=90.0)
        assert abs(int(answer.rows[0][0] or 0) - 25) < 5


@pytest.mark.parametrize("composition", ["pure", "zcdp"])
@pytest.mark.parametrize("aggregate", AGGREGATES)
def test_every_aggregate_works_under_both_compositions(aggregate: str, composition: str) -> None:
    told = metadata(budget={"epsilon": 5.0, "delta": 1e-5, "composition": composition}, max_contributions=2)
    answer = ko.query(patients(60), f"SELECT {aggregate} AS x FROM PRIORI", told, epsilon=1.0)
    assert answer.columns[0].aggregate == aggregate
    assert len(answer.rows) == 1
    assert answer.columns[0].scales
    estimate = ko.estimate_query(f"SELECT {aggregate} AS x FROM PRIORI", told, epsilon=1.0)
    assert estimate.cost == answer.cost
    assert estimate.affordable


def test_an_estimate_says_what_the_answer_will_have() -> None:
    frame, told = patients(1_000), metadata(budget={"epsilon": 1.0})
    estimate = ko.estimate_query("SELECT COUNT(*), AVG(age) FROM PRIORI", told, epsilon=0.5)
    answer = ko.query(frame, "SELECT COUNT(*), AVG(age) FROM PRIORI", told, epsilon=0.5)
    for told_before, found in zip(estimate.columns, answer.columns, strict=True):
        at = dict(told_before.half_width_at)
        assert found.half_widths[0] == pytest.approx(at[1_000], rel=0.5)
    assert not ko.estimate_query("SELECT COUNT(*) FROM PRIORI", told, epsilon=2.0).affordable


def test_figure_5_4_a_count_of_10_000_rows_is_the_nearer_the_greater_epsilon_is() -> None:
    told = metadata(budget={"epsilon": 100.0})
    typed = typed_table(patients(10_000), told)
    for exponent in range(-200, 101, 50):
        epsilon = 10 ** (0.01 * exponent)
        for _ in range(5):
            answer = ko.query(typed, "SELECT COUNT(*) FROM PRIORI", told, epsilon=epsilon)
            assert abs(int(answer.rows[0][0] or 0) - 10_000) <= math.ceil(math.log(1e7) / epsilon)
        assert answer.columns[0].scales[0] == pytest.approx(1 / epsilon)


def test_clamping_is_stated() -> None:
    answer = ask("SELECT SUM(age), MIN(age), COUNT(*) FROM PRIORI", patients(10))
    assert "clamped to 0 .. 120" in answer.columns[0].notes[0]
    assert "quantile at 1%" in answer.columns[1].notes[1]
    assert answer.columns[2].notes == ()


def test_dummy_data_fit_the_metadata_and_are_the_same_for_the_same_seed() -> None:
    told = metadata(max_contributions=3)
    frame = dummy_table(told, 200, seed=7)
    assert frame.equals(dummy_table(told, 200, seed=7))
    assert not frame.equals(dummy_table(told, 200, seed=8))
    assert frame["age"].is_between(0, 120).all()
    assert frame["weight"].is_between(0.5, 300).all()
    assert set(frame["sex"]) == {"f", "m"}
    assert frame["diagnosis"].n_unique() <= 20
    assert frame["pid"].value_counts()["count"].max() == 3
    assert ko.query(frame, "SELECT sex, AVG(weight) FROM PRIORI GROUP BY sex", told, epsilon=1.0).rows
    for wrong in ({"rows": 0}, {"rows": True}, {"seed": -1}):
        with pytest.raises(InputError):
            dummy_table(told, **wrong)


@pytest.mark.parametrize("name", ["sqlglot", "duckdb", "opendp"])
def test_a_missing_library_names_the_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(module: str) -> None:
        raise ImportError(module)

    libraries.opendp.cache_clear()
    monkeypatch.setattr(libraries, "import_module", absent)
    with pytest.raises(InputError, match=rf"need {name}; install kohorte\[query\]"):
        getattr(libraries, name)()
    libraries.opendp.cache_clear()


def test_no_error_quotes_a_cell_or_a_constant(tmp_path: Path) -> None:
    frame = pl.DataFrame({name: ["canary"] * 3 for name in patients(1).columns})
    told = metadata(budget={"epsilon": 0.1})
    book = tmp_path / "b.ledger"
    for sql in (
        "SELECT COUNT(*) FROM PRIORI WHERE sex = 'canary' AND x = 3",
        "SELECT SUM(age) FROM PRIORI WHERE sex = 'canary'",
        "SELECT COUNT(*) FROM PRIORI WHERE age = 'canary'",
        "SELECT canary FROM PRIORI",
    ):
        with pytest.raises((InputError, BudgetExceeded)) as caught:
            ko.query(frame, sql, told, epsilon=5.0, ledger=book)
        assert "canary" not in str(caught.value)
    answer = ko.query(frame, "SELECT COUNT(*) FROM PRIORI WHERE sex = 'canary'", told, epsilon=0.1, ledger=book)
    assert "canary" not in str(answer)
    assert b"canary" not in book.read_bytes()


def test_identifying_attributes_of_a_plan_cannot_be_asked_about() -> None:
    protected = metadata().protecting(["diagnosis"])
    with pytest.raises(InputError, match="identifies people"):
        ko.query(patients(3), "SELECT COUNT(diagnosis) FROM PRIORI", protected, epsilon=0.1)


def test_a_budget_of_metadata_can_be_replaced() -> None:
    assert replace(metadata(), budget=Budget(3.0)).budget.epsilon == 3.0


def test_texts_that_the_metadata_list_as_missing_are_not_counted() -> None:
    frame = patients(600).with_columns(sex=pl.Series(["NA", "f", "m"] * 200))
    counted = "SELECT COUNT(sex) AS n FROM PRIORI"
    told = replace(TELLING, missing_values=["NA"])
    [[known]] = ko.query(frame, counted, told, epsilon=90.0).rows
    [[everything]] = ko.query(frame, counted, TELLING, epsilon=90.0).rows
    assert abs(int(known or 0) - 400) < 10
    assert abs(int(everything or 0) - 600) < 10
    assert told.sha256 != TELLING.sha256
    assert ko.QueryMetadata.from_dict(told.to_dict()) == told


def test_a_table_prepared_for_other_missing_values_is_refused() -> None:
    typed = typed_table(patients(50), TELLING)
    with pytest.raises(InputError, match="prepared for other metadata"):
        ko.query(typed, "SELECT COUNT(*) FROM PRIORI", replace(TELLING, missing_values=["NA"]), epsilon=1.0)
