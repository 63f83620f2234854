"""What every recoding promises: true cells, classes that satisfy the models, an honest cost, and no more than asked."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import kohorte as ko
from kohorte.hierarchies import Intervals
from kohorte.models import MODELS, KAnonymity
from kohorte.recoding import RECODERS
from kohorte.release.preparation import encode_problem
from kohorte.release.recoding import recoding_problem
from kohorte.sources import FrameSource
from support.model_oracle import CONDITIONS, Seen
from support.shown_cells import QUASIS, STAR

NAMES = [recoder.name for recoder in RECODERS]
every_recoder = pytest.mark.parametrize("name", NAMES)

ONLY_K = {"k_optimize", "hill_climbing", "mu_argus", "mu_argus_complete"}
METRICS = {"mingen_cells": ["loss", "precision"]}
ALL_METRICS = ["loss", "precision", "discernibility", "aecs"]
UNORDERED = {"least_loss", "local_recoding", "cell_suppression", "mingen_cells", "mu_argus", "mu_argus_complete"}
"""Those that need neither an order nor a hierarchy."""
OPTIONS = {
    "least_loss": [
        (),
        (("cells", "sets"), ("seed", 7)),
        (("cells", "intervals"),),
        (("cells", "hierarchy"),),
        (("strict", True),),
        (("cells", "intervals"), ("strict", True)),
    ]
}

DISEASES = ("flu", "cold", "gout", "mumps")
SECRET_MODELS = [
    {"model": "l-diversity_distinct", "attribute": "disease", "l": 2},
    {"model": "l-diversity_entropy", "attribute": "disease", "l": 1.5},
    {"model": "l-diversity_recursive", "attribute": "disease", "c": 3.0, "l": 2},
    {"model": "t-closeness_equal", "attribute": "disease", "t": 0.4},
    {"model": "alpha-k-anonymity", "attribute": "disease", "alpha": 0.7, "k": 2},
    {"model": "beta-likeness_basic", "attribute": "disease", "beta": 1.5},
]
NOT_GUARANTEED = [
    {"model": "average-risk", "threshold": 0.5},
    {"model": "n-t-closeness", "attribute": "disease", "n": 3, "t": 0.5},
    {"model": "k-map", "k": 2, "subset": "released"},
    {"model": "delta-presence", "minimum": 0.0, "maximum": 1.0, "subset": "released"},
    {"model": "population-uniqueness", "threshold": 0.9, "sampling_fraction": 0.1},
]


@dataclass(frozen=True)
class Case:
    """A table and a plan, both as plain data."""

    quasis: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...]
    secrets: tuple[str, ...]
    models: tuple[dict[str, object], ...]
    algorithm: str
    metric: str = "loss"
    limit: float = 0.0
    missing: str = "category"
    weights: tuple[float, ...] = ()
    minimum: tuple[int, ...] = ()
    options: tuple[tuple[str, object], ...] = ()

    @property
    def frame(self):
        columns = zip(*self.rows, strict=True)
        table = {name: pl.Series(column, dtype=pl.String) for name, column in zip(self.quasis, columns, strict=True)}
        return pl.DataFrame(table | {"disease": self.secrets, "row": [str(row) for row in range(len(self.rows))]})

    def plan(self, **search):
        attributes = {
            name: ko.Attribute(
                "quasi-identifying",
                hierarchy=QUASIS[name].builder,
                weight=self.weights[place] if self.weights else 1.0,
                minimum_level=self.minimum[place] if self.minimum else 0,
            )
            for place, name in enumerate(self.quasis)
        }
        return ko.Plan(
            attributes=attributes | {"disease": ko.Attribute("sensitive"), "row": ko.Attribute("insensitive")},
            models=self.models,
            suppression_limit=self.limit,
            metric=self.metric,
            missing=self.missing,
            search={"algorithm": self.algorithm, **dict(self.options), **search},
            order="input",
        )

    def least(self, place):
        """The lowest level at which a quasi-identifier may be shown."""
        return self.minimum[place] if self.minimum else 0

    @property
    def most_suppressed(self):
        return int(Fraction(str(self.limit)) * len(self.rows))

    @property
    def smallest_class(self):
        """The fewest rows of a class, by the definitions of the models."""
        least = {
            "l-diversity_distinct": 2,
            "l-diversity_entropy": 2,
            "l-diversity_recursive": 2,
            "alpha-k-anonymity": 2,
        }
        return max(int(model.get("k", least.get(model["model"], 1))) for model in self.models)


@st.composite
def cases(draw, algorithm, *, most_rows=14):
    """Plans that the algorithm does not refuse, most of the time."""
    known = [name for name, quasi in QUASIS.items() if quasi.ordered or algorithm in UNORDERED]
    quasis = tuple(draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True)))
    missing = draw(st.sampled_from(["category", "category", "suppress", "refuse"]))
    may_miss = missing != "refuse" and draw(st.booleans())
    values = [st.sampled_from((*QUASIS[name].values, None) if may_miss else QUASIS[name].values) for name in quasis]
    rows = tuple(draw(st.lists(st.tuples(*values), min_size=3, max_size=most_rows)))
    models = [{"model": "k-anonymity", "k": draw(st.integers(1, min(4, len(rows))))}]
    if algorithm not in ONLY_K and draw(st.booleans()):
        models.append(draw(st.sampled_from(SECRET_MODELS)))
    weights = draw(st.tuples(*[st.sampled_from([1.0, 0.5, 0.0])] * len(quasis))) if draw(st.booleans()) else ()
    minimum = [draw(st.sampled_from([0, 0, 1, 2, 3])) for _ in quasis] if draw(st.booleans()) else [0] * len(quasis)
    return Case(
        quasis,
        rows,
        (*DISEASES[:2], *draw(st.lists(st.sampled_from(DISEASES), min_size=len(rows) - 2, max_size=len(rows) - 2))),
        tuple(models),
        algorithm,
        metric=draw(st.sampled_from(METRICS.get(algorithm, ALL_METRICS))),
        limit=draw(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0])),
        missing=missing,
        weights=weights if sum(weights) else (),
        minimum=tuple(min(level, QUASIS[name].top) for level, name in zip(minimum, quasis, strict=True)),
        options=draw(st.sampled_from(OPTIONS.get(algorithm, [()]))),
    )


# The oracle


class Shown:
    """A release as its text says it, and nothing else."""

    def __init__(self, case, data):
        self.case = case
        self.cells = [tuple(row) for row in data.select(case.quasis).iter_rows()]
        self.starred = [all(cell == STAR for cell in row) for row in self.cells]
        self.suppressed = sum(self.starred) if sum(self.starred) <= case.most_suppressed else 0
        self.kept = [not (starred and self.suppressed) for starred in self.starred]
        self.classes = {}
        for number, (row, kept) in enumerate(zip(self.cells, self.kept, strict=True)):
            if kept:
                self.classes.setdefault(row, []).append(number)

    def holds(self, model):
        secrets = self.case.secrets
        for rows in self.classes.values():
            seen = Seen(len(rows), [secrets[row] for row in rows], secrets, (), (), 0, [])
            if not CONDITIONS[model["model"]](seen, model):
                return False
        return True

    def check_truth(self):
        """Every cell covers the value of its row, and none is finer than the plan allows."""
        lacking = [None in row for row in self.case.rows]
        for place, name in enumerate(self.case.quasis):
            quasi, least = QUASIS[name], self.case.least(place)
            for row, (original, shown) in enumerate(zip(self.case.rows, self.cells, strict=True)):
                cell, value = shown[place], original[place]
                if self.case.missing == "suppress" and lacking[row]:
                    assert shown == (STAR,) * len(shown)
                meanings = quasi.read(cell)
                assert any(value in meaning.covers for meaning in meanings), (name, value, cell)
                if least and value is not None:
                    assert all(meaning.height() >= least for meaning in meanings if meaning.covers != {None})
                    assert cell == STAR or all(
                        {quasi.level(least, other) for other in quasi.values if other not in meaning.covers}.isdisjoint(
                            {quasi.level(least, inside) for inside in meaning.covers}
                        )
                        for meaning in meanings
                    )

    def cost(self):
        return getattr(self, self.case.metric)()

    def aecs(self):
        classes = len(self.classes) + (self.suppressed > 0)
        return len(self.cells) / (classes * self.case.smallest_class)

    def discernibility(self):
        return sum(len(rows) ** 2 for rows in self.classes.values()) + len(self.cells) * self.suppressed

    def loss(self):
        return self._mean(self._share)

    def precision(self):
        return self._mean(self._height)

    def _height(self, place, cell):
        quasi = QUASIS[self.case.quasis[place]]
        return quasi.read(cell)[0].height(self.case.least(place)) / quasi.top

    def _share(self, place, cell):
        quasi = QUASIS[self.case.quasis[place]]
        column = [row[place] for row in self.case.rows]
        domain = quasi.values if quasi.all_values else tuple({value for value in column if value is not None})
        return quasi.read(cell)[0].share(domain, missing=None in column)

    def _mean(self, of_cell):
        weights = self.case.weights or (1.0,) * len(self.case.quasis)
        total = 0.0
        for row, kept in zip(self.cells, self.kept, strict=True):
            cells = [of_cell(place, cell) if kept else 1.0 for place, cell in enumerate(row)]
            total += sum(weight * cell for weight, cell in zip(weights, cells, strict=True)) / sum(weights)
        return total / len(self.cells)


def check_valid(case, release):
    """All that must be true of a release, whatever it costs."""
    assert release.data.drop(case.quasis).equals(case.frame.drop(case.quasis))
    shown = Shown(case, release.data)
    for model in case.models:
        assert shown.holds(model)
    shown.check_truth()
    assert release.suppressed <= case.most_suppressed
    if not all(shown.starred):  # otherwise they may be suppressed, or one class: both look the same
        assert shown.suppressed == release.suppressed
        assert (len(shown.classes), release.rows) == (release.classes, len(case.rows))
        assert release.smallest_class == min(map(len, shown.classes.values()))
    assert ko.verify(release.data, case.plan()).satisfied
    assert release.node is None
    assert release.levels == {}
    return shown


def refused(case):
    problem = recoding_problem(encode_problem(FrameSource(case.frame), case.plan()))
    return next(recoder for recoder in RECODERS if recoder.name == case.algorithm)().refuse(problem)


def released(case, **options):
    """The release of a case; None where there is honestly none."""
    try:
        return ko.anonymize(case.frame, case.plan(), **options)
    except ko.NoSolution:
        return None
    except ko.PrivacyViolation:
        assert case.algorithm == "mu_argus"  # without a guarantee, by its docstring
        return None


# The contract


def known_cost(case, shown):
    """Whether the oracle can tell the cost of a release."""
    if all(shown.starred):
        return False  # suppressed, or one class: both look the same
    if case.metric == "precision" and case.algorithm.startswith("mu_argus"):
        return not any(None in row for row in shown.cells)  # it does not say at which level a value is missing
    return True


@every_recoder
def test_every_class_holds_every_cell_is_true_and_the_cost_is_that_of_the_shown_cells(name):
    ran = Counter()

    @settings(max_examples=25, derandomize=True)
    @given(cases(name))
    def check(case):
        if refused(case) is not None:
            with pytest.raises(ko.InputError) as caught:
                ko.anonymize(case.frame, case.plan())
            assert caught.value.code == "algorithm-unfit"
            return
        release = released(case)
        ran[release is not None] += 1
        if release is None:
            return
        shown = check_valid(case, release)
        if known_cost(case, shown):
            ran["cost"] += 1
            assert release.cost == pytest.approx(shown.cost(), rel=1e-9, abs=1e-9)

    check()
    assert ran[True] >= 10
    assert ran["cost"] >= 3


@every_recoder
@pytest.mark.parametrize("policy", ["category", "suppress", "refuse"])
def test_every_policy_for_missing_values_is_kept(name, policy):
    rows = (("-3", "f"), ("-3", "f"), ("0", "m"), ("0", "m"), (None, "m"), (None, "f"))
    case = Case(
        ("number", "sex"), rows, ("flu", "cold") * 3, ({"model": "k-anonymity", "k": 2},), name, "loss", 0.4, policy
    )
    if policy == "refuse":
        with pytest.raises(ko.InputError) as caught:
            ko.anonymize(case.frame, case.plan())
        assert caught.value.code == "missing-refused"
    elif refused(case):
        assert (policy, "lack a value" in refused(case)) == ("suppress", True)
    elif (release := released(case)) is not None:
        lacking = [all(cell == STAR for cell in row) for row in check_valid(case, release).cells][4:]
        assert policy == "category" or all(lacking)
    else:
        assert name == "mu_argus"


@every_recoder
def test_a_release_that_was_written_and_read_again_is_satisfied(name, tmp_path):
    random = [
        tuple(QUASIS[quasi].values[(7 * row + 3 * row * row) % 5] for quasi in ("grade", "tag")) for row in range(12)
    ]
    case = Case(("grade", "tag"), tuple(random), ("flu", "cold", "gout") * 4, ({"model": "k-anonymity", "k": 2},), name)
    assert refused(case) is None
    release = ko.anonymize(case.frame, case.plan())
    ko.write_release(release, tmp_path / "release.csv")
    again = ko.read_table(tmp_path / "release.csv").frame
    assert ko.verify(again, case.plan()).satisfied
    check_valid(case, release)
    assert Shown(case, again.cast(pl.String)).cells == Shown(case, release.data).cells


@every_recoder
@pytest.mark.parametrize("how", ["time", "callback"])
def test_a_recoding_that_is_stopped_at_once_is_valid_or_none(name, how):
    ran = Counter()

    @settings(max_examples=6, derandomize=True)
    @given(cases(name, most_rows=16))
    def check(case):
        assume(refused(case) is None)
        options = {"progress": lambda _: False} if how == "callback" else {}
        search = {"time_limit": 1e-9} if how == "time" else {}
        try:
            release = ko.anonymize(case.frame, case.plan(**search), **options)
        except (ko.NoSolution, ko.PrivacyViolation):
            ran["error"] += 1
        else:
            ran["release"] += 1
            check_valid(case, release)

    check()
    assert ran["release"] + ran["error"] >= 2


@every_recoder
@pytest.mark.parametrize("model", NOT_GUARANTEED, ids=lambda model: model["model"])
def test_models_that_cells_of_their_own_cannot_guarantee_are_refused_and_able_algorithms_are_named(name, model):
    frame = pl.DataFrame({"number": ["1", "2", "3", "4"], "disease": list("abab"), "released": ["1", "1", "0", "1"]})
    attributes = {"number": {"role": "quasi-identifying"}, "disease": {"role": "sensitive"}}
    attributes |= {"released": {"role": "insensitive"}}
    plan = ko.Plan(attributes=attributes, models=[model], search=name, suppression_limit=1.0)
    with pytest.raises(ko.InputError) as caught:
        ko.anonymize(frame, plan)
    assert caught.value.code == "algorithm-unfit"
    assert model["model"] in caught.value.message
    able = caught.value.message.partition("these can: ")[2].split(", ")
    assert "optimal" in able
    assert not set(able) & set(NAMES)


def test_the_models_that_are_refused_are_all_that_judge_more_than_one_class():
    """Whoever adds a model decides here whether a recoding may promise it."""
    asked = {model["model"] for model in NOT_GUARANTEED}
    assert asked == {
        model.name
        for model in MODELS
        if model.about_all or model.about_others or not model.monotone or model.name in ("k-map", "delta-presence")
    }


@every_recoder
def test_an_unknown_algorithm_is_refused_with_the_nearest_name(name):
    with pytest.raises(ko.InputError, match=r"unknown algorithm") as caught:
        ko.SearchOptions(algorithm=name[:-1] + name[-1] * 2)
    assert caught.value.code == "algorithm-unknown"
    assert f"did you mean {name!r}" in caught.value.message
    assert all(known in caught.value.message for known in NAMES)


@every_recoder
def test_a_recoding_says_nothing_about_later_rows(name):
    rows = tuple((value,) for value in ("-12", "-3", "0", "10") * 2)
    case = Case(("number",), rows, ("flu",) * 8, ({"model": "k-anonymity", "k": 2},), name)
    release = ko.anonymize(case.frame, case.plan())
    with pytest.raises(ko.InputError) as caught:
        release.transform(case.frame)
    assert caught.value.code == "transform-recoded"
    assert name in caught.value.message


@every_recoder
def test_the_same_table_is_recoded_in_the_same_way_every_time(name):
    values = [QUASIS["age"].values[(5 * row * row + row) % 8] for row in range(14)]
    rows = tuple((value, "fm"[row % 2]) for row, value in enumerate(values))
    case = Case(("age", "sex"), rows, ("flu", "cold") * 7, ({"model": "k-anonymity", "k": 3},), name, limit=0.25)
    first, second = (released(case) for _ in range(2))
    assert (first is None) == (second is None)
    assert first is None or first.data.equals(second.data)


@every_recoder
def test_a_recoding_tells_what_it_did_without_telling_values(name):
    rows = tuple((value,) for value in ("-12", "-3", "0", "10") * 2)
    case = Case(("number",), rows, ("flu",) * 8, ({"model": "k-anonymity", "k": 2},), name)
    release = ko.anonymize(case.frame, case.plan())
    entry = release.to_dict()
    assert entry["algorithm"] == name
    assert entry["lattice"] is None
    assert entry["levels"] == {}
    assert set(entry["recoded"]["number"]) == {"cells", "lowest_level", "highest_level"}
    assert not any(value in str(entry["algorithm_facts"]) for value in ("-12", "-3"))
    assert release.checked >= (not name.startswith("mu_argus"))  # which has no pair to look at here
    assert release.verdict
    assert "counted" in release.effort


@pytest.mark.parametrize("recoder", RECODERS, ids=NAMES)
def test_every_recoder_says_whether_it_is_optimal_what_it_costs_and_where_it_is_from(recoder):
    assert all(word in recoder.__doc__ for word in ("Optimal or heuristic", "Complexity", "Source"))


def test_an_interval_of_groups_loses_what_it_covers():
    """[20-29 – 30-39] covers 20 of 100 years, whichever years occur in it."""
    frame = pl.DataFrame({"age": ["20", "20", "39", "39", "90", "90"]})
    attribute = ko.Attribute(
        "quasi-identifying",
        hierarchy=Intervals(lower=0, upper=100, widths=[10], integer=True),
        minimum_level=1,
    )
    plan = ko.Plan({"age": attribute}, [KAnonymity(k=3)], search="mondrian_relaxed", order="input")
    release = ko.anonymize(frame, plan)
    assert release.data["age"].to_list() == ["[20-29 – 30-39]"] * 3 + ["[30-39 – 90-99]"] * 3
    assert release.cost == pytest.approx((3 * 0.2 + 3 * 0.7) / 6)


@every_recoder
def test_where_every_row_lacks_a_value_there_is_nothing_to_recode(name):
    models = [{"model": "k-anonymity", "k": 2}]
    if name not in ONLY_K:
        models.append({"model": "t-closeness_equal", "attribute": "disease", "t": 0.5})
    case = Case(("number", "sex"), ((None, "f"),) * 3, DISEASES[:3], tuple(models), name, limit=1.0, missing="suppress")
    with pytest.raises(ko.KohorteError) as caught:
        ko.anonymize(case.frame, case.plan())
    assert caught.value.code in ("recoding-no-solution", "algorithm-unfit")
