"""Work that threads bring one by one and that is done together: one transaction, and one wait for the disk, for many.

The first thread that comes does the work of all who have come by the time its turn begins, for example when it has got
a lock; the others sleep until theirs is done. Who comes later is first in line for the next turn.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

Order = TypeVar("Order")
Result = TypeVar("Result")
Take: TypeAlias = Callable[[], Sequence[Order]]

MOST = 64
"""Orders that are done together."""


@dataclass(eq=False)
class _Waiting(Generic[Order, Result]):
    """An order; its lock is released when it is done, or when its thread is to do the next orders."""

    order: Order
    called: threading.Lock = field(default_factory=threading.Lock)
    result: list[Result] = field(default_factory=list)
    error: BaseException | None = None
    leads: bool = False

    def __post_init__(self) -> None:
        self.called.acquire()


class Together(Generic[Order, Result]):
    """A function of many orders that gives each its result, in their order; threads call it with one order each.

    The function gets the order of the thread that calls it, and a function to call once, when the turn begins: it
    returns all orders of this turn, that one first. An error is the error of all of them.
    """

    def __init__(self, do: Callable[[Order, Take[Order]], Sequence[Result]], *, most: int = MOST) -> None:
        self._do = do
        self._most = most
        self._guard = threading.Lock()
        self._waiting: list[_Waiting[Order, Result]] = []
        self._is_led = False

    def __call__(self, order: Order) -> Result:
        """Return the result of an order."""
        mine: _Waiting[Order, Result] = _Waiting(order)
        with self._guard:
            self._waiting.append(mine)
            mine.leads, self._is_led = not self._is_led, True
        if not mine.leads:
            mine.called.acquire()
        if mine.leads:
            self._lead(mine)
        if mine.error is not None:
            raise mine.error
        return mine.result[0]

    def _lead(self, mine: _Waiting[Order, Result]) -> None:
        """Do what waits when the turn begins, and call those who wait for it."""
        group: list[_Waiting[Order, Result]] = []

        def take() -> list[Order]:
            group.extend(self._taken())
            return [one.order for one in group]

        error: BaseException | None = None
        results: Sequence[Result] = ()
        try:
            results = self._do(mine.order, take)
        except BaseException as raised:  # noqa: BLE001 - raised again in every thread that waits for it
            error = raised
        for place, one in enumerate(group or self._taken()):
            one.error = error
            one.result[:] = results[place : place + 1]
            one.called.release()

    def _taken(self) -> list[_Waiting[Order, Result]]:
        """What waits, which is from now on done; who waits beyond the limit leads the next turn."""
        with self._guard:
            group, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
            self._is_led = bool(self._waiting)
            if self._waiting:
                self._waiting[0].leads = True
                self._waiting[0].called.release()
        return group
