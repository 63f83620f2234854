"""How figures are shown: exactly in the internal view, rounded in the public view, so that no small group is counted.

A step of rounding has at least as many rows, or people, as a group needs to be named. So nobody learns a smaller count,
neither from a share nor from the difference of two.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kohorte import in_words
from kohorte.attacks import Attack
from kohorte.in_words import PEOPLE, ROWS, Unit, percent
from kohorte.release.telling.people import nearest_step, public_parameter, share_step
from kohorte.release.verification import ModelVerdict
from kohorte.release.words import reached_in_words, unit_named

INFORMATION = (0.1, 0.5, 0.9)
"""The borders of the public bands of information."""

COUNTING = ("k-anonymity", "k-map")
"""The models whose parameter counts rows or people."""

ROUNDING = 1e-9


@dataclass(frozen=True)
class Figures:
    """How figures are shown: exactly, or rounded for the public.

    `unit` is what they count, and `of` is always the number of all of them in the table: of rows, or of people.
    """

    least: int
    exact: bool
    unit: Unit = ROWS

    def step(self, of: int) -> int | None:
        """The step of public shares, in percent; None if there are too few to show shares."""
        return share_step(of, self.least)

    def rounding(self, of: int) -> str:
        """How shares are rounded, in words."""
        step = self.step(of)
        few = f"shares are not told of so few {self.unit.many}"
        return few if step is None else f"shares are rounded in steps of {step} %"

    # Shares

    def share(self, share: float | None, of: int) -> str:
        """A share, a risk, or any other figure from 0 to 1 that depends on the sizes of groups."""
        if self.exact or share is None or share in (0, 1):
            return percent(share)
        step = self.step(of)
        if step is None:
            return "some"
        if 100 * share < step - ROUNDING:
            return f"less than {step} %"
        if 100 * share > 100 - step + ROUNDING:
            return f"over {100 - step} %"
        return f"{'' if step == 1 else 'about '}{nearest_step(share, step)} %"

    def kept(self, share: float) -> str:
        """A share of information; for the public in wide bands, because it depends on the sizes of all groups."""
        if self.exact or share in (0, 1):
            return percent(share)
        low, middle, high = INFORMATION
        if share < low - ROUNDING:
            return f"less than {percent(low)}"
        if share > high + ROUNDING:
            return f"over {percent(high)}"
        return f"{percent(low)} to {percent(middle)}" if share <= middle else f"{percent(middle)} to {percent(high)}"

    def banded(self, share: float, of: int) -> str:
        """A share of a group for the public, of which not even `none` or `all` is told exactly."""
        step = self.step(of)
        if step is None:
            return "not told: few rows"
        low, high = 100 * share < step - ROUNDING, 100 * share > 100 - step + ROUNDING
        return (
            f"less than {step} %" if low else f"over {100 - step} %" if high else f"about {nearest_step(share, step)} %"
        )

    def drawn(self, share: float, of: int) -> float:
        """The share that a bar shows: as rounded as the figure beside it."""
        if self.exact or share in (0, 1):
            return share
        step = self.step(of)
        if step is None:
            return 0.5
        low, high = 100 * share < step - ROUNDING, 100 * share > 100 - step + ROUNDING
        return step / 200 if low else 1 - step / 200 if high else nearest_step(share, step) / 100

    def highest(self, risk: float) -> str:
        """The highest risk of a row; a high risk would reveal the size of a small class."""
        if self.exact:
            return percent(risk)
        if risk * self.least > 1 + ROUNDING:
            return f"over {percent(1 / self.least)}"
        return "less than 1 %" if 0 < risk < 0.01 else f"{100 * risk:.0f} %"

    # Counts

    def count(self, some: int, of: int) -> str:
        """A number of rows or people; for the public the share."""
        if self.exact:
            return in_words.count(some)
        return self.part(some, of)

    def part(self, some: int, of: int) -> str:
        """A number of rows or people and its share; for the public the share alone."""
        if self.exact:
            return f"{in_words.count(some)} ({percent(some / of)})" if of else in_words.count(some)
        return "none" if not some else "all" if some == of else self.share(some / of, of)

    def of_all(self, some: int, of: int) -> str:
        """A number of rows or people, with the number of all of them.

        The head of the report says how many people the table has; the public must not compute from it how many of them
        have lost all their rows.
        """
        everybody = self.unit.count(of)
        if not self.exact and self.unit is PEOPLE:
            everybody = f"{in_words.roughly(of)} people"
        return f"{self.count(some, of) if some else 'none'} of {everybody}"

    def hurt(self, attack: Attack) -> str:
        """The number of people hurt by an attack, or of rows if rows were counted, with the number of those tried."""
        tried = attack.rows_tried if attack.people_tried is None else attack.people_tried
        return replace(self, unit=unit_named(attack.unit)).of_all(attack.hurt, tried)

    def size(self, smallest: int | None) -> str:
        """The size of the smallest class."""
        if smallest is None:
            return "none"
        told = self.exact or smallest >= self.least
        return self.unit.count(smallest) if told else f"fewer than {self.least} {self.unit.many}"

    def number(self, number: float) -> str:
        """A number of people or of values that follows from the sizes of groups."""
        if self.exact or not number:
            return in_words.count(round(number))
        return in_words.roughly(number)

    def reached(self, model: ModelVerdict, of: int) -> str:
        """The parameter of a model that a table reaches."""
        if self.exact or model.reached is None:
            return reached_in_words(model.reached)
        ends = model.reached if isinstance(model.reached, tuple) else (model.reached,)
        return " to ".join(self._parameter(end, model.name, of) for end in ends)

    def _parameter(self, reached: float, model: str, of: int) -> str:
        if model in COUNTING and reached < self.least:
            return f"fewer than {self.least}"
        return public_parameter(reached, of=of, least=self.least, unit=self.unit)
