"""Several institutions, one anonymous table: nobody shows anybody a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kohorte.parties.party import Party
    from kohorte.parties.rehearsal import rehearse
    from kohorte.parties.study import Study

__all__ = ["Party", "Study", "rehearse"]

_MODULES = {"Party": "party", "Study": "study", "rehearse": "rehearsal"}


def __getattr__(name: str) -> object:
    """Import a public name when it is used: ciphers and transport need libraries that are optional."""
    from importlib import import_module

    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(import_module(f"kohorte.parties.{_MODULES[name]}"), name)
