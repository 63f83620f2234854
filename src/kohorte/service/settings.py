"""The settings of the service: from `service.yaml` in its folder, the environment, and the command line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest
from kohorte.risks import RiskPolicy
from kohorte.service.house_rules import HouseRules
from kohorte.service.parts import OF_TRUST, Part
from kohorte.service.permissions import TWO_PEOPLE
from kohorte.trust.domain_names import refuse_domain_name

FILE = "service.yaml"
DATABASE_VARIABLE = "KOHORTE_DATABASE"
KEY_VARIABLE = "KOHORTE_KEY_FILE"
METRICS_VARIABLE = "KOHORTE_METRICS_TOKEN"
MEBIBYTE = 1 << 20
UNPACKED_LIMIT = 4 * 1024 * MEBIBYTE
MOST = 1 << 62
KINDS: Mapping[str, tuple[Any, str]] = MappingProxyType(
    {
        "int": (int, "a whole number above 0"),
        "float": (int | float, "a number above 0"),
        "bool": (bool, "true or false"),
        "str": (str, "a text"),
        "Path": (Path, "a path"),
        "Path | None": (Path | None, "a path"),
        "RiskPolicy": (RiskPolicy, "a policy"),
        "HouseRules": (HouseRules, "a list of rules"),
        "tuple[str, ...]": (tuple, "a list of names"),
    }
)
OTHER_HOUSES = ("pseudonyms", "patients")
"""What another house can have: NAME_at, NAME_certificate, NAME_key and NAME_pinned say where it is."""
FILES = ("certificate", "key", "pinned")
PATHS = ("key_file", "series_folder", *(f"{house}_{name}" for house in OTHER_HOUSES for name in FILES))
DEFAULT_POLICY = RiskPolicy(
    {
        "highest_prosecutor_risk": 1,
        "prosecutor_attacker_success_rate": 1,
        "records_affected_by_highest_prosecutor_risk": 1,
    }
)
DEFAULT_RULES = HouseRules()


@dataclass(frozen=True)
class Settings:
    """The settings of a service; sizes in bytes. `KOHORTE_DATABASE` may also name the database."""

    folder: Path
    database: str = field(default="", repr=False)
    key_file: Path | None = None
    upload_limit: int = 1024 * MEBIBYTE
    body_limit: int = 16 * MEBIBYTE
    most_cells: int = 500_000_000
    unpacked_limit: int = UNPACKED_LIMIT
    worker_memory: int = 8 * 1024 * MEBIBYTE
    table_cache: int = 1024 * MEBIBYTE
    preview_cache: int = 256 * MEBIBYTE
    preview_memory: int = 2 * 1024 * MEBIBYTE
    synchronous_rows: int = 250_000
    synchronous_seconds: float = 20.0
    access_minutes: float = 15.0
    refresh_days: float = 7.0
    browser_minutes: float = 60.0
    browser_hours: float = 12.0
    requests_per_minute: int = 6_000
    logins_per_minute: int = 30
    behind_proxy: bool = False
    metrics_token: str = field(default="", repr=False)
    policy: RiskPolicy = DEFAULT_POLICY
    two_people: tuple[str, ...] = ()
    approval_hours: float = 72.0
    series_folder: Path | None = None
    rules: HouseRules = DEFAULT_RULES
    only: tuple[str, ...] = ()
    sources_get_pids: bool = False
    disclosure_ledger: bool = False
    texts_per_day: int = 100_000
    answer_seconds: float = 0.5
    project_domains: tuple[str, ...] = ()
    pseudonyms_at: str = ""
    pseudonyms_certificate: Path | None = None
    pseudonyms_key: Path | None = None
    pseudonyms_pinned: Path | None = None
    patients_at: str = ""
    patients_certificate: Path | None = None
    patients_key: Path | None = None
    patients_pinned: Path | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            kinds, words = KINDS[str(part.type)]
            value = getattr(self, part.name)
            if not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool):
                raise _wrong(f"{part.name} is {words}")
            if isinstance(value, int | float) and kinds is not bool and not 0 < value < MOST:
                raise _wrong(f"{part.name} is {words}")
        for name in self.two_people:
            if name not in TWO_PEOPLE:
                raise _wrong(f"two_people: not an operation for two people{nearest(str(name), TWO_PEOPLE)}")
        for name in self.project_domains:
            refuse_domain_name(name)
        for house in OTHER_HOUSES:
            self._check_house(house)
        for name in self.only:
            if name not in set(Part):
                raise _wrong(f"only: a part is one of {', '.join(Part)}{nearest(str(name), list(Part))}")

    def _check_house(self, house: str) -> None:
        given = [bool(getattr(self, f"{house}_{name}")) for name in ("at", *FILES)]
        if any(given) != all(given):
            raise _wrong(
                f"{house}_at, {house}_certificate, {house}_key and {house}_pinned belong together: address of the "
                "other house, certificate and key of this one, and the pinned certificate of the other"
            )

    def other_house(self, house: str) -> dict[str, str] | None:
        """Address and files of a house of `OTHER_HOUSES`, as texts; None if this service knows none."""
        if not getattr(self, f"{house}_at"):
            return None
        return {name: str(getattr(self, f"{house}_{name}")) for name in ("at", *FILES)}

    @property
    def database_address(self) -> str:
        """Where the database is; SQLite in the folder unless another was named."""
        return self.database or f"sqlite:///{self.folder / 'service.db'}"

    @property
    def key_path(self) -> Path:
        """Where the master key is."""
        return self.key_file or self.folder / "keys" / "master.key"

    @property
    def serves_way_back(self) -> bool:
        """Whether a way back is served; then nobody grants roles alone that approve it."""
        return any(part in self.parts for part in OF_TRUST)

    def needs_two_people(self, operation: str) -> bool:
        """Whether a second person has to confirm an operation, by the settings or by a rule of the house."""
        return operation in self.two_people or (operation == "download_csv" and self.rules.releases_need_approval)

    @property
    def parts(self) -> frozenset[Part]:
        """The parts that are served."""
        return frozenset(map(Part, self.only)) or frozenset(Part)

    def trust_folder(self, part: Part) -> Path:
        """Where a part keeps its keys and lists."""
        return self.folder / part

    @property
    def ledger_folder(self) -> Path:
        """The folder with the one disclosure ledger of the house: that of the part exchange, as on the command line."""
        return self.trust_folder(Part.EXCHANGE)

    @property
    def series_path(self) -> Path:
        """Where the folders of series are."""
        return self.series_folder or self.folder / "series"

    @property
    def spent_log(self) -> Path:
        """Where the log of spendings is."""
        return self.folder / "spent.log"

    @property
    def state_log(self) -> Path:
        """Where the record of the latest version of every marked row is."""
        return self.folder / "state.log"

    @property
    def vault_folder(self) -> Path:
        """Where encrypted files are."""
        return self.folder / "files"

    @classmethod
    def load(cls, folder: Path, environment: Mapping[str, str] = os.environ, **overrides: Any) -> Self:
        """Read the settings of a folder; arguments override the environment, which overrides the file."""
        given = _read(folder / FILE) if (folder / FILE).exists() else {}
        named = {"database": DATABASE_VARIABLE, "key_file": KEY_VARIABLE, "metrics_token": METRICS_VARIABLE}
        given |= {name: environment[variable] for name, variable in named.items() if environment.get(variable)}
        given |= {name: value for name, value in overrides.items() if value is not None}
        _refuse_unknown(given, source="settings")
        for name in PATHS:
            if isinstance(given.get(name), str):
                given[name] = Path(given[name])
        return cls(folder=folder, **given)


def _read(path: Path) -> dict[str, Any]:
    text = read_text(path, what="settings", code="service-settings")
    data = strict_yaml.load(text, source=path.name, code="service-settings")
    if not isinstance(data, Mapping):
        raise _wrong(f"{path.name}: settings are written as name: value")
    _refuse_unknown(data, source=path.name)
    given = dict(data)
    if "policy" in given:
        given["policy"] = RiskPolicy.from_dict(given["policy"])
    if "rules" in given:
        given["rules"] = HouseRules.from_dict(given["rules"])
    for name in PATHS:
        if isinstance(given.get(name), str):
            given[name] = path.parent / given[name]  # a relative path refers to the folder
    for name in ("two_people", "only", "project_domains"):
        if isinstance(given.get(name), list):
            given[name] = tuple(given[name])
    return given


def _refuse_unknown(given: Mapping[str, Any], *, source: str) -> None:
    known = [part.name for part in fields(Settings) if part.name != "folder"]
    for name in given:
        if name not in known:
            raise _wrong(f"{source}: there is no setting {name!r}{nearest(str(name), known)}")


def _wrong(message: str) -> InputError:
    return InputError(message, code="service-settings")
