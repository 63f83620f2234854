"""What is counted, what models reach, and levels by their meaning, as text."""

from __future__ import annotations

from kohorte.hierarchies import SUPPRESSED, Builder
from kohorte.in_words import PEOPLE, ROWS, Unit, count
from kohorte.plans.plan import Plan
from kohorte.release.candidate import Candidate

AS_IT_IS = "as it is"
REMOVED = "removed"


def unit_of(plan: Plan) -> Unit:
    """What the classes of a release count: people if the plan says whom a row is about, else rows."""
    return PEOPLE if plan.unit.counts_people else ROWS


def unit_named(name: str) -> Unit:
    """The unit that a verification has counted."""
    return PEOPLE if name == PEOPLE.many else ROWS


def reached_in_words(reached: float | tuple[float, float] | None) -> str:
    """The parameter that a table reaches, as text."""
    if reached is None:
        return "nothing"
    return " to ".join(f"{number:.6g}" for number in (reached if isinstance(reached, tuple) else (reached,)))


# Levels


def levels_in_words(release: Candidate) -> dict[str, str]:
    """What the release shows of each quasi-identifier; an example is a label of a kept class."""
    if release.recoding is None:
        return {name: _level(release, name, level) for name, level in release.levels.items()}
    return {name: _recoded(release, name) for name in release.recoded}


def level_in_words(builder: Builder | None, level: int, top: int, example: str | None = None) -> str:
    """One level of a hierarchy, with a label as an example if one is given."""
    if level == top:
        return f"{REMOVED} (top level, {top} of {top})"
    if level == 0:
        return f"{AS_IT_IS} (0 of {top})"
    shown = (builder.meaning(level, top) if builder is not None else "") or "grouped"
    return f"{shown}{'' if example is None else f', for instance {example}'} ({level} of {top})"


def _level(release: Candidate, name: str, level: int) -> str:
    return level_in_words(
        release.plan.attributes[name].hierarchy, level, release.hierarchies[name].top, _example(release, name)
    )


def _example(release: Candidate, name: str) -> str | None:
    """The label that most kept classes show; of several, the first."""
    if name not in release.kept_classes.columns:
        return None
    labels = release.kept_classes[name].drop_nulls()
    found: list[str] = labels.filter(labels != SUPPRESSED).mode().sort().to_list()
    return found[0] if found else None


def _recoded(release: Candidate, name: str) -> str:
    cells, top = release.recoded[name], release.hierarchies[name].top
    kinds = count(int(str(cells["cells"])), "kind", "kinds")
    return f"{kinds} of cells, from level {cells['lowest_level']} to {cells['highest_level']} of {top}"
