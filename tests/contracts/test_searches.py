"""What every search promises: the global optimum or an honest bound; of heuristics, a solution or none."""

import math
import threading
from collections import Counter
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kohorte.errors import InputError, NoSolution
from kohorte.metrics import PLAIN_METRICS
from kohorte.models import KAnonymity, PrivacyModel
from kohorte.search import SEARCHES, Exhaustive, search_named
from kohorte.search.base import OutOfTime
from support import oracle
from support.examples import examples
from support.problems import problem_of
from support.strategies import questions
from support.tables import SmallTable, flat_levels

NAMES = [search.name for search in SEARCHES]
HEURISTIC = ["datafly"]
EXACT = [name for name in NAMES if name not in HEURISTIC]
FOR_ALL_CASES = [
    *(
        "optimal",
        "best_first",
        "flash_depth_first",
        "flash_two_phase",
        "breadth_first",
        "depth_first",
        "exhaustive",
        "mingen",
    )
]
FOR_CASE_1 = ["flash", "flash_parallel", "ola", "incognito", "incognito_cube"]
METRIC_FOR = dict.fromkeys([*FOR_ALL_CASES, *HEURISTIC], "loss") | dict.fromkeys(FOR_CASE_1, "non_uniform_entropy")
METRIC_FOR["samarati"] = "height"
"""A metric that the search can handle with suppression."""

every_search = pytest.mark.parametrize("name", NAMES)
case_1_search = pytest.mark.parametrize("name", FOR_CASE_1)
every_metric = pytest.mark.parametrize("metric", [metric.name for metric in PLAIN_METRICS])


@dataclass(frozen=True)
class OddClasses(PrivacyModel):
    """A made-up model that is anything but monotone: a class has an odd number of rows, at least `least`."""

    least: int = 1
    name: ClassVar[str] = "odd-classes"
    monotone: ClassVar[bool] = False
    monotone_with_suppression: ClassVar[bool] = False

    @property
    def smallest_class(self):
        return self.least

    def satisfied(self, groups):
        return (groups.sizes >= self.least) & (groups.sizes % 2 == 1)


def make_problem(question, metric, models=None, **options):
    table, k, limit = question
    options = {"limit": limit, "weights": table.weight_by_name, **options}
    return problem_of(table.encoded, metric, models or [KAnonymity(k=k)], **options)


def random_question(seed, *, k, share, attributes=4, rows=150):
    """A table large enough that a search has to think: a few hundred nodes."""
    random = np.random.default_rng(seed)
    levels = []
    for _ in range(attributes):
        values = [str(value) for value in range(int(random.integers(3, 12)))]
        groups = np.arange(len(values))
        columns = [tuple(values)]
        for level in range(1, int(random.integers(2, 5))):
            groups = groups // 2
            columns.append(tuple(f"{level}-{group}" for group in groups))
        levels.append((*columns, ("*",) * len(values)))
    cells = [
        random.choice(own[0], rows, p=np.array([2.0**-i for i in range(len(own[0]))]) / (2 - 2 ** (1 - len(own[0]))))
        for own in levels
    ]
    return SmallTable(tuple(levels), tuple(map(tuple, np.stack(cells, axis=1).tolist()))), k, int(share * rows)


def agrees(name, problem, truth):
    if name in HEURISTIC:
        return finds_a_solution_or_none(name, problem, truth)
    result = search_named(name).run(problem)
    assert result.optimal
    assert (result.best is None) == (truth.best is None)
    if truth.best is None:
        return result
    assert result.best.cost == pytest.approx(truth.best.cost, rel=1e-12, abs=1e-12)
    assert result.lower_bound <= result.best.cost
    assert result.lower_bound == pytest.approx(truth.best.cost, rel=1e-12, abs=1e-12)
    assert result.best == truth.best
    assert result.checked == problem.checked <= problem.lattice.size
    assert 0 <= result.tagged <= problem.lattice.size - result.checked
    return result


