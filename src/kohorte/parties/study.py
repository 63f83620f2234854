"""The study file: who takes part, with which protocol, and the plan that all agreed on."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from kohorte.data import Role, strict_yaml
from kohorte.data.files import read_text
from kohorte.errors import InputError, nearest
from kohorte.plans.plan import Plan
from kohorte.plans.search_options import is_number

KEYS = (
    "study",
    "protocol",
    "distribution",
    "identifier",
    "plan",
    "parties",
    "helper",
    "result",
    "dummies",
    "counters",
    "pregeneralize",
    "all_people",
    "rehearsal",
)
MEMBER_KEYS = ("address", "certificate", "columns", "group")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
FINGERPRINT = re.compile(r"sha256:[0-9a-f]{64}")
FEWEST, MOST = 2, 10
HELPER = "helper"
MIRRORED = "mirrored"


class Protocol(StrEnum):
    """How the parties compute the joint release."""

    A = "A"
    B = "B"
    C = "C"


class Distribution(StrEnum):
    """How the table is divided: by rows, by columns, or by rows between groups that divide their columns."""

    HORIZONTAL = "horizontal"
    VERTICAL = "vertical"
    HYBRID = "hybrid"


class Counters(StrEnum):
    """The cipher of the counters of protocol C."""

    ELGAMAL = "elgamal"
    PAILLIER = "paillier"


@dataclass(frozen=True)
class Member:
    """A party or the helper: its address, the fingerprint of its certificate, its columns and its group.

    Address and fingerprint may be left out for a rehearsal.
    """

    name: str
    address: str | None = None
    certificate: str | None = None
    columns: tuple[str, ...] = ()
    group: str | None = None


@dataclass(frozen=True)
class Study:
    """What all parties agree on before a run, by its `fingerprint`.

    `dummies` is the share of dummy rows; if they are `mirrored`, there is one for each row. `dummies_chosen`: the
    study file says so, otherwise it is the default. A `rehearsal` runs on one machine with keys that are made for it;
    its certificate says so.
    """

    name: str
    protocol: Protocol
    distribution: Distribution
    plan: Plan
    parties: Mapping[str, Member]
    helper: Member | None = None
    identifier: str | None = None
    result: str | None = None
    dummies: float = 0.0
    mirrored: bool = False
    dummies_chosen: bool = True
    counters: Counters = Counters.ELGAMAL
    pregeneralize: bool = False
    all_people: bool = False
    rehearsal: bool = False
    content: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        self._check_members()
        self._check_columns()
        if self.result is not None and self.result not in self.parties:
            raise InputError(
                f"result names {self.result!r}, which is no party{nearest(self.result, self.parties)}",
                code="study-result",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The parties that hold data, in the order of the study file."""
        return tuple(self.parties)

    @property
    def members(self) -> dict[str, Member]:
        """Everybody who takes part: the parties and, if there is one, the helper."""
        return {**self.parties, **({} if self.helper is None else {HELPER: self.helper})}

    @property
    def finisher(self) -> str:
        """The party that decrypts the release: the one that gets it, or the first of all."""
        return self.result or self.names[0]

    @property
    def receivers(self) -> tuple[str, ...]:
        """The parties that get the release."""
        return self.names if self.result is None else (self.result,)

    @property
    def joins(self) -> bool:
        """Whether rows of several parties are joined by an identifier."""
        return self.distribution is not Distribution.HORIZONTAL

    @property
    def may_lack_rows(self) -> bool:
        """Whether a party may have no rows: there is a group without it."""
        return len(self.groups()) > 1

    def groups(self) -> dict[str, tuple[str, ...]]:
        """The parties whose columns together make whole rows, by the name of the group."""
        if self.distribution is Distribution.HORIZONTAL:
            return {name: (name,) for name in self.names}
        found: dict[str, tuple[str, ...]] = {}
        for member in self.parties.values():
            group = member.group or ""
            found[group] = (*found.get(group, ()), member.name)
        return found

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the parties bring together, in the order of the plan."""
        attributes = self.plan.attributes.items()
        return tuple(column for column, attribute in attributes if attribute.role is not Role.IDENTIFYING)

    @property
    def released_columns(self) -> tuple[str, ...]:
        """The columns of the release: all but the one that flags the rows to release, if there is one."""
        flag = None if self.plan.subset is None else self.plan.subset.name
        return tuple(column for column in self.columns if column != flag)

    def columns_of(self, name: str) -> tuple[str, ...]:
        """The columns that a party brings, in the order of the plan."""
        if self.distribution is Distribution.HORIZONTAL:
            return self.columns
        return tuple(column for column in self.columns if column in self.parties[name].columns)

    def fingerprint(self) -> str:
        """The SHA-256 of everything that was agreed: study, plan and the files of its hierarchies."""
        return hashlib.sha256(self.content.encode()).hexdigest()

    def _check_members(self) -> None:
        if not FEWEST <= len(self.parties) <= MOST:
            raise InputError(f"a study has {FEWEST} to {MOST} parties, not {len(self.parties)}", code="study-parties")
        if self.protocol is Protocol.A and self.helper is not None:
            raise InputError("protocol A has no helper; leave the key out", code="study-helper")
        if self.protocol is not Protocol.A and self.helper is None:
            raise InputError(
                f"protocol {self.protocol} needs a helper, which holds no data: helper: {{address: ..., "
                "certificate: ...}",
                code="study-helper",
            )
        pins = [member.certificate for member in self.members.values() if member.certificate is not None]
        if len(set(pins)) < len(pins):
            raise InputError("two members have the same certificate", code="study-certificate")

    def _check_columns(self) -> None:
        """Vertically, every column that is released belongs to one party of each group."""
        if self.distribution is Distribution.HORIZONTAL:
            if any(member.columns for member in self.parties.values()) or self.identifier is not None:
                raise InputError(
                    "columns and identifier are for a vertical or hybrid distribution only", code="study-columns"
                )
            return
        if self.identifier is None:
            raise InputError(
                f"a {self.distribution} distribution needs identifier, the column that ties the rows together",
                code="study-identifier",
            )
        attribute = self.plan.attributes.get(self.identifier)
        if attribute is not None and attribute.role is not Role.IDENTIFYING:
            raise InputError(
                f"identifier {self.identifier!r} is never released: its role in the plan must be identifying",
                code="study-identifier",
            )
        for group, names in self.groups().items():
            self._check_group(group, names)

    def _check_group(self, group: str, names: tuple[str, ...]) -> None:
        where = f" of group {group!r}" if group else ""
        brought = [column for name in names for column in self.parties[name].columns]
        for column in brought:
            if column not in self.plan.attributes or column == self.identifier:
                raise InputError(
                    f"columns: {column!r} is not a column of the plan that can be released"
                    f"{nearest(column, self.plan.attributes)}",
                    code="study-columns",
                )
            if brought.count(column) > 1:
                raise InputError(f"columns: two parties{where} bring {column!r}", code="study-columns")
        for column, attribute in self.plan.attributes.items():
            if column not in brought and attribute.role is not Role.IDENTIFYING:
                raise InputError(f"columns: no party{where} brings {column!r}", code="study-columns")
        for name in names:
            if not self.columns_of(name):
                raise InputError(f"columns: party {name!r} brings no column", code="study-columns")

    # As YAML

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a study file; the plan is relative to its folder."""
        path = Path(path)
        text = read_text(path, what="study", code="study-unreadable")
        data = strict_yaml.load(text, source=path.name, code="study-yaml")
        if not isinstance(data, Mapping):
            raise InputError("a study is a mapping with the keys " + ", ".join(KEYS), code="study-yaml")
        return cls.from_dict(data, folder=path.parent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, folder: Path = Path()) -> Self:
        """Read a study from plain dictionaries, as parsed from YAML."""
        _refuse_unknown(data, KEYS, "the study")
        for key in ("study", "protocol", "distribution", "plan", "parties"):
            if key not in data:
                raise InputError(f"the study has no {key}", code="study-incomplete")
        plan = Plan.from_yaml(folder / str(data["plan"]))
        protocol = _choice("protocol", data["protocol"], Protocol)
        dummies = data.get("dummies", MIRRORED if protocol is Protocol.C else 0.0)
        if dummies != MIRRORED and (not is_number(dummies) or not 0 <= dummies <= 10):
            raise InputError(
                f"dummies is {MIRRORED}, or the share of dummy rows, from 0 to 10 (0.25: a quarter)",
                code="study-dummies",
            )
        if dummies and protocol is Protocol.B:
            raise InputError("protocol B has no dummy rows; take protocol C, or A", code="study-dummies")
        if protocol is Protocol.A and data.get("counters", Counters.ELGAMAL) != Counters.ELGAMAL:
            raise InputError("counters: protocol A has shared keys, which only elgamal can do", code="study-option")
        for key in ("pregeneralize", "all_people", "rehearsal"):
            if not isinstance(data.get(key, False), bool):
                raise InputError(f"{key} is true or false", code="study-option")
        return cls(
            name=_name(data["study"], "study"),
            protocol=protocol,
            distribution=_choice("distribution", data["distribution"], Distribution),
            plan=plan,
            parties=_members(data["parties"]),
            helper=None if "helper" not in data else _member(HELPER, data["helper"], ("address", "certificate")),
            identifier=None if data.get("identifier") is None else str(data["identifier"]),
            result=None if data.get("result") is None else str(data["result"]),
            dummies=1.0 if dummies == MIRRORED else float(dummies),
            mirrored=dummies == MIRRORED,
            dummies_chosen="dummies" in data,
            counters=_choice("counters", data.get("counters", Counters.ELGAMAL), Counters),
            pregeneralize=data.get("pregeneralize", False),
            all_people=data.get("all_people", False),
            rehearsal=data.get("rehearsal", False),
            content=_content(data, plan),
        )


