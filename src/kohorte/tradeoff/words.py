"""A sentence for every value of a setting: what it means, and how its release differs from that of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kohorte.in_words import PEOPLE
from kohorte.languages import Language
from kohorte.tradeoff.drawing import LOSS, cost_in_words

if TYPE_CHECKING:
    from kohorte.tradeoff.curves import Curve, Setting, Tradeoff

TOO_FEW = "model-beyond-rows"


def sentence(found: Tradeoff, curve: Curve, setting: Setting, language: Language) -> str:
    """Return what a value means and what it changes."""
    meaning = _k(found, setting, language) if curve.name == "k" else _limit(found, setting, language)
    return f"{meaning} {_effect(found, curve, setting, language)}".strip()


def _k(found: Tradeoff, setting: Setting, language: Language) -> str:
    others = int(setting.value) - 1
    if found.unit is PEOPLE:
        text = language.ngettext(
            "Every person looks like at least %(num)s other person.",
            "Every person looks like at least %(num)s other people.",
            others,
        )
    else:
        text = language.ngettext(
            "Every row looks like at least %(num)s other row.",
            "Every row looks like at least %(num)s other rows.",
            others,
        )
    return text % {"num": language.number(others)}


def _limit(found: Tradeoff, setting: Setting, language: Language) -> str:
    most = found.plan.most_suppressed(found.rows) if setting.own else int(setting.value * found.rows)
    text = language.gettext("At most %(most)s of %(rows)s rows may be suppressed.")
    return text % {"most": language.number(most), "rows": language.number(found.rows)}


def _effect(found: Tradeoff, curve: Curve, setting: Setting, language: Language) -> str:
    if not setting.released:
        return _refused(setting, language)
    if setting.own:
        return language.gettext("This is the setting of the plan.")
    own = curve.own
    if own is None or not own.released:
        return ""
    cost, rows = (setting.cost or 0.0) - (own.cost or 0.0), (setting.suppressed or 0) - (own.suppressed or 0)
    if found.plan.metric.name != LOSS:
        difference = _signed(cost, cost_in_words(found, abs(cost), language))
        text = language.gettext("Compared with the plan: cost %(cost)s, suppressed rows %(rows)s.")
    else:
        difference = _signed(round(cost, 3), language.number(100 * abs(cost), 1))
        text = language.gettext(
            "Compared with the plan: information lost %(cost)s percentage points, suppressed rows %(rows)s."
        )
    return text % {"cost": difference, "rows": _signed(rows, language.number(abs(rows)))}


def _refused(setting: Setting, language: Language) -> str:
    if setting.refusal == TOO_FEW:
        return language.gettext("The table is too small for it.")
    if setting.refusal == "time-limit":
        return language.gettext("The search was stopped before it found a release.")
    return language.gettext("No release satisfies the plan with this value (%(code)s).") % {"code": setting.refusal}


def _signed(value: float, text: str) -> str:
    return f"+{text}" if value > 0 else f"\u2212{text}" if value < 0 else f"\u00b1{text}"
