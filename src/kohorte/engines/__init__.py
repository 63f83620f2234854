"""Where rows are counted."""

from kohorte.engines.base import Engine
from kohorte.engines.encoding import (
    EncodedColumn,
    EncodedTable,
    Missing,
    People,
    encode,
    encode_sensitive,
    which_rows,
)
from kohorte.engines.local import LocalEngine
from kohorte.engines.sensitive import SensitiveColumn

__all__ = [
    "EncodedColumn",
    "EncodedTable",
    "Engine",
    "LocalEngine",
    "Missing",
    "People",
    "SensitiveColumn",
    "encode",
    "encode_sensitive",
    "which_rows",
]
