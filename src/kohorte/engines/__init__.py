"""Engines count the classes of a node."""

from kohorte.engines.base import Engine, ForgetfulEngine
from kohorte.engines.local import LocalEngine
from kohorte.engines.people import PeopleEngine
from kohorte.engines.person_sets import PersonSetsEngine
from kohorte.engines.remembering import RememberingEngine
from kohorte.sources import EncodedTable

ENGINES: tuple[type[Engine], ...] = (LocalEngine, PeopleEngine, PersonSetsEngine)

__all__ = ["ENGINES", "Engine", "LocalEngine", "PeopleEngine", "PersonSetsEngine", "RememberingEngine", "engine_for"]


def engine_for(table: EncodedTable) -> ForgetfulEngine:
    """Create the engine of a table. Engines are created only here."""
    if table.persons is None:
        return LocalEngine(table)
    return PersonSetsEngine(table) if table.persons.by_sets else PeopleEngine(table)
