"""The three libraries of the extra `query`, imported when they are first needed."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from kohorte.errors import InputError


def sqlglot() -> Any:
    """Return sqlglot, which parses SQL."""
    return _library("sqlglot")


def duckdb() -> Any:
    """Return DuckDB, which computes exact aggregates."""
    return _library("duckdb")


@cache
def opendp() -> Any:
    """Return OpenDP, the source of all noise, with its "contrib" mechanisms.

    Its prelude is avoided, because it loads scikit-learn and takes seconds; the names are the same.
    """
    parts = {"m": "measurements", "t": "transformations", "c": "combinators"}
    names: dict[str, Any] = {short: _library(f"opendp.{name}") for short, name in parts.items()}
    for name in ("domains", "metrics", "measures", "accuracy"):
        names |= {key: item for key, item in vars(_library(f"opendp.{name}")).items() if not key.startswith("_")}
    _library("opendp.mod").enable_features("contrib")
    return SimpleNamespace(**names)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InputError(
            f"queries under differential privacy need {name.partition('.')[0]}; install kohorte[query]",
            code="query-library-missing",
        ) from None
