"""Additional columns of a wide cohort: marital status, insurance, ward, height and weight."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import polars as pl

from kohorte.cohorts.diagnoses import CODES
from kohorte.cohorts.draw import Dice, Table, band, labelled, table
from kohorte.cohorts.people import SEXES, People
from kohorte.kernels.arrays import Counts

MARITAL = ("single", "married", "registered partnership", "divorced", "widowed")
INSURANCE = ("public", "private", "accident insurance", "social welfare", "self-paying")

# From this age on: parts of each status for women, for men and for diverse persons.
_MARRIED = (
    (0, ((1, 0, 0, 0, 0), (1, 0, 0, 0, 0), (1, 0, 0, 0, 0))),
    (18, ((940, 55, 1, 4, 0), (970, 28, 1, 1, 0), (985, 10, 4, 1, 0))),
    (25, ((630, 340, 3, 27, 0), (740, 240, 3, 17, 0), (850, 100, 40, 10, 0))),
    (35, ((300, 590, 5, 100, 5), (360, 560, 5, 74, 1), (600, 250, 80, 60, 10))),
    (50, ((140, 650, 4, 160, 46), (180, 660, 4, 143, 13), (400, 350, 80, 140, 30))),
    (65, ((60, 600, 2, 120, 218), (60, 760, 2, 110, 68), (250, 400, 50, 150, 150))),
    (80, ((50, 300, 1, 60, 589), (30, 690, 1, 60, 219), (150, 300, 20, 80, 450))),
)
_INSURED = (
    (0, (880, 90, 5, 20, 5)),
    (18, (868, 70, 40, 15, 7)),
    (35, (820, 125, 35, 12, 8)),
    (65, (868, 115, 2, 12, 3)),
)

# Age, mean height and its spread in millimetres, mean body mass index (in tenths); women, then men.
_GROWTH = (
    (0, ((580, 40, 155), (590, 40, 158))), (1, ((790, 35, 165), (800, 35, 168))),
    (3, ((970, 42, 157), (980, 42, 158))), (6, ((1170, 52, 155), (1180, 52, 156))),
    (10, ((1410, 66, 173), (1410, 66, 174))), (13, ((1590, 72, 196), (1590, 85, 194))),
    (16, ((1660, 66, 215), (1750, 74, 213))), (20, ((1670, 66, 228), (1800, 72, 237))),
    (45, ((1660, 66, 255), (1790, 72, 272))), (65, ((1630, 64, 268), (1760, 70, 280))),
    (85, ((1590, 64, 255), (1720, 70, 262))), (102, ((1560, 64, 235), (1690, 70, 240))),
)  # fmt: skip

# The ward of a diagnosis: that of the longest listed prefix of its code.
_WARD_OF = {
    "A": "general medicine", "A0": "gastroenterology", "A46": "dermatology", "B": "general medicine",
    "B02": "dermatology", "C": "oncology", "C18": "general surgery", "C44": "dermatology",
    "C50": "gynaecology", "C54": "gynaecology", "C6": "urology", "C71": "neurology",
    "D": "general medicine", "D12": "gastroenterology", "D25": "gynaecology", "E": "general medicine",
    "E04": "general surgery", "F": "psychiatry", "G": "neurology", "H": "ophthalmology",
    "H6": "otolaryngology", "H8": "otolaryngology", "H9": "otolaryngology", "I": "cardiology",
    "I6": "neurology", "I7": "vascular surgery", "I8": "vascular surgery", "J": "pneumology",
    "J03": "otolaryngology", "J35": "otolaryngology", "K": "gastroenterology", "K35": "general surgery",
    "K40": "general surgery", "K80": "general surgery", "L": "dermatology", "L02": "general surgery",
    "M": "orthopaedics", "N": "nephrology", "N20": "urology", "N40": "urology", "N80": "gynaecology",
    "N83": "gynaecology", "O": "obstetrics", "P": "neonatology", "Q": "paediatrics", "R": "emergency",
    "S": "trauma surgery", "T": "general medicine", "T84": "orthopaedics", "U": "pneumology",
    "X": "trauma surgery", "Z": "general medicine", "Z38": "neonatology",
}  # fmt: skip
_GERIATRIC = ("general medicine", "cardiology", "neurology", "trauma surgery", "nephrology", "pneumology")
WARDS = tuple(sorted({*_WARD_OF.values(), "geriatrics", "intensive care"}))
_WARD_AGES = (0, 1, 18, 80)


def more_columns(dice: Dice, people: People, diagnosis: Counts) -> dict[str, pl.Series]:
    """The additional columns, in order."""
    marital = band(people.age, [start for start, _ in _MARRIED]) * len(SEXES) + people.sex
    insured = band(people.age, [start for start, _ in _INSURED])
    ward = band(people.age, _WARD_AGES) * len(CODES) + diagnosis
    height, weight = _body(dice, people)
    return {
        "marital_status": labelled(MARITAL, dice.choose("marital_status", _marital_choices(), marital)),
        "insurance": labelled(INSURANCE, dice.choose("insurance", _insurance_choices(), insured)),
        "ward": labelled(WARDS, dice.choose("ward", _ward_choices(), ward)),
        "height_cm": labelled([str(number) for number in range(220)], height),
        "weight_kg": labelled([str(number) for number in range(200)], weight),
    }


def _body(dice: Dice, people: People) -> tuple[Counts, Counts]:
    """Height in centimetres (40 to 219) and weight in kilograms (2 to 199), rounded."""
    mean, spread, index = _growth()[:, people.age, np.minimum(people.sex, 1)]
    newborn = people.born_today
    mean, spread = np.where(newborn, 510, mean), np.where(newborn, 22, spread)
    index = np.where(newborn, 132, index)
    height = mean + dice.bell("height", spread)
    # The distribution of weight is skewed: large values deviate more from the mean than small ones.
    stretch = dice.bell("weight", np.full_like(mean, 1000))
    spread_of_index = np.where(people.age < 12, 70, 150)
    index = index + index * stretch * (4000 + np.maximum(stretch, 0)) // 4_000_000 * spread_of_index // 1000
    weight = (index * height * height + 5_000_000) // 10_000_000
    return np.clip((height + 5) // 10, 40, 219), np.clip(weight, 2, 199)


@cache
def _growth() -> Counts:
    """Mean height, its spread and the index, for every year of age, women and men."""
    ages = np.arange(_GROWTH[-1][0] + 1)
    result = np.empty((3, len(ages), 2), dtype=np.int64)
    for (start, first), (end, last) in pairwise(_GROWTH):
        passed = np.arange(end - start + 1)[:, None, None]
        grown = np.asarray(first) + (np.asarray(last) - np.asarray(first)) * passed // (end - start)
        result[:, start : end + 1] = grown.transpose(2, 0, 1)
    return result


@cache
def _marital_choices() -> Table:
    return table(weights for _, sexes in _MARRIED for weights in sexes)


@cache
def _insurance_choices() -> Table:
    return table(weights for _, weights in _INSURED)


@cache
def _ward_choices() -> Table:
    return table(_ward_weights(code, start) for start in _WARD_AGES for code in CODES)


def _ward_weights(code: str, start: int) -> list[int]:
    usual = _WARD_OF[max((begin for begin in _WARD_OF if code.startswith(begin)), key=len)]
    weights = {usual: 84, "emergency": 5, "intensive care": 5, "general medicine": 6}
    if usual in ("obstetrics", "psychiatry") and start >= 18:
        weights = {usual: 97, "intensive care": 3}
    elif start < 18 and usual not in ("neonatology", "obstetrics"):
        weights = {"paediatrics": 88, "intensive care": 4, usual: 8 if start else 0}
    elif start < 18:
        weights = {usual: 95, "intensive care": 5}
    elif start == 80 and usual in _GERIATRIC:
        weights = {usual: 60, "geriatrics": 30, "emergency": 5, "intensive care": 5}
    return [weights.get(ward, 0) for ward in WARDS]
