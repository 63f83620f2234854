"""Request and response bodies of the comparison of two patient lists without names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from kohorte.service.web.models.requests import Body

MOST_IDS = 10_000
KEY_TEXT = "1 <64 hexadecimal digits>\n"
LIST_TEXT = "id,keys,filter\n5f0c...,8a41...,q83v...\n"
Secret = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Identifier = Annotated[str, StringConstraints(min_length=1, max_length=100)]
EncodedList = Annotated[str, StringConstraints(min_length=1)]


class Encoding(Body):
    """The secret that two houses share: the content of its file, as `kohorte patients encode --secret` makes it."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"secret": KEY_TEXT}]})
    secret: Secret = Field(repr=False)


class EncodedIds(Encoding):
    """Identifiers of an encoded list, such as those of the matches."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"secret": KEY_TEXT, "ids": ["5f0c77aa31"]}]})
    ids: Annotated[list[Identifier], Field(fail_fast=True, min_length=1, max_length=MOST_IDS)] = Field(repr=False)


class EncodedPidsAnswer(BaseModel):
    """PIDs in the order of the identifiers; null for one that is not of this list and secret."""

    pids: list[str | None] = Field(repr=False)


class TwoLists(Body):
    """Two encoded lists, each the content of a file."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"one": LIST_TEXT, "other": LIST_TEXT}]})
    one: EncodedList = Field(repr=False, description="The encoded list of one house, as CSV.")
    other: EncodedList = Field(repr=False, description="The encoded list of the other house, as CSV.")


class PairAnswer(BaseModel):
    """Two rows that may be one person."""

    id: str
    other_id: str
    keys: int = Field(description="How many keys of comparison they share.")
    similarity: float = Field(description="How similar the filters are, from 0 to 1 (Dice).")
    verdict: str = Field(description="`match`, or `grey` for a person to look at.")


class PairsAnswer(BaseModel):
    """The pairs of two lists, matches first."""

    match: int
    grey: int
    pairs: list[PairAnswer]
