"""Whether the values that an answer would show are known to name nobody.

Everything that an answer shows belongs to at least k people, and still can identify them: Huber is a name, however many
are called so. What identifies can be written in more ways than a list of patterns can have. Therefore a value is shown
only if it is known what it is: a value of the statistics, a code of a known system, a number that patients can have in
its unit, a text of everyday words, or a date, an age or a ZIP code in the detail that the policy allows. Patterns of
identifiers are searched besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from kohorte.exchange.checking.forms import LIMITED, UNKNOWN, allowed
from kohorte.exchange.checking.global_look import GlobalLook
from kohorte.exchange.checking.written_labels import makes_labels
from kohorte.exchange.contents import Content, content_of, is_made_of_known, limited_shape
from kohorte.exchange.statistics import Frequency
from kohorte.hierarchies import SUPPRESSED, Hierarchy
from kohorte.identifiers import Form
from kohorte.kernels.arrays import Bools


def stated_content(name: str, look: GlobalLook) -> Content:
    """What the house says about an attribute."""
    return content_of(name, look.holding.statistics, look.holding.contents)


class KnownValues:
    """Which values and labels of an attribute are known to name nobody."""

    def __init__(self, name: str, look: GlobalLook, forms: tuple[Form, ...] = ()) -> None:
        self._name, self._look = name, look
        self._forms = [form for form in forms if form in LIMITED]
        self._texts: dict[str, bool] = {}
        self.content = stated_content(name, look)
        attribute = look.holding.plan.attributes.get(name)
        self._builder = None if attribute is None else attribute.hierarchy
        self._made = makes_labels(self._builder)

    def is_known(self, text: str) -> bool:
        """Whether a text is known to name nobody, by itself."""
        if text not in self._texts:
            self._texts[text] = text == SUPPRESSED or self._judged(text)
        return self._texts[text]

    def begins_known(self, text: str) -> bool:
        """Whether a text is the beginning of something known: of a word, a short code, or a value with statistics."""
        if self.is_known(text) or is_made_of_known(f"{text}*", self.is_known):
            return True
        if not self.content.trusts_statistics or self.content.kind is None:
            return False
        return isinstance(self._look.statistics.beginning(self.content.kind, text), Frequency)

    def _judged(self, text: str) -> bool:
        if self.content.is_known(text) or any(limited_shape(text, form) for form in self._forms):
            return True
        if not self.content.trusts_statistics or self._look.statistics.is_identifier(text):
            return False
        return isinstance(self._look.frequency(self._name, text), Frequency)

    def labels(self, hierarchy: Hierarchy, level: int) -> Mapping[str, bool]:
        """Which labels of a level are known: by themselves, or as groups of values that are all known.

        A group of dates, ages or ZIP codes is known by itself only, because single ones show too much; so is a label
        that the house has written, because it can be any text, whatever its values are.
        """
        known = {label: self.is_known(label) for label in hierarchy.labels[level]}
        if level == 0 or self._forms or not self._made or all(known.values()):
            return known
        groups = dict.fromkeys(known, True)
        for value, label in zip(hierarchy.values, hierarchy.column(level), strict=True):
            if groups[label] and not known[label]:
                groups[label] = self.is_known(value)
        return {label: known[label] or (groups[label] and is_made_of_known(label, self.is_known)) for label in known}

    def in_detail(self, hierarchy: Hierarchy, level: int, forms: Sequence[Form] | None = None) -> Mapping[str, bool]:
        """Which labels of a level show no more of a date, an age or a ZIP code than the policy allows."""
        labels = pl.Series(self._name, sorted(set(hierarchy.labels[level])), dtype=pl.String)
        shown = pl.Series([True]).new_from_index(0, len(labels))
        for form in self._forms if forms is None else forms:
            shown &= allowed(labels, self._builder, form, self._look.holding.policy)
        return dict(zip(labels, shown, strict=True))

    def unknown_rows(self, shown: pl.Series, known: Mapping[str, bool] | None = None) -> Bools:
        """Which rows show a text that is not known; `known` says it of labels. Missing cells show nothing."""
        distinct = shown.drop_nulls().unique()
        empty = distinct.str.strip_chars().str.to_lowercase().str.contains(UNKNOWN)
        flags = [self.is_known(text) if known is None else known.get(text, False) for text in distinct]
        return rows_of(shown, distinct.filter(~(pl.Series(flags, dtype=pl.Boolean) | empty)))


def rows_of(shown: pl.Series, texts: pl.Series) -> Bools:
    """Which rows show one of the texts."""
    found: Bools = shown.is_in(texts.implode()).fill_null(value=False).to_numpy()
    return found.copy()
