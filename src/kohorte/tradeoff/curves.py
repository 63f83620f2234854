"""Try a plan with several values of one setting, everything else unchanged, and tell what each release would lose.

Every point is the release that `anonymize` would make with that setting: the same search, on a table that is encoded
once. It explains; it never chooses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kohorte.data import to_polars
from kohorte.errors import KohorteError
from kohorte.in_words import Unit
from kohorte.languages import ENGLISH, Language
from kohorte.models.base import PrivacyModel
from kohorte.plans.people.person_notes import person_notes
from kohorte.plans.plan import Plan
from kohorte.progress import ProgressCallback, Stage, tell
from kohorte.release.algorithms import is_recoder
from kohorte.release.anonymization import nothing_found, search, set_up_search
from kohorte.release.preparation import EncodedProblem, check_models, encode_problem, refuse_few
from kohorte.release.recoding import judge, recode, recoding_problem
from kohorte.release.words import unit_of
from kohorte.search import Evaluation
from kohorte.sources import FrameSource
from kohorte.tradeoff.noise import NoiseCurve, noise_curve
from kohorte.tradeoff.page import to_html
from kohorte.tradeoff.settings import k_of, tried_ks, tried_limits, with_k, with_limit

SECONDS = 60.0
"""How long all searches together may take, unless the caller says something else."""


@dataclass(frozen=True)
class Setting:
    """One value of a setting and the release that it gives; without a release, `refusal` is the code of the error.

    `smallest_class` counts people if the plan says whom a row is about. `own` marks the value of the plan itself.
    """

    value: float
    own: bool
    cost: float | None = None
    suppressed: int | None = None
    classes: int | None = None
    smallest_class: int | None = None
    optimal: bool = False
    refusal: str | None = None

    @property
    def released(self) -> bool:
        """Whether there is a release."""
        return self.refusal is None

    @property
    def highest_risk(self) -> float | None:
        """The largest chance of finding a person among those who look the same; None without a release."""
        if not self.released:
            return None
        return 1 / self.smallest_class if self.smallest_class else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the setting for programs."""
        return {**vars(self), "highest_risk": self.highest_risk}


@dataclass(frozen=True)
class Curve:
    """What each value of one setting (`k` or `suppression_limit`) costs; `added` if the plan has no k-anonymity."""

    name: str
    settings: tuple[Setting, ...]
    added: bool = False

    @property
    def released(self) -> tuple[Setting, ...]:
        """The settings that have a release."""
        return tuple(one for one in self.settings if one.released)

    @property
    def own(self) -> Setting | None:
        """The setting of the plan."""
        return next((one for one in self.settings if one.own), None)

    def to_dict(self) -> dict[str, Any]:
        """Return the curve for programs."""
        return {"name": self.name, "added": self.added, "settings": [one.to_dict() for one in self.settings]}


@dataclass(frozen=True)
class Tradeoff:
    """The curves of a plan on one table; figures only, no cell values."""

    plan: Plan = field(repr=False)
    rows: int
    people: int | None
    curves: tuple[Curve, ...]
    noise: NoiseCurve | None
    notes: tuple[str, ...] = ()

    @property
    def unit(self) -> Unit:
        """What the models and the smallest class count."""
        return unit_of(self.plan)

    @property
    def size(self) -> int:
        """How many there are of them."""
        return self.rows if self.people is None else self.people

    def to_dict(self) -> dict[str, Any]:
        """Return the curves as `kohorte tradeoff --json` prints them."""
        return {
            "rows": self.rows,
            "unit": self.unit.many,
            "people": self.people,
            "metric": self.plan.metric.name,
            "algorithm": self.plan.search.algorithm,
            "curves": [curve.to_dict() for curve in self.curves],
            "noise": None if self.noise is None else self.noise.to_dict(),
            "notes": list(self.notes),
        }

    def to_html(self, language: Language = ENGLISH) -> str:
        """Return the curves as one self-contained page without cell values."""
        return to_html(self, language)


