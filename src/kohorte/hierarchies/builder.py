"""The base class of hierarchy builders: options of a plan in, hierarchy out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchies.hierarchy import Hierarchy
from kohorte.hierarchies.labels import SUPPRESSED
from kohorte.hierarchies.options import refuse_unknown
from kohorte.kernels.arrays import Floats

Options: TypeAlias = Mapping[str, object] | Sequence[object] | str
"""The options that a plan gives under the name of a builder."""


@dataclass(frozen=True)
class Labels:
    """The labels that a builder gives: column 0 holds the values that fit, column i their labels at level i."""

    columns: pl.DataFrame
    shares: Sequence[Floats] | None = None
    notes: tuple[str, ...] = field(default=())


class Builder:
    """Makes the hierarchy of an attribute; its members are frozen dataclasses of their options.

    A label is true for every value that it covers. A value that does not fit is left out, so that the
    caller sees it as unknown; no label is invented for it.
    """

    name: ClassVar[str]

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:
        """The labels for the distinct values of the data; whether they are monotone is not checked here."""
        raise NotImplementedError

    def build(self, values: Sequence[str], *, attribute: str) -> Hierarchy:
        """The hierarchy for the distinct, non-missing values of the data."""
        labels = self.label(values, attribute=attribute)
        return Hierarchy.from_columns(labels.columns, attribute=attribute, shares=labels.shares, notes=labels.notes)

    @property
    def independent(self) -> bool:
        """Whether the hierarchy does not depend on the data, so that its hash reveals nothing about them."""
        return False

    @property
    def needs_all_values(self) -> bool:
        """Whether the label of a value depends on which other values the data have."""
        return False

    def meaning(self, level: int, top: int) -> str:
        """What a level between the value and `*` shows, in words: `decade`; empty if only its labels tell."""
        del level, top
        return ""

    def files(self) -> tuple[Path, ...]:
        """The files that the hierarchy is read from."""
        return ()

    def fixed(self, hierarchy: Hierarchy) -> Builder | Hierarchy:
        """A builder or hierarchy that labels later values exactly as `hierarchy`, built here, labels its own."""
        del hierarchy
        return self

    def to_dict(self) -> Options:
        """The options that differ from their defaults, as the plan writes them under `name`."""
        return {
            option: _plain(getattr(self, option))
            for option, default in self._options().items()
            if getattr(self, option) != default
        }

    @classmethod
    def from_dict(cls, options: Options, *, folder: Path) -> Self:  # noqa: ARG003 - for builders with files
        """The builder that a plan describes; relative file names refer to `folder`."""
        if not isinstance(options, Mapping):
            raise InputError(f"{cls.name}: options are written as {{option: setting}}", code="hierarchy-option-invalid")
        refuse_unknown(options, tuple(cls._options()), where=cls.name)
        return cls(**options)

    @classmethod
    def _options(cls) -> dict[str, object]:
        members: Any = cls
        return {member.name: member.default for member in fields(members) if member.compare}


def _plain(value: object) -> object:
    """Turn tuples into lists, for YAML and JSON."""
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def placeable(values: Sequence[str]) -> pl.Series:
    """The values that can get a label: not empty (missing) and not `*` (suppressed)."""
    series = pl.Series("0", list(values), dtype=pl.String)
    return series.filter((series != "") & (series != SUPPRESSED))
