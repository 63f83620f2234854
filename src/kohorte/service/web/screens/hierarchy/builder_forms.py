"""A form for every builder of hierarchies: its fields, and the builder that was filled in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kohorte.errors import InputError
from kohorte.hierarchies import Builder
from kohorte.hierarchies.builders.dates import LEVELS
from kohorte.languages import translatable
from kohorte.service.datasets.transformations import stated_builder
from kohorte.service.web.screens.hierarchy.fields import Field, Kind

Read = Callable[[str], str]
"""Reads a field of the form that was sent."""


@dataclass(frozen=True)
class BuilderForm:
    """The form of a builder."""

    name: str
    title: str
    example: str
    fields: tuple[Field, ...]

    def builder(self, read: Read) -> Builder:
        """Return the builder that the fields describe; a field that was left empty has its default."""
        found = {field.name: field.read(read(f"{self.name}.{field.name}")) for field in self.fields}
        given = {name: option for name, option in found.items() if option is not None}
        if self.name in WHOLE:
            return stated_builder({self.name: given.get(self.name, [])})
        populations = read("safe_harbor.populations") if self.name == "safe_harbor" else ""
        given.pop("populations", None)
        return stated_builder({self.name: given}, populations=populations or None)

    def shown(self, builder: Builder | None) -> dict[str, str]:
        """Return the text of each field for a builder; of another one, all are empty."""
        options: Any = builder.to_dict() if builder is not None and builder.name == self.name else {}
        given = options if isinstance(options, Mapping) else {}
        return {field.name: field.written(given.get(field.name)) for field in self.fields}


WHOLE = ("rows", "tree")
"""Builders whose option is the whole field."""
_SAME = translatable("as usual")
FORMS: tuple[BuilderForm, ...] = (
    BuilderForm(
        "redaction",
        translatable("Mask characters"),
        "81667, 8166*, 816**",
        (
            Field(
                "order",
                translatable("Begin at"),
                Kind.CHOICE,
                choices=(("right_to_left", translatable("the end")), ("left_to_right", translatable("the beginning"))),
            ),
            Field(
                "length",
                translatable("Length of the longest possible value"),
                help=translatable("Without one: of this table."),
            ),
            Field("mask", translatable("Sign for a masked character"), help=translatable("Without one: *.")),
            Field(
                "padding", translatable("Sign that fills up shorter values"), help=translatable("Without one: a blank.")
            ),
        ),
    ),
    BuilderForm(
        "intervals",
        translatable("Intervals of numbers"),
        "39, 35-39, 30-39",
        (
            Field("lower", translatable("From")),
            Field("upper", translatable("Up to (not included)")),
            Field(
                "widths", translatable("Widths"), Kind.LIST, translatable("From fine to coarse, with commas: 5, 10, 20")
            ),
            Field(
                "levels",
                translatable("Or bounds of your own"),
                Kind.BOUNDS,
                translatable("A line for each level: 0, 18, 65, 120 or, with names, 0, 18, 65, 120: child, adult, old"),
            ),
            Field("integer", translatable("Whole numbers only"), Kind.FLAG),
            Field(
                "below",
                translatable("Numbers below"),
                Kind.CHOICE,
                choices=(("refuse", translatable("are unknown")), ("group", translatable("are a group"))),
            ),
            Field(
                "above",
                translatable("Numbers above"),
                Kind.CHOICE,
                choices=(("refuse", translatable("are unknown")), ("group", translatable("are a group"))),
            ),
            Field("decimal", translatable("Decimal sign"), Kind.CHOICE, choices=((".", "."), (",", ","))),
            Field(
                "thousands",
                translatable("Sign between thousands"),
                Kind.CHOICE,
                choices=(
                    ("none", translatable("none")),
                    (".", "."),
                    (",", ","),
                    ("'", "'"),
                    ("blank", translatable("blank")),
                ),
            ),
        ),
    ),
    BuilderForm(
        "ordering",
        translatable("Groups of neighbours"),
        "II, I – II",
        (
            Field(
                "by",
                translatable("Order"),
                Kind.CHOICE,
                choices=(
                    ("", _SAME),
                    ("text", translatable("as texts")),
                    ("number", translatable("as numbers")),
                    ("given", translatable("as listed below")),
                ),
            ),
            Field(
                "values",
                translatable("All possible values"),
                Kind.LINES,
                translatable("A line for each, in their order."),
            ),
            Field(
                "fanouts",
                translatable("How many go together"),
                Kind.LIST,
                translatable("For each level, with commas: 2, 3"),
            ),
            Field(
                "labels",
                translatable("Labels"),
                Kind.CHOICE,
                choices=(("first-last", translatable("first and last value")), ("set", translatable("all values"))),
            ),
        ),
    ),
    BuilderForm(
        "dates",
        translatable("Periods of the calendar"),
        "2024-02-17, 2024-02, 2024",
        (
            Field(
                "format",
                translatable("Format"),
                help=translatable("As for strptime; without one: year-month-day."),
            ),
            Field("levels", translatable("Levels"), Kind.SEVERAL, choices=tuple((level, level) for level in LEVELS)),
        ),
    ),
    BuilderForm(
        "tree",
        translatable("Categories within categories"),
        "flu, viral, infectious",
        (
            Field(
                "tree",
                translatable("Tree (YAML)"),
                Kind.YAML,
                translatable("For instance: Infectious: {Viral: [flu, measles], Bacterial: [tb]}"),
            ),
        ),
    ),
    BuilderForm(
        "safe_harbor",
        translatable("HIPAA Safe Harbor"),
        "94501, 945",
        (
            Field(
                "kind",
                translatable("What the column has"),
                Kind.CHOICE,
                choices=(
                    ("zip", translatable("ZIP codes")),
                    ("date", translatable("dates")),
                    ("age", translatable("ages")),
                ),
            ),
            Field("format", translatable("Format")),
            Field(
                "of",
                translatable("Dates of"),
                Kind.CHOICE,
                choices=(("", _SAME), ("event", translatable("events")), ("birth", translatable("births"))),
            ),
            Field("as_of", translatable("Day on which nobody may be recognisable as over 89"), help="2026-01-01"),
            Field(
                "populations",
                translatable("Populations by ZIP code"),
                Kind.LINES,
                translatable("A line for each: 94501,16300. Areas that are not listed become 000."),
            ),
        ),
    ),
    BuilderForm(
        "rows",
        translatable("Rows, as a plan writes them"),
        "[flu, viral, '*']",
        (Field("rows", translatable("Rows (YAML)"), Kind.YAML),),
    ),
    BuilderForm(
        "csv",
        translatable("Paste a table"),
        "flu;viral;*",
        (
            Field("text", translatable("A line for each value: value;level 1;...;*"), Kind.LINES),
            Field(
                "separator",
                translatable("Separator"),
                Kind.CHOICE,
                choices=((";", ";"), (",", ","), ("|", "|"), ("tab", translatable("tab"))),
            ),
        ),
    ),
)


def form_named(name: str) -> BuilderForm:
    """Return the form of a builder."""
    found = next((form for form in FORMS if form.name == name), None)
    if found is None:
        raise InputError("there is no such form for a hierarchy", code="hierarchy-form")
    return found
