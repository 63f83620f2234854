"""The fields of builder forms: how the text of a field becomes an option, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kohorte.data import strict_yaml

WRITTEN = {"blank": " ", "tab": "\t", "none": ""}
"""Signs that a list of choices cannot show."""


class Kind(StrEnum):
    """How a field is shown and read."""

    TEXT = "text"
    LIST = "list"
    LINES = "lines"
    BOUNDS = "bounds"
    YAML = "yaml"
    CHOICE = "choice"
    SEVERAL = "several"
    FLAG = "flag"


@dataclass(frozen=True)
class Field:
    """An option of a builder; a choice has its values with their words."""

    name: str
    label: str
    kind: Kind = Kind.TEXT
    help: str = ""
    choices: Sequence[tuple[str, str]] = ()

    def read(self, text: str) -> Any:
        """Return the option that was written; None if it was left out."""
        if not text:
            return None
        match self.kind:
            case Kind.LIST | Kind.SEVERAL:
                return [part.strip() for part in text.split(",") if part.strip()]
            case Kind.LINES:
                return [line.strip() for line in text.splitlines() if line.strip()]
            case Kind.BOUNDS:
                return [_bounds(line) for line in text.splitlines() if line.strip()]
            case Kind.YAML:
                return strict_yaml.load(text, source=self.name, code="hierarchy-yaml")
            case Kind.FLAG:
                return True
            case _:
                return WRITTEN.get(text, text)

    def written(self, option: object) -> str:
        """Return an option as the field shows it."""
        match self.kind:
            case Kind.LIST | Kind.SEVERAL:
                return ", ".join(map(str, option)) if isinstance(option, list | tuple) else ""
            case Kind.LINES:
                return "\n".join(map(str, option)) if isinstance(option, list | tuple) else ""
            case Kind.BOUNDS:
                return "\n".join(map(_line, option)) if isinstance(option, list) else ""
            case Kind.YAML:
                return strict_yaml.dump(option) if option else ""
            case Kind.FLAG:
                return "yes" if option else ""
            case _:
                signs = {sign: word for word, sign in WRITTEN.items()}
                text = "" if option is None else str(option)
                return signs.get(text, text) if self.kind is Kind.CHOICE else text


def _bounds(line: str) -> dict[str, list[str]]:
    numbers, _, labels = line.partition(":")
    found = {"bounds": [part.strip() for part in numbers.split(",") if part.strip()]}
    named = [part.strip() for part in labels.split(",") if part.strip()]
    return {**found, "labels": named} if named else found


def _line(level: Mapping[str, Sequence[object]]) -> str:
    numbers = ", ".join(map(str, level["bounds"]))
    return f"{numbers}: {', '.join(map(str, level['labels']))}" if level.get("labels") else numbers