def finds_a_solution_or_none(name, problem, truth):
    try:
        result = search_named(name).run(problem)
    except NoSolution:
        assert not problem.monotone  # otherwise there would have been one on its path, or none at all
        return None
    assert result.heuristic
    assert result.lower_bound == -math.inf
    assert result.checked == problem.checked <= problem.lattice.size
    if result.best is None:
        assert result.optimal
        assert truth.best is None
        return result
    assert not result.optimal
    assert result.best == problem.count(result.best.node)
    assert result.best.solution
    assert result.best.cost >= truth.best.cost - 1e-12 * abs(truth.best.cost)
    return result


@every_metric
@examples(60)
@given(question=questions())
def test_searches_agree_with_exhaustive_search(metric, question):
    truth = Exhaustive().run(make_problem(question, metric))
    for name in NAMES:
        problem = make_problem(question, metric)
        if search_named(name).refuse(problem) is None:
            agrees(name, problem, truth)


@every_metric
@examples(40)
@given(question=questions())
def test_searches_agree_where_the_model_is_not_monotone(metric, question):
    models = [OddClasses(least=question[1])]
    truth = Exhaustive().run(make_problem(question, metric, models))
    for name in [*FOR_ALL_CASES, *HEURISTIC]:
        agrees(name, make_problem(question, metric, models), truth)


@every_metric
@examples(40)
@given(question=questions())
def test_searches_agree_where_a_monotone_model_meets_one_that_is_not(metric, question):
    models = [KAnonymity(k=question[1]), OddClasses()]
    truth = Exhaustive().run(make_problem(question, metric, models))
    for name in [*FOR_ALL_CASES, *HEURISTIC]:
        agrees(name, make_problem(question, metric, models), truth)


@pytest.mark.slow
@every_metric
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
def test_searches_agree_on_larger_lattices(metric, share):
    for seed in range(3):
        question = random_question(seed, k=2 + seed, share=share)
        truth = Exhaustive().run(make_problem(question, metric))
        for name in NAMES:
            problem = make_problem(question, metric)
            if search_named(name).refuse(problem) is None:
                result = agrees(name, problem, truth)
                assert name != "optimal" or result.checked < problem.lattice.size


@every_metric
@examples(25)
@given(question=questions())
def test_exhaustive_search_finds_the_optimum_of_the_oracle(metric, question):
    """The oracle knows nothing of the package; ties are broken by height, then by levels from left to right."""
    table, k, limit = question
    judged = [oracle.judge(table, node, lambda size: size >= k, k) for node in oracle.nodes(table)]
    costs = {found.node: found.cost(metric) for found in judged if found.suppressed <= limit}
    result = Exhaustive().run(make_problem(question, metric))
    if not costs:
        assert result.best is None
        return
    least = min(costs.values())
    assert result.best.cost == pytest.approx(least, rel=1e-9, abs=1e-9)
    assert costs[result.best.node] == pytest.approx(least, rel=1e-9, abs=1e-9)


@given(questions())
def test_ties_are_broken_by_height_then_by_levels(question):
    table, k, limit = question
    judged = [oracle.judge(table, node, lambda size: size >= k, k) for node in oracle.nodes(table)]
    solutions = [found.node for found in judged if found.suppressed <= limit]
    wanted = min(solutions, key=lambda node: (sum(node), node), default=None)
    unweighted = SmallTable(table.levels, table.rows, table.missing)
    for name in EXACT:
        best = search_named(name).run(make_problem((unweighted, k, limit), "height")).best
        assert (best.node if best else None) == wanted


@every_search
def test_where_there_is_no_solution_the_result_says_so(name):
    table = SmallTable((flat_levels("a", "b"), flat_levels("c", "d")), (("a", "c"), ("b", "d"), ("b", "c")))
    problem = make_problem((table, 4, 0), "height")
    result = search_named(name).run(problem)
    assert result.best is None
    assert result.optimal
    assert result.checked + result.tagged <= problem.lattice.size


