"""What every privacy model offers to the searches and to the verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from kohorte.errors import InputError
from kohorte.groups import Domain, Groups
from kohorte.kernels.arrays import Bools, Floats
from kohorte.models.parameters import refuse_unknown


@dataclass(frozen=True)
class PopulationSource:
    """Where a model's population comes from: a file, or the rows of the table that a column does not flag."""

    name: str
    folder: Path = Path()
    is_subset: bool = False

    @property
    def key(self) -> str:
        """The name under which its counts are found in the groups."""
        return f"{'subset' if self.is_subset else 'population'}: {self.name}"


@dataclass(frozen=True)
class PrivacyModel:
    """A condition on the classes of a release; its parameters are its fields.

    `monotone`: without suppression, a generalization of a solution is a solution. `monotone_with_suppression`:
    the same with suppression, because a class that fails contains no class that holds.

    Most models look at one class at a time. `about_all`: the model is (also) about all classes that are kept
    (`holds`). `about_others`: whether a class satisfies it depends on which others are kept.
    """

    name: ClassVar[str]
    example: ClassVar[str]
    monotone: ClassVar[bool] = False
    monotone_with_suppression: ClassVar[bool] = False
    about_all: ClassVar[bool] = False
    about_others: ClassVar[bool] = False
    needs_hierarchy: ClassVar[bool] = False

    def monotone_under(self, limit: int) -> bool:
        """Whether every generalization of a solution is a solution when so many rows may be suppressed."""
        return self.monotone_with_suppression or (limit == 0 and self.monotone)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes whose histograms the model looks at."""
        return ()

    @property
    def population_source(self) -> PopulationSource | None:
        """The population that the model looks at."""
        return None

    @property
    def promises_nothing(self) -> bool:
        """Whether every table satisfies the model with these parameters."""
        return False

    @property
    def smallest_class(self) -> int:
        """The fewest rows that a class can have and satisfy the model."""
        return 1

    def check(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a table that the model cannot judge, or that it can never hold for."""

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it satisfies the model."""
        return np.ones(len(groups), dtype=bool)

    def holds(self, groups: Groups) -> bool:
        """Tell whether all kept classes together satisfy the model, beyond what each of them must."""
        del groups
        return True

    def gone(self, groups: Groups) -> Floats:
        """A lower bound for the rows of each class that are suppressed, at every specialization of the node.

        Where nothing better is known, these are the classes that are too small: finer ones are smaller still.
        """
        fails = ~self.satisfied(groups) if self.monotone_with_suppression else groups.sizes < self.smallest_class
        return np.where(fails, groups.sizes, 0.0)

    def reached(self, groups: Groups) -> float | tuple[float, float] | None:
        """The strongest parameter that all classes satisfy; None where there is no class."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, object]:
        """The model as a plan writes it."""
        entry: dict[str, object] = {"model": self.name}
        for parameter in fields(self):
            if parameter.compare and getattr(self, parameter.name) != parameter.default:
                entry[parameter.name] = getattr(self, parameter.name)
        return entry

    @classmethod
    def from_dict(cls, entry: Mapping[str, object], *, folder: Path = Path()) -> Self:
        """Read the parameters of a plan's entry; file names are relative to `folder`."""
        parameters = [parameter for parameter in fields(cls) if parameter.compare]
        refuse_unknown(entry, cls.name, [parameter.name for parameter in parameters])
        for parameter in parameters:
            if parameter.default is MISSING and parameter.name not in entry:
                raise InputError(
                    f"model {cls.name} needs {parameter.name}, for example {cls.example}", code="model-parameter"
                )
        given: dict[str, Any] = {str(key): value for key, value in entry.items() if key != "model"}
        if any(parameter.name == "folder" for parameter in fields(cls)):
            given["folder"] = folder
        return cls(**given)
