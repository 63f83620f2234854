"""What the models that compare a table with its population share."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from kohorte.errors import InputError
from kohorte.groups import Groups, Population
from kohorte.models.base import PopulationSource, PrivacyModel
from kohorte.models.parameters import column


@dataclass(frozen=True, kw_only=True)
class PopulationModel(PrivacyModel):
    """A model with a population: a file, or the whole table, in which the column `subset` flags the rows to release."""

    population: str | None = None
    subset: str | None = None
    folder: Path = field(default=Path(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if (self.population is None) == (self.subset is None):
            raise InputError(
                f"model {self.name} needs either population (a file) or subset (a column that flags the rows to "
                f"release), for example {self.example}",
                code="model-parameter",
            )
        if self.subset is not None:
            column("subset", self.subset)
        elif not isinstance(self.population, str) or not self.population or "\0" in self.population:
            raise InputError("population must be the name of a file", code="model-parameter")

    @property
    def population_source(self) -> PopulationSource:
        """Where the population comes from."""
        if self.subset is not None:
            return PopulationSource(self.subset, is_subset=True)
        return PopulationSource(str(self.population), folder=self.folder)

    def people(self, groups: Groups) -> Population:
        """The population of each class."""
        return groups.populations[self.population_source.key]
