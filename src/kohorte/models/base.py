"""The base class of privacy models, used by the searches and by the verification."""

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
    """The population of a model: a file, or the whole table, in which a column flags the rows to release."""

    name: str
    folder: Path = Path()
    is_subset: bool = False

    @property
    def key(self) -> str:
        """The key of its counts in `Groups.populations`."""
        return f"{'subset' if self.is_subset else 'population'}: {self.name}"


@dataclass(frozen=True)
class PrivacyModel:
    """A condition on the classes of a release; its parameters are its fields.

    `monotone`: without suppression, every generalization of a solution is a solution. `monotone_with_suppression`:
    the same with suppression, because a class that fails contains no class that satisfies the model.

    Most models judge one class at a time. `about_all`: the model (also) judges all kept classes together (`holds`).
    `about_others`: the verdict on a class depends on which other classes are kept.

    If people are counted, `groups` are counted in people. Then `monotone_for_people` says whether every generalization
    of a solution is a solution, with and without suppression: a person may have rows in several classes, so that few
    models remain monotone.
    """

    name: ClassVar[str]
    example: ClassVar[str]
    monotone: ClassVar[bool] = False
    monotone_with_suppression: ClassVar[bool] = False
    about_all: ClassVar[bool] = False
    about_others: ClassVar[bool] = False
    needs_hierarchy: ClassVar[bool] = False
    monotone_for_people: ClassVar[bool] = False
    people_refused: ClassVar[str] = ""  # why the model cannot count people

    def monotone_under(self, limit: int) -> bool:
        """Whether every generalization of a solution is a solution if up to `limit` rows may be suppressed."""
        return self.monotone_with_suppression or (limit == 0 and self.monotone)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes whose histograms the model needs."""
        return ()

    @property
    def population_source(self) -> PopulationSource | None:
        """The population that the model needs, or None."""
        return None

    @property
    def promises_nothing(self) -> bool:
        """Whether every table satisfies the model with these parameters."""
        return False

    @property
    def smallest_class(self) -> int:
        """The smallest number of rows, or of people, of a class that satisfies the model."""
        return 1

    def check(self, domains: Mapping[str, Domain]) -> None:
        """Refuse a table that the model cannot judge or that can never satisfy it."""

    def satisfied(self, groups: Groups) -> Bools:
        """Tell for each class whether it satisfies the model."""
        return np.ones(len(groups), dtype=bool)

    def holds(self, groups: Groups) -> bool:
        """Tell whether all kept classes together satisfy the model; each of them is judged by `satisfied`."""
        del groups
        return True

    def gone(self, groups: Groups) -> Floats:
        """A lower bound for the rows of each class that are suppressed at every specialization of the node.

        The default counts the classes that are too small, because their parts are even smaller.
        """
        fails = ~self.satisfied(groups) if self.monotone_with_suppression else groups.sizes < self.smallest_class
        return np.where(fails, groups.sizes, 0.0)

    def reached(self, groups: Groups) -> float | tuple[float, float] | None:
        """The strongest parameter that all classes satisfy; None if there is no class."""
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
