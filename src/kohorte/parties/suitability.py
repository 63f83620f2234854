"""Which plans can be computed on encrypted values: refused before the first message, with the reason."""

from __future__ import annotations

import numpy as np

from kohorte.data import Role
from kohorte.errors import InputError, InternalError
from kohorte.groups import Column, Marginals
from kohorte.hierarchies import Redaction
from kohorte.in_words import listed
from kohorte.lattice import Lattice, Node
from kohorte.metrics import (
    Aecs,
    Discernibility,
    DiscernibilityMonotone,
    Height,
    Loss,
    NonUniformEntropySuppression,
    Precision,
    PrecisionMonotone,
)
from kohorte.models import NTCloseness, OrderedTCloseness, PrivacyModel, SafeHarborRule
from kohorte.parties.dummy_rows.mirrored import against_mirroring, not_exchanged
from kohorte.parties.study import Distribution, Protocol, Study
from kohorte.release.algorithms import is_recoder
from kohorte.search import SEARCHES, Evaluation, Problem, search_named

FROM_LEVELS = (Height, Precision, PrecisionMonotone, Aecs, Discernibility, DiscernibilityMonotone)
"""Metrics that need only levels and the sizes of classes."""


def refuse_unsuited(study: Study) -> None:
    """Refuse a plan that needs the order of values, arithmetic on them, or rows that nobody may see."""
    plan = study.plan
    for number, model in enumerate(plan.models, start=1):
        if reason := _against_model(model, study):
            raise _refusal(f"models: entry {number}: model {model.name}: {reason}")
    if is_recoder(plan.search.algorithm):
        raise _refusal(
            f"search: {plan.search.algorithm} generalizes each row in its own way, by the order of its values or by "
            "comparing rows; take optimal or another search for one combination of levels"
        )
    if plan.search.levels:
        raise _refusal("search: levels: the parties search for the levels together; leave levels out")
    if plan.unit.counts_people:
        raise _refusal(
            "person: whether two rows of different institutions are about the same person is not known; prepare "
            "tables with one row per person, and state person: none"
        )
    if plan.pseudonyms:
        raise _refusal("pseudonym: the parties have no key in common; identifying columns are always removed")
    if plan.decorrelate is not None:
        raise _refusal("decorrelate: compares single rows, which nobody has in plain text before the release")
    _refuse_unfit(study)
    _refuse_counting(study)
    _refuse_minimum_levels(study)
    _refuse_hierarchies(study)
    _refuse_mirrored(study)


def _against_model(model: PrivacyModel, study: Study) -> str:
    if isinstance(model, OrderedTCloseness):
        return "needs the order of the values, which encryption hides; t-closeness_equal and _hierarchical do not"
    if isinstance(model, SafeHarborRule):
        return "looks at single values; check it on the table of each party before the study"
    if reason := _against_population(model, study):
        return reason
    if _counts_only(study) and isinstance(model, NTCloseness):
        return (
            "compares classes with their neighbours, whose values counters hide; A without dummy rows and B can do it"
        )
    return ""


def _against_population(model: PrivacyModel, study: Study) -> str:
    """A population is counted where the rows are: as the table of which a subset is released."""
    source = model.population_source
    if source is None:
        return ""
    if not source.is_subset:
        return (
            "compares the rows with a file of people, whose values nobody can compare with encrypted ones; let the "
            "tables of the parties be the population, and a column flag the rows to release: subset"
        )
    if study.plan.attributes[source.name].role is not Role.INSENSITIVE:
        return f"the role of the column {source.name!r}, which flags the rows to release, must be insensitive"
    if _counts_only(study):
        return "counts people who are not released, and counters count one kind of rows; A without dummy rows and B can"
    return ""


def _counts_only(study: Study) -> bool:
    """Whether the party that judges classes knows only their counters."""
    return study.protocol is Protocol.C or study.dummies > 0


def _refuse_counting(study: Study) -> None:
    """Refuse what needs the values of single classes, if only their counters are known."""
    plan = study.plan
    if not _counts_only(study):
        return
    if isinstance(plan.metric, NonUniformEntropySuppression) and plan.suppression_limit > 0:
        raise _refusal(
            "metric: non_uniform_entropy_suppression needs the values of suppressed rows, which counters and dummy "
            "rows hide; take non_uniform_entropy, or suppression_limit: 0"
        )
    if search_named(plan.search.algorithm).suppresses_k_or_none and plan.suppression_limit > 0:
        raise _refusal(
            f"search: {plan.search.algorithm} chooses the classes to suppress by how rare their labels are, which "
            "counters and dummy rows hide; take optimal, or suppression_limit: 0"
        )


