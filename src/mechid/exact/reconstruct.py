"""Rationals from their residues: Chinese remainders, then the Euclidean algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt


def chinese(residues: Sequence[int], primes: Sequence[int]) -> tuple[int, int]:
    """Return the number modulo the product of the primes, and that product."""
    x, m = 0, 1
    for r, p in zip(residues, primes, strict=True):
        x += m * ((r - x) * pow(m, -1, p) % p)
        m *= p
    return x % m, m


def rational(x: int, m: int) -> Fraction | None:
    """Return the fraction a/b = x modulo m with |a|, b ≤ √(m/2), or None."""
    limit = isqrt(m // 2)
    r0, r1, t0, t1 = m, x % m, 0, 1
    while r1 > limit:
        q = r0 // r1
        r0, r1, t0, t1 = r1, r0 - q * r1, t1, t0 - q * t1
    if t1 == 0 or abs(t1) > limit:
        return None
    return Fraction(r1, t1)