def _content(data: Mapping[str, Any], plan: Plan) -> str:
    """Everything that was agreed, as one text; files by their hashes, in the order in which the plan names them.

    The order of parties and of attributes is part of it: it decides who does what, and which of equally good releases
    is chosen. The order of other keys is not.
    """
    hashes = [_hash_of(path) for path in plan.files()]
    agreed = {key: value for key, value in data.items() if key != "plan"} | {"parties": [*data["parties"].items()]}
    return json.dumps([agreed, plan.fingerprint(), hashes], sort_keys=True, ensure_ascii=False, default=str)


def _hash_of(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        raise InputError(f"{path.name}: this file of the plan cannot be read", code="study-file") from None


def _members(entries: object) -> dict[str, Member]:
    if not isinstance(entries, Mapping):
        raise InputError("parties: is a mapping of names, each {address: ..., certificate: ...}", code="study-parties")
    return {_name(name, "parties"): _member(str(name), entry, MEMBER_KEYS) for name, entry in entries.items()}


def _member(name: str, entry: object, keys: tuple[str, ...]) -> Member:
    if not isinstance(entry, Mapping):
        raise InputError(f"{name}: is written as {{address: ..., certificate: ...}}", code="study-parties")
    _refuse_unknown(entry, keys, name)
    certificate = entry.get("certificate")
    if certificate is not None and not FINGERPRINT.fullmatch(str(certificate)):
        raise InputError(
            f"{name}: certificate is the fingerprint that 'kohorte party init' prints: sha256: and 64 digits of "
            "0-9 and a-f",
            code="study-certificate",
        )
    columns = entry.get("columns", ())
    if isinstance(columns, str) or not all(isinstance(column, str) for column in columns):
        raise InputError(f"{name}: columns is a list of names", code="study-columns")
    return Member(
        name=name,
        address=None if entry.get("address") is None else _address(name, str(entry["address"])),
        certificate=None if certificate is None else str(certificate),
        columns=tuple(columns),
        group=None if entry.get("group") is None else str(entry["group"]),
    )


def _address(name: str, address: str) -> str:
    host, separator, port = address.rpartition(":")
    if not separator or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise InputError(f"{name}: address is a host and a port, as in a.example:8441", code="study-address")
    return address


def _name(name: object, where: str) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name) or (where == "parties" and name == HELPER):
        raise InputError(
            f"{where}: a name has up to 40 letters, digits, - and _, and is not {HELPER!r}", code="study-name"
        )
    return name


def _choice(key: str, value: object, choices: Any) -> Any:
    try:
        return choices(str(value))
    except ValueError:
        known = ", ".join(str(choice) for choice in choices)
        raise InputError(f"{key} is one of {known}, not {str(value)!r}", code="study-option") from None


def _refuse_unknown(entry: Mapping[Any, object], known: tuple[str, ...], where: str) -> None:
    for key in entry:
        if key not in known:
            raise InputError(
                f"{where} has no key {str(key)!r}{nearest(str(key), known)}; known are {', '.join(known)}",
                code="study-unknown-key",
            )
