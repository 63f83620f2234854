"""Kohorte: share the cohort, not the patients.

    import kohorte as ko
    plan = ko.Plan.from_yaml("plan.yaml")
    release = ko.anonymize(frame, plan)

The public names are listed once, in `__init__.pyi`. Each is loaded when it is first used, so that the command starts
quickly.
"""

from functools import cache
from typing import Any


@cache
def _public() -> tuple[Any, Any, Any]:
    """Read the list of public names, which takes longer than the help text of the command."""
    import lazy_loader

    return lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    getter, _, names = _public()
    return names if name == "__all__" else getter(name)


def __dir__() -> list[str]:
    found: list[str] = _public()[1]()
    return found
