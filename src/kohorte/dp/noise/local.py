"""Randomized response: people randomize their own answers, so that no collector has to be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from kohorte.dp.libraries import opendp
from kohorte.dp.noise.derived import CONFIDENCE
from kohorte.dp.numbers import is_finite
from kohorte.errors import InputError

TRUTHFUL = 0.75


@dataclass(frozen=True)
class RandomizedResponses:
    """Randomized answers to a yes-or-no question, and the estimated share of yes."""

    answers: tuple[bool, ...] = field(repr=False)
    truthful: float
    epsilon: float

    @property
    def share(self) -> float:
        """The estimated share of people whose true answer is yes; unbiased, so it may be below 0 or above 1."""
        seen = sum(self.answers) / len(self.answers)
        return (seen - (1 - self.truthful)) / (2 * self.truthful - 1)

    @property
    def half_width(self) -> float:
        """The half-width of a 95 % confidence interval, by Hoeffding's inequality."""
        bound = math.sqrt(math.log(2 / (1 - CONFIDENCE)) / (2 * len(self.answers)))
        return bound / (2 * self.truthful - 1)


def randomized_response(values: Iterable[bool], *, truthful: float = TRUTHFUL) -> RandomizedResponses:
    """Randomize each answer: it stays true with probability `truthful`, otherwise it is inverted.

    Guarantee
        Each person's answer is epsilon-differentially private, also against those who collect the answers. With 0.75,
        the usual coin toss (heads: the truth; tails: toss again and answer yes or no accordingly), epsilon is ln 3.
    Leaves open
        A person who is asked twice spends epsilon twice.
    Source
        Warner, Randomized Response: A Survey Technique for Eliminating Evasive Answer Bias, Journal of the American
        Statistical Association 60, 1965; the coin and the cost are OpenDP's.
    """
    if not is_finite(truthful) or not 0.5 < truthful < 1:
        raise InputError("truthful is a probability above 0.5 and below 1", code="query-response")
    answers = list(values)
    if not answers or not all(isinstance(value, bool) for value in answers):
        raise InputError("values are the answers True or False, at least one", code="query-response")
    coin = opendp().m.make_randomized_response_bool(float(truthful))
    return RandomizedResponses(tuple(bool(coin(value)) for value in answers), float(truthful), float(coin.map(1)))
