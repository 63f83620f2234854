"""The recorded steps of a check: plain data, each with the hash of the one before."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from kohorte.errors import InputError

FORMAT = 1
NAMES = ("request", "global look-up", "local look-up", "verdicts", "draft", "memory", "recommendation")
"""The steps in their order."""


@dataclass(frozen=True)
class Step:
    """One step: its name, the hash of the step before, and what was found."""

    name: str
    previous: str
    content: Mapping[str, Any] = field(repr=False)

    @property
    def sha256(self) -> str:
        """The hash of the step and, by `previous`, of all before."""
        text = json.dumps([self.name, self.previous, self.content], sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_dict(self) -> dict[str, Any]:
        """The step as plain data."""
        return {"name": self.name, "previous": self.previous, "content": dict(self.content), "sha256": self.sha256}


@dataclass(frozen=True)
class CheckRecord:
    """All steps of a check; `sha256` stands for the whole of it."""

    steps: tuple[Step, ...]

    @classmethod
    def of(cls, contents: Sequence[Mapping[str, Any]]) -> Self:
        """Chain the contents of the steps, in the order of `NAMES`."""
        steps: list[Step] = []
        for name, content in zip(NAMES, contents, strict=True):
            plain = json.loads(json.dumps(content))  # as it is read back
            steps.append(Step(name, steps[-1].sha256 if steps else "", plain))
        return cls(tuple(steps))

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        return self.steps[NAMES.index(name)].content

    @property
    def sha256(self) -> str:
        """The hash of the last step."""
        return self.steps[-1].sha256

    @property
    def request_sha256(self) -> str:
        """The hash of the request that was checked."""
        return str(self["request"]["sha256"])

    @property
    def recommendation(self) -> str:
        """What is recommended: release, release with changes, or do not release."""
        return str(self["recommendation"]["recommendation"])

    def to_json(self) -> str:
        """The record as a text of JSON."""
        steps = [step.to_dict() for step in self.steps]
        return json.dumps({"kohorte": FORMAT, "steps": steps}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str, *, source: str) -> Self:
        """Read a record; a step that does not fit its hash or the step before is refused."""
        try:
            entries = json.loads(text)["steps"]
            steps = tuple(Step(entry["name"], entry["previous"], entry["content"]) for entry in entries)
            whole = [step.sha256 for step in steps] == [entry["sha256"] for entry in entries]
        except (ValueError, KeyError, TypeError):
            raise _changed(source) from None
        before = ("", *(step.sha256 for step in steps))
        chained = all(step.previous == one for step, one in zip(steps, before, strict=False))
        if not whole or not chained or tuple(step.name for step in steps) != NAMES:
            raise _changed(source)
        return cls(steps)


def _changed(source: str) -> InputError:
    return InputError(
        f"{source}: the record of the check was changed; check the request again", code="exchange-check-changed"
    )
