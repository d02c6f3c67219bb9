"""Exact numbers: expressions of the model file as SymPy, floats recognised, both as balls.

A number of a model file is a decimal, or an expression of named lengths and angles. What the
builder computed from them (an axis between two points, a frame turned by 120°) reaches us as a
float; most such floats are recognised as the rational or the square root they stand for. One that
is not keeps its binary value and is called *rounded*.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import sympy as sp
from flint import arb, ctx, fmpq

from mechid.mechanism.records import Mechanism
from mechid.textfile.expressions import parse

_P = ParamSpec("_P")
_R = TypeVar("_R")

# Decimals with at most this many digits are taken as they are; fewer, where the float may be off by
# more than its rounding: one random number in a hundred would be near a longer one.
DIGITS, DIGITS_NEAR = 12, 10
LARGEST_DENOMINATOR = 100_000
_LONGEST_DENOMINATOR, _HIT = 10**12, 2.0**-150  # of balls with many digits
_CHANCE = 1e-4  # that a random number lies as near to a fraction as its error
_PARTS_OF_A_DEGREE = 2
ROUNDING = 4e-16  # relative error of a float that went through a few operations
PRECISION = 320  # bits of balls, unless the caller sets another
MOST_PRECISION = 960  # of enclosed poses: corrections of less than 2⁻¹⁰²² are no normal floats

_FUNCTIONS = {
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "asin": sp.asin,
    "acos": sp.acos,
    "atan": sp.atan,
    "atan2": sp.atan2,
    "sqrt": sp.sqrt,
    "abs": sp.Abs,
}


def symbol(name: str) -> sp.Symbol:
    """Return the symbol of a named length or angle."""
    return sp.Symbol(name, real=True)


@lru_cache(maxsize=4096)
def symbolic(text: str) -> sp.Expr:
    """Return an expression of the model file; decimals become rationals, parameters symbols."""
    return _symbolic(parse(text))


def _symbolic(node: ast.expr) -> sp.Expr:
    match node:
        case ast.Constant(value=int() | float() as value):
            return sp.Rational(repr(value))
        case ast.Name(id="pi"):
            return sp.pi
        case ast.Name(id=name):
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_symbolic(operand)
        case ast.UnaryOp(operand=operand):
            return _symbolic(operand)
        case ast.BinOp(left=left, op=op, right=right):
            a, b = _symbolic(left), _symbolic(right)
            match op:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
                case _:
                    return a**b
        case ast.Call(func=ast.Name(id=name), args=args):
            return _FUNCTIONS[name](*(_symbolic(arg) for arg in args))
    raise AssertionError(ast.dump(node))


def recognise(value: float, tolerance: float = 0.0) -> tuple[sp.Expr, bool]:
    """Return the exact number that a float stands for, and whether it was recognised.

    Tried in turn: a short decimal, a fraction with a small denominator, the square root of one,
    the cosine of whole or half degrees.
    `tolerance` is an absolute error that the float may have besides its own rounding.
    """
    return _recognise(float(value), tolerance)


@lru_cache(maxsize=65536)
def _recognise(value: float, tolerance: float) -> tuple[sp.Expr, bool]:
    error = max(tolerance, ROUNDING * abs(value))
    places = (DIGITS if tolerance == 0 else DIGITS_NEAR) - len(str(int(abs(value)))) + 1
    decimal = Fraction(repr(value if tolerance == 0 else round(value, places)))
    short = (10 ** max(places, 0)) % decimal.denominator == 0
    if short and abs(float(decimal) - value) <= error:
        return sp.Rational(decimal.numerator, decimal.denominator), True
    near = Fraction(value).limit_denominator(_denominator(error))
    if abs(float(near - Fraction(value))) <= error:
        return sp.Rational(near.numerator, near.denominator), True
    square = Fraction(value) * Fraction(value)
    doubt = 2 * error * abs(value)
    near = square.limit_denominator(_denominator(doubt))
    if abs(float(near - square)) <= doubt:
        root = sp.sqrt(sp.Rational(near.numerator, near.denominator))
        return (root if value > 0 else -root), True
    if abs(value) < 1:
        turn = Fraction(math.degrees(math.acos(value))).limit_denominator(_PARTS_OF_A_DEGREE)
        if abs(math.cos(math.radians(turn)) - value) <= error:
            return sp.cos(sp.pi * sp.Rational(turn.numerator, turn.denominator) / 180), True
    exact = Fraction(value)
    return sp.Rational(exact.numerator, exact.denominator), False


def _denominator(error: float) -> int:
    """Return the largest denominator for which a random number is hardly ever that near."""
    return max(1, min(LARGEST_DENOMINATOR, int((_CHANCE / max(error, 1e-300)) ** 0.5)))


def exact_number(x: arb) -> sp.Expr:
    """Return the fraction, or the root of one, that a ball of many digits stands for.

    A chance hit would need far more digits than the fraction has; else the midpoint counts.
    """
    middle = _fraction(x.mid())
    near = middle.limit_denominator(_LONGEST_DENOMINATOR)
    square = (middle * middle).limit_denominator(_LONGEST_DENOMINATOR)
    if float(abs(x - _ball(near)).abs_upper()) < _HIT * max(1.0, abs(float(near))):
        return sp.Rational(near.numerator, near.denominator)
    if float(abs(x * x - _ball(square)).abs_upper()) < _HIT * max(1.0, float(square)):
        root = sp.sqrt(sp.Rational(square.numerator, square.denominator))
        return root if middle > 0 else -root
    return sp.Rational(middle.numerator, middle.denominator)


def _fraction(x: arb) -> Fraction:
    mantissa, exponent = x.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))


def parameter_values(mechanism: Mechanism) -> dict[sp.Symbol, sp.Expr]:
    """Return the exact value of every named parameter, in no symbols."""
    values: dict[sp.Symbol, sp.Expr] = {}
    texts = {p.name: p for p in mechanism.parameters}

    def value(name: str) -> sp.Expr:
        key = symbol(name)
        if key not in values:
            p = texts[name]
            if p.expr is None:
                values[key] = sp.Rational(repr(p.value))
            else:
                expr = symbolic(p.expr)
                inner = {s: value(str(s)) for s in expr.free_symbols}
                values[key] = expr.subs(inner)
        return values[key]

    for p in mechanism.parameters:
        value(p.name)
    return values


def exactly(work: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate work with balls: it has `PRECISION` bits at least, whoever calls it."""

    @wraps(work)
    def at_precision(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        with ctx.workprec(max(ctx.prec, PRECISION)):
            return work(*args, **kwargs)

    return at_precision


class Balls:
    """Turns expressions into balls (`arb`), with the values of the symbols at hand."""

    def __init__(self, values: Mapping[sp.Symbol, sp.Expr]) -> None:
        self._values = dict(values)
        self._known: dict[tuple[sp.Expr, int], arb] = {}

    def __call__(self, expr: Any) -> arb:
        """Return the ball of an expression, at the precision of the context."""
        key = (expr, ctx.prec)
        if key not in self._known:
            self._known[key] = self._ball(sp.sympify(expr))
        return self._known[key]

    def _ball(self, x: sp.Expr) -> arb:
        if isinstance(x, sp.Rational):
            return arb(fmpq(int(x.p), int(x.q)))
        if isinstance(x, sp.Symbol):
            return self(self._values[x])
        if isinstance(x, sp.Add):
            total = arb(0)
            for term in x.args:
                total += self(term)
            return total
        if isinstance(x, sp.Mul):
            product = arb(1)
            for factor in x.args:
                product *= self(factor)
            return product
        if isinstance(x, sp.Pow):
            return _power(self(x.base), x.exp, self)
        if x is sp.pi:
            return arb.pi()
        simple = {sp.sin: "sin", sp.cos: "cos", sp.tan: "tan", sp.asin: "asin", sp.acos: "acos"}
        for function, name in (*simple.items(), (sp.atan, "atan")):
            if isinstance(x, function):
                image: arb = getattr(self(x.args[0]), name)()
                return image
        if isinstance(x, sp.atan2):
            return arb.atan2(self(x.args[0]), self(x.args[1]))
        if isinstance(x, sp.Abs):
            return abs(self(x.args[0]))
        raise AssertionError(x)


def _power(base: arb, exponent: sp.Expr, balls: Balls) -> arb:
    if isinstance(exponent, sp.Integer):
        return base ** int(exponent)
    if exponent == sp.Rational(1, 2):
        return base.sqrt()
    if exponent == sp.Rational(-1, 2):
        return 1 / base.sqrt()
    return base ** balls(exponent)
