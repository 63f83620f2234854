"""Bytes that must not be shown, and are overwritten when they are no longer needed."""

from __future__ import annotations

from types import TracebackType
from typing import Self, TypeVar

from kohorte.errors import InternalError

Key = TypeVar("Key", bound="Secret")


class Secret:
    """Holds the bytes of a key: its repr shows none of them, and `wipe` overwrites them.

    A bytearray is taken over, and overwritten, too. Copies that Python or a library makes in between are beyond its
    reach.
    """

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data if isinstance(data, bytearray) else bytearray(data)

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


class Keyring:
    """The keys of a run: all of them are wiped when it ends, however it ends."""

    def __init__(self) -> None:
        self._kept: list[Secret] = []

    def __repr__(self) -> str:
        return f"<Keyring of {len(self._kept)} keys>"

    def keep(self, key: Key) -> Key:
        """Return the key; it is wiped at the end."""
        self._kept.append(key)
        return key

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for key in self._kept:
            key.wipe()
