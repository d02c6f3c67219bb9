"""Fractions of polynomials in the symbols of a model, exact, with their values at hand.

Arithmetic is that of SymPy's sparse fraction fields. Square roots, sines, cosines and π are symbols
of the field like lengths are. Numerators and denominators are reduced by √3² = 3 and
sin² + cos² = 1; other relations between such symbols are unknown here. Each fraction therefore
carries two balls: its value at the numbers of the model, which tells whether it can be a pivot, and
its value at random numbers, which tells whether it vanishes identically.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp
from flint import Ordering, arb, fmpz_mpoly_ctx
from sympy.polys.fields import FracElement, FracField
from sympy.polys.orderings import lex

from mechid.exact.geometry import Geometry
from mechid.exact.numbers import PRECISION, Balls

_VANISHES = 2.0 ** -(PRECISION // 2)
_PRIMES = 7919
LARGEST = 200  # product of the terms of two fractions that are combined


class TooLargeError(Exception):
    """Expressions that would fill pages; decimals are more useful."""


@dataclass(frozen=True, eq=False)
class Fraction:
    """An element of the field with its values at the model's numbers and at random ones."""

    element: FracElement
    here: arb
    anywhere: arb
    field: FractionField

    def __sub__(self, other: Fraction) -> Fraction:
        """Return the difference."""
        _check(self, other)
        element = self.field.reduced(self.element - other.element)
        return Fraction(element, self.here - other.here, self.anywhere - other.anywhere, self.field)

    def __mul__(self, other: Fraction) -> Fraction:
        """Return the product."""
        _check(self, other)
        element = self.field.reduced(self.element * other.element)
        return Fraction(element, self.here * other.here, self.anywhere * other.anywhere, self.field)

    def __truediv__(self, other: Fraction) -> Fraction:
        """Return the quotient."""
        _check(self, other)
        element = self.field.reduced(self.element / other.element)
        return Fraction(element, self.here / other.here, self.anywhere / other.anywhere, self.field)

    def __neg__(self) -> Fraction:
        """Return the negative."""
        return Fraction(-self.element, -self.here, -self.anywhere, self.field)

    @property
    def vanishes(self) -> bool:
        """Whether it is zero for all values of the symbols."""
        return self.element == 0 or abs(float(self.anywhere.mid())) < _VANISHES

    @property
    def terms(self) -> int:
        """Terms of numerator and denominator."""
        return len(self.element.numer) + len(self.element.denom) if self.field.has_symbols else 1

    @property
    def size(self) -> float:
        """Its absolute value at the numbers of the model; 0.0 if that is nothing but rounding."""
        value = abs(float(self.here.mid()))
        return value if value > _VANISHES else 0.0


def _check(a: Fraction, b: Fraction) -> None:
    if a.terms * b.terms > LARGEST:
        raise TooLargeError


