"""Bytes that must not be shown, and are overwritten when they are no longer needed."""

from __future__ import annotations

from types import TracebackType
from typing import Self

from kohorte.errors import InternalError


class Secret:
    """Holds the bytes of a key: its repr shows none of them, and `wipe` overwrites them.

    Copies that Python or a library makes in between are beyond its reach.
    """

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = bytearray(data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce__(self) -> str:
        raise InternalError("a key is not serialized by accident", code="party-cipher-use")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.wipe()

    @property
    def data(self) -> bytes:
        """The bytes of the key."""
        if not self._data:
            raise InternalError("a key was used after it was wiped", code="party-cipher-use")
        return bytes(self._data)

    def wipe(self) -> None:
        """Overwrite the key; it cannot be used any more."""
        self._data[:] = bytes(len(self._data))
        self._data.clear()
