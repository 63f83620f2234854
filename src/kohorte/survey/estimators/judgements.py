"""The judgements: by which figure a survey is judged. `estimate` and `plan` share them, and the default."""

from __future__ import annotations

from collections.abc import Mapping

from kohorte.errors import InputError, nearest

DEFAULT_JUDGE = "expected"

NUMBERS_OF_PEOPLE: Mapping[str, str] = {
    "expected": "the expected number of people",
    "worst": "the worst case",
}
COEFFICIENTS: Mapping[str, str] = {
    "OR": "the ORWELL coefficient",
    "FG": "degrees of freedom",
    "RT": "truncated margins",
    "RR": "rounded margins",
}
"""Published by Rauterberg. They count combinations of answers, and can therefore exceed the number of people."""

JUDGES = (*NUMBERS_OF_PEOPLE, *COEFFICIENTS)


def refuse_unknown_judge(by: object) -> None:
    """Refuse a name that is not a judgement."""
    if by not in JUDGES:
        raise InputError(
            f"by (--by) is one of {', '.join(JUDGES)}, not {by!r}{nearest(str(by), JUDGES)}", code="survey-estimator"
        )


def is_coefficient(by: str) -> bool:
    """Whether a judgement is a published coefficient, not a number of people."""
    return by in COEFFICIENTS


def judge_in_words(by: str) -> str:
    """The name of a judgement for people, such as "the ORWELL coefficient (OR)"."""
    return f"{COEFFICIENTS[by]} ({by})" if is_coefficient(by) else NUMBERS_OF_PEOPLE[by]
