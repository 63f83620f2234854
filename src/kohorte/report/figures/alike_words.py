"""Sentences about who looks alike: rows, people by each of their rows, or people by all their rows together."""

from __future__ import annotations

from dataclasses import dataclass

from kohorte.risks.shown.alike import JudgedBy

NOT_COUNTED = "Suppressed rows are not counted."


@dataclass(frozen=True)
class AlikeWords:
    """The parts of sentences that differ; all figures that stand in them count the same unit.

    `nobody` is `none_unique` inside of a sentence. `whole` is what shares are shares of; `looks_for` is an attacker,
    `fits` what the attacker finds.
    """

    whole: str
    risk: str
    by_risk: str
    by_size: str
    size: str
    smallest: str
    highest: str
    looks_for: str
    fits: str
    unique: str
    none_unique: str
    nobody: str
    someone: str
    at_most: str
    separation: str
    distinction: str


OF_PEOPLE = "the people with a row that is not suppressed"
CLASS = "A class is a group of rows that look alike in all quasi-identifiers"

WORDS: dict[JudgedBy, AlikeWords] = {
    "rows": AlikeWords(
        whole="the rows that are not suppressed",
        risk="A row that looks like n - 1 others is at risk 1 / n.",
        by_risk="Rows by their risk",
        by_size="Rows by the size of their class",
        size=f"{CLASS}.",
        smallest="smallest class",
        highest="The highest risk that a row is traced to its person is",
        looks_for="A person who knows these facts about somebody",
        fits="that fit equally well, and cannot tell which is the right one",
        unique="are the only ones of their kind",
        none_unique="No row is the only one of its kind",
        nobody="no row is the only one of its kind",
        someone="A row that",
        at_most="",
        separation="the share of all pairs of rows that differ in this attribute alone",
        distinction="the share of rows that is left if only one of the rows that look alike stays",
    ),
    "people": AlikeWords(
        whole=OF_PEOPLE,
        risk="A person with a row in a class of n people is at risk 1 / n; the row at the highest risk counts.",
        by_risk="People by their risk",
        by_size="People by the number of people in their smallest class",
        size=f"{CLASS}; its different people are counted.",
        smallest="smallest class",
        highest="The highest risk that a person is found by one of their rows is",
        looks_for="A person who knows these facts about one row of somebody",
        fits="that fit equally well, and cannot tell who is the right one",
        unique="have a row that nobody else has",
        none_unique="No person has a row that nobody else has",
        nobody="no person has a row that nobody else has",
        someone="A person who",
        at_most="Estimated are the combinations of values that only one person has: at most so many people.",
        separation="the share of all pairs of values of two different people that differ in this attribute alone",
        distinction="different combinations of values, divided by all people with them; a person counts once for each",
    ),
    "sets": AlikeWords(
        whole=OF_PEOPLE,
        risk="A person whose rows fall into the same classes as those of n - 1 others is at risk 1 / n.",
        by_risk="People by their risk",
        by_size="People by the number of people with the same set of classes",
        size=f"{CLASS}; people are alike if all their rows fall into the same classes.",
        smallest="smallest group with the same set of classes",
        highest="The highest risk that a person is found by all their rows together is",
        looks_for="A person who knows these facts about all rows of somebody",
        fits="that fit equally well, and cannot tell who is the right one",
        unique="have a set of classes that nobody else has",
        none_unique="No person has a set of classes that nobody else has",
        nobody="no person has a set of classes that nobody else has",
        someone="A person who",
        at_most="",
        separation="the share of all pairs of people whose values in all rows differ in this attribute alone",
        distinction="different sets of combinations of values, divided by the people who have them",
    ),
}
