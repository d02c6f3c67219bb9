"""Exact numbers as residues: a ring homomorphism from the numbers of a geometry to a prime field.

Rationals, square roots of rationals, pi, sines and cosines of whole and half degrees have images in
a field whose prime is 1 modulo 720: it holds the 720th roots of unity, and with them the roots
of -1, 2, 3 and 5. Roots of other primes exist for every second prime field; `good_primes` looks
for fields that have all that are needed. Sums and products keep their meaning because the roots of
different primes are independent of each other and of the roots of unity, and because pi is
transcendental.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import sympy as sp
from flint import nmod
from flint.utils.flint_exceptions import DomainError

from mechid.errors import MechidError

# Products of two residues must fit into 63 bits.
BITS = 31
UNITY = 720
_SEARCHED = 2000
_PI = 884279719  # as good as any


class NoResidueError(MechidError):
    """A number has no image in this field."""


class Residues:
    """Maps exact numbers to residues modulo a prime p, p = 1 modulo 720.

    Parameters
    ----------
    p : int
    values : mapping, optional
        Exact values of symbols.
    """

    def __init__(self, p: int, values: dict[sp.Symbol, sp.Expr] | None = None) -> None:
        self.p = p
        self._values = values or {}
        self._known: dict[Any, int] = {}
        self._zeta = _root_of_unity(p)

    def __call__(self, x: Any) -> int:
        """Return the residue of an exact number; floats must be whole."""
        if isinstance(x, int | float):
            assert x == int(x), x
            return int(x) % self.p
        if x not in self._known:
            self._known[x] = self._image(sp.sympify(x))
        return self._known[x]

    def _image(self, x: sp.Expr) -> int:
        p = self.p
        if isinstance(x, sp.Rational):
            if x.q % p == 0:
                raise NoResidueError(f"{x} has no residue modulo {p}")
            return int(x.p) * pow(int(x.q), -1, p) % p
        if isinstance(x, sp.Symbol):
            return self(self._values[x])
        if x is sp.pi:  # transcendental: any residue keeps sums and products
            return _PI % p
        if isinstance(x, sp.Add):
            return sum(self(t) for t in x.args) % p
        if isinstance(x, sp.Mul):
            product = 1
            for factor in x.args:
                product = product * self(factor) % p
            return product
        if isinstance(x, sp.Pow) and isinstance(x.exp, sp.Integer):
            return pow(self(x.base), int(x.exp), p)
        half = isinstance(x, sp.Pow) and isinstance(x.exp, sp.Rational) and x.exp.q == 2
        if half and isinstance(x.base, sp.Rational) and x.base > 0:
            return pow(self._root(x.base), int(x.exp.p), p)
        if isinstance(x, sp.cos | sp.sin):
            turn = x.args[0].subs(self._values) / sp.pi
            if turn.is_rational and (turn * UNITY // 2) * 2 == turn * UNITY:
                return self._circle(int(turn * UNITY / 2), isinstance(x, sp.sin))
        steps = _half_degrees(x)
        if steps is not None:
            return self._circle(steps, False)
        raise NoResidueError(
            f"{x} is not a rational, a square root or a cosine of whole degrees",
            where="exact rank",
            remedy="use ball arithmetic: mechid base --certify",
        )

    def _circle(self, steps: int, sine: bool) -> int:
        p, half = self.p, pow(2, -1, self.p)
        forth = pow(self._zeta, steps % UNITY, p)
        back = pow(forth, -1, p)
        if not sine:
            return (forth + back) * half % p
        i = pow(self._zeta, UNITY // 4, p)
        return (forth - back) * half * pow(i, -1, p) % p

    def _root(self, x: sp.Rational) -> int:
        """Return √x as the product of the roots of its primes."""
        product = 1
        for prime, power in sp.factorint(x).items():
            root = self._root_of_prime(int(prime))
            product = product * pow(root, int(power), self.p) % self.p
        return product

    def _root_of_prime(self, q: int) -> int:
        def double(order: int, k: int = 1) -> int:
            zeta = pow(self._zeta, k * UNITY // order, self.p)
            return (zeta + pow(zeta, -1, self.p)) % self.p

        if q == 2:
            return double(8)
        if q == 3:
            return double(12)
        if q == 5:
            return (1 + 2 * double(5)) % self.p
        try:
            return int(nmod(q, self.p).sqrt())
        except DomainError as error:
            raise NoResidueError(f"√{q} has no residue modulo {self.p}") from error


def good_primes(
    numbers: Iterable[Any], values: dict[sp.Symbol, sp.Expr], first: int = 0
) -> Iterator[Residues]:
    """Yield fields that hold all the numbers, with primes from 2³¹ downwards."""
    wanted = list(dict.fromkeys(numbers))
    p = 2**BITS - 1 - (2**BITS - 2) % UNITY - UNITY * first
    refused: NoResidueError | None = None
    for _ in range(_SEARCHED * 20):
        if sp.isprime(p):
            field = Residues(p, values)
            try:
                for x in wanted:
                    field(x)
            except NoResidueError as error:
                refused = error
                if error.remedy:  # no field would do
                    raise
            else:
                yield field
        p -= UNITY
    raise refused or NoResidueError("no suitable prime was found")


def _half_degrees(x: sp.Expr) -> int | None:
    """Return the angle of a nested root that is a cosine: SymPy writes cos 36° with √5."""
    if not x.is_real or x.free_symbols:
        return None
    value = sp.N(x, 50)
    if abs(value) > 1:
        return None
    steps = int(sp.Integer(round(sp.acos(value) * UNITY / (2 * sp.pi))))
    exact = sp.N(sp.cos(2 * sp.pi * steps / UNITY, evaluate=False), 50)
    return steps if abs(exact - value) < sp.Float(10) ** -40 else None


def _root_of_unity(p: int) -> int:
    """Return an element of order 720."""
    g = 2
    while True:
        zeta = pow(g, (p - 1) // UNITY, p)
        if all(pow(zeta, UNITY // q, p) != 1 for q in (2, 3, 5)):
            return zeta
        g += 1
