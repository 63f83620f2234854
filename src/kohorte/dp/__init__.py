"""Questions in SQL under differential privacy: a parser that refuses, exact bounded sums, noise, and a budget."""

from __future__ import annotations

from kohorte.dp.answer import QueryAnswer, QueryEstimate
from kohorte.dp.asking import estimate_query, query
from kohorte.dp.budget import Budget
from kohorte.dp.columns import Column
from kohorte.dp.dummy import dummy_table
from kohorte.dp.ledger import Ledger, SqliteLedger
from kohorte.dp.local import RandomizedResponses, randomized_response
from kohorte.dp.metadata import QueryMetadata
from kohorte.dp.typed import typed_table

__all__ = [
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
