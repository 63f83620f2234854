"""Explains why no release satisfies a plan, and what would help."""

from __future__ import annotations

from kohorte.errors import NoSolution
from kohorte.groups import Groups
from kohorte.models import KAnonymity
from kohorte.models.words import model_in_words
from kohorte.plans.plan import Plan
from kohorte.release.words import reached_in_words
from kohorte.sources import Missing, Tuples


def no_solution(
    plan: Plan, suppressed: int, groups: Groups, *, rows: int, excluded: int, missing: tuple[str, int] | None = None
) -> NoSolution:
    """Return the error that explains why there is no solution and what would help, from the most general node.

    `suppressed` rows would have to be suppressed there, and `groups` are its classes. `excluded` of the rows lack a
    value; `missing` is the column that most of them lack, and how many, if it is known.
    """
    included = rows - excluded
    limit = plan.most_suppressed(rows)
    alike = groups.sets is not None and suppressed < rows  # at that node, some of the people would be suppressed
    within = "a model does not allow that" if suppressed <= limit else f"the limit allows {limit:,}"
    if alike:
        within = "there they would look like all others, so their rows cannot be suppressed"
    reasons = [
        f"no release satisfies the plan: even with all quasi-identifiers generalized to *, {suppressed:,} "
        f"of {rows:,} rows would have to be suppressed, and {within}"
    ]
    if limit < suppressed < rows and not alike:
        enough = -(-suppressed * 10**6 // rows) / 10**6  # rounded up, so that the printed number is large enough
        reasons.append(f"a suppression_limit of {enough:.6f} or more would do")
    k = 0 if plan.unit.counts_people else max((m.k for m in plan.models if isinstance(m, KAnonymity)), default=0)
    if excluded <= limit and 0 < included < k:
        reasons.append(f"k of at most {included:,} would do")
    groups = groups.judged
    for model in plan.judging_models:
        if len(groups) and not (model.satisfied(groups).all() and model.holds(groups)):
            reached = reached_in_words(model.reached(groups))
            reasons.append(f"model {model_in_words(model)} fails there, where {reached} is reached")
    if excluded and plan.missing is Missing.SUPPRESS:
        most = "" if missing is None else f", {missing[1]:,} of them in {missing[0]!r}, which blocks most"
        reasons.append(
            f"{excluded:,} rows are suppressed because they lack a value{most}: fill the gaps, or count missing as a "
            "value of its own (missing: category)"
        )
    return NoSolution("; ".join(reasons), code="no-solution")


def most_missing(tuples: Tuples, plan: Plan) -> tuple[str, int]:
    """Return the quasi-identifier with the most missing values, and their number."""
    counts = {name: int(tuples.counts[tuples.absent(name)].sum()) for name in plan.quasi_identifiers}
    name = max(counts, key=lambda key: counts[key])
    return name, counts[name]
