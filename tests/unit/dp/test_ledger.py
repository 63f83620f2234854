"""Budgets and the book of what was spent: exact, never over, never lost, whoever dies."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from kohorte.dp import Account, SqliteLedger
from kohorte.dp.budget.budget import NOTHING, Budget, Composition, Cost, epsilon_of, rho_of
from kohorte.errors import BudgetExceeded, EngineError, InputError

ACCOUNT = Account("heart", "jane")
TENTH = Cost(Fraction(1, 10))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project.ledger"


def test_ten_tenths_are_one_and_the_eleventh_is_refused_with_what_remains(path: Path) -> None:
    ledger, budget = SqliteLedger(path).of(ACCOUNT), Budget(1.0)
    for number in range(10):
        ledger.reserve(f"q{number}", budget.price(0.1, 0.0), budget)
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 0\.1 .* epsilon 0 and delta 0 are left of epsilon 1"):
        ledger.reserve("q", budget.price(0.1, 0.0), budget)
    assert ledger.spent() == Cost(Fraction(1))


def test_delta_is_spent_too(path: Path) -> None:
    ledger, budget = SqliteLedger(path).of(ACCOUNT), Budget(10.0, 1e-6)
    ledger.reserve("q", budget.price(0.1, 6e-7), budget)
    with pytest.raises(BudgetExceeded, match="4e-07"):
        ledger.reserve("p", budget.price(0.1, 6e-7), budget)


def test_accounts_are_apart_and_a_new_object_knows_what_an_old_one_spent(path: Path) -> None:
    budget = Budget(1.0)
    SqliteLedger(path).of(ACCOUNT).reserve("q", TENTH, budget)
    assert SqliteLedger(path).of(ACCOUNT).spent() == TENTH
    assert SqliteLedger(path).of(Account("heart", "john")).spent() == NOTHING
    assert SqliteLedger(path).of(Account("lung", "jane")).spent() == NOTHING


def test_an_answer_is_found_by_its_account_and_question_only(path: Path) -> None:
    ledger = SqliteLedger(path).of(ACCOUNT)
    number = ledger.reserve("q", TENTH, Budget(1.0))
    assert ledger.recorded("q") is None
    ledger.record(number, "42")
    assert ledger.recorded("q") == "42"
    assert SqliteLedger(path).of(Account("heart", "john")).recorded("q") is None


def test_nothing_in_the_book_can_be_changed_or_removed(path: Path) -> None:
    ledger = SqliteLedger(path).of(ACCOUNT)
    ledger.record(ledger.reserve("q", TENTH, Budget(1.0)), "42")
    with sqlite3.connect(path) as connection:
        for sql in (
            "DELETE FROM spent",
            "UPDATE spent SET amount = '0'",
            "DELETE FROM answered",
            "UPDATE answered SET released = ''",
        ):
            with pytest.raises(sqlite3.IntegrityError, match="append only"):
                connection.execute(sql)
    connection.close()


def test_one_account_has_one_composition(path: Path) -> None:
    ledger = SqliteLedger(path).of(ACCOUNT)
    ledger.reserve("q", TENTH, Budget(1.0, 1e-6))
    with pytest.raises(InputError, match="another composition"):
        ledger.reserve("q", TENTH, Budget(1.0, 1e-6, Composition.ZCDP))


def test_a_file_that_is_no_ledger_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.ledger").write_text("canary " * 500)
    with pytest.raises(EngineError, match="damaged") as caught:
        SqliteLedger(tmp_path / "notes.ledger")
    assert "canary" not in str(caught.value)
    for wrong in (tmp_path, tmp_path / "absent" / "x.ledger"):
        with pytest.raises(InputError, match="folder that exists"):
            SqliteLedger(wrong)


SPENDING = """
import sys
from kohorte.dp.budget.budget import Budget
from kohorte.dp import Account, SqliteLedger
from kohorte.errors import BudgetExceeded

