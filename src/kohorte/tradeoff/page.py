"""The curves as a page or as a part of one; charts, and a table with a sentence for every value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kohorte.languages import Language
from kohorte.models.words import model_in_words
from kohorte.pages import beside, page, render
from kohorte.tradeoff.drawing import cost_in_words, drawings, noise_drawing, value_in_words
from kohorte.tradeoff.words import sentence

if TYPE_CHECKING:
    from kohorte.tradeoff.curves import Curve, Tradeoff


def to_html(found: Tradeoff, language: Language) -> str:
    """Return the curves as one self-contained HTML page."""
    models = ", ".join(model_in_words(model) for model in found.plan.models)
    title = language.gettext("Help with choosing")
    return page(
        __package__,
        "tradeoff.html.j2",
        title,
        rules=beside(__file__, "page.css"),
        language=language,
        models=models,
        **_values(found, language, styled=True),
    )


def to_fragment(found: Tradeoff, language: Language) -> str:
    """Return the curves as a part of a page that allows no style attributes."""
    return render(__package__, "curves.html.j2", language=language, **_values(found, language, styled=False))


def _values(found: Tradeoff, language: Language, *, styled: bool) -> dict[str, Any]:
    return {
        "found": found,
        "styled": styled,
        "curves": [(curve, drawings(found, curve, language), _lines(found, curve, language)) for curve in found.curves],
        "noise": None if found.noise is None else noise_drawing(found.noise, language),
        "in_loss": found.plan.metric.name == "loss",
    }


def _lines(found: Tradeoff, curve: Curve, language: Language) -> list[dict[str, object]]:
    """The rows of the table of a curve."""
    return [
        {
            "setting": one,
            "value": value_in_words(curve, one, language),
            "cost": None if one.cost is None else cost_in_words(found, one.cost, language),
            "sentence": sentence(found, curve, one, language),
        }
        for one in curve.settings
    ]