class FractionField:
    """The field of all symbols and irrational constants that occur in some expressions."""

    def __init__(self, expressions: Iterable[sp.Expr], geometry: Geometry) -> None:
        expressions = tuple(dict.fromkeys(expressions))
        atoms: dict[sp.Expr, None] = {}
        for expr in expressions:
            _generators(expr, atoms)
        # Sines and roots first: in lexicographic order their squares lead.
        leads = (sp.sin, sp.Pow)
        self._atoms = sorted(atoms, key=lambda x: (not isinstance(x, leads), str(x)))
        self._stand = [sp.Dummy(f"g{k}") for k in range(len(self._atoms))]
        self._field = FracField(self._stand, sp.QQ, lex) if self._stand else None
        gens: Any = () if self._field is None else self._field.gens
        self._elements = dict(zip(self._atoms, gens, strict=True))
        self._relations = [] if self._field is None else self._find_relations()
        self._here = geometry.balls
        symbols = sorted({s for x in expressions for s in x.free_symbols}, key=str)
        # Any numbers that have nothing to do with each other will do.
        self._anywhere = Balls(
            {
                s: sp.Rational(sp.prime(50 + 3 * k), _PRIMES) + geometry.values[s]
                for k, s in enumerate(symbols)
            }
        )

    @property
    def has_symbols(self) -> bool:
        """Whether there is anything but rational numbers."""
        return self._field is not None

    def __call__(self, expr: sp.Expr) -> Fraction:
        """Return an expression as a fraction; call it at the precision of the exact stage."""
        element = self.reduced(self._element(expr))
        return Fraction(element, self._here(expr), self._anywhere(expr), self)

    def reduced(self, element: Any) -> Any:
        """Return an element with roots and sines in the first power."""
        if not self._relations:
            return element
        numerator = element.numer.rem(self._relations)
        denominator = element.denom.rem(self._relations)
        assert self._field is not None
        return self._field.new(numerator, denominator)

    def _find_relations(self) -> list[Any]:
        """Return polynomials that vanish; each leads with the square of another symbol."""
        found = []
        for x in self._atoms:
            if isinstance(x, sp.sin) and sp.cos(x.args[0]) in self._elements:
                square = self._elements[x] ** 2 + self._elements[sp.cos(x.args[0])] ** 2 - 1
                found.append(square.numer)
            elif isinstance(x, sp.Pow) and isinstance(x.base, sp.Rational):
                found.append((self._elements[x] ** 2 - self._element(x.base)).numer)
        return found

    def _element(self, x: sp.Expr) -> Any:
        if x in self._elements:
            return self._elements[x]
        if isinstance(x, sp.Rational):
            number = sp.QQ(int(x.p), int(x.q))
            return number if self._field is None else self._field(number)
        if isinstance(x, sp.Add):
            parts = [self._element(a) for a in x.args]
            return sum(parts[1:], parts[0])
        if isinstance(x, sp.Mul):
            product = self._element(x.args[0])
            for factor in x.args[1:]:
                product = product * self._element(factor)
            return product
        if isinstance(x, sp.Pow):
            base, exponent = _power(x)
            return self._element(base) ** exponent
        raise AssertionError(x)

    def expression(self, fraction: Fraction) -> sp.Expr:
        """Return a fraction in the symbols of the model: a sum if its denominator allows."""
        element = fraction.element
        if self._field is None:
            return sp.Rational(int(element.numerator), int(element.denominator))
        names = dict(zip(self._stand, self._atoms, strict=True))
        numerator = element.numer.as_expr().xreplace(names)
        if len(element.denom.terms()) == 1:
            return sp.expand(numerator / element.denom.as_expr().xreplace(names))
        return sp.expand(numerator) / self._factored(element.denom)

    def _factored(self, polynomial: Any) -> sp.Expr:
        """Return a polynomial as a product.

        FLINT factors these in milliseconds; SymPy's random choices took minutes now and then.
        """
        order = sorted(range(len(self._atoms)), key=lambda k: str(self._atoms[k]))
        ring = fmpz_mpoly_ctx.get([f"x{k}" for k in range(len(order))], Ordering.lex)
        scale = sp.ilcm(1, *(int(c.denominator) for c in polynomial.coeffs()))
        content, factors = ring.from_dict(
            {tuple(e[k] for k in order): int(c * scale) for e, c in polynomial.terms()}
        ).factor()
        found = sp.Rational(int(content), scale)
        for factor, power in factors:
            terms = (
                int(c) * sp.Mul(*(self._atoms[k] ** n for k, n in zip(order, e, strict=True)))
                for e, c in factor.to_dict().items()
            )
            found *= sp.Add(*terms) ** int(power)
        return found


def _generators(x: sp.Expr, found: dict[sp.Expr, None]) -> None:
    """Collect what stands for a symbol of the field."""
    if isinstance(x, sp.Rational):
        return
    if isinstance(x, sp.Add | sp.Mul):
        for part in x.args:
            _generators(part, found)
    elif isinstance(x, sp.Pow):
        base, exponent = _power(x)
        if exponent == 1:
            found[x] = None
        else:
            _generators(base, found)
    else:
        found[x] = None


def _power(x: sp.Pow) -> tuple[sp.Expr, int]:
    """Return base and integer exponent; an odd half power is one of a square root."""
    if isinstance(x.exp, sp.Integer):
        return x.base, int(x.exp)
    if isinstance(x.exp, sp.Rational) and x.exp.q == 2 and x.exp.p != 1:
        return sp.sqrt(x.base), int(x.exp.p)
    return x, 1
