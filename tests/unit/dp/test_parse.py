"""SQL becomes a plan of known parts, or is refused with the place and the reason."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kohorte.dp.sql.parse import parse_query
from kohorte.dp.sql.plan import (
    Aggregate,
    Among,
    Both,
    Compare,
    Either,
    Function,
    IsMissing,
    Negation,
    Output,
    QueryPlan,
)
from kohorte.errors import InputError
from support.examples import examples
from support.questions import metadata

TOLD = metadata(identifying=["name"], columns={"name": {"datatype": "text"}, **metadata().to_dict()["columns"]})


def test_a_query_with_everything_becomes_a_plan() -> None:
    plan = parse_query(
        "SELECT sex AS s, COUNT(*) AS n, AVG(age), quantile(Age, 0.25) q FROM priori "
        "WHERE NOT age BETWEEN 3 AND -4.5 AND (sex IN ('m', 'f') OR lab IS NOT NULL) AND 18 < age "
        "GROUP BY sex HAVING n > 3 AND AVG(age) <= 50 ORDER BY 2 DESC, s LIMIT 5;",
        TOLD,
    )
    assert plan.outputs == (
        Output("s", key="sex"),
        Output("n", aggregate=Aggregate(Function.COUNT)),
        Output("Col2", aggregate=Aggregate(Function.AVG, "age")),
        Output("q", aggregate=Aggregate(Function.QUANTILE, "age", 0.25)),
    )
    between = Both((Compare("age", ">=", 3.0), Compare("age", "<=", -4.5)))
    listed = Either((Among("sex", ("f", "m")), Negation(IsMissing("lab"))))
    assert plan.where == Both((Negation(between), listed, Compare("age", ">", 18.0)))
    assert plan.having == Both((Compare("n", ">", 3.0), Compare("Col2", "<=", 50.0)))
    assert (plan.keys, plan.order, plan.limit) == (("sex",), (("n", True), ("s", False)), 5)


def test_the_same_question_has_the_same_plan_whatever_its_letters_and_order() -> None:
    first = parse_query("SELECT COUNT(*) FROM PRIORI WHERE age > 3 AND sex = 'f'", TOLD)
    assert first == parse_query("select  count(*)\nfrom priori where (sex='f') and 3.0<AGE", TOLD)


@pytest.mark.parametrize(
    ("written", "function"),
    [
        ("VAR_SAMP", Function.VARIANCE),
        ("VARIANCE", Function.VARIANCE),
        ("STDDEV", Function.STDDEV),
        ("STDDEV_SAMP", Function.STDDEV),
        ("MIN", Function.MIN),
        ("MAX", Function.MAX),
        ("MEDIAN", Function.MEDIAN),
    ],
)
def test_the_names_of_aggregates_are_known(written: str, function: Function) -> None:
    assert parse_query(f"SELECT {written}(age) FROM PRIORI", TOLD).aggregates[0].function is function


REFUSED = {
    "SELECT * FROM PRIORI": (8, "query-not-allowed", "rows are never shown"),
    "SELECT age FROM PRIORI": (8, "query-not-allowed", "neither in an aggregate"),
    "SELECT sex FROM PRIORI GROUP BY sex": (8, "query-not-allowed", "no aggregate"),
    "SELECT COUNT(*) FROM PRIORI -- x": (29, "query-not-allowed", "comments"),
    "SELECT COUNT(*) /* x */ FROM PRIORI": (17, "query-not-allowed", "comments"),
    "SELECT COUNT(*) FROM PRIORI; SELECT COUNT(*) FROM PRIORI": (28, "query-not-allowed", "one statement"),
    "SELECT COUNT(*) FROM PRIORI JOIN b ON 1=1": (29, "query-not-allowed", "one table"),
    "SELECT COUNT(*) FROM PRIORI, b": (30, "query-not-allowed", "this part"),
    "SELECT COUNT(*) FROM (SELECT 1)": (23, "query-not-allowed", "subqueries"),
    "SELECT COUNT(*) FROM PRIORI WHERE age IN (SELECT 3)": (43, "query-not-allowed", "subqueries"),
    "SELECT COUNT(*) FROM PRIORI UNION SELECT 1": (29, "query-not-allowed", "UNION"),
    "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a": (1, "query-not-allowed", "WITH"),
    "SELECT COUNT(*) FROM other": (22, "query-not-allowed", "only table"),
    "SELECT COUNT(*) FROM main.PRIORI": (26, "query-not-allowed", "dot"),
    "SELECT COUNT(*) FROM read_csv('x')": (22, "query-not-allowed", "only the one table"),
    "SELECT COUNT(*) FROM PRIORI p": (29, "query-not-allowed", "this part"),
    "SELECT SUM(age + 1) FROM PRIORI": (16, "query-not-allowed", "arithmetic"),
    "SELECT SUM(age * 2) FROM PRIORI": (12, "query-not-allowed", "only the name of a column"),
    "SELECT SUM(-age) FROM PRIORI": (13, "query-not-allowed", "only the name of a column"),
    "SELECT SUM(lab) FROM PRIORI": (12, "query-unbounded", "no min and max"),
    "SELECT SUM(sex) FROM PRIORI": (12, "query-type", "for numbers"),
    "SELECT AVG(DISTINCT age) FROM PRIORI": (21, "query-not-allowed", "only the name of a column"),
    "SELECT COUNT(DISTINCT sex) FROM PRIORI": (23, "query-not-allowed", "private_id"),
    "SELECT COUNT(1) FROM PRIORI": (14, "query-not-allowed", "only the name of a column"),
    "SELECT COUNT(*) OVER () FROM PRIORI": (17, "query-not-allowed", "window"),
    "SELECT COUNT(*) FILTER (WHERE age > 3) FROM PRIORI": (17, "query-not-allowed", "this word"),
    "SELECT UPPER(sex) FROM PRIORI": (8, "query-not-allowed", "only aggregates"),
    "SELECT VAR_POP(age) FROM PRIORI": (8, "query-not-allowed", "only aggregates"),
    "SELECT QUANTILE(age, 1.5) FROM PRIORI": (17, "query-not-allowed", "between 0 and 1"),
    "SELECT DISTINCT COUNT(*) FROM PRIORI": (1, "query-not-allowed", "this part"),
    "SELECT COUNT(*), COUNT(*) AS Col0 FROM PRIORI": (8, "query-not-allowed", "same name"),
    "SELECT COUNT(*) FROM PRIORI WHERE pid = '7'": (35, "query-column", "identifies people"),
    "SELECT COUNT(*) FROM PRIORI WHERE name = 'x'": (35, "query-column", "identifies people"),
    "SELECT COUNT(*) FROM PRIORI GROUP BY name": (38, "query-column", "identifies people"),
    "SELECT COUNT(*) FROM PRIORI WHERE sexx = 'f'": (35, "query-column", "did you mean 'sex'"),
    "SELECT COUNT(*) FROM PRIORI WHERE age = 'f'": (35, "query-type", "a number"),
    "SELECT COUNT(*) FROM PRIORI WHERE sex = 3": (35, "query-type", "single quotes"),
    "SELECT COUNT(*) FROM PRIORI WHERE married = 'f'": (35, "query-type", "TRUE or FALSE"),
    "SELECT COUNT(*) FROM PRIORI WHERE married > TRUE": (35, "query-type", "only"),
    "SELECT COUNT(*) FROM PRIORI WHERE age = 1e999": (35, "query-type", "a number"),
    "SELECT COUNT(*) FROM PRIORI WHERE age = NULL": (35, "query-not-allowed", "constant"),
    "SELECT COUNT(*) FROM PRIORI WHERE age = weight": (35, "query-not-allowed", "constant"),
    "SELECT COUNT(*) FROM PRIORI WHERE married": (35, "query-not-allowed", "a condition compares"),
    "SELECT COUNT(*) FROM PRIORI WHERE sex LIKE 'f'": (39, "query-not-allowed", "LIKE"),
    "SELECT COUNT(*) FROM PRIORI WHERE age > ?": (41, "query-not-allowed", "parameters"),
    "SELECT COUNT(*) FROM PRIORI WHERE age > $1": (41, "query-not-allowed", "parameters"),
    "SELECT COUNT(*) FROM PRIORI GROUP BY weight": (38, "query-not-allowed", "float"),
    "SELECT COUNT(*) FROM PRIORI GROUP BY sex, sex": (38, "query-not-allowed", "twice"),
    "SELECT COUNT(*) FROM PRIORI GROUP BY ALL": (38, "query-not-allowed", "this word"),
    "SELECT COUNT(*) FROM PRIORI HAVING SUM(age) > 3": (36, "query-not-allowed", "released"),
    "SELECT COUNT(*) FROM PRIORI ORDER BY age": (38, "query-not-allowed", "released"),
    "SELECT COUNT(*) FROM PRIORI LIMIT 1.5": (35, "query-not-allowed", "whole number"),
    "SELECT COUNT(*) FROM PRIORI LIMIT 3 OFFSET 2": (37, "query-not-allowed", "OFFSET"),
    "DELETE FROM PRIORI": (1, "query-not-allowed", "this word"),
    "SELECT COUNT(* FROM PRIORI": (13, "query-syntax", "this bracket is not closed"),
    "SELECT COUNT(*)) FROM PRIORI": (16, "query-syntax", "never opened"),
    "SELECT QUANTILE(age, 0.5 FROM PRIORI": (16, "query-syntax", "this bracket is not closed"),
    "SELECT QUANTILE(age, 0.5, 0.6) FROM PRIORI": (8, "query-not-allowed", "needs a number q"),
    "SELECT QUANTILE( , 0.5) FROM PRIORI": (8, "query-not-allowed", "needs a number q"),
    "SELECT COUNT(*) FROM PRIORI WHERE \"Name\" = 'x'": (35, "query-column", "identifies people"),
    "SELECT COUNT(*) FROM PRIORI WHERE \"PID\" = 'x'": (35, "query-column", "identifies people"),
    "SELECT COUNT(*) FROM PRIORI WHERE sex = '\ud800'": (42, "query-syntax", "a lone surrogate"),
    'SELECT COUNT(*) AS "\udfff" FROM PRIORI': (21, "query-syntax", "a lone surrogate"),
    "SELECT COUNT(*) AS n FROM PRIORI HAVING n = 'f'": (41, "query-type", "a number"),
    "SELECT COUNT(*) FROM PRIORI WHERE sex = 'f": (41, "query-syntax", "not closed"),
    "": (1, "query-syntax", "empty"),
}


@pytest.mark.parametrize("sql", REFUSED)
def test_what_is_not_known_to_be_safe_is_refused_with_its_place_and_reason(sql: str) -> None:
    column, code, words = REFUSED[sql]
    with pytest.raises(InputError) as caught:
        parse_query(sql, TOLD)
    assert caught.value.message.startswith(f"line 1, column {column}: ")
    assert words in caught.value.message
    assert caught.value.code == code


@pytest.mark.parametrize("name", ["sex", '"sex"', "SEX"])
def test_an_identifying_column_is_protected_however_its_letters_are_written(name: str) -> None:
    with pytest.raises(InputError, match="identifies people"):
        parse_query(f"SELECT COUNT(*) FROM PRIORI WHERE {name} = 'f'", metadata(identifying=["Sex"]))


def test_the_place_counts_lines() -> None:
    with pytest.raises(InputError, match=r"^line 3, column 7: "):
        parse_query("SELECT COUNT(*)\nFROM PRIORI\nWHERE sexx = 'f'", TOLD)


DEEP = {
    "SELECT COUNT(*) FROM PRIORI WHERE " + "(" * 30 + "age = 1" + ")" * 30: 55,
    "SELECT COUNT(*) FROM PRIORI WHERE " + "NOT " * 300 + "age = 1": 115,
    "SELECT COUNT(*) FROM PRIORI WHERE age = " + "- " * 300 + "1": 81,
    "SELECT " + "SUM(" * 45 + "age" + ")" * 45 + " FROM PRIORI": 91,
}


@pytest.mark.parametrize("sql", DEEP)
def test_what_nests_too_deeply_is_refused_where_it_does(sql: str) -> None:
    with pytest.raises(InputError, match=rf"^line 1, column {DEEP[sql]}: .* nested more than 20 deep"):
        parse_query(sql, TOLD)


def deep_in_calls(depth: int, sql: str) -> QueryPlan:
    """Parse where a service would: below many other calls."""
    return parse_query(sql, TOLD) if depth == 0 else deep_in_calls(depth - 1, sql)


def test_a_long_chain_of_conditions_is_read_also_below_many_calls() -> None:
    sql = "SELECT COUNT(*) FROM PRIORI WHERE " + " OR ".join(f"age = {number}" for number in range(240))
    plan = deep_in_calls(400, sql)
    assert isinstance(plan.where, Either)
    assert len(plan.where.conditions) == 240


def test_a_query_that_meets_the_end_of_the_stack_is_refused() -> None:
    sql = "SELECT COUNT(*) FROM PRIORI WHERE " + "(" * 20 + "age = 1" + ")" * 20
    with pytest.raises(InputError, match="nested too deeply"):
        deep_in_calls(700, sql)


@pytest.mark.parametrize("sql", [None, 3, ["SELECT"], b"SELECT COUNT(*) FROM PRIORI"])
def test_what_is_no_text_is_refused(sql: object) -> None:
    with pytest.raises(InputError, match="a query is a text"):
        parse_query(sql, TOLD)  # type: ignore[arg-type]


def test_an_error_within_sqlglot_is_a_refusal() -> None:
    """sqlglot ends with an IndexError here."""
    assert parsed("SELECT COUNT(*) FROM PRIORI WHERE VAR_MAP(age)")[1].startswith("line 1, column 1: ")


def test_a_quantile_stays_between_0_and_1_when_it_is_rounded() -> None:
    plan = parse_query("SELECT QUANTILE(age, 0.999999), QUANTILE(age, 1e-9) FROM PRIORI", TOLD)
    assert [aggregate.quantile for aggregate in plan.aggregates] == [0.9999, 0.0001]


@pytest.mark.parametrize("sql", ["SELECT " + "(" * 60 + "1" + ")" * 60, "SELECT " + "NOT " * 2000, "S" * 20_000])
def test_what_is_too_deep_or_too_long_is_refused(sql: str) -> None:
    with pytest.raises(InputError, match=r"nested|words|characters"):
        parse_query(sql, TOLD)


@pytest.mark.parametrize(
    "condition",
    [
        "sex = CANARY",
        'sex = "CANARY"',
        "CANARY = 'f'",
        "sex LIKE 'CANARY'",
        "age = 'CANARY'",
        "sex = 'CANARY",
        "f('CANARY')",
        "(sex, age) IN (('CANARY', 1))",
        "sex = 'CANARY' COLLATE x",
        "sex = 'CANARY' -- x",
        "married = 'CANARY'",
    ],
)
def test_no_refusal_repeats_what_the_query_says(condition: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_query(f"SELECT COUNT(*) FROM PRIORI WHERE {condition}", TOLD)
    assert "CANARY" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_no_refusal_repeats_a_name_of_the_answer() -> None:
    with pytest.raises(InputError) as caught:
        parse_query("SELECT COUNT(*) AS CANARY FROM PRIORI HAVING CANARY = 'f'", TOLD)
    assert "CANARY" not in str(caught.value)


WORDS = st.sampled_from(
    [
        "SELECT",
        "FROM",
        "PRIORI",
        "WHERE",
        "GROUP",
        "BY",
        "HAVING",
        "ORDER",
        "LIMIT",
        "COUNT(*)",
        "SUM(",
        "AVG(",
        "(",
        ")",
        ",",
        "age",
        "sex",
        "pid",
        "lab",
        "=",
        "<",
        ">=",
        "<>",
        "'f'",
        "3",
        "-4.5",
        "AND",
        "OR",
        "NOT",
        "IN",
        "BETWEEN",
        "IS",
        "NULL",
        "AS",
        "n",
        "DISTINCT",
        "*",
        "TRUE",
        ";",
        "--",
        "/*",
        "UNION",
        "JOIN",
        ".",
        '"',
        "'",
        "$1",
        "?",
        "::",
        "+",
        "CASE",
        "WHEN",
        "END",
        "OVER",
        "WITH",
        "x",
        "1e9",
        "CAST(",
    ]
)
PLACE = re.compile(r"^line \d+, column \d+: ")


def parsed(sql: str) -> tuple[QueryPlan | None, str]:
    try:
        return parse_query(sql, TOLD), ""
    except InputError as refusal:
        return None, refusal.message


@examples(150)
@given(st.lists(WORDS, max_size=25).map(" ".join) | st.text(max_size=40))
@example("SELECT COUNT(*) FROM PRIORI WHERE")
@example("SELECT COUNT(*) FROM PRIORI ORDER BY")
@example("SELECT , FROM PRIORI")
@example("SELECT COUNT( FROM")
def test_whatever_is_written_is_a_plan_or_a_refusal_with_a_place(sql: str) -> None:
    for text in (sql, f"SELECT COUNT(*) FROM PRIORI WHERE {sql}", f"SELECT {sql} FROM PRIORI"):
        plan, refusal = parsed(text)
        if plan is None:
            assert PLACE.match(refusal)
        else:
            assert plan.aggregates
            assert not {"pid", "name"} & set(plan.keys)
