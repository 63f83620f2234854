"""Sentences that the program has composed, recognised by their templates and written in another language.

The program composes its sentences in English: open points, verdicts, levels, errors. They are stored, hashed and
compared, so they stay English there. What shows them to a reader of another language asks `Phrases.tell`. A template
is the f-string of the source with numbered holes (`{1} is sensitive, but ...`); `testbed/said_texts.py` collects all of
them. What fills a hole is told in the same way: numbers and dates are written by the locale, names in quotation marks
are kept, and so is everything in a hole with a `=` (`{1=}`), which names, labels and texts of users fill. A text that
no template fits stays as it is, and so does a text with a part that none fits: a reader gets a sentence in one
language, never in two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from operator import itemgetter

HOLE = re.compile(r"\{(\d+)(=?)\}|\{([^{}\d][^{}]*\|[^{}]*|\|[^{}]*)\}")
"""A hole, a hole that is kept, or a choice of words that depends on a number (`{is|are}`)."""

GENERAL = ("{1}.", "{1}; {2}", "{1}: {2}", "{1}. {2}", "{1}, {2}", "{1} ({2})", "{1} – {2}", "{1} = {2}")
"""How phrases are put together; tried if no template fits."""

ADDED = (" ", ",", ";", ":")
MOST_SPLITS, MOST_WORDS, LONGEST_NAME = 60, 8, 5
_NUMBER = re.compile(r"(-?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?([ \u00a0](?:%|ms|s|min|h|kB|MB|GB|TB|[MG]))?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?")
_WORD = re.compile(r"[A-Za-z]{2,}")
_WHOLE_WORD = re.compile(r"(?<![A-Za-z\0])[A-Za-z]{2,}(?![A-Za-z\0])")
_WORDS = re.compile(r"[A-Za-z]{2,} +[A-Za-z]{2,}")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_QUOTES = re.compile(rf"(?:{_QUOTED.pattern})(?:, (?:{_QUOTED.pattern}))*")
_FILE = re.compile(r"[^:;,()'\"]+\.(?:csv|tsv|txt|parquet|json|ya?ml|zip)", re.IGNORECASE)


@dataclass(frozen=True)
class Told:
    """A text in the other language, and how many letters of it were not recognised; `words` are in whole phrases."""

    text: str
    letters: int = 0
    words: int = 0

    @property
    def badness(self) -> int:
        """What decides between several readings."""
        return self.letters + 10 * self.words


@dataclass(frozen=True)
class Template:
    """A template in pieces: texts, and between them holes (a number, and whether it is kept) or choices of words."""

    translation: str
    texts: tuple[str, ...]
    holes: tuple[tuple[str, bool, tuple[str, ...]], ...]
    general: bool = False

    @classmethod
    def of(cls, english: str, translation: str, *, general: bool = False) -> Template:
        """Take a text with holes apart."""
        texts, holes, at = [], [], 0
        for hole in HOLE.finditer(english):
            texts.append(english[at : hole.start()])
            holes.append((hole[1] or "", bool(hole[2]), tuple((hole[3] or "").split("|")) if hole[3] else ()))
            at = hole.end()
        return cls(translation, (*texts, english[at:]), tuple(holes), general)

    @cached_property
    def letters(self) -> int:
        """How many letters are fixed."""
        return sum(sum(map(str.isalpha, text)) for text in self.texts)

    @cached_property
    def whole_words(self) -> frozenset[str]:
        """The words that no hole touches: a text that the template fits has all of them as words."""
        return frozenset(_WHOLE_WORD.findall("\0".join(self.texts)))

    def may_fit(self, text: str) -> bool:
        """Whether the beginning and the end fit, and everything between occurs."""
        return (
            text.startswith(self.texts[0]) and text.endswith(self.texts[-1]) and all(one in text for one in self.texts)
        )

    def fillings(self, text: str) -> Iterator[tuple[str, ...]]:
        """The ways in which the holes can be filled, the shortest first."""
        end = len(text) - len(self.texts[-1])
        if end >= len(self.texts[0]):
            yield from self._from(text, len(self.texts[0]), end, 0)

    def _from(self, text: str, start: int, end: int, hole: int) -> Iterator[tuple[str, ...]]:
        choices = self.holes[hole][2]
        last = hole == len(self.holes) - 1
        if last:
            if not choices or text[start:end] in choices:
                yield (text[start:end],)
            return
        following = self.texts[hole + 1]
        at = text.find(following, start, end)
        while at >= 0:
            if not choices or text[start:at] in choices:
                for rest in self._from(text, at + len(following), end, hole + 1):
                    yield (text[start:at], *rest)
            at = text.find(following, at + 1, end)


@dataclass
class Phrases:
    """All templates of a language; `number`, `day` and `moment` write what fills holes by the locale."""

    translations: Mapping[str, str]
    number: Callable[[float, int], str]
    day: Callable[[str], str]
    moment: Callable[[str], str]
    _known: dict[str, Told] = field(default_factory=dict, repr=False)

    def tell(self, text: str) -> str:
        """Return a text of the program in this language; as it is if it, or a part of it, is not known."""
        return self.told(text).text if self.knows(text) else text

    def knows(self, text: str) -> bool:
        """Whether the whole text is known; single words, and several that no template has, are taken for names."""
        return not self.told(text).words

    def told(self, text: str) -> Told:
        """Return a text in this language, with what was not recognised."""
        if text not in self._known:
            if len(self._known) > 20_000:
                self._known.clear()
            self._known[text] = self._simple(text) or self._composed(text)
        return self._known[text]

    # Texts without holes

    def _simple(self, text: str) -> Told | None:
        if not any(map(str.isalnum, text)):
            return Told(text)
        if text in self.translations:
            return Told(self.translations[text])
        if number := _NUMBER.fullmatch(text):
            return Told(self._number(number))
        if _DAY.fullmatch(text) or _MOMENT.fullmatch(text):
            return self._date(text)
        if text[0] in "'\"" and _QUOTES.fullmatch(text):
            return Told(text)
        return None

    def _number(self, found: re.Match[str]) -> str:
        digits = len(found[3]) - 1 if found[3] else 0
        whole = found[2].replace(",", "")
        value = float(f"{whole}{found[3] or ''}")
        plain = "," not in found[2] and len(whole) > 3
        text = f"{whole}{(found[3] or '').replace('.', ',')}" if plain else self.number(value, digits)
        return f"{found[1]}{text}{(found[4] or '').replace(' ', chr(0xA0))}"

    def _date(self, text: str) -> Told | None:
        try:
            return Told(self.day(text) if len(text) == 10 else self.moment(text))
        except ValueError:
            return None

    # Texts with holes

    @cached_property
    def _templates(self) -> dict[str, list[tuple[int, Template]]]:
        """Templates with their places, the most telling first, by the rarest of their words ("" if they have none)."""
        made = [Template.of(english, said) for english, said in self.translations.items() if HOLE.search(english)]
        made.sort(key=lambda one: (not one.texts[0], -one.letters))
        counts = Counter(word for one in made for word in one.whole_words)
        found: dict[str, list[tuple[int, Template]]] = {}
        for place, one in enumerate(made):
            found.setdefault(min(sorted(one.whole_words), key=counts.__getitem__, default=""), []).append((place, one))
        return found

    def _fitting(self, text: str) -> Iterator[Template]:
        """The templates that may fit a text: those that start with its words first, then by their letters."""
        found = [pair for word in {"", *_WORD.findall(text)} for pair in self._templates.get(word, ())]
        found.sort(key=itemgetter(0))
        yield from (one for _, one in found if one.may_fit(text))

    def _composed(self, text: str) -> Told:
        best = self._unknown(text)
        for template in chain(self._fitting(text), (one for one in _GENERAL if one.may_fit(text))):
            found = self._filled(template, text, better_than=best.badness)
            if found is not None:
                best = found
                if not best.badness:
                    return best
        return self._with_addition(text) or self._side_by_side(text) or best

    @cached_property
    def _additions(self) -> list[str]:
        """How phrases begin that are added to others: with a sign or a blank."""
        starts = (HOLE.split(english)[0] for english in self.translations if english[0] in ADDED)
        return sorted({start for start in starts if any(map(str.isalpha, start))}, key=len, reverse=True)

    def _with_addition(self, text: str) -> Told | None:
        """A phrase with another one behind it that begins with a sign, if both are known."""
        for start in self._additions:
            at = text.find(start, 1)
            if at > 0:
                parts = self._known_parts(text[:at], text[at:])
                if parts is not None:
                    return Told("".join(parts))
        return None

    def _side_by_side(self, text: str) -> Told | None:
        """Two phrases with a blank between them, such as a number and what it counts, if both are known."""
        words = text.split(" ")
        for at in range(1, len(words) if len(words) <= MOST_WORDS else 0):
            parts = self._known_parts(" ".join(words[:at]), " ".join(words[at:]))
            if parts is not None:
                return Told(" ".join(parts))
        return None

    def _known_parts(self, *parts: str) -> list[str] | None:
        """The parts in this language, if each is known; what follows one that is not is not looked at."""
        told = []
        for part in parts:
            found = self.told(part)
            if found.badness:
                return None
            told.append(found.text)
        return told

    def _filled(self, template: Template, text: str, *, better_than: int) -> Told | None:
        """The best way to fill a template, if its badness is lower than this."""
        best: Told | None = None
        for filling in islice(template.fillings(text), MOST_SPLITS):
            if text in filling:
                continue
            parts = self._parts(template, filling, better_than)
            found = _put_together(template, parts) if parts is not None else None
            if found is not None:
                best, better_than = found, found.badness
                if not better_than:
                    break
        return best

    def _parts(self, template: Template, filling: tuple[str, ...], better_than: int) -> dict[str, Told] | None:
        """What fills the holes, in this language; None as soon as too much of it is unknown."""
        parts: dict[str, Told] = {}
        for (number, kept, choices), part in zip(template.holes, filling, strict=True):
            if not choices:
                parts[number] = Told(part) if kept else self.told(part)
                if sum(one.badness for one in parts.values()) >= better_than:
                    return None
        return parts

    @cached_property
    def _vocabulary(self) -> frozenset[str]:
        """The words of all templates."""
        return frozenset(
            word.lower() for english in self.translations for word in _WORD.findall(HOLE.sub(" ", english))
        )

    def _unknown(self, text: str) -> Told:
        """A text that nothing fits: single words are taken for names, several for a sentence that is not known.

        A few words of which no template has one ("Datum der Aufnahme") are a name, too, and so is the name of a file.
        """
        letters, words = sum(map(str.isalpha, text)), _WORD.findall(text)
        strange = len(words) <= LONGEST_NAME and not any(word.lower() in self._vocabulary for word in words)
        is_name = strange or _FILE.fullmatch(text) is not None
        return Told(text, letters, letters if _WORDS.search(text) and not is_name else 0)


def _put_together(template: Template, parts: Mapping[str, Told]) -> Told | None:
    """The translation with its holes filled; None if more remains unknown than the template says."""
    letters, words = sum(part.letters for part in parts.values()), sum(part.words for part in parts.values())
    if words > template.letters:
        return None
    text = HOLE.sub(lambda hole: parts[hole[1]].text if hole[1] else "", template.translation)
    return Told(text, letters, words)


_GENERAL = tuple(Template.of(one, one, general=True) for one in GENERAL)