def _refuse_unfit(study: Study) -> None:
    """Refuse a search that cannot solve the plan; otherwise it would be noticed after the tables were sent.

    How many rows may be suppressed is not known yet; unless the limit is 0, it is at least one.
    """
    problem = _outline(study)
    algorithm = search_named(study.plan.search.algorithm)
    if (reason := algorithm.refuse(problem)) is None:
        return
    able = [search.name for search in SEARCHES if search().refuse(problem) is None]
    raise InputError(
        f"algorithm {algorithm.name} cannot solve this plan: {reason}; these can: {listed(able)}",
        code="algorithm-unfit",
    )


def _outline(study: Study) -> Problem:
    """The search problem as far as the plan decides it: one row, and two levels for each quasi-identifier."""
    plan, zero = study.plan, np.zeros(1, dtype=np.uint32)
    columns = tuple(
        Column(name, np.ones(1, dtype=np.int64), (zero, zero), (np.zeros(1), np.ones(1)), attribute.weight)
        for name, attribute in plan.attributes.items()
        if name in plan.quasi_identifiers
    )
    marginals, limit = Marginals(1, columns), int(plan.suppression_limit > 0)
    return Problem(
        lattice=Lattice(marginals.shape),
        count=_never,
        costing=plan.metric.costing(marginals, smallest_class=plan.smallest_class, limit=limit),
        marginals=marginals,
        limit=limit,
        monotone=all(model.monotone_under(limit) for model in plan.judging_models),
    )


def _never(node: Node) -> Evaluation:
    raise InternalError(f"node {node} of a plan without a table was counted", code="engine-rows-hidden")


def _refuse_minimum_levels(study: Study) -> None:
    """Refuse a metric that is measured from the values themselves, if only counters of labels are known.

    Values that each party generalized before it encrypted are the values of the table: what is lost is measured from
    them.
    """
    plan = study.plan
    raised = [name for name, level in plan.minimum_levels.items() if level > 0]
    if not raised or study.pregeneralize or not _counts_only(study) or isinstance(plan.metric, FROM_LEVELS):
        return
    builders = [plan.attributes[name].hierarchy for name in raised]
    if isinstance(plan.metric, Loss) and all(builder is not None and builder.independent for builder in builders):
        return  # the plan itself says how much of the domain each label covers
    raise _refusal(
        f"metric: {plan.metric.name} counts the values themselves, but of {listed(raised)} only labels from their "
        "minimum_level on are counted; state pregeneralize: true, so that what is lost is measured from these labels, "
        "or take precision, or protocol B"
    )


def _refuse_hierarchies(study: Study) -> None:
    """Refuse a hierarchy that depends on values of other parties, or of people whom another party may lack."""
    plan = study.plan
    for name in (*plan.quasi_identifiers, *plan.counted_attributes):
        builder = plan.attributes[name].hierarchy
        if builder is None or not builder.needs_all_values:
            continue
        add = "state its length, as in redaction: {length: 5}" if isinstance(builder, Redaction) else "list its values"
        if study.distribution is not Distribution.VERTICAL and not isinstance(builder, Redaction):
            raise _refusal(
                f"attributes: {name}: this hierarchy is made from the values of all parties together, which nobody "
                f"knows; {add} in the plan"
            )
        if study.joins and not study.all_people:
            raise _refusal(
                f"attributes: {name}: this hierarchy ({builder.name}) is made from all values of a party, also from "
                f"those of people who are left out because another party does not have them; {add} in the plan, or, "
                "if all parties have the same people, all_people: true in the study"
            )


def _refuse_mirrored(study: Study) -> None:
    """Refuse mirrored dummy rows that would be told, or would be copies, and those that hide too little unasked."""
    if study.mirrored and (reason := against_mirroring(study)):
        raise _refusal(f"dummies: {reason}")
    if study.mirrored and not study.dummies_chosen and (shown := not_exchanged(study)):
        raise _refusal(
            f"dummies: all parties must exchange the values of {listed(shown)} alike, and the plan does not say which "
            "values there are; list them, as in hierarchy: {ordering: {values: [...]}} or in a csv file. Or choose "
            "what the helper may learn: with dummies: mirrored how often these values occur, with dummies: 0.25 a "
            "guess which rows are dummy rows, which is right a little more often than by chance"
        )


def _refusal(reason: str) -> InputError:
    return InputError(f"the plan cannot be computed between parties: {reason}", code="study-unsuited")