def tradeoff(
    frame: object,
    plan: Plan,
    *,
    ks: Sequence[int] | None = None,
    limits: Sequence[float] | None = None,
    epsilons: Sequence[float] | None = None,
    seconds: float = SECONDS,
    progress: ProgressCallback | None = None,
) -> Tradeoff:
    """Try a plan with other values of k and of the suppression limit, and compare the releases.

    `seconds` is shared by all searches: one that is stopped gives the best release so far, marked as not optimal. The
    expected error of noisy counts over epsilon needs the extra `query`; without it, there is no such curve.
    """
    table, _ = to_polars(frame)
    encoded = encode_problem(FrameSource(table), plan, progress=progress)
    size = encoded.table.size
    trials = _Trials(encoded, seconds, progress)
    wanted_ks, wanted_limits = tried_ks(ks, plan, size), tried_limits(limits, plan)
    trials.planned = len(wanted_ks) + len(wanted_limits)
    own_k, own_limit = k_of(plan), float(plan.suppression_limit)
    over_k = [trials.tried(with_k(plan, k), float(k), own=k == own_k) for k in wanted_ks]
    over_limit = [trials.tried(with_limit(plan, limit), limit, own=limit == own_limit) for limit in wanted_limits]
    return Tradeoff(
        plan,
        encoded.table.rows,
        None if encoded.table.persons is None else encoded.table.persons.count,
        (Curve("k", tuple(over_k), added=own_k is None), Curve("suppression_limit", tuple(over_limit))),
        noise_curve(epsilons, size),
        notes=person_notes(encoded.source, plan),
    )


@dataclass
class _Trials:
    """Searches on one encoded table, which share their time and never repeat a setting."""

    encoded: EncodedProblem
    seconds: float
    progress: ProgressCallback | None
    planned: int = 0
    done: int = 0
    used: float = 0.0
    known: dict[tuple[tuple[PrivacyModel, ...], float], dict[str, Any]] = field(default_factory=dict)

    def tried(self, plan: Plan, value: float, *, own: bool) -> Setting:
        key = (tuple(plan.models), float(plan.suppression_limit))
        self.done += 1
        if key not in self.known:
            tell(self.progress, Stage.SEARCHING, f"setting {self.done} of {self.planned}")
            began = time.monotonic()
            self.known[key] = self._found(plan)
            self.used += time.monotonic() - began
        return Setting(value, own, **self.known[key])

    def _found(self, plan: Plan) -> dict[str, Any]:
        try:
            refuse_few(plan, self.encoded.table)
            check_models(plan, self.encoded.table.domains)
            best, optimal = _solve(self._encoded(plan))
        except KohorteError as error:
            return {"refusal": error.code}
        return {
            "cost": best.cost,
            "suppressed": best.suppressed,
            "classes": best.classes,
            "smallest_class": best.smallest_class,
            "optimal": optimal,
        }

    def _encoded(self, plan: Plan) -> EncodedProblem:
        """The same table under another plan, with a fair share of the time that is left."""
        left = max(0.0, self.seconds - self.used) / max(1, self.planned - self.done + 1)
        given = plan.search.time_limit
        limit = left if given is None else min(given, left)
        models, most = plan.judging_models, plan.most_suppressed(self.encoded.table.rows)
        goal = replace(self.encoded.goal, models=models, limit=most, time_limit=limit)
        return replace(self.encoded, plan=plan, goal=goal)


def _solve(encoded: EncodedProblem) -> tuple[Evaluation, bool]:
    solve: Callable[[EncodedProblem], tuple[Evaluation, bool]]
    solve = _recoded if is_recoder(encoded.plan.search.algorithm) else _searched
    return solve(encoded)


def _recoded(encoded: EncodedProblem) -> tuple[Evaluation, bool]:
    problem = recoding_problem(encoded)
    recoding = recode(encoded, problem)
    return judge(encoded, problem, recoding), recoding.optimal


def _searched(encoded: EncodedProblem) -> tuple[Evaluation, bool]:
    setup = set_up_search(encoded)
    result = search(setup)
    if result.best is None:
        raise nothing_found(setup, result)
    return result.best, result.optimal
