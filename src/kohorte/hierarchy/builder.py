"""What all hierarchy builders share: how a plan writes them, how their labels become a hierarchy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import polars as pl

from kohorte.errors import InputError
from kohorte.hierarchy.hierarchy import Hierarchy
from kohorte.hierarchy.labels import SUPPRESSED
from kohorte.hierarchy.options import refuse_unknown
from kohorte.kernels.arrays import Floats

Options: TypeAlias = Mapping[str, object] | Sequence[object] | str
"""What stands in a plan under the name of a builder."""


@dataclass(frozen=True)
class Labels:
    """The labels that a builder gives: column 0 the values it can place, column i their labels at level i."""

    columns: pl.DataFrame
    shares: Sequence[Floats] | None = None
    notes: tuple[str, ...] = field(default=())


class Builder:
    """Makes the hierarchy of an attribute; its members are frozen dataclasses of their options.

    A label is true for every value that it covers. A value that the builder cannot place is left out,
    so that the caller sees it as unknown; no place is invented for it.
    """

    name: ClassVar[str]

    def label(self, values: Sequence[str], *, attribute: str) -> Labels:
        """The labels for the distinct values of the data; monotone or not."""
        raise NotImplementedError

    def build(self, values: Sequence[str], *, attribute: str) -> Hierarchy:
        """The hierarchy for the distinct, non-missing values of the data."""
        labels = self.label(values, attribute=attribute)
        return Hierarchy.from_columns(labels.columns, attribute=attribute, shares=labels.shares, notes=labels.notes)

    @property
    def independent(self) -> bool:
        """Whether the hierarchy is the same whatever the data, so that its hash tells nothing about them."""
        return False

    def files(self) -> tuple[Path, ...]:
        """The files that the hierarchy is read from."""
        return ()

    def fixed(self, hierarchy: Hierarchy) -> Builder | Hierarchy:
        """What places later values just as `hierarchy`, which this builder made, placed those of its data."""
        del hierarchy
        return self

    def to_dict(self) -> Options:
        """What stands in the plan under `name`: the options that differ from their defaults."""
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
    """Tuples as lists, as YAML and JSON have them."""
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def placeable(values: Sequence[str]) -> pl.Series:
    """The values of the data that a label may stand for: not empty (missing) and not `*` (suppressed)."""
    series = pl.Series("0", list(values), dtype=pl.String)
    return series.filter((series != "") & (series != SUPPRESSED))
