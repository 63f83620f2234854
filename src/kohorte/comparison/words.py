"""The comparison as text: the verdict and the table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kohorte.comparison.outcome import Outcome, Status
from kohorte.comparison.recommendation import CLEARLY, GIVEN_UP, NAME, WHY, WORTH
from kohorte.in_words import Unit, cost, count, listed, percent, seconds

if TYPE_CHECKING:
    from kohorte.comparison.compare import Comparison

STATUS = {
    Status.REFUSED: "cannot solve this plan",
    Status.NO_SOLUTION: "found no release",
    Status.NOT_PRIVATE: "does not satisfy the models",
    Status.UNVERIFIED: "failed the verification",
}


MONDRIAN = ("mondrian", "mondrian_relaxed")
LOSING = "people losing all rows"
"""The column with the number of people of whom the release shows no row."""


def smallest(comparison: Comparison) -> str:
    """The name of the column with the smallest class."""
    return f"smallest ({comparison.unit.many})"


def counted(comparison: Comparison) -> str:
    """What the figures count, as sentences."""
    about_rows = "suppressed rows, costs, count queries and the accuracy of a task count rows"
    if comparison.people is None:
        return f"Models and class sizes count rows; {about_rows}, too."
    plan_unit = comparison.plan.unit
    together = ", judged by all their rows together" if plan_unit.judges_sets else ""
    return (
        f"Models and class sizes count people ({', '.join(plan_unit.columns)}), not rows: "
        f"{comparison.unit.count(comparison.people)} in {count(comparison.rows, 'row')}{together}; {about_rows}."
    )


def several(names: Sequence[str]) -> str:
    """A list of algorithm names, shortened if it is long."""
    return listed(names) if len(names) <= 3 else f"{names[0]} (and {len(names) - 1} others)"


def families(outcomes: Sequence[Outcome]) -> list[list[Outcome]]:
    """Group the algorithms whose releases agree in all figures, in the given order."""
    found: dict[tuple[object, ...], list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.release_key, []).append(outcome)
    return list(found.values())


def verdict(comparison: Comparison) -> str:
    """What the comparison shows, in a few sentences."""
    return " ".join(findings(comparison))


def findings(comparison: Comparison) -> list[str]:
    """What the comparison shows, one sentence per finding."""
    if comparison.best is None:
        return ["No algorithm made a release that satisfies the plan."]
    said = [_keeps_most(comparison), _recommended(comparison), _fastest(comparison), _answers(comparison)]
    said.append(_predicts(comparison))
    failed = [outcome.algorithm for outcome in comparison.others if outcome.status is Status.NOT_PRIVATE]
    if failed:
        said.append(f"What {several(failed)} made does not satisfy the models: it is no release.")
    wrong = [outcome.algorithm for outcome in comparison.others if outcome.status is Status.UNVERIFIED]
    if wrong:
        said.append(f"The verification refused {several(wrong)}: a bug, please report it.")
    return [sentence for sentence in said if sentence]


def _keeps_most(comparison: Comparison) -> str:
    metric, released = comparison.plan.metric.name, comparison.released
    best = families(released)[0]
    names = [outcome.algorithm for outcome in best]
    said = f"{several(names)} keep{'s' if len(best) == 1 else ''} most: {metric} {cost(best[0].cost)}."
    others = [outcome for outcome in released if outcome.recodes != best[0].recodes]
    if others:
        kind = "whose cells differ from row to row" if others[0].recodes else "with one level for each attribute"
        said += f" The best release {kind} ({others[0].algorithm}): {cost(others[0].cost)}."
    return said


def _recommended(comparison: Comparison) -> str:
    """What to say about least_loss if it keeps most; empty if it does not."""
    metric, released = comparison.plan.metric.name, comparison.released
    if not released or released[0].algorithm != NAME:
        return ""
    best, one_level = released[0], next((other for other in released if not other.recodes), None)
    mondrian = next((other for other in released if other.algorithm in MONDRIAN), None)
    others = [other for other in (one_level, mondrian) if other is not None]
    if not others or any(other.release_key == best.release_key for other in others):
        return ""
    if one_level is not None and not _clearly(best, one_level):
        return (
            f"{NAME} keeps hardly more than {one_level.algorithm}, whose release has one level for each attribute and "
            f"is easier to analyse: {one_level.algorithm} is recommended."
        )
    beside = " and ".join(f"{cost(other.cost)} with {other.algorithm}" for other in others)
    return f"{NAME} is recommended: {metric} {cost(best.cost)}, beside {beside}. {WHY} {GIVEN_UP}"


def _clearly(recoded: Outcome, one_level: Outcome) -> bool:
    assert recoded.cost is not None
    assert one_level.cost is not None
    return recoded.cost <= CLEARLY * one_level.cost and (one_level.costs["loss"] - recoded.costs["loss"] >= WORTH)


def _fastest(comparison: Comparison) -> str:
    if len(comparison.released) < 2:
        return ""
    fastest = min(comparison.released, key=lambda outcome: outcome.seconds or 0.0)
    slowest = max(comparison.released, key=lambda outcome: outcome.seconds or 0.0)
    return (
        f"{fastest.algorithm} was fastest with {seconds(fastest.seconds)}, {slowest.algorithm} slowest with "
        f"{seconds(slowest.seconds)}."
    )


def _answers(comparison: Comparison) -> str:
    asked = [outcome for outcome in comparison.released if outcome.query_error is not None]
    if not asked:
        return ""
    asked.sort(key=lambda outcome: outcome.query_error.median if outcome.query_error else 0.0)
    first, last = asked[0], asked[-1]
    assert first.query_error is not None
    assert last.query_error is not None
    said = f"Count queries are answered best by {first.algorithm}: half of them are off by at most "
    said += percent(first.query_error.median)
    return said + (f" ({last.algorithm}: {percent(last.query_error.median)})." if last is not first else ".")


def _predicts(comparison: Comparison) -> str:
    task = comparison.task
    learnt = [outcome for outcome in comparison.released if outcome.accuracy is not None]
    if task is None or not learnt:
        return ""
    best = max(learnt, key=lambda outcome: outcome.accuracy.value if outcome.accuracy else 0.0)
    assert best.accuracy is not None
    return (
        f"{task.column} is predicted best after learning from {best.algorithm}: {percent(best.accuracy.value)} right; "
        f"from the original rows {percent(task.original)}, by guessing the most frequent class "
        f"{percent(task.majority)}."
    )


def heads(comparison: Comparison) -> list[str]:
    """The header of the table."""
    metric = comparison.plan.metric.name
    costs = ["loss", *([] if metric == "loss" else [metric])]
    sizes = ["classes", smallest(comparison), "suppressed rows", *([LOSING] if comparison.people is not None else [])]
    named = ["algorithm", "time", *costs, *sizes]
    return [*named, "query error", *(["accuracy"] if comparison.task else []), "verdict"]


def row(comparison: Comparison, outcome: Outcome) -> list[str]:
    """The row of an algorithm that made a release."""
    costs = [cost(outcome.costs.get("loss"))]
    if comparison.plan.metric.name != "loss":
        costs.append(cost(outcome.cost))
    error, accuracy = outcome.query_error, outcome.accuracy
    learnt = [percent(accuracy.value if accuracy else None) + ("*" if accuracy and accuracy.guessed else "")]
    return [
        outcome.algorithm,
        seconds(outcome.seconds),
        *costs,
        count(outcome.classes),
        count(outcome.smallest_class),
        count(outcome.suppressed),
        *([] if comparison.people is None else [count(outcome.people_losing_all_rows)]),
        percent(error.median if error else None),
        *(learnt if comparison.task else []),
        outcome.verdict,
    ]


def reasons(comparison: Comparison) -> list[tuple[str, str, str]]:
    """The algorithms without a release: name, how they ended, and why."""
    return [(outcome.algorithm, STATUS[outcome.status], why(outcome, comparison.unit)) for outcome in comparison.others]


def why(outcome: Outcome, unit: Unit) -> str:
    """Why there is no release, with the available figures."""
    said = outcome.reason or ""
    if outcome.smallest_class is not None:
        smallest = unit.count(outcome.smallest_class)
        said += f" (smallest class {smallest}, {count(outcome.suppressed, 'row')} suppressed)"
    return said


def markdown(comparison: Comparison) -> str:
    """The table of all releases, and a list of the algorithms without one."""
    heads_of = heads(comparison)
    marks = ["---", *("---:" for _ in heads_of[1:-1]), "---"]
    lines = [heads_of, marks, *(row(comparison, outcome) for outcome in comparison.released)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    refused = [f"- `{name}` {status}: {reason}" for name, status, reason in reasons(comparison)]
    return "\n".join([table, "", *refused]).rstrip() + "\n"
