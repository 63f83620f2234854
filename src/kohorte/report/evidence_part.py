"""The end of the report: models, plan, limits, words, sources, files and versions."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.in_words import Unit
from kohorte.models.words import with_parameters
from kohorte.release import versions
from kohorte.release.certificate import ALWAYS_OPEN, FileFacts
from kohorte.release.telling.promises import plan_notes
from kohorte.report.facts import Facts

NOT_STATED = "not stated"


@dataclass(frozen=True, eq=False)
class EvidencePart:
    """The content of the sections after the figures."""

    facts: Facts
    always_open: tuple[str, ...] = ALWAYS_OPEN

    @property
    def models(self) -> list[list[str]]:
        """The verdict of each model, counted again from the rows; empty if they could not be checked."""
        found, everyone = self.facts.verification, self.facts.everyone_judged
        if found is None:
            return []
        return [
            [
                with_parameters(model.name, model.parameters),
                model.word,
                self.facts.model_figures.reached(model, everyone),
                self.facts.model_figures.count(min(model.failing, everyone), everyone),
            ]
            for model in found.models
        ]

    @property
    def notes(self) -> list[str]:
        """What a reader should know about what was counted, as the certificate says it."""
        return plan_notes(self.facts.plan)

    @property
    def judged(self) -> Unit:
        """What the models count, which is people only if the verification knows whom the rows are about."""
        return self.facts.model_figures.unit

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
    def about(self) -> list[tuple[str, str]]:
        """What the report is about, for its head: data set, files, purpose, recipient, date and certificate."""
        facts, told = self.facts, self.facts.told
        stated = facts.about.or_else(facts.plan.about)
        return [
            (told("data set"), stated.title or told(NOT_STATED)),
            *((told(f"file of the {what}"), file.name) for what, file in self._files),
            (told("purpose"), stated.purpose or told(NOT_STATED)),
            (told("recipient"), stated.recipient or told(NOT_STATED)),
            (told("date of the report"), told(facts.created.strftime("%Y-%m-%d"))),
            (told("certificate, SHA-256"), facts.certificate_sha256 or told("no certificate was given")),
        ]

    @property
    def _files(self) -> list[tuple[str, FileFacts]]:
        """The files that this view may name: the raw table only in the internal view.

        The hash of a raw table allows guesses about rows to be tested. A single table that satisfies the plan is
        treated as a release.
        """
        facts = self.facts
        sides = [("release", facts.after)] if facts.after is not None else []
        if facts.internal or (facts.after is None and facts.holds):
            sides.insert(0, ("table", facts.table))
        return [(what, side.file) for what, side in sides if side.file is not None]

    @property
    def origin(self) -> list[tuple[str, str]]:
        """Names and hashes."""
        facts, told = self.facts, self.facts.told
        lines = [
            (told("made"), told(facts.created.isoformat(timespec="seconds"))),
            (told("view"), told(str(facts.view))),
            *versions().items(),
            (told("plan, SHA-256"), facts.plan_sha256 or facts.plan.fingerprint()),
        ]
        for what, file in self._files:
            lines += [(told(what), file.name), (told(f"{what}, SHA-256"), file.sha256)]
        if facts.made is not None:
            lines.append((told("search"), told(f"{facts.made.verdict}; {facts.made.effort}")))
        return lines
