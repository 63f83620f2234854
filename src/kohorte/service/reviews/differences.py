"""The difference between two versions of a plan, for people who must not see values.

Numbers, roles and names of columns are told; of hierarchies and other parts that can list values, only that they have
changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

TOLD = ("suppression_limit", "missing", "linked_by", "person", "title", "purpose", "recipient")
"""Parts of a plan that contain no values, and are told with what they were and are."""
OF_COLUMN = ("weight", "minimum_level")


@dataclass(frozen=True)
class Difference:
    """One change: its kind, what it is about, and what it was and is, where that may be told."""

    kind: str
    about: str
    before: str | None = None
    after: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return it as plain data."""
        return asdict(self)


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return what has changed from one plan to another."""
    return [*_columns(before, after), *_models(before, after), *_parts(before, after)]


def _columns(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    old, new = before.get("attributes", {}), after.get("attributes", {})
    for name in new:
        if name not in old:
            yield Difference("column-added", name, None, str(new[name].get("role")))
    for name, was in old.items():
        if name not in new:
            yield Difference("column-removed", name, str(was.get("role")))
            continue
        now = new[name]
        if was.get("role") != now.get("role"):
            yield Difference("role", name, str(was.get("role")), str(now.get("role")))
        if was.get("hierarchy") != now.get("hierarchy"):
            yield Difference("hierarchy", name)
        for key in sorted({*was, *now} - {"role", "hierarchy"}):
            if was.get(key) != now.get(key):
                known = key in OF_COLUMN
                yield Difference("column", f"{name}, {key}", *_told(was.get(key), now.get(key), known=known))


def _models(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    old, new = _by_name(before), _by_name(after)
    for name in new:
        if name not in old:
            yield Difference("model-added", name, None, _parameters(new[name]))
    for name, was in old.items():
        if name not in new:
            yield Difference("model-removed", name, _parameters(was))
            continue
        for key in sorted({*was, *new[name]}):
            if was.get(key) != new[name].get(key):
                one, other = was.get(key), new[name].get(key)
                yield Difference("model", f"{name}, {key}", *_told(one, other, known=_numbers(one, other)))


def _by_name(plan: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The models by name and column; a second one of the same kind gets a number."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry in plan.get("models", ()):
        base = f"{entry['model']} ({entry['attribute']})" if "attribute" in entry else str(entry["model"])
        name, count = base, 1
        while name in found:
            count += 1
            name = f"{base} {count}"
        found[name] = {key: value for key, value in entry.items() if key not in ("model", "attribute")}
    return found


def _parts(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Difference]:
    for key in sorted({*before, *after} - {"attributes", "models", "kohorte"}):
        if before.get(key) != after.get(key):
            yield Difference("part", key, *_told(before.get(key), after.get(key), known=key in TOLD))


def _told(before: Any, after: Any, *, known: bool) -> tuple[str | None, str | None]:
    return (_text(before), _text(after)) if known else (None, None)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _numbers(*values: Any) -> bool:
    return all(value is None or isinstance(value, int | float) for value in values)


def _parameters(entry: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in entry.items() if isinstance(value, int | float))