@every_search
def test_no_node_is_counted_twice(name):
    question = random_question(5, k=3, share=0.0)
    problem = make_problem(question, "height" if name == "samarati" else "non_uniform_entropy")
    counted = watched(problem)
    search_named(name).run(problem)
    assert set(counted.values()) == {1}
    assert sum(counted.values()) == problem.checked


def watched(problem):
    """Count how often the nodes of a problem are counted."""
    counted = Counter()
    count = problem.count

    def watch(node):
        counted[node] += 1
        return count(node)

    problem.count = watch
    return counted


@pytest.mark.parametrize("metric", ["height", "non_uniform_entropy", "discernibility_monotone"])
@examples(60)
@given(question=questions())
def test_no_search_of_a_random_question_counts_a_node_twice(metric, question):
    for name in NAMES:
        problem = make_problem(question, metric)
        if search_named(name).refuse(problem) is None:
            counted = watched(problem)
            assert search_named(name).run(problem).optimal or name in HEURISTIC
            assert set(counted.values()) == {1}


@examples(60)
@given(question=questions())
def test_two_phase_flash_is_basic_flash_where_models_and_metric_are_monotone(question):
    problems = [make_problem(question, "non_uniform_entropy") for _ in range(2)]
    counted = [watched(problem) for problem in problems]
    results = [search_named("flash").run(problems[0]), search_named("flash_two_phase").run(problems[1])]
    assert list(counted[0]) == list(counted[1])
    assert results[0] == results[1]


@examples(60)
@given(question=questions(missing=()))  # rows that are always suppressed would be a monotone part
def test_two_phase_flash_counts_as_many_nodes_as_depth_first_flash_where_nothing_is_monotone(question):
    runs = [
        search_named(name).run(make_problem(question, "entropy", [OddClasses()]))
        for name in ("flash_two_phase", "flash_depth_first")
    ]
    assert runs[0] == runs[1]


class TestStopping:
    question = random_question(1, k=3, share=0.1)

    def check_honest(self, result, metric="loss"):
        truth = Exhaustive().run(make_problem(self.question, metric)).best
        assert not result.optimal
        assert result.lower_bound <= truth.cost
        assert result.best is None or truth.cost <= result.best.cost

    @every_search
    def test_a_time_limit_gives_the_best_found_and_an_honest_bound(self, name):
        metric = METRIC_FOR[name]
        problem = make_problem(self.question, metric, time_limit=0.0)
        result = search_named(name).run(problem)
        self.check_honest(result, metric)
        assert result.checked < problem.lattice.size

    @pytest.mark.parametrize("checks", [1, 2, 5, 10, 20])
    @every_metric
    def test_a_search_stopped_at_any_time_is_honest(self, metric, checks):
        for name in NAMES:
            problem = make_problem(self.question, metric)
            if search_named(name).refuse(problem) is not None:
                continue
            count = problem.count

            def limited(node, problem=problem, count=count):
                if problem.checked + 1 >= checks:
                    problem.time_limit = -1.0
                return count(node)

            problem.count = limited
            result = search_named(name).run(problem)
            if not result.optimal:
                self.check_honest(result, metric)

    @every_search
    def test_the_progress_callback_is_told_where_the_search_is(self, name):
        seen = []
        problem = make_problem(self.question, METRIC_FOR[name], progress=seen.append)
        result = search_named(name).run(problem)
        assert result.optimal != (name in HEURISTIC)
        assert seen
        for progress in seen:
            assert progress.nodes == problem.lattice.size
            assert 0 < progress.checked <= progress.nodes
            assert 0 <= progress.settled <= progress.nodes
            assert progress.lower_bound <= result.best.cost
            assert progress.best_cost is None or progress.best_cost >= result.best.cost

    @every_search
    def test_a_callback_that_returns_false_stops_the_search(self, name):
        metric = METRIC_FOR[name]
        calls = []

        def stop(progress):
            calls.append(progress)
            return False

        problem = make_problem(self.question, metric, progress=stop)
        result = search_named(name).run(problem)
        assert len(calls) == 1
        assert result.checked <= 2
        self.check_honest(result, metric)

    @pytest.mark.parametrize("answer", [None, True, 0, "", []])
    def test_only_false_itself_stops_the_search(self, answer):
        problem = make_problem(self.question, "loss", progress=lambda progress: answer)
        assert search_named("optimal").run(problem).optimal


