"""A table on which many plans are tried gives the releases that each plan alone gives."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import kohorte as ko
from kohorte.errors import InputError, NoSolution
from kohorte.release import PreparedTable, anonymize
from kohorte.release.release import Release
from kohorte.release.trying import prepared_table

LETTERS = "abcdefgh"


def table(seed: int, rows: int = 300) -> pl.DataFrame:
    """A table with three quasi-identifiers, a diagnosis, and people with two rows each."""
    drawn = np.random.default_rng(seed)
    skewed = np.minimum(drawn.geometric(0.3, size=(rows, 3)) - 1, len(LETTERS) - 1)
    columns: dict[str, Sequence[str]] = {f"q{axis}": [LETTERS[code] for code in skewed[:, axis]] for axis in range(3)}
    ill = [f"ill {number}" for number in drawn.integers(0, 4, size=rows)]
    return pl.DataFrame({**columns, "ill": ill, "who": [f"{row // 2}" for row in range(rows)]})


def plan(k: int, limit: float, *, l: int = 0, person: str = "none", **more: Any) -> ko.Plan:  # noqa: E741
    """A plan whose hierarchies have three and four levels."""
    pairs = [[one, (one < "e" and "a-d") or "e-h", "*"] for one in LETTERS]
    fine = [
        [one, LETTERS[2 * (place // 2)] + "-", (one < "e" and "a-d") or "e-h", "*"] for place, one in enumerate(LETTERS)
    ]
    attributes: dict[str, Any] = {
        f"q{axis}": {"role": "quasi-identifying", "hierarchy": {"rows": fine if axis else pairs}} for axis in range(3)
    }
    attributes |= {"ill": {"role": "sensitive"}, "who": {"role": "identifying"}}
    models = [{"model": "k-anonymity", "k": k}]
    models += [{"model": "l-diversity_distinct", "l": l, "attribute": "ill"}] if l else []
    return ko.Plan.from_dict(
        {
            "kohorte": 1,
            "attributes": attributes,
            "models": models,
            "suppression_limit": limit,
            "person": person,
            **more,
        }
    )


def figures(release: Release) -> tuple[Any, ...]:
    """What is told about a release, and its rows in any order."""
    facts = {name: value for name, value in release.to_dict().items() if name not in UNEQUAL}
    rows = sorted(map(str, release.data.rows()))
    return facts, release.person_notes, release.open_points, release.verification, rows


UNEQUAL = ("seconds", "checked", "rolled_up", "tagged")
"""How much was counted is what differs."""


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("options", [{}, {"l": 3}, {"person": "who"}, {"l": 2, "person": "who"}])
@pytest.mark.parametrize("metric", ["loss", "non_uniform_entropy_suppression", "discernibility", "aecs"])
def test_plans_in_any_order_give_the_releases_that_each_alone_gives(
    seed: int, options: dict[str, Any], metric: str
) -> None:
    frame = table(seed)
    shared, drawn = PreparedTable(frame), np.random.default_rng(seed)
    for _ in range(8):
        k, limit = int(drawn.integers(2, 40)), float(drawn.choice([0, 0.02, 0.1, 0.3]))
        tried = plan(k, limit, metric=metric, **options)
        assert figures(shared.anonymize(tried)) == figures(anonymize(frame, tried)), (k, limit)


def test_classes_beyond_the_summaries_are_judged_as_well() -> None:
    frame = table(1, rows=3000)
    shared = PreparedTable(frame)
    for k in (5, 127, 128, 129, 400, 40):
        assert figures(shared.anonymize(plan(k, 0.1))) == figures(anonymize(frame, plan(k, 0.1)))


def test_later_plans_count_fewer_nodes_and_encode_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = []
    real = prepared_table.encode_problem

    def counted(*given: Any, **options: Any) -> Any:
        encoded.append(1)
        return real(*given, **options)

    monkeypatch.setattr(prepared_table, "encode_problem", counted)
    shared = PreparedTable(table(2))
    first = shared.anonymize(plan(5, 0.1)).checked
    assert first > 3
    assert shared.anonymize(plan(5, 0.1)).checked <= 2
    shared.anonymize(plan(9, 0.3))
    assert len(encoded) == 1
    shared.anonymize(plan(5, 0.1, l=2))
    assert len(encoded) == 2


def test_what_a_plan_alone_refuses_is_refused_after_others_too() -> None:
    frame = table(3)
    shared = PreparedTable(frame)
    shared.anonymize(plan(5, 0.1, l=2))
    for tried in (plan(1000, 0.1, l=2), plan(5, 0.0, l=5)):
        with pytest.raises((InputError, NoSolution)) as alone:
            anonymize(frame, tried)
        with pytest.raises((InputError, NoSolution)) as after:
            shared.anonymize(tried)
        assert (after.value.code, after.value.message) == (alone.value.code, alone.value.message)


def test_memory_is_bounded_and_forgetting_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = table(4)
    monkeypatch.setattr(prepared_table, "MOST_REMEMBERED", 4_000)
    shared = PreparedTable(frame)
    for k in (2, 5, 3, 20, 7):
        assert figures(shared.anonymize(plan(k, 0.1))) == figures(anonymize(frame, plan(k, 0.1)))
    for l in range(2, 5):  # noqa: E741
        for person in ("none", "who"):
            shared.anonymize(plan(3, 0.3, l=l, person=person))
    assert shared.held_bytes < frame.estimated_size() + 4 * (20_000 + 50 * frame.height)


def test_threads_may_try_plans_at_the_same_time() -> None:
    frame = table(5)
    settings = [(k, limit) for k in (2, 3, 5, 9, 20) for limit in (0.0, 0.05, 0.3)]
    wanted = [figures(anonymize(frame, plan(*one))) for one in settings]
    shared, found = PreparedTable(frame), {}

    def work(numbers: Sequence[int]) -> None:
        for number in numbers:
            found[number] = figures(shared.anonymize(plan(*settings[number])))

    numbers = range(len(settings))
    threads = [threading.Thread(target=work, args=(part,)) for part in (numbers, list(reversed(numbers)))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[number] for number in numbers] == wanted
