"""The end of the report: models, plan, limits, words, sources, files and versions."""

from __future__ import annotations

from kohorte.release import versions
from kohorte.release.certificate import ALWAYS_OPEN, FileFacts
from kohorte.release.words import with_parameters
from kohorte.report.facts import Facts
from kohorte.report.figures import percent
from kohorte.report.html import bullets, note, paragraph, section, table

GLOSSARY = (
    ("quasi-identifier (Quasi-Identifikator)", "a column that others may know, such as postal code or date of birth"),
    ("sensitive attribute (sensibles Merkmal)", "a column that nobody shall learn about a person, such as a diagnosis"),
    ("class (Äquivalenzklasse)", "all rows that look alike in the quasi-identifiers"),
    ("risk", "one by the number of rows, or people, who look alike: in a class of five it is 20 %"),
    ("threshold (Schwellenwert)", "the risk that counts as too high"),
    ("suppressed (unterdrückt)", "a row of which all quasi-identifiers are shown as *"),
    ("model (Datenschutzmodell)", "a condition that every class must satisfy, such as k-anonymity"),
    ("k-anonymity (k-Anonymität)", "every class has at least k rows"),
    ("population (Grundgesamtheit)", "all people whom the table could be about"),
    ("unique", "the only one of its kind, in the table or in the population"),
    ("special unique", "a row that few attributes are enough to single out"),
    ("hierarchy (Hierarchie)", "the steps in which a value is made vaguer, up to *"),
)
SOURCES = (
    "Attackers: El Emam, Guide to the De-Identification of Personal Health Information, 2013.",
    "k-anonymity: Sweeney, k-Anonymity: A Model for Protecting Privacy, 2002.",
    "Homogeneity: Machanavajjhala and others, l-Diversity: Privacy Beyond k-Anonymity, 2007.",
    "Separation and distinction: Motwani and Xu, Efficient Algorithms for Masking and Finding Quasi-Identifiers, 2007.",
    "Special uniques: Elliot, Manning and Ford, On the Special Uniques Problem (SUDA), 2002.",
    "Population: Dankar and others, Estimating the Re-Identification Risk of Clinical Data Sets, 2012; Hoshino, 2001.",
    "Three questions of the authorities: Article 29 Working Party, Opinion 05/2014 on Anonymisation Techniques.",
)
LIMITS = (
    "The figures are about the columns that the plan calls quasi-identifying. If a role is wrong, they are wrong.",
    "Whether the table may be passed on is a decision of people; this report is no legal opinion and no approval. What "
    "a release promises and what not is told at length in docs/promise.md of the program.",
)

OPEN = "No model and no figure here protects against:"


def evidence_part(facts: Facts) -> str:
    """All sections behind the figures."""
    return (
        section("What the plan asks, and what is reached", _models(facts))
        + section("The plan", _plan(facts))
        + section("What the figures do not say", bullets(LIMITS), paragraph(OPEN), bullets(ALWAYS_OPEN))
        + section("Words", table([], GLOSSARY, figures=False))
        + section("Sources", bullets(SOURCES))
        + section("How this report was made", _origin(facts))
    )


def _models(facts: Facts) -> str:
    found = facts.verification
    if found is None:
        return paragraph(f"Could not be checked: {facts.unverified}.")
    lines = [
        [
            with_parameters(model.name, model.parameters),
            "holds" if model.satisfied else "FAILS",
            facts.figures.reached(model, found.rows),
            facts.figures.count(model.failing_rows, found.rows),
        ]
        for model in found.models
    ]
    beyond = bullets(found.problems) if facts.internal else ""
    if found.problems and not facts.internal:
        beyond = paragraph(
            f"Other rules of the plan that are broken: {len(found.problems)} (the internal view lists them)."
        )
    return (
        paragraph("Counted anew from the rows, independently of the program that searches for a release.")
        + table(["model", "verdict", "reached", "rows in failing classes"], lines)
        + beyond
    )


def _plan(facts: Facts) -> str:
    plan = facts.plan
    lines = [
        [
            name,
            str(attribute.role),
            "" if attribute.hierarchy is None else attribute.hierarchy.name,
            str(attribute.minimum_level) if attribute.minimum_level else "",
        ]
        for name, attribute in plan.attributes.items()
    ]
    said = (
        f"At most {percent(plan.suppression_limit)} of the rows may be suppressed. Missing values: {plan.missing}. "
        f"Loss is measured by {plan.metric.name}; algorithm: {plan.search.algorithm}; order of the rows: {plan.order}."
    )
    return table(["column", "role", "hierarchy", "minimum level"], lines, figures=False) + note(said)


def _origin(facts: Facts) -> str:
    """Names and hashes; that of the raw table only inside, because guesses about its rows could be tested with it.

    A single table that satisfies the plan as it stands is taken for a release.
    """
    lines = [
        ("made", facts.created.isoformat(timespec="seconds")),
        ("view", str(facts.view)),
        *((name, value) for name, value in versions().items()),
        ("plan, SHA-256", facts.plan_sha256 or facts.plan.fingerprint()),
    ]
    if facts.internal or (facts.after is None and facts.holds):
        lines += _file("table", facts.table.file)
    if facts.after is not None:
        lines += _file("release", facts.after.file)
    if facts.made is not None:
        lines.append(("search", f"{facts.made.verdict}; {facts.made.effort}"))
    return table([], lines, figures=False)


def _file(what: str, file: FileFacts | None) -> list[tuple[str, str]]:
    return [] if file is None else [(what, file.name), (f"{what}, SHA-256", file.sha256)]
