"""Generated patients with names, and the same patients registered again, with the errors that people make.

Everything is drawn from a seed. A person has first names, family name, perhaps a birth name, birth date, sex, postcode,
place and mostly an insurance number. Many live in families with one name and one address; some have a twin.
`registrations` describes people again: with typing errors, other spellings, swapped or changed names, wrong, partial
and missing dates, moves and missing fields, each with the share of `ERRORS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate

import polars as pl

from kohorte.cohorts import names

ERRORS: Mapping[str, float] = {
    "first name typed wrongly": 0.03,
    "family name typed wrongly": 0.04,
    "other spelling": 0.04,
    "first and family name swapped": 0.01,
    "title": 0.02,
    "capital letters": 0.05,
    "second first name left out or added": 0.08,
    "initial instead of the first name": 0.005,
    "family name changed": 0.03,
    "family name doubled": 0.01,
    "day and month swapped": 0.01,
    "date typed wrongly": 0.015,
    "only the year": 0.005,
    "date missing": 0.03,
    "sex missing": 0.02,
    "sex wrong": 0.003,
    "moved": 0.10,
    "postcode typed wrongly": 0.01,
    "address missing": 0.03,
    "number missing": 0.40,
    "number typed wrongly": 0.005,
}
"""The share of registrations with each error."""

_FRONT = (
    "Acker Berg Birken Blumen Brand Brunn Burg Dorn Eber Eich Eisen Feld Fich Frei Fried Gold Grün Hagen Hart "
    "Hasel Heide Helm Hoch Hohen Holl Holz Kalt Kamm Kirch Kron Langen Leh Linden Lauter Mai Mitter Moos Neu "
    "Nieder Nuss Ober Oster Rein Ried Rosen Sand Schön Schwarzen Sieben Sonnen Stein Stern Tannen Unter Wald Wall "
    "Weiden Weiss Wiesen Winter Wind"
)
_BACK = (
    "auer bach bacher bauer baum beck berg berger born brecht brink burg dorfer eder egger feld felder friedt "
    "garten haus hauser heim hof hofer holz huber kamp lechner lein mann mayer meier moser müller reiter rieder "
    "ring schmidt singer stein steiner thaler wald wart weber wirth"
)
_KEYS = ("qwertzuiopü", "asdfghjklöä", "yxcvbnm")
_SPELLINGS = (
    ("ä", "ae"), ("ö", "oe"), ("ü", "ue"), ("ä", "a"), ("ö", "o"), ("ü", "u"), ("ß", "ss"), ("ss", "ß"), ("th", "t"),
    ("ph", "f"), ("f", "ph"), ("ei", "ai"), ("ai", "ei"), ("ei", "ey"), ("ay", "ai"), ("ck", "k"), ("k", "ck"),
    ("c", "k"), ("tz", "z"), ("dt", "d"), ("nn", "n"), ("mm", "m"), ("ll", "l"), ("ie", "i"), ("y", "i"), ("j", "y"),
    ("w", "v"), ("ş", "s"), ("ı", "i"), ("ł", "l"), ("ć", "c"), ("ń", "n"), ("ę", "e"), ("ğ", "g"), ("ç", "c"),
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """One person, or one description of a person; columns as a German hospital calls them."""

    vorname: str
    nachname: str
    geburtsname: str
    geburtsdatum: str
    geschlecht: str
    plz: str
    ort: str
    versichertennummer: str


def people(count: int, *, seed: int = 1) -> list[Person]:
    """Draw so many people, all different."""
    dice = random.Random(seed)  # noqa: S311 - repeatable, not secret
    pools = _Pools()
    found: list[Person] = []
    while len(found) < count:
        found.extend(_household(dice, pools))
    return found[:count]


def registrations(known: list[Person], count: int, *, seed: int = 2, only: str = "") -> tuple[list[int], list[Person]]:
    """Describe so many people again, each at most once: their positions, and the descriptions with errors.

    `only` names one of the errors, which all descriptions have, and no other.
    """
    dice = random.Random(seed)  # noqa: S311 - repeatable, not secret
    chosen = dice.sample(range(len(known)), count)
    pools = _Pools()
    if only:
        return chosen, [_changes(dice, pools)[only](known[who]) for who in chosen]
    return chosen, [with_errors(known[who], dice, pools) for who in chosen]


def frame(described: list[Person]) -> pl.DataFrame:
    """The descriptions as a table of text; what is missing is null."""
    columns = {name: [getattr(person, name) or None for person in described] for name in Person.__dataclass_fields__}
    return pl.DataFrame(columns, schema_overrides=dict.fromkeys(columns, pl.String))


class _Pools:
    """Names and places with their weights; the first ones are the commonest."""

    def __init__(self) -> None:
        rare = random.Random(0)  # noqa: S311 - repeatable, not secret
        compound = [front + back for front in _FRONT.split() for back in _BACK.split()]
        rare.shuffle(compound)
        self.families = {origin: _weighted(tuple(words.split())) for origin, words in names.FAMILIES.items()}
        self.compound = _weighted(tuple(compound), start=200)
        self.given = {
            (origin, generation, sex): _weighted(names.given(origin, generation)[sex])
            for origin in names.ORIGINS
            for generation in range(len(names.GENERATIONS))
            for sex in (0, 1)
        }
        self.places = _weighted(tuple(map(_place, range(400))), start=10)


def _place(number: int) -> str:
    return f"{1000 + 37 * number:05} {_FRONT.split()[number % 60]}{'dorf' if number % 2 else 'stadt'}"


def _weighted(words: tuple[str, ...], *, start: int = 6) -> tuple[tuple[str, ...], list[float]]:
    return words, list(accumulate(1 / (rank + start) for rank in range(len(words))))


def _draw(dice: random.Random, pool: tuple[tuple[str, ...], list[float]]) -> str:
    return dice.choices(pool[0], cum_weights=pool[1])[0]


def _household(dice: random.Random, pools: _Pools) -> list[Person]:
    generation = dice.choices(range(4), (10, 30, 35, 25))[0]
    origin = dice.choices(names.ORIGINS, names.SHARES[generation])[0]
    family, (plz, ort) = _family(dice, pools, origin), _draw(dice, pools.places).split()
    size = dice.choices((1, 2, 3, 4), (55, 25, 10, 10))[0]
    members: list[Person] = []
    for position in range(size):
        own = min(generation + (position >= 2), 3)
        born = _birthday(dice, own)
        if position == 3 and dice.random() < 0.15:
            born = date.fromisoformat(members[2].geburtsdatum)  # a twin
        sex = position if position < 2 else dice.randrange(2)
        married = sex == 0 and size > 1 and position < 2
        members.append(
            Person(
                _given(dice, pools, origin, own, sex, {_first(member.vorname) for member in members}),
                family,
                _family(dice, pools, origin) if married and dice.random() < 0.3 else "",
                born.isoformat(),
                "wm"[sex],
                plz,
                ort,
                _number(dice) if dice.random() < 0.9 else "",
            )
        )
    return members


def _family(dice: random.Random, pools: _Pools, origin: str) -> str:
    rare = origin == "german" and dice.random() < 0.65
    return _draw(dice, pools.compound if rare else pools.families[origin])


def _given(dice: random.Random, pools: _Pools, origin: str, generation: int, sex: int, taken: set[str]) -> str:
    while True:
        common = dice.random() < 0.8
        chosen = _draw(dice, pools.given[origin, generation if common else dice.randrange(4), sex])
        if dice.random() < 0.25:
            chosen += dice.choice((" ", "-")) + _draw(dice, pools.given[origin, generation, sex])
        if _first(chosen) not in taken:
            return chosen


def _first(name: str) -> str:
    return name.replace("-", " ").split()[0]


def _birthday(dice: random.Random, generation: int) -> date:
    first = (1930, 1945, 1970, 1995)[generation]
    last = (1945, 1970, 1995, 2024)[generation]
    return date(first, 1, 1) + timedelta(days=dice.randrange((date(last, 1, 1) - date(first, 1, 1)).days))


def _number(dice: random.Random) -> str:
    return dice.choice("ACDEFGHKLMNPRTUVWX") + f"{dice.randrange(10**9):09}"


def with_errors(person: Person, dice: random.Random, pools: _Pools | None = None) -> Person:
    """Describe a person with errors, each with the share of `ERRORS`."""
    pools = pools or _Pools()
    for error, change in _changes(dice, pools).items():
        if dice.random() < ERRORS[error]:
            person = change(person)
    return person


def _changes(dice: random.Random, pools: _Pools) -> dict[str, Callable[[Person], Person]]:
    def moved(person: Person) -> Person:
        plz, ort = _draw(dice, pools.places).split()
        return replace(person, plz=plz, ort=ort)

    def renamed(person: Person) -> Person:
        known = person.nachname if dice.random() < 0.6 else ""
        return replace(person, nachname=_draw(dice, pools.compound), geburtsname=known)

    def second(person: Person) -> Person:
        first = _first(person.vorname)
        added = f"{first} {_draw(dice, pools.given['german', 1, 0])}"
        return replace(person, vorname=added if first == person.vorname else first)

    return {
        "family name changed": renamed,
        "family name doubled": lambda p: replace(p, nachname=f"{p.nachname}-{_draw(dice, pools.compound)}"),
        "second first name left out or added": second,
        "initial instead of the first name": lambda p: replace(p, vorname=p.vorname[0] + "."),
        "first name typed wrongly": lambda p: replace(p, vorname=mistyped(p.vorname, dice)),
        "family name typed wrongly": lambda p: replace(p, nachname=mistyped(p.nachname, dice)),
        "other spelling": lambda p: replace(
            p, nachname=respelled(p.nachname, dice), vorname=respelled(p.vorname, dice)
        ),
        "first and family name swapped": lambda p: replace(p, vorname=p.nachname, nachname=p.vorname),
        "title": lambda p: replace(p, nachname=dice.choice(("Dr. ", "Prof. Dr. med. ", "von ")) + p.nachname),
        "capital letters": lambda p: replace(p, vorname=p.vorname.upper(), nachname=p.nachname.upper()),
        "day and month swapped": lambda p: replace(p, geburtsdatum=_swapped(p.geburtsdatum)),
        "date typed wrongly": lambda p: replace(p, geburtsdatum=_another_date(p.geburtsdatum, dice)),
        "only the year": lambda p: replace(p, geburtsdatum=p.geburtsdatum[:4] + "-01-01"),
        "date missing": lambda p: replace(p, geburtsdatum=""),
        "sex wrong": lambda p: replace(p, geschlecht="w" if p.geschlecht == "m" else "m"),
        "sex missing": lambda p: replace(p, geschlecht=""),
        "moved": moved,
        "postcode typed wrongly": lambda p: replace(p, plz=_another_digit(p.plz, dice)),
        "address missing": lambda p: replace(p, plz="", ort=""),
        "number typed wrongly": lambda p: replace(p, versichertennummer=_another_digit(p.versichertennummer, dice)),
        "number missing": lambda p: replace(p, versichertennummer=""),
    }


def mistyped(word: str, dice: random.Random) -> str:
    """One letter left out, doubled, replaced by a neighbour of the keyboard, or swapped with the next."""
    place = dice.randrange(1, max(len(word) - 1, 2))
    kind = dice.choice(("left out", "doubled", "neighbour", "swapped"))
    if kind == "left out":
        return word[:place] + word[place + 1 :]
    if kind == "doubled":
        return word[:place] + word[place - 1 : place] + word[place:]
    if kind == "swapped":
        return word[:place] + word[place + 1 : place + 2] + word[place : place + 1] + word[place + 2 :]
    return word[:place] + _neighbour(word[place : place + 1], dice) + word[place + 1 :]


def _neighbour(letter: str, dice: random.Random) -> str:
    row = next((row for row in _KEYS if letter.lower() in row and letter), _KEYS[0])
    place = max(row.find(letter.lower()), 0) + dice.choice((-1, 1))
    return row[place % len(row)]


def respelled(word: str, dice: random.Random) -> str:
    """The word in another spelling that sounds the same, if there is one."""
    possible = [pair for pair in _SPELLINGS if pair[0] in word]
    return word.replace(*dice.choice(possible), 1) if possible else word


def _swapped(text: str) -> str:
    if not text or int(text[8:10]) > 12:
        return text
    return f"{text[:4]}-{text[8:10]}-{text[5:7]}"


def _another_date(text: str, dice: random.Random) -> str:
    if not text:
        return text
    while True:
        changed = _another_digit(text, dice)
        try:
            date.fromisoformat(changed)
        except ValueError:
            continue
        return changed


def _another_digit(text: str, dice: random.Random) -> str:
    places = [place for place, sign in enumerate(text) if sign.isdigit()]
    if not places:
        return text
    place = dice.choice(places)
    return text[:place] + dice.choice([digit for digit in "0123456789" if digit != text[place]]) + text[place + 1 :]
