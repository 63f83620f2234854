"""From SQL to a plan: one SELECT with aggregates on one table; anything that is not known to be safe is refused.

sqlglot parses the text; every part of its result must be on a list. A refusal gives line, column and reason, and quotes
nothing from the query, because a query may contain personal data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kohorte.dp.libraries import sqlglot
from kohorte.dp.schema.columns import Column, Datatype
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.sql.conditions import ConditionReader, Named, constant
from kohorte.dp.sql.plan import QUANTILES, Aggregate, Function, Output, QueryPlan
from kohorte.dp.sql.positions import Positions
from kohorte.dp.sql.words import QUANTILE, checked_words
from kohorte.errors import InputError, nearest

CLAUSES = {"expressions", "from_", "where", "group", "having", "order", "limit"}
FUNCTIONS = {
    "Count": Function.COUNT,
    "Sum": Function.SUM,
    "Avg": Function.AVG,
    "Variance": Function.VARIANCE,
    "Stddev": Function.STDDEV,
    "StddevSamp": Function.STDDEV,
    "Min": Function.MIN,
    "Max": Function.MAX,
    "Median": Function.MEDIAN,
    "Quantile": Function.QUANTILE,
}
KNOWN = "known are COUNT, SUM, AVG, VARIANCE, STDDEV, MIN, MAX, MEDIAN and QUANTILE"
MOST_ROWS = 1_000_000


def parse_query(sql: str, metadata: QueryMetadata) -> QueryPlan:
    """Return the plan of a query, or refuse the query with the position and the reason."""
    positions = Positions(checked_sql(sql))
    words = checked_words(positions)
    try:
        return _Reader(positions, metadata).read(_statement(positions, words))
    except RecursionError:
        raise positions.not_allowed(0, "the query is nested too deeply") from None


def checked_sql(sql: object) -> str:
    """Return the text of a query, or refuse anything else."""
    if not isinstance(sql, str):
        raise InputError("a query is a text", code="query-syntax")
    return sql


def _statement(positions: Positions, words: list[Any]) -> Any:
    library = sqlglot()
    try:
        [statement] = library.Dialect.get_or_raise("duckdb").parser().parse(words, positions.sql)
    except library.errors.ParseError as error:
        raise positions.refusal(
            _offset(error, positions.sql), "the query cannot be read here", code="query-syntax"
        ) from None
    except (library.errors.SqlglotError, ValueError, LookupError, AttributeError, TypeError):
        raise positions.refusal(0, "the query cannot be read", code="query-syntax") from None
    if type(statement).__name__ != "Select":
        raise positions.not_allowed(0, "a query is one SELECT")
    return statement


def _offset(error: Any, sql: str) -> int:
    """The offset where sqlglot stopped, found by the text before it that sqlglot reports."""
    first = error.errors[0] if error.errors else {}
    before = str(first.get("start_context") or "") + str(first.get("highlight") or "")
    return max(sql.find(before), 0) + len(str(first.get("start_context") or ""))


@dataclass(frozen=True)
class _Reader:
    positions: Positions
    metadata: QueryMetadata

    def read(self, select: Any) -> QueryPlan:
        self.only(select, CLAUSES)
        self._check_table(select)
        keys = self._keys(select.args.get("group"))
        outputs = tuple(self._output(node, position, keys) for position, node in enumerate(select.expressions))
        self._check_outputs(select, outputs)
        where, having = select.args.get("where"), select.args.get("having")
        released = _Released(self, outputs)
        return QueryPlan(
            outputs=outputs,
            where=None if where is None else ConditionReader(self.positions, self.named).read(where.this),
            keys=keys,
            having=None if having is None else ConditionReader(self.positions, released.named).read(having.this),
            order=released.order(select.args.get("order")),
            limit=self._limit(select.args.get("limit")),
        )

    def only(self, node: Any, known: set[str]) -> None:
        """Refuse an expression that has other arguments than these."""
        for name, value in node.args.items():
            if value and name not in known:
                where = value[0] if isinstance(value, list) else value
                raise self.positions.not_allowed(
                    where if hasattr(where, "walk") else node, "this part of a SELECT is not allowed"
                )

    def _check_table(self, select: Any) -> None:
        source = select.args.get("from_")
        if source is None:
            raise self.positions.not_allowed(select, f"the query names no table; add FROM {self.metadata.table}")
        table = source.this
        if type(table).__name__ != "Table" or type(table.this).__name__ != "Identifier":
            raise self.positions.not_allowed(source, "only the one table can be queried, by its name")
        self.only(source, {"this"})
        self.only(table, {"this"})
        wanted, identifier = self.metadata.table, table.this
        if not _same(identifier, wanted):
            raise self.positions.not_allowed(identifier, f"the only table is {wanted!r}")

    def _keys(self, group: Any) -> tuple[str, ...]:
        if group is None:
            return ()
        self.only(group, {"expressions"})
        keys = [self._key(node) for node in group.expressions]
        if not keys:
            raise self.positions.not_allowed(group, "GROUP BY names columns")
        if len(set(keys)) < len(keys):
            raise self.positions.not_allowed(group, "GROUP BY names a column twice")
        return tuple(sorted(keys))

    def _key(self, node: Any) -> str:
        named = self.named(node)
        if named.datatype is Datatype.FLOAT:
            raise self.positions.not_allowed(node, f"{named.name!r} is of type float, which GROUP BY does not support")
        return named.name

    def named(self, node: Any) -> Named:
        """The column of the metadata that an expression names; anything else is refused."""
        if type(node).__name__ != "Column":
            raise self.positions.not_allowed(node, "only the name of a column is allowed here")
        self.only(node, {"this"})
        if type(node.this).__name__ != "Identifier":
            raise self.positions.not_allowed(node, "only the name of a column is allowed here")
        name = self._column_name(node.this)
        return Named(name, self.metadata.columns[name].datatype)

    def _column_name(self, identifier: Any) -> str:
        metadata = self.metadata
        for name in (*metadata.person_columns, *metadata.identifying):
            if identifier.name.lower() == name.lower():
                raise self.positions.refusal(
                    identifier, f"{name!r} identifies people and cannot be queried", code="query-column"
                )
        exact = [name for name in metadata.columns if name == identifier.name]
        found = exact or [name for name in metadata.columns if _same(identifier, name)]
        if len(found) != 1:
            hint = nearest(identifier.name, set(metadata.columns) - {identifier.name, *metadata.identifying})
            raise self.positions.refusal(identifier, f"no column of the metadata{hint}", code="query-column")
        return found[0]

    def _output(self, node: Any, position: int, keys: tuple[str, ...]) -> Output:
        alias, inner = None, node
        if type(node).__name__ == "Alias":
            self.only(node, {"this", "alias"})
            alias, inner = str(node.alias), node.this
        if type(inner).__name__ == "Star":
            raise self.positions.not_allowed(inner, "rows are never shown; ask for aggregates, such as COUNT(*)")
        if type(inner).__name__ == "Column":
            name = self.named(inner).name
            if name not in keys:
                raise self.positions.not_allowed(inner, f"{name!r} is neither in an aggregate nor in GROUP BY")
            return Output(alias or name, key=name)
        return Output(alias or f"Col{position}", aggregate=self.aggregate(inner))

    def aggregate(self, node: Any) -> Aggregate:
        """The aggregate of an expression; anything else is refused."""
        function = FUNCTIONS.get(type(node).__name__)
        if function is None:
            raise self.positions.not_allowed(node, f"only aggregates of columns are supported; {KNOWN}")
        self.only(node, {"this", "quantile", "big_int"})
        if function is Function.COUNT:
            return self._count(node)
        column = self._bounded(node.this, function)
        quantile = QUANTILES.get(function)
        if function is Function.QUANTILE:
            quantile = self._quantile(node)
        return Aggregate(function, column, quantile)

    def _count(self, node: Any) -> Aggregate:
        inner = node.this
        if type(inner).__name__ == "Star":
            self.only(inner, set())
            return Aggregate(Function.COUNT)
        if type(inner).__name__ != "Distinct":
            return Aggregate(Function.COUNT, self.named(inner).name)
        people = self.metadata.person_columns
        self.only(inner, {"expressions"})
        names = [column.this for column in inner.expressions if type(column).__name__ == "Column"]
        alone = len(inner.expressions) == len(names) == len(people) == 1
        if not alone or not _same(names[0], people[0]):
            raise self.positions.not_allowed(inner, "DISTINCT is for a private_id of one column only")
        return Aggregate(Function.COUNT_PEOPLE, people[0])

    def _bounded(self, node: Any, function: Function) -> str:
        name = self.named(node).name
        column: Column = self.metadata.columns[name]
        if not column.is_number:
            raise self.positions.refusal(
                node, f"{function} is for numbers; {name!r} is of type {column.datatype}", code="query-type"
            )
        if not column.is_bounded:
            raise self.positions.refusal(
                node, f"{name!r} has no min and max in the metadata, and {function} needs them", code="query-unbounded"
            )
        return name

    def _quantile(self, node: Any) -> float:
        share = node.args.get("quantile")
        value = constant(share) if type(share).__name__ == "Literal" else None
        if not isinstance(value, float) or not 0 < value < 1:
            raise self.positions.not_allowed(node, QUANTILE)
        return min(max(round(value, 4), 0.0001), 0.9999)

    def _check_outputs(self, select: Any, outputs: tuple[Output, ...]) -> None:
        if not any(output.aggregate for output in outputs):
            raise self.positions.not_allowed(select, f"the query asks for no aggregate; {KNOWN}")
        names = [output.name.lower() for output in outputs]
        for node, name in zip(select.expressions, names, strict=True):
            if names.count(name) > 1:
                raise self.positions.not_allowed(node, "two columns of the answer have the same name; use AS")

    def _limit(self, limit: Any) -> int | None:
        if limit is None:
            return None
        self.only(limit, {"expression"})
        value = constant(limit.expression) if type(limit.expression).__name__ == "Literal" else None
        if not isinstance(value, float) or value != int(value) or value > MOST_ROWS:
            raise self.positions.not_allowed(limit, f"LIMIT is a whole number up to {MOST_ROWS:,}")
        return int(value)


@dataclass(frozen=True)
class _Released:
    """What HAVING and ORDER BY may refer to: columns of the answer, which are already released."""

    reader: _Reader
    outputs: tuple[Output, ...]

    def named(self, node: Any) -> Named:
        output = self._find(node)
        if output.key is None:
            return Named(output.name, Datatype.FLOAT)
        return Named(output.name, self.reader.metadata.columns[output.key].datatype)

    def order(self, order: Any) -> tuple[tuple[str, bool], ...]:
        if order is None:
            return ()
        self.reader.only(order, {"expressions"})
        return tuple(self._ordered(node) for node in order.expressions)

    def _ordered(self, node: Any) -> tuple[str, bool]:
        if type(node).__name__ != "Ordered":
            raise self._refusal(node)
        self.reader.only(node, {"this", "desc", "nulls_first"})
        return self._find(node.this, numbered=True).name, bool(node.args.get("desc"))

    def _find(self, node: Any, *, numbered: bool = False) -> Output:
        kind = type(node).__name__
        found: list[Output] = []
        if kind == "Column":
            self.reader.only(node, {"this"})
            found = [output for output in self.outputs if _same(node.this, output.name)]
            found = found or [output for output in self.outputs if output.key and _same(node.this, output.key)]
        elif kind in FUNCTIONS:
            aggregate = self.reader.aggregate(node)
            found = [output for output in self.outputs if output.aggregate == aggregate]
        elif numbered and kind == "Literal":
            wanted = constant(node)
            found = [output for number, output in enumerate(self.outputs, start=1) if number == wanted]
        if not found:
            raise self._refusal(node)
        return found[0]

    def _refusal(self, node: Any) -> InputError:
        return self.reader.positions.not_allowed(
            node,
            "HAVING and ORDER BY can only use what is released: columns and aggregates of SELECT",
        )


def _same(identifier: Any, name: str) -> bool:
    """Whether an identifier of sqlglot means this name; without quotes, case does not matter."""
    written = str(identifier.name)
    return written == name if identifier.args.get("quoted") else written.lower() == name.lower()
