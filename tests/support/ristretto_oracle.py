"""ristretto255 in plain Python, written from RFC 9496, without a line of the package or of libsodium."""

from __future__ import annotations

P = 2**255 - 19
D = -121665 * pow(121666, -1, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
ORDER = 2**252 + 27742317777372353535851937790883648493
GENERATOR = bytes.fromhex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76")

Point = tuple[int, int]
"""Affine coordinates on the twisted Edwards curve with a = -1."""


def absolute(x: int) -> int:
    return P - x if x % 2 else x


def inverse_root(value: int) -> tuple[bool, int]:
    """Whether the value is a square, and the root of its inverse (section 4.2)."""
    root = value**3 * pow(value**7 % P, (P - 5) // 8, P) % P
    check = value * root * root % P
    if check in (P - 1, P - ROOT_OF_MINUS_ONE):
        root = root * ROOT_OF_MINUS_ONE % P
    return check in (1, P - 1), absolute(root)


def decode(data: bytes) -> Point | None:
    """Section 4.3.1."""
    s = int.from_bytes(data, "little")
    if s >= P or s % 2:
        return None
    u1, u2 = (1 - s * s) % P, (1 + s * s) % P
    v = (-D * u1 * u1 - u2 * u2) % P
    square, root = inverse_root(v * u2 * u2 % P)
    x = absolute(2 * s * root * u2 % P)
    y = u1 * root * root * u2 * v % P
    return (x, y) if square and x * y % P % 2 == 0 and y != 0 else None


def encode(point: Point) -> bytes:
    """Section 4.3.2, with z = 1."""
    x, y = point
    u1, u2 = (1 + y) * (1 - y) % P, x * y % P
    _, root = inverse_root(u1 * u2 * u2 % P)
    one, two = root * u1 % P, root * u2 % P
    inverse_z = one * two * u2 % P
    if u2 * inverse_z % P % 2:
        _, inverse_of_a_minus_d = inverse_root((-1 - D) % P)
        x, y, two = y * ROOT_OF_MINUS_ONE % P, x * ROOT_OF_MINUS_ONE % P, one * inverse_of_a_minus_d % P
    if x * inverse_z % P % 2:
        y = -y % P
    return absolute(two * (1 - y) % P).to_bytes(32, "little")


def plus(one: Point, other: Point) -> Point:
    (x1, y1), (x2, y2) = one, other
    product = D * x1 * x2 * y1 * y2 % P
    x = (x1 * y2 + x2 * y1) * pow(1 + product, -1, P)
    y = (y1 * y2 + x1 * x2) * pow(1 - product, -1, P)
    return x % P, y % P


def times(scalar: int, point: Point) -> Point:
    result = (0, 1)
    for bit in bin(scalar)[2:]:
        result = plus(result, result)
        result = plus(result, point) if bit == "1" else result
    return result


def sum_of(points: list[bytes]) -> bytes:
    """The sum of encoded points."""
    total = (0, 1)
    for data in points:
        point = decode(data)
        assert point is not None
        total = plus(total, point)
    return encode(total)


def product(scalar: int, data: bytes) -> bytes:
    """A multiple of an encoded point."""
    point = decode(data)
    assert point is not None
    return encode(times(scalar, point))
