"""Where rows are counted."""

from kohorte.engines.base import Engine
from kohorte.engines.encoding import EncodedColumn, EncodedTable, Missing, encode
from kohorte.engines.local import LocalEngine

__all__ = ["EncodedColumn", "EncodedTable", "Engine", "LocalEngine", "Missing", "encode"]