class TestRefusing:
    question = random_question(2, k=2, share=0.1)

    def test_every_search_is_for_all_cases_for_case_1_or_for_one_metric(self):
        assert sorted(NAMES) == sorted(METRIC_FOR)

    @case_1_search
    def test_searches_for_case_1_refuse_a_metric_that_is_not_monotone(self, name):
        assert "metric" in search_named(name).refuse(make_problem(self.question, "loss"))
        assert "metric" in search_named(name).refuse(make_problem(self.question, "entropy"))

    @pytest.mark.parametrize("name", [*FOR_CASE_1, "samarati"])
    def test_searches_for_monotone_models_refuse_others(self, name):
        assert "models" in search_named(name).refuse(make_problem(self.question, "height", [OddClasses()]))

    @case_1_search
    def test_searches_for_case_1_take_a_metric_that_is_monotone_without_suppression(self, name):
        table, k, _ = self.question
        assert search_named(name).refuse(make_problem((table, k, 0), "loss")) is None

    @every_metric
    def test_samarati_refuses_every_metric_but_height(self, metric):
        table, k, _ = self.question
        reason = search_named("samarati").refuse(make_problem((table, k, 0), metric))
        assert (reason is None) == (metric == "height")

    def test_samarati_refuses_different_weights_since_levels_are_then_not_the_order_of_costs(self):
        table, k, limit = self.question
        for weights, taken in (((2.0,) * 4, True), ((0.0,) * 4, True), ((1.0, 1.0, 0.5, 1.0), False)):
            weighted = SmallTable(table.levels, table.rows, weights=weights)
            reason = search_named("samarati").refuse(make_problem((weighted, k, limit), "height"))
            assert (reason is None) == taken

    @pytest.mark.parametrize("name", [*FOR_ALL_CASES, *HEURISTIC])
    @every_metric
    def test_searches_for_all_cases_refuse_nothing(self, name, metric):
        for models in ([KAnonymity(k=2)], [OddClasses()]):
            assert search_named(name).refuse(make_problem(self.question, metric, models)) is None


@every_search
def test_a_search_is_found_by_its_name(name):
    assert search_named(name).name == name


@pytest.mark.parametrize(("name", "hint"), [("flsh", "'flash'"), ("optimum", "'optimal'"), ("made-up stranger", "")])
def test_an_unknown_search_is_refused_with_the_nearest_name(name, hint):
    with pytest.raises(InputError, match=r"unknown algorithm") as caught:
        search_named(name)
    assert caught.value.code == "algorithm-unknown"
    assert (f"did you mean {hint}" in caught.value.message) == bool(hint)
    assert all(known in caught.value.message for known in NAMES)


@pytest.mark.parametrize("search", SEARCHES, ids=NAMES)
def test_every_search_says_whether_it_is_optimal_and_what_it_costs(search):
    assert all(word in search.__doc__ for word in ("Optimal or heuristic", "Complexity"))


