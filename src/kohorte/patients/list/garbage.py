"""The search for garbage, left out while many rows are registered."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Leave out Python's search for cycles of objects for some seconds.

    A batch of rows makes hundreds of thousands of objects, without cycles and in use to its end. To look through them
    again and again takes a sixth of the time of a registration. Objects without cycles are still freed at once.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
