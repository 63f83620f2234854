"""How much time is probably left, if the past allows to say it."""

from __future__ import annotations

from collections import deque

from kohorte import in_words

SOONEST = 2.0
"""Seconds of a stage before anything is said about its end."""
LEAST_SHARE = 0.02
LIKE = 1.5
"""The speed in the later half of the time is at most so many times that over the whole time, and vice versa."""
MOST_SAMPLES = 4_000
A_FEW, MINUTE, HOUR = 10, 60, 3600


class TimeLeft:
    """Extrapolates the share that is done, and says nothing while it does not grow steadily.

    Steadily means: the speed in the later half of the time, and over the whole time, differ by `LIKE` at most.
    A search that decides many combinations at once now and then is not steady.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque(maxlen=MOST_SAMPLES)

    def seconds(self, now: float, share: float) -> float | None:
        """The seconds that are probably left when this share is done; None if that cannot be told."""
        self._samples.append((now, share))
        began, first = self._samples[0]
        if now - began < SOONEST or share - first < LEAST_SHARE:
            return None
        half, then = max((sample for sample in self._samples if sample[0] <= (began + now) / 2), default=(began, first))
        whole, recent = (share - first) / (now - began), (share - then) / (now - half)
        if not whole / LIKE <= recent <= whole * LIKE:
            return None
        return (1 - share) / recent

    def in_words(self, now: float, share: float | None, limit: float | None = None) -> str | None:
        """For example "about 2 min left", or "at most" what is left of a time limit; None if it cannot be told."""
        seconds = None if share is None else self.seconds(now, share)
        if limit is not None and (seconds is None or seconds > limit):
            return f"at most {in_words.seconds(max(1, round(limit)))} left"
        if seconds is None or share is None or share >= 1:
            return None
        if seconds < A_FEW:
            return "a few seconds left"
        if seconds < MINUTE - 5:
            return f"about {round(seconds / 10) * 10} s left"
        if seconds < HOUR - MINUTE / 2:
            return f"about {max(1, round(seconds / MINUTE))} min left"
        return f"about {max(1, round(seconds / HOUR))} h left"
