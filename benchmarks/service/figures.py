"""The evaluation of Leitner (2020, figures 5.1 to 5.4), repeated over HTTP: `python -m benchmarks service`.

Writes docs/benchmarks/service.md with its pictures. Fails when an answer is wrong or a target is missed.
"""

from __future__ import annotations

import io
import math
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import polars as pl

import kohorte as ko
from benchmarks.report import Line
from testbed import patients, story
from testbed.running import RESEARCHER, UNLIMITED, Running, running

SIZES = (1, 10, 100, 1_000, 5_000, 25_000, 50_000, 100_000, 175_000, 250_000)
LARGEST = SIZES[-1]
RUNS = 5
QUESTION = "SELECT blood_type, AVG(age) FROM PRIORI GROUP BY blood_type"
EPSILON, DELTA = 3.0, 1e-12
ANONYMIZATION_SECONDS, QUESTION_SECONDS = 2.0, 0.5
KS = (2, 5, 10, 25, 50, 75, 100)
MIDDLE = 10_000
EPSILONS = tuple(10 ** (exponent / 100) for exponent in range(-200, 101, 5))


@dataclass(frozen=True)
class Measured:
    """The times of one size, in seconds."""

    rows: int
    anonymization: tuple[float, ...]
    question: tuple[float, ...]


class Evaluation:
    """A running service with a steward and a researcher."""

    def __init__(self, service: Running) -> None:
        service.set_up()
        self.steward = service.signed_in()
        self.researcher_id = story.researcher(self.steward)
        self.researcher = service.signed_in(RESEARCHER["email_address"])

    def measure(self, rows: int) -> Measured:
        """New tables of one size: each is anonymized, and asked."""
        anonymization, question = [], []
        for run in range(RUNS):
            number = story.dataset(self.steward, patients.csv(rows, seed=run))
            anonymization.append(self.anonymization(number, k=5, rows=rows))
            question.append(self.question(number, rows=rows))
        return Measured(rows, tuple(anonymization), tuple(question))

    def anonymization(self, dataset_id: int, *, k: int, rows: int) -> float:
        """The seconds until a project is there, whose table is then checked; or is refused, where k rows are not."""
        started = time.perf_counter()
        if rows < k:
            answer = story.asked_for(self.steward, dataset_id, self.researcher_id, patients.anonymous_config(k))
            assert answer.json()["code"] == "model-beyond-rows"
            return time.perf_counter() - started
        number = story.project(self.steward, dataset_id, self.researcher_id, patients.anonymous_config(k))
        seconds = time.perf_counter() - started
        _check(self.researcher.get(f"/projects/{number}/csv"), k=k, rows=rows)
        return seconds

    def question(self, dataset_id: int, *, rows: int) -> float:
        """The seconds of a question, the first of its project."""
        config = patients.interactive_config(EPSILON, DELTA, query_epsilon=EPSILON, query_delta=DELTA)
        number = story.project(self.steward, dataset_id, self.researcher_id, config)
        started = time.perf_counter()
        answer = self.researcher.post(f"/projects/{number}/analyze", json={"query": QUESTION})
        seconds = time.perf_counter() - started
        answer.raise_for_status()
        means = list(answer.json()["query_result"]["Col1"].values())
        if rows >= 25_000 and not (len(means) == 8 and all(abs(mean - 49.5) < 2 for mean in means)):
            raise AssertionError("the means are wrong")
        return seconds

    def counts(self, dataset_id: int) -> list[tuple[float, list[float]]]:
        """The answers to COUNT(*) for each epsilon, five times each in projects of their own."""
        found = []
        for epsilon in EPSILONS:
            answers = []
            for _ in range(RUNS):
                config = patients.interactive_config(epsilon, DELTA, query_epsilon=epsilon)
                number = story.project(self.steward, dataset_id, self.researcher_id, config)
                body = {"query": "SELECT COUNT(*) FROM PRIORI"}
                result = self.researcher.post(f"/projects/{number}/analyze", json=body).raise_for_status().json()
                answers.append(float(next(iter(result["query_result"].values()))["0"]))
            found.append((epsilon, answers))
        return found


def _check(answer: httpx.Response, *, k: int, rows: int) -> None:
    """Refuse a table that is not what it should be."""
    answer.raise_for_status()
    released = pl.read_csv(io.BytesIO(answer.content), infer_schema=False)
    if released.height != rows or "ssn" in released.columns:
        raise AssertionError("the release has other rows or columns")
    roles = {
        "zip_code": "quasi-identifying",
        "age": "quasi-identifying",
        "sex": "quasi-identifying",
        "blood_type": "sensitive",
    }
    models = [{"model": "k-anonymity", "k": k}, {"model": "l-diversity_distinct", "attribute": "blood_type", "l": 2}]
    plan = ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": {n: {"role": r} for n, r in roles.items()},
            "models": models,
            "suppression_limit": 1.0,
        }
    )
    if not ko.verify(released, plan).satisfied:
        raise AssertionError("the release does not satisfy its models")


def lines() -> Iterator[Line]:
    """A short evaluation, as a part of `make bench`."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder) / "service", rules=UNLIMITED) as service:
        evaluation = Evaluation(service)
        yield from judged([evaluation.measure(rows) for rows in (25_000, LARGEST)])


def judged(measured: list[Measured]) -> Iterator[Line]:
    """The largest size against its targets, and how the time grows."""
    largest = measured[-1]
    yield Line(f"project of {LARGEST:,} rows over HTTP", True, _mean(largest.anonymization), ANONYMIZATION_SECONDS)
    yield Line(f"question to {LARGEST:,} rows over HTTP", True, _mean(largest.question), QUESTION_SECONDS)
    for what in ("anonymization", "question"):
        exponent = _growth(measured, what)
        yield Line(f"growth of the {what}: rows to the power of {exponent:.2f}", exponent < 1.25, 0, 0)


def _growth(measured: list[Measured], what: str) -> float:
    """The exponent of the growth between 25,000 rows and the most; 1 is linear."""
    first = next(one for one in measured if one.rows == 25_000)
    ratio = _mean(getattr(measured[-1], what)) / _mean(getattr(first, what))
    return math.log(ratio) / math.log(measured[-1].rows / first.rows)


def _mean(seconds: tuple[float, ...]) -> float:
    return statistics.fmean(seconds)
