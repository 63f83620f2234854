"""The end of the report: models, plan, limits, words, sources, files and versions."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.release import versions
from kohorte.release.certificate import ALWAYS_OPEN, FileFacts
from kohorte.release.words import with_parameters
from kohorte.report.facts import Facts


@dataclass(frozen=True, eq=False)
class EvidencePart:
    """The content of the sections after the figures."""

    facts: Facts
    always_open: tuple[str, ...] = ALWAYS_OPEN

    @property
    def models(self) -> list[list[str]]:
        """The verdict of each model, counted again from the rows; empty if they could not be checked."""
        facts, found = self.facts, self.facts.verification
        if found is None:
            return []
        return [
            [
                with_parameters(model.name, model.parameters),
                "holds" if model.satisfied else "FAILS",
                facts.figures.reached(model, found.rows),
                facts.figures.count(model.failing_rows, found.rows),
            ]
            for model in found.models
        ]

    @property
    def columns(self) -> list[list[str]]:
        """The columns of the plan."""
        return [
            [
                name,
                str(attribute.role),
                "" if attribute.hierarchy is None else attribute.hierarchy.name,
                str(attribute.minimum_level) if attribute.minimum_level else "",
            ]
            for name, attribute in self.facts.plan.attributes.items()
        ]

    @property
    def origin(self) -> list[tuple[str, str]]:
        """Names and hashes.

        The hash of the raw table is shown only in the internal view, because it allows guesses about rows to be tested.
        A single table that satisfies the plan is treated as a release.
        """
        facts = self.facts
        lines = [
            ("made", facts.created.isoformat(timespec="seconds")),
            ("view", str(facts.view)),
            *versions().items(),
            ("plan, SHA-256", facts.plan_sha256 or facts.plan.fingerprint()),
        ]
        if facts.internal or (facts.after is None and facts.holds):
            lines += _file("table", facts.table.file)
        if facts.after is not None:
            lines += _file("release", facts.after.file)
        if facts.made is not None:
            lines.append(("search", f"{facts.made.verdict}; {facts.made.effort}"))
        return lines


def _file(what: str, file: FileFacts | None) -> list[tuple[str, str]]:
    return [] if file is None else [(what, file.name), (f"{what}, SHA-256", file.sha256)]
