"""Dependencies that no transfer explains: found in balls, with all their digits.

A spring whose potential is the weight of an arm, a slide that moves across a crank: such things
hold in special mechanisms only. They are reported, in exact numbers where those are recognised;
balls cannot prove that something is zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import sympy as sp
from flint import arb, arb_mat, ctx

from mechid.base.bounds import Bounds
from mechid.exact.numbers import symbol

DIGITS = 50
_LARGEST = 64  # numerators and denominators beside lengths
_DEGREE = 2


@dataclass(frozen=True)
class Dependency:
    """A null vector of W that is no combination of transfers.

    Attributes
    ----------
    names : tuple of str
        Parameters, the first with the coefficient 1.
    digits : tuple of str
        Coefficients, to 50 digits.
    forms : tuple of Expr or None
        The same in exact numbers and named lengths, where recognised.
    uncertainty : float
        Largest radius of a coefficient.
    """

    names: tuple[str, ...]
    digits: tuple[str, ...]
    forms: tuple[sp.Expr | None, ...]
    uncertainty: float


def dependencies(found: Bounds) -> tuple[Dependency, ...]:
    """Return the dependencies between the candidates of an analysis."""
    if found.lower == found.upper:
        return ()
    with ctx.workprec(found.precision):
        return tuple(_dependencies(found))


def _dependencies(found: Bounds) -> Iterator[Dependency]:
    rows, pivots = found.rows, found.pivots
    free = [j for j in range(found.upper) if j not in pivots.columns]
    A = arb_mat([[rows[i][j] for j in pivots.columns] for i in pivots.rows])
    B = arb_mat([[rows[i][j] for j in free] for i in pivots.rows])
    X = A.solve(B) if pivots.columns else arb_mat(0, len(free))
    for k, j in enumerate(free):
        vector = {found.candidates[j]: arb(1)}
        for i, c in enumerate(pivots.columns):
            if not _nothing(X[i, k]):
                vector[found.candidates[c]] = -X[i, k]
        yield _dependency(vector, found)


def _nothing(x: arb) -> bool:
    return bool(x.contains(0)) or float(x.abs_upper()) < 2.0 ** (-ctx.prec // 2)


def _dependency(vector: dict[str, arb], found: Bounds) -> Dependency:
    order = {name: i for i, name in enumerate(found.null.names)}
    names = sorted(vector, key=lambda name: order[name])
    # Elements say most about what is meant; else the first parameter leads.
    lead = next((n for n in names if n.startswith(("k_", "preload_"))), names[0])
    names = [lead, *(n for n in names if n != lead)]
    values = [vector[n] / vector[lead] for n in names]
    lengths = {p.name: p.value for p in found.mechanism.parameters if p.value}
    forms = tuple(exact_form(x, lengths, found) for x in values)
    digits = tuple(x.mid().str(DIGITS, radius=False) for x in values)
    return Dependency(tuple(names), digits, forms, max(float(x.rad()) for x in values))


def exact_form(x: arb, lengths: dict[str, float], found: Bounds) -> sp.Expr | None:
    """Return a fraction, or a fraction times powers of one or two named lengths, if x is one."""
    if _nothing(x):
        return sp.Integer(0)
    plain = _fraction(x)
    if plain is not None:
        return plain
    names = list(lengths)
    powers = [e for e in range(-_DEGREE, _DEGREE + 1) if e]
    one = [((a, e),) for a in names for e in powers]
    two = [
        ((a, e), (b, f))
        for i, a in enumerate(names)
        for b in names[i + 1 :]
        for e, f in product(powers, powers)
    ]
    for monomial in (*one, *two):
        size, form = arb(1), sp.Integer(1)
        for name, e in monomial:
            size = size * found.null.geometry.balls(symbol(name)) ** e
            form = form * symbol(name) ** e
        ratio = _fraction(x / size)
        if ratio is not None:
            return ratio * form
    return None


def _fraction(x: arb) -> sp.Expr | None:
    """Return the small fraction that a ball holds, or its square root."""
    for root, y in ((False, x), (True, x * x)):
        near = Fraction(float(y.mid())).limit_denominator(_LARGEST)
        if near and abs(near.numerator) <= _LARGEST * near.denominator:
            exact = arb(near.numerator) / near.denominator
            if _nothing(y - exact):
                number = sp.Rational(near.numerator, near.denominator)
                if not root:
                    return number
                return sp.sqrt(number) * (1 if float(x.mid()) > 0 else -1)
    return None
