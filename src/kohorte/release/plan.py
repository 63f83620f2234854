"""The plan: what is to be anonymized, how strictly, and what counts as good."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from kohorte.data import Role
from kohorte.data.files import unreadable
from kohorte.engines import Missing
from kohorte.errors import InputError, nearest
from kohorte.hierarchy import Builder, builder_from_dict, builder_to_dict
from kohorte.models import PrivacyModel, model_from_dict
from kohorte.quality import Loss, Metric, metric_named
from kohorte.release import plan_yaml
from kohorte.search import search_named

FORMAT = 1
ORDERS = ("shuffled", "input")
KEYS = ("kohorte", "attributes", "models", "suppression_limit", "metric", "search", "missing", "output")


@dataclass(frozen=True)
class Attribute:
    """The role of a column; for quasi-identifiers also the hierarchy (without one: the value or `*`) and a weight."""

    role: Role
    hierarchy: Builder | None = None
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "role", _choice("role", self.role, Role))  # text is welcome, too
        if not _is_number(self.weight) or not 0 <= self.weight <= 1:
            raise InputError(f"weight must be a number from 0 to 1, not {self.weight!r}", code="plan-weight")
        object.__setattr__(self, "weight", float(self.weight))
        if self.hierarchy is not None and not isinstance(self.hierarchy, Builder):
            raise InputError("hierarchy: give a builder such as Redaction()", code="plan-type")
        if self.weight != 1.0 and self.role is not Role.QUASI_IDENTIFYING:
            raise InputError(f"a weight has no meaning for a column that is {self.role}", code="plan-weight")

    def to_dict(self) -> dict[str, object]:
        """The attribute as a plan writes it."""
        entry: dict[str, object] = {"role": str(self.role)}
        if self.weight != 1.0:
            entry["weight"] = self.weight
        if self.hierarchy is not None:
            entry["hierarchy"] = builder_to_dict(self.hierarchy)
        return entry

    @classmethod
    def from_dict(cls, entry: object, *, folder: Path) -> Self:
        """Read `{role: ..., hierarchy: ..., weight: ...}`."""
        options = _mapping(entry, "{role: ..., hierarchy: ...}", ("role", "hierarchy", "weight"))
        if "role" not in options:
            raise InputError("the role is missing", code="plan-role")
        hierarchy = options.get("hierarchy")
        return cls(
            role=options["role"],
            hierarchy=None if hierarchy is None else builder_from_dict(hierarchy, folder=folder),
            weight=options.get("weight", 1.0),
        )


@dataclass(frozen=True)
class SearchOptions:
    """Which algorithm searches, for how long at most (in seconds), and with how many threads (None: as fits).

    The number of threads never changes the answer.
    """

    algorithm: str = "optimal"
    time_limit: float | None = None
    threads: int | None = None

    def __post_init__(self) -> None:
        search_named(str(self.algorithm))
        limit = self.time_limit
        if limit is not None and not (_is_number(limit) and limit > 0):
            raise InputError(f"time_limit must be a number of seconds above 0, not {limit!r}", code="plan-time-limit")
        object.__setattr__(self, "time_limit", None if limit is None else float(limit))
        if self.threads is not None and (isinstance(self.threads, bool) or self.threads not in range(1, 257)):
            raise InputError(f"threads must be a whole number from 1 to 256, not {self.threads!r}", code="plan-threads")

    def to_dict(self) -> dict[str, object]:
        """The options as a plan writes them."""
        entry: dict[str, object] = {"algorithm": self.algorithm}
        if self.time_limit is not None:
            entry["time_limit"] = self.time_limit
        if self.threads is not None:
            entry["threads"] = self.threads
        return entry


@dataclass(frozen=True)
class Plan:
    """One plan, the same object in YAML, Python and every other interface; equal when all its parts are."""

    attributes: Mapping[str, Attribute]
    models: Sequence[PrivacyModel]
    suppression_limit: float = 0.0
    metric: Metric = field(default_factory=Loss)
    search: SearchOptions = field(default_factory=SearchOptions)
    missing: Missing = Missing.CATEGORY
    order: str = "shuffled"

    def __post_init__(self) -> None:
        object.__setattr__(self, "attributes", MappingProxyType(dict(self.attributes)))
        object.__setattr__(self, "models", tuple(self.models))
        if isinstance(self.metric, str):  # the name of a metric is welcome, too
            object.__setattr__(self, "metric", metric_named(self.metric))
        self._refuse_strangers()
        object.__setattr__(self, "missing", _choice("missing", self.missing, Missing))
        limit = self.suppression_limit
        if not _is_number(limit) or not 0 <= limit <= 1:
            raise InputError(
                f"suppression_limit is a fraction from 0 to 1 (0.05 means 5 %), not {limit!r}",
                code="plan-suppression-limit",
            )
        object.__setattr__(self, "suppression_limit", float(limit))
        if self.order not in ORDERS:
            raise InputError(f"output: order is one of {', '.join(ORDERS)}", code="plan-order")
        if not self.quasi_identifiers:
            raise InputError("the plan names no quasi-identifying attribute", code="plan-no-quasi-identifier")
        if not self.models:
            raise InputError("the plan asks for no privacy model, so nothing would be protected", code="plan-no-model")
        for name in self.histograms:
            if name not in self.names(Role.SENSITIVE):
                raise InputError(
                    f"a model names {name!r}, which is not a sensitive attribute of the plan"
                    f"{nearest(name, self.names(Role.SENSITIVE))}",
                    code="plan-model-attribute",
                )

    def _refuse_strangers(self) -> None:
        parts: dict[str, tuple[Sequence[object], str]] = {
            "attributes": (list(self.attributes.values()), "role"),
            "models": (self.models, "satisfied"),
            "metric": ([self.metric], "costing"),
            "search": ([self.search], "algorithm"),
        }
        for name, (members, needed) in parts.items():
            if not all(hasattr(member, needed) for member in members):
                raise InputError(f"{name}: something of another kind is among them", code="plan-type")

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"attributes": dict(self.attributes)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, MappingProxyType(value) if name == "attributes" else value)

    def __hash__(self) -> int:
        return hash((frozenset(self.attributes), self.suppression_limit, self.metric.name))

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The quasi-identifying columns, in the order of the plan."""
        return self.names(Role.QUASI_IDENTIFYING)

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns of a role, in the order of the plan."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role is role)

    @property
    def smallest_class(self) -> int:
        """The fewest rows that a class of the release can have."""
        return max(model.smallest_class for model in self.models)

    @property
    def histograms(self) -> tuple[str, ...]:
        """The sensitive attributes whose histograms the models ask for."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.sensitive))

    def most_suppressed(self, rows: int) -> int:
        """How many of so many rows may be suppressed: floor(suppression_limit * rows), exactly."""
        return int(Fraction(str(self.suppression_limit)) * rows)

    def __repr__(self) -> str:
        return f"Plan.from_dict({self.to_dict()!r})"

    # As YAML, JSON and dictionaries

    def to_dict(self) -> dict[str, object]:
        """The plan as plain dictionaries, lists, numbers and text."""
        return {
            "kohorte": FORMAT,
            "attributes": {name: attribute.to_dict() for name, attribute in self.attributes.items()},
            "models": [model.to_dict() for model in self.models],
            "suppression_limit": self.suppression_limit,
            "metric": {"metric": self.metric.name},
            "search": self.search.to_dict(),
            "missing": str(self.missing),
            "output": {"order": self.order},
        }

    def to_yaml(self) -> str:
        """The plan as the text of a plan file."""
        return plan_yaml.dump(self.to_dict())

    def fingerprint(self) -> str:
        """The SHA-256 of the plan's content: comments and layout of its file do not matter."""
        return hashlib.sha256(json.dumps(self.to_dict(), ensure_ascii=False).encode()).hexdigest()

    @classmethod
    def from_yaml(cls, path: str | Path) -> Self:
        """Read a plan file; file names in it are relative to the file."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(f"{path}: the plan is not UTF-8 text", code="plan-unreadable") from None
        except OSError as error:
            raise InputError(unreadable(path, error).message, code="plan-unreadable") from None
        return cls.from_dict(plan_yaml.load(text, source=path.name), folder=path.parent)

    @classmethod
    def from_dict(cls, data: object, *, folder: Path = Path()) -> Self:
        """Read a plan from plain dictionaries, as YAML and JSON give them."""
        if not isinstance(data, Mapping):
            raise InputError("a plan is a mapping with the keys " + ", ".join(KEYS), code="plan-yaml")
        _refuse_unknown(data, KEYS, "the plan")
        if data.get("kohorte") != FORMAT or isinstance(data["kohorte"], bool):
            raise InputError(f"the plan must begin with 'kohorte: {FORMAT}', its format version", code="plan-version")
        for key in ("attributes", "models"):
            if not data.get(key):
                raise InputError(f"the plan has no {key}", code="plan-incomplete")
        return cls(
            attributes=_attributes(data["attributes"], folder),
            models=_models(data["models"]),
            suppression_limit=data.get("suppression_limit", 0.0),
            metric=_metric(data.get("metric", {"metric": "loss"})),
            search=_search(data.get("search", {})),
            missing=data.get("missing", Missing.CATEGORY),
            order=_order(data.get("output", {})),
        )


def _attributes(entries: object, folder: Path) -> dict[str, Attribute]:
    if not isinstance(entries, Mapping):
        raise InputError("attributes: is a mapping of column names", code="plan-incomplete")
    attributes = {}
    for name, entry in entries.items():
        with _Within(f"attributes: {name}"):
            attributes[str(name)] = Attribute.from_dict(entry, folder=folder)
    return attributes


def _models(entries: object) -> list[PrivacyModel]:
    if not isinstance(entries, list | tuple):
        raise InputError("models: is a list, each entry {model: name, ...}", code="plan-incomplete")
    models = []
    for number, entry in enumerate(entries, start=1):
        with _Within(f"models: entry {number}"):
            models.append(model_from_dict(entry))
    return models


def _metric(entry: object) -> Metric:
    with _Within("metric"):
        options = _mapping(entry, "{metric: loss}", ("metric",))
        return metric_named(str(options.get("metric", "loss")))


def _search(entry: object) -> SearchOptions:
    with _Within("search"):
        return SearchOptions(**_mapping(entry, "{algorithm: optimal}", ("algorithm", "time_limit", "threads")))


def _order(entry: object) -> Any:
    with _Within("output"):
        return _mapping(entry, "{order: shuffled}", ("order",)).get("order", "shuffled")


class _Within:
    """Puts the place in the plan before the message of an InputError."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if isinstance(error, InputError):
            raise InputError(f"{self.place}: {error.message}", code=error.code) from None


def _mapping(entry: object, example: str, known: Sequence[str]) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        raise InputError(f"is written as {example}", code="plan-incomplete")
    _refuse_unknown(entry, known, "it")
    return dict(entry)


def _refuse_unknown(entry: Mapping[Any, object], known: Sequence[str], where: str) -> None:
    for key in entry:
        if key not in known:
            raise InputError(
                f"{where} has no key {str(key)!r}{nearest(str(key), known)}; known are {', '.join(known)}",
                code="plan-unknown-key",
            )


def _choice(key: str, value: object, choices: type[Role] | type[Missing]) -> Role | Missing:
    try:
        return choices(str(value))
    except ValueError:
        known = [str(choice) for choice in choices]
        raise InputError(
            f"{key} is one of {', '.join(known)}, not {str(value)!r}{nearest(str(value), known)}", code=f"plan-{key}"
        ) from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