def spend(path, name, times):
    budget, done, ledger = Budget(1.0), 0, SqliteLedger(path).of(Account("heart", "jane"))
    for number in range(times):
        try:
            paid = ledger.reserve(f"{name} {number}", budget.price(0.01, 0.0), budget)
        except BudgetExceeded:
            continue
        ledger.record(paid, "x")
        done += 1
    return done

if __name__ == "__main__":
    print(spend(sys.argv[1], sys.argv[2], 30))
"""


@pytest.mark.slow
def test_many_processes_and_threads_spend_exactly_the_budget(path: Path) -> None:
    namespace: dict[str, Any] = {"__name__": "spending"}
    exec(SPENDING, namespace)
    processes = [
        subprocess.Popen([sys.executable, "-c", SPENDING, str(path), str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(4)
    ]
    with ThreadPoolExecutor(4) as threads:
        others = [threads.submit(namespace["spend"], path, f"thread {number}", 10) for number in range(4)]
        done = sum(int(process.communicate(timeout=60)[0]) for process in processes)
        done += sum(other.result(60) for other in others)
    assert done == 100
    assert SqliteLedger(path).of(ACCOUNT).spent() == Cost(Fraction(1))


KILLED = """
import sys, time
from fractions import Fraction
from kohorte.dp.budget.budget import Budget, Cost
from kohorte.dp import Account, SqliteLedger
ledger, budget = SqliteLedger(sys.argv[1]).of(Account("heart", "jane")), Budget(100.0)
for number in range(10_000):
    reserved = ledger.reserve(f"q{number}", Cost(Fraction(1, 100)), budget)
    print(reserved, flush=True)
    ledger.record(reserved, "x")
"""


@pytest.mark.slow
def test_what_was_paid_before_a_kill_stays_paid(path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    told = [int(process.stdout.readline()) for _ in range(20)]
    os.kill(process.pid, signal.SIGKILL)
    told += [int(line) for line in process.stdout.read().split()]
    process.stdout.close()
    process.wait()
    ledger = SqliteLedger(path).of(ACCOUNT)
    spent = ledger.spent().amount * 100
    assert len(told) <= spent <= len(told) + 1
    ledger.reserve("after", TENTH, Budget(100.0))
    assert ledger.spent().amount == spent / 100 + Fraction(1, 10)


# Composition


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 10.0])
def test_rho_is_the_greatest_that_opendp_converts_to_the_epsilon(epsilon: float) -> None:
    rho = rho_of(epsilon, 1e-6)
    assert epsilon * (1 - 1e-6) <= epsilon_of(rho, 1e-6) <= epsilon
    assert epsilon_of(rho * 1.001, 1e-6) > epsilon


def test_the_conversion_is_at_least_as_good_as_the_textbook() -> None:
    for rho in (0.001, 0.1, 2.0):
        textbook = rho + 2 * (rho * 13.815510557964274) ** 0.5  # ln(10^6)
        assert 0 < epsilon_of(rho, 1e-6) <= textbook
    assert epsilon_of(0.0, 1e-6) == 0.0


def test_many_small_questions_cost_less_under_zcdp(path: Path) -> None:
    budget = Budget(1.0, 1e-6, Composition.ZCDP)
    cost = budget.price(0.05, 0.0)
    assert budget.limit.amount / cost.amount > 60  # pure composition allows 20
    ledger = SqliteLedger(path).of(ACCOUNT)
    ledger.reserve("q", cost, budget)
    assert budget.epsilon_of(ledger.spent().amount) <= 0.05
    with pytest.raises(BudgetExceeded, match="rho"):
        ledger.reserve("r", budget.price(1.0, 0.0), budget)


def test_half_of_delta_is_for_keys_under_zcdp() -> None:
    assert Budget(1.0, 1e-6, Composition.ZCDP).limit.delta == Fraction(1, 2_000_000)
    assert Budget(1.0, 1e-6).limit.delta == Fraction(1, 1_000_000)
