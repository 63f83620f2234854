"""The settings of a series besides its plan: domains, how people are recognised, what steers the splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest

FORMAT = 1
FULL_DOMAIN = "full-domain"
KINDS = ("regions", FULL_DOMAIN)
POLICIES = ("refuse", "accept")
ARRIVALS = ("unknown", "known")
KEYS = ("kohorte", "kind", "regions", "identified_by", "corrected", "withdrawn", "arrivals", "target")
DOMAIN_KEYS = ("lower", "upper", "pieces", "step", "digits", "decimal", "values")
TARGET_KEYS = (
    "expected_rows",
    "slack",
    "marginals",
    "joint",
    "data",
    "size",
    "tolerance",
    "policy",
    "seed",
)


@dataclass(frozen=True)
class SeriesSettings:
    """The settings of a series, as `series.yaml` writes them.

    `kind: full-domain` shows every quasi-identifier at one level of its hierarchy; levels only go down. `regions` gives
    the domain of quasi-identifiers whose hierarchy does not define it. `identified_by` is a column by which a person is
    recognised, so that corrected and withdrawn rows can be told apart. `arrivals: known` protects against an attacker
    who knows since when a person is in the table. `target` steers which regions are split; file names in it are
    relative to `folder`.
    """

    kind: str = "regions"
    regions: Mapping[str, Mapping[str, object]] = field(default_factory=dict, hash=False)
    identified_by: str | None = None
    corrected: str = "refuse"
    withdrawn: str = "refuse"
    arrivals: str = "unknown"
    target: Mapping[str, object] | None = field(default=None, hash=False)
    folder: Path = field(default=Path(), compare=False, repr=False)

    def __post_init__(self) -> None:
        for key, choices in (("kind", KINDS), ("corrected", POLICIES), ("withdrawn", POLICIES), ("arrivals", ARRIVALS)):
            _one_of(key, getattr(self, key), choices)
        if self.identified_by is not None and not isinstance(self.identified_by, str):
            raise InputError("identified_by must be the name of a column", code="series-settings")
        if self.corrected == "accept" and self.identified_by is None:
            raise InputError(
                "corrected: accept needs identified_by: without it a corrected row cannot be told from one that was "
                "withdrawn and another that is new",
                code="series-settings",
            )
        object.__setattr__(self, "regions", MappingProxyType(_domains(self.regions)))
        if self.target is not None and self.kind == FULL_DOMAIN:
            raise InputError(
                "target: steers which regions are split; kind: full-domain has none, and the plan's metric chooses the "
                "levels",
                code="series-settings",
            )
        if self.target is not None:
            target = _mapping(self.target, "target", "{expected_rows: 100000, ...}", TARGET_KEYS)
            object.__setattr__(self, "target", MappingProxyType(target))

    def __getstate__(self) -> dict[str, Any]:
        plain = {name: dict(value) for name, value in self.regions.items()}
        return vars(self) | {"regions": plain, "target": None if self.target is None else dict(self.target)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, MappingProxyType(value) if isinstance(value, dict) else value)

    def to_dict(self) -> dict[str, object]:
        """The settings as plain data, without those that have their default."""
        given: dict[str, object] = {"kohorte": FORMAT}
        for key in (one for one in fields(self) if one.compare):
            value = getattr(self, key.name)
            if value not in (key.default, {}):
                given[key.name] = _plain(value)
        return given

    def to_yaml(self) -> str:
        """The settings as the text of a settings file."""
        return strict_yaml.dump(self.to_dict())

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a settings file; file names in it are relative to the file."""
        path = Path(path)
        text = read_text(path, what="settings file", code="series-settings-unreadable")
        return cls.from_dict(strict_yaml.load(text, source=path.name, code="series-settings-yaml"), folder=path.parent)

    @classmethod
    def from_dict(cls, data: object, *, folder: Path = Path()) -> Self:
        """Read settings from plain dictionaries, as YAML and JSON give them."""
        if not isinstance(data, Mapping):
            raise InputError(
                "the settings must be a mapping with the keys " + ", ".join(KEYS), code="series-settings-yaml"
            )
        _refuse_unknown(data, KEYS, "the settings of a series")
        if data.get("kohorte") != FORMAT or isinstance(data["kohorte"], bool):
            raise InputError(
                f"the settings must begin with 'kohorte: {FORMAT}', their format version", code="series-settings"
            )
        given: dict[str, Any] = {key: value for key, value in data.items() if key != "kohorte" and value is not None}
        return cls(**given, folder=folder)


def _domains(entries: object) -> dict[str, Mapping[str, object]]:
    if not isinstance(entries, Mapping):
        raise InputError("regions must be a mapping of column names", code="series-settings")
    return {
        str(name): MappingProxyType(_mapping(entry or {}, f"regions: {name}", "{lower: 0, upper: 120}", DOMAIN_KEYS))
        for name, entry in entries.items()
    }


def _mapping(entry: object, where: str, example: str, known: Sequence[str]) -> dict[str, object]:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where}: must be written as {example}", code="series-settings")
    _refuse_unknown(entry, known, where)
    return dict(entry)


def _refuse_unknown(entry: Mapping[Any, object], known: Sequence[str], where: str) -> None:
    for key in entry:
        if key not in known:
            raise InputError(
                f"{where}: there is no key {str(key)!r}{nearest(str(key), known)}; the keys are {', '.join(known)}",
                code="series-settings-unknown-key",
            )


def _one_of(key: str, value: object, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InputError(
            f"{key} must be one of {', '.join(choices)}, not {str(value)!r}{nearest(str(value), choices)}",
            code="series-settings",
        )


def _plain(value: object) -> object:
    """Mappings as dictionaries, tuples as lists, dates and exact numbers as a file writes them."""
    match value:
        case Mapping():
            return {str(key): _plain(entry) for key, entry in value.items()}
        case list() | tuple():
            return [_plain(entry) for entry in value]
        case date():
            return value.isoformat()
        case Decimal() | Path():
            return str(value)
        case _:
            return value


def settings_of(settings: object) -> SeriesSettings:
    """Return settings that were given as such, as a mapping, or not at all."""
    if settings is None:
        return SeriesSettings()
    if isinstance(settings, SeriesSettings):
        return settings
    if isinstance(settings, Mapping):
        return SeriesSettings.from_dict({"kohorte": FORMAT, **settings})
    raise InputError(
        "settings must be SeriesSettings, for example SeriesSettings.from_yaml('series.yaml')", code="series-settings"
    )
