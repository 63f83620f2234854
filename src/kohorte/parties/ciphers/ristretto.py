"""Points of ristretto255, a group of prime order with 128-bit security.

Points are the rows of a matrix of bytes, 32 bytes each, in the one encoding that each point has. Scalars are 32 bytes,
the lowest first. Everything that can come from another party is checked.

Source
    de Valence et al., The ristretto255 and decaf448 Groups, RFC 9496, 2023.
"""

from __future__ import annotations

import ctypes
import hmac
import secrets
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kohorte.errors import InternalError, ProtocolError
from kohorte.kernels.arrays import Bytes, Codes
from kohorte.kernels.points_reference import NONE, POINT_BYTES, SCALAR_BYTES
from kohorte.parties.ciphers.libsodium import libsodium, ristretto

ORDER = 2**252 + 27742317777372353535851937790883648493

Points = NDArray[np.uint8]

PIECE = 1 << 15
"""Rows that are computed at a time: about a second. Between two pieces a role notices that its run has ended."""


def hash_to_group(texts: Sequence[bytes], key: bytes) -> Points:
    """Map each text to a point that nobody knows a relation of to other points; another key gives other points.

    The text is hashed with HMAC-SHA-512, and the 64 bytes are mapped to the group (RFC 9496, section 4.3.4).
    """
    hashes = b"".join(hmac.digest(key, text, "sha512") for text in texts)
    points, _ = _in_pieces(ristretto().from_hash, np.frombuffer(hashes, dtype=np.uint8).reshape(-1, 64))
    return points


def multiply(points: Points, scalar: bytes) -> Points:
    """Multiply every point by a scalar; anything that is not a point, and the neutral element, is refused."""
    return _accepted(*_in_pieces(ristretto().multiply, _scalar(scalar), as_points(points)))


def multiply_each(scalars: Bytes, points: Points) -> Points:
    """Multiply row by row; one of the two may have a single row."""
    return _accepted(*_in_pieces(ristretto().multiply, scalars, as_points(points)))


def multiply_base(scalars: Bytes) -> Points:
    """Multiply the generator of the group by each scalar; zero gives the neutral element."""
    points, _ = _in_pieces(ristretto().multiply_base, np.ascontiguousarray(scalars))
    return points


def add(one: Points, other: Points) -> Points:
    """Add row by row; one of the two may have a single row."""
    return _accepted(*_in_pieces(ristretto().add, as_points(one), as_points(other)))


def subtract(one: Points, other: Points) -> Points:
    """Subtract row by row; one of the two may have a single row."""
    return _accepted(*_in_pieces(ristretto().subtract, as_points(one), as_points(other)))


def sum_groups(points: Points, group_of: Codes, groups: int) -> Points:
    """Add the points of each group: `group_of[row]` is the group of a point. An empty group has the neutral element."""
    rows, codes = as_points(points), np.ascontiguousarray(group_of, np.uint32)
    if len(rows) <= PIECE:
        return _accepted(*ristretto().sum_groups(rows, codes, groups))
    sums, begun = np.zeros((groups, POINT_BYTES), dtype=np.uint8), -1
    order = np.argsort(codes, kind="stable")
    for chosen in np.split(order, range(PIECE, len(order), PIECE)):
        own, of = np.unique(codes[chosen], return_inverse=True)
        part, refused = ristretto().sum_groups(rows[chosen], of.astype(np.uint32), len(own))
        _accepted(part, refused if refused == NONE else int(chosen[refused]))
        if own[0] == begun:  # the piece before has the first points of this group
            part[:1] = add(part[:1], sums[begun : begun + 1])
        sums[own], begun = part, int(own[-1])
    return sums


def check_points(points: Points) -> Points:
    """Return points from outside, or refuse what is not a point, and the neutral element."""
    rows = as_points(points)
    neutral = np.flatnonzero(~rows.any(axis=1))[:1].tolist()
    invalid = [row for row in (ristretto().first_invalid(rows),) if row != NONE]
    return _accepted(rows, min(neutral + invalid, default=NONE))


def as_points(points: Points) -> Points:
    """Return a matrix with points as rows, in the layout that the kernels take; refuse another shape."""
    if points.dtype != np.uint8 or points.ndim != 2 or points.shape[1] != POINT_BYTES:
        raise ProtocolError("a message does not have points of 32 bytes", code="party-ciphertext")
    return np.ascontiguousarray(points)


def random_scalar() -> bytearray:
    """Draw a scalar for a key."""
    return bytearray(random_scalars(1).tobytes())


def random_scalars(count: int) -> Bytes:
    """Draw scalars between 0 and 2^252.

    The order of the group is 2^252 plus less than 2^125, so that no test tells them from scalars of the whole range:
    the statistical distance is below 2^-127 for each.
    """
    scalars = (
        np.frombuffer(secrets.token_bytes(SCALAR_BYTES * count), dtype=np.uint8).reshape(count, SCALAR_BYTES).copy()
    )
    scalars[:, -1] &= 0x0F
    return scalars


def scalars_of(numbers: Sequence[int]) -> Bytes:
    """Return whole numbers as scalars."""
    return np.frombuffer(b"".join(n.to_bytes(SCALAR_BYTES, "little") for n in numbers), np.uint8).reshape(-1, 32)


def invert(scalar: bytes) -> bytearray:
    """Return the scalar that undoes a multiplication."""
    inverse = ctypes.create_string_buffer(SCALAR_BYTES)
    if libsodium().crypto_core_ristretto255_scalar_invert(inverse, _scalar(scalar).tobytes()) != 0:
        raise InternalError("zero has no inverse", code="party-cipher-use")
    return bytearray(inverse.raw)


def _in_pieces(compute: Callable[..., tuple[Points, int]], *rows: Bytes) -> tuple[Points, int]:
    """Compute row by row, a piece at a time; the points, and the first row that was refused."""
    length = next((len(some) for some in rows if len(some) != 1), 1)
    if length <= PIECE:
        return compute(*rows)
    parts, refused = [], NONE
    for start in range(0, length, PIECE):
        part, own = compute(*(some if len(some) == 1 else some[start : start + PIECE] for some in rows))
        parts.append(part)
        refused = start + own if refused == NONE != own else refused
    return np.concatenate(parts), refused


def _scalar(scalar: bytes) -> Bytes:
    if len(scalar) != SCALAR_BYTES or not any(scalar):
        raise InternalError("not a scalar of 32 bytes, or zero", code="party-cipher-use")
    return np.frombuffer(bytes(scalar), dtype=np.uint8).reshape(1, -1)


def _accepted(points: Points, first_refused: int) -> Points:
    if first_refused != NONE:
        raise ProtocolError(f"row {first_refused + 1} of a message is not a valid point", code="party-ciphertext")
    return points
