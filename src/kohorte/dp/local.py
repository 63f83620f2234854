"""Randomized response: everybody disguises the own answer, and nobody has to be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from kohorte.dp.columns import is_finite
from kohorte.dp.derived import CONFIDENCE
from kohorte.dp.libraries import opendp
from kohorte.errors import InputError

TRUTHFUL = 0.75


@dataclass(frozen=True)
class RandomizedResponses:
    """Disguised answers to a yes-or-no question, and what they say about all people together."""

    answers: tuple[bool, ...] = field(repr=False)
    truthful: float
    epsilon: float

    @property
    def share(self) -> float:
        """The estimated share of people whose true answer is yes; without bias, so that it may lie outside of 0 to
        1."""
        seen = sum(self.answers) / len(self.answers)
        return (seen - (1 - self.truthful)) / (2 * self.truthful - 1)

    @property
    def half_width(self) -> float:
        """How far the estimate may be off by the disguise and by chance, with 95 % confidence, at most (Hoeffding)."""
        bound = math.sqrt(math.log(2 / (1 - CONFIDENCE)) / (2 * len(self.answers)))
        return bound / (2 * self.truthful - 1)


def randomized_response(values: Iterable[bool], *, truthful: float = TRUTHFUL) -> RandomizedResponses:
    """Disguise each answer: it stays true with probability `truthful`, otherwise it is turned round.

    Guarantee
        Each person's answer is epsilon-differentially private, also against whoever collects the answers. With 0.75,
        the coin of the literature (toss; heads: the truth; tails: toss again and say yes or no by it), epsilon is ln
        3.
    Leaves open
        A person who is asked twice spends twice.
    Source
        Warner, Randomized Response, JASA 60, 1965; the coin and the cost are OpenDP's.
    """
    if not is_finite(truthful) or not 0.5 < truthful < 1:
        raise InputError("truthful is a probability above 0.5 and below 1", code="query-response")
    answers = list(values)
    if not answers or not all(isinstance(value, bool) for value in answers):
        raise InputError("values are the answers True or False, at least one", code="query-response")
    coin = opendp().m.make_randomized_response_bool(float(truthful))
    return RandomizedResponses(tuple(bool(coin(value)) for value in answers), float(truthful), float(coin.map(1)))