@given(st.integers(0, 2**32 - 1))
@examples(10)
def test_a_search_gives_the_same_answer_and_the_same_checks_every_time(seed):
    question = random_question(seed, k=3, share=0.05, attributes=3, rows=60)
    runs = [search_named("optimal").run(make_problem(question, "discernibility")) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("threads", [2, 4, 8])
@pytest.mark.parametrize("metric", ["loss", "aecs", "non_uniform_entropy", "entropy"])
@examples(25)
@given(question=questions(), stop=st.integers(1, 6))
def test_a_search_with_threads_that_is_stopped_claims_nothing_that_is_not_proven(threads, metric, question, stop):
    truth = Exhaustive().run(make_problem(question, metric))
    problem = make_problem(question, metric)
    problem.ahead = threads
    rounds = iter(range(stop))

    def watch_time():
        if next(rounds, None) is None:
            raise OutOfTime

    problem.watch_time = watch_time
    result = search_named("optimal").run(problem)
    if truth.best is None:
        assert result.best is None
        return
    assert result.lower_bound <= truth.best.cost
    if result.optimal:
        assert result.best == truth.best


@pytest.mark.parametrize("threads", [2, 5])
@examples(25)
@given(question=questions())
def test_the_answer_is_the_same_for_any_number_of_threads(threads, question):
    cases = [("optimal", "discernibility"), ("optimal", "entropy"), ("exhaustive", "loss")]
    for name, metric in [*cases, ("flash_parallel", "non_uniform_entropy"), ("flash_parallel", "height")]:
        alone = search_named(name).run(make_problem(question, metric))
        problem = make_problem(question, metric)
        problem.ahead = threads
        together = search_named(name).run(problem)
        assert together.best == alone.best
        assert together.optimal


class TestParallelFlash:
    question = random_question(1, k=3, share=0.1)
    threads = pytest.mark.parametrize("threads", [2, 3, 8])

    def problem(self, threads, **options):
        problem = make_problem(self.question, "non_uniform_entropy", **options)
        problem.ahead = threads
        return problem

    def check_honest(self, result, counted):
        truth = Exhaustive().run(self.problem(1)).best
        assert not result.optimal
        assert result.lower_bound == -math.inf
        assert result.best is None or result.best.cost >= truth.cost
        assert set(counted.values()) == {1}
        assert result.checked == len(counted)

    @threads
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize("share", [0.0, 0.1])
    def test_the_optimum_is_found_and_no_node_is_counted_twice(self, threads, seed, share):
        question = random_question(seed, k=3, share=share)
        truth = Exhaustive().run(make_problem(question, "non_uniform_entropy"))
        problem = make_problem(question, "non_uniform_entropy")
        problem.ahead = threads
        counted = watched(problem)
        agrees("flash_parallel", problem, truth)
        assert set(counted.values()) == {1}
        assert sum(counted.values()) == problem.checked

    def test_without_threads_it_is_basic_flash(self):
        problems = [self.problem(1), self.problem(1)]
        counted = [watched(problem) for problem in problems]
        for name, problem in zip(("flash", "flash_parallel"), problems, strict=True):
            search_named(name).run(problem)
        assert list(counted[0]) == list(counted[1])

    @threads
    def test_a_time_limit_stops_all_threads(self, threads):
        problem = self.problem(threads, time_limit=0.0)
        counted = watched(problem)
        result = search_named("flash_parallel").run(problem)
        checked = result.checked
        self.check_honest(result, counted)
        assert checked == sum(counted.values()) <= threads

    @threads
    @pytest.mark.parametrize("stop", [1, 3, 10])
    def test_out_of_time_at_any_check_is_honest(self, threads, stop):
        problem = self.problem(threads)
        counted = watched(problem)
        rounds = iter(range(threads + stop))

        def watch_time():
            if next(rounds, None) is None:
                raise OutOfTime

        problem.watch_time = watch_time
        result = search_named("flash_parallel").run(problem)
        self.check_honest(result, counted)

    @threads
    def test_a_callback_is_called_where_the_search_was_called_and_can_stop_it(self, threads):
        callers = []

        def stop(progress):
            callers.append((threading.get_ident(), progress.checked))
            return False

        problem = self.problem(threads, progress=stop)
        counted = watched(problem)
        result = search_named("flash_parallel").run(problem)
        assert [caller for caller, _ in callers] == [threading.get_ident()]
        self.check_honest(result, counted)

    @threads
    def test_an_error_in_a_thread_ends_the_search(self, threads):
        problem = self.problem(threads)
        count, left = problem.count, iter(range(4))

        def fail(node):
            if next(left, None) is None:
                raise MemoryError
            return count(node)

        problem.count = fail
        with pytest.raises(MemoryError):
            search_named("flash_parallel").run(problem)
