"""SQL queries under differential privacy: a strict parser, exact bounded sums, noise, and a budget."""

from __future__ import annotations

from kohorte.dp.answers.answer import QueryAnswer, QueryEstimate
from kohorte.dp.answers.run_query import estimate_query, query
from kohorte.dp.budget.budget import Budget
from kohorte.dp.budget.ledger import Account, Ledger
from kohorte.dp.budget.sqlite_ledger import SqliteLedger
from kohorte.dp.noise.local import RandomizedResponses, randomized_response
from kohorte.dp.schema.columns import Column
from kohorte.dp.schema.dummy import dummy_table
from kohorte.dp.schema.metadata import QueryMetadata
from kohorte.dp.schema.typed import typed_table

__all__ = [
    "Account",
    "Budget",
    "Column",
    "Ledger",
    "QueryAnswer",
    "QueryEstimate",
    "QueryMetadata",
    "RandomizedResponses",
    "SqliteLedger",
    "dummy_table",
    "estimate_query",
    "query",
    "randomized_response",
    "typed_table",
]
