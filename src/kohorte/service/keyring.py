"""The key file: the master key, during a rotation also the next or previous one, and the keys of the chained logs.

One entry per line; a new service has only the first line:

    HEX                 the current key: everything new is sealed with it
    next HEX            the new key of a rotation that has just begun: it can unseal, but does not seal yet
    previous HEX        a key that is being replaced: it can only unseal
    audit NUMBER HEX    the key of the audit log from this entry on; `spent` likewise for the log of spendings

Every process of the service re-reads the file when it is replaced.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Self

from kohorte.data.files import unreadable
from kohorte.errors import EngineError, InputError

KEY_BYTES = 32
ID_BYTES = 8
CHAINS = ("audit", "spent")


@dataclass(frozen=True)
class MasterKey:
    """Thirty-two random bytes, from which the keys for single purposes are derived."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if len(self.secret) != KEY_BYTES:
            raise InputError(f"the master key has {KEY_BYTES} bytes", code="service-key")

    @classmethod
    def new(cls) -> Self:
        """Generate a key."""
        return cls(secrets.token_bytes(KEY_BYTES))

    def derived(self, purpose: str) -> bytes:
        """Return a key for one purpose, which reveals neither the master key nor the key of another purpose."""
        return hmac.new(self.secret, f"kohorte {purpose}".encode(), hashlib.sha256).digest()

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the key without revealing it."""
        return self.derived("fingerprint").hex()

    @cached_property
    def sealing(self) -> bytes:
        """The key that texts are sealed with."""
        return self.derived("sealing")

    @cached_property
    def marking(self) -> bytes:
        """The key that rows are marked with."""
        return self.derived("marks")

    @cached_property
    def id(self) -> bytes:
        """The first bytes of everything that is sealed with this key."""
        return bytes.fromhex(self.fingerprint)[:ID_BYTES]


@dataclass(frozen=True)
class ChainKey:
    """The key of a chained log from one entry on."""

    chain: str
    first: int
    secret: bytes = field(repr=False)


@dataclass(frozen=True)
class KeyRing:
    """All keys of a service at one moment."""

    current: MasterKey
    next: MasterKey | None = None
    previous: tuple[MasterKey, ...] = ()
    chains: tuple[ChainKey, ...] = ()

    @property
    def all(self) -> tuple[MasterKey, ...]:
        """Every key that can unseal, the current one first."""
        return (self.current, *((self.next,) if self.next else ()), *self.previous)

    def chain_key(self, chain: str, number: int) -> bytes:
        """Return the key of one entry of a chained log."""
        begun = [key for key in self.chains if key.chain == chain and key.first <= number]
        return max(begun, key=lambda key: key.first).secret if begun else self.current.derived(chain)

    def with_next_as_current(self) -> KeyRing:
        """Return the ring with the new key as current key; the chained logs keep their keys for now."""
        assert self.next is not None
        chains = self.chains or tuple(ChainKey(chain, 1, self.current.derived(chain)) for chain in CHAINS)
        return KeyRing(self.next, None, (self.current, *self.previous), chains)

    def with_chain_keys_from(self, first: dict[str, int]) -> KeyRing:
        """Return the ring whose chained logs continue with keys derived from the current master key."""
        new = [ChainKey(chain, first[chain], self.current.derived(chain)) for chain in CHAINS]
        if {key.secret for key in new} & {key.secret for key in self.chains}:
            return self
        return replace(self, chains=(*self.chains, *new))

    def to_text(self) -> str:
        """Return the content of the key file."""
        lines = [self.current.secret.hex()]
        lines += [f"next {self.next.secret.hex()}"] if self.next else []
        lines += [f"previous {key.secret.hex()}" for key in self.previous]
        lines += [f"{key.chain} {key.first} {key.secret.hex()}" for key in self.chains]
        return "\n".join(lines) + "\n"

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Read the content of a key file; an invalid file raises ValueError."""
        first, *others = [line.split() for line in text.strip().splitlines()]
        (current,) = first
        named = {name: [_key(hexes[0]) for kind, *hexes in others if kind == name] for name in ("next", "previous")}
        chains = [_chain_key(*words) for words in others if words[0] not in named]
        following = next(iter(named["next"]), None)
        return cls(_key(current), following, tuple(named["previous"]), tuple(chains))


class KeyFile:
    """The key file of a service; `ring` holds its current keys."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = self._signature()
        self._ring = _read(path)

    @classmethod
    def at(cls, path: Path, *, create: bool = False) -> Self:
        """Open a key file; with `create` a missing file is created with a new key."""
        if create and not path.exists():
            try:
                _make(path)
            except OSError:
                raise InputError(f"{path}: the key file cannot be written", code="service-key") from None
        return cls(path)

    @property
    def ring(self) -> KeyRing:
        """The keys, read again if the file was replaced; a file that was removed is ignored.

        A file that exists but cannot be read may have been replaced by a rotation: texts sealed with the old key would
        be lost when it ends, and tokens of the old key would still be accepted.
        """
        signature = self._signature()
        if signature not in (self._seen, None):
            try:
                self._ring = _read(self.path)
            except InputError as error:
                if self.path.exists():
                    raise EngineError(error.message, code="service-key-unreadable") from None
            else:
                self._seen = signature
        return self._ring

    def replace(self, ring: KeyRing) -> None:
        """Replace the file atomically by one with other keys, and overwrite the bytes of the old one.

        Overwriting is best effort: journals, snapshots and flash memory may keep copies.
        """
        try:
            with self.path.open("r+b") as old, _temporary(self.path, ring) as new:
                new.replace(self.path)
                flush_folder(self.path.parent)
                length = old.seek(0, os.SEEK_END)
                old.seek(0)
                old.write(b"\0" * length)
                old.flush()
                os.fsync(old.fileno())
            for left in self.path.parent.glob(f".{self.path.name}.*.tmp"):  # of a process that was killed
                left.unlink(missing_ok=True)
        except OSError:
            raise InputError(f"{self.path}: the key file cannot be replaced", code="service-key") from None
        self._ring = ring
        self._seen = self._signature()

    def _signature(self) -> tuple[int, ...] | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns, status.st_size


def flush_folder(folder: Path) -> None:
    """Wait until the entries of a folder are on disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _key(text: str) -> MasterKey:
    return MasterKey(bytes.fromhex(text))


def _chain_key(chain: str, first: str, secret: str) -> ChainKey:
    if chain not in CHAINS:
        raise ValueError
    return ChainKey(chain, int(first), bytes.fromhex(secret))


def _make(path: Path) -> None:
    """Write a new key that only the owner can read; if two processes try at once, one wins."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _temporary(path, KeyRing(MasterKey.new())) as temporary:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
        flush_folder(path.parent)


@contextlib.contextmanager
def _temporary(path: Path, ring: KeyRing) -> Iterator[Path]:
    """Yield a temporary file with the keys beside the key file; it is removed unless it was renamed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(ring.to_text())
            file.flush()
            os.fsync(file.fileno())
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


def _read(path: Path) -> KeyRing:
    try:
        mode, text = path.stat().st_mode, path.read_bytes()
    except OSError as error:
        raise InputError(unreadable(path, error).message, code="service-key") from None
    if mode & 0o077:
        raise InputError(f"{path}: others can read the key file; chmod 600 it", code="service-key")
    try:
        return KeyRing.from_text(text.decode("ascii"))
    except (ValueError, TypeError, IndexError):  # or the file was replaced and overwritten just now
        if path.exists() and path.read_bytes() != text:
            return _read(path)
        raise InputError(f"{path}: is not a key file of {KEY_BYTES} bytes in hexadecimal", code="service-key") from None
