"""Engines count the classes of a node."""

from kohorte.engines.base import Engine
from kohorte.engines.local import LocalEngine
from kohorte.sources import EncodedTable

ENGINES: tuple[type[Engine], ...] = (LocalEngine,)

__all__ = ["ENGINES", "Engine", "LocalEngine", "engine_for"]


def engine_for(table: EncodedTable) -> Engine:
    """Create the engine of a table. Engines are created only here."""
    return LocalEngine(table)
