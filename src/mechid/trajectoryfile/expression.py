"""A motion written as an expression of time, such as 50*sin(pi*f*t)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Family, Floats, Rates
from mechid.textfile import expressions
from mechid.textfile.words import hint


class Jet(NamedTuple):
    """A function of time at N instants, with its derivatives; each (N,)."""

    value: Floats
    first: Floats
    second: Floats

    def through(self, f: Floats, df: Floats, ddf: Floats) -> Jet:
        """Return a function of this one, given its value and derivatives by it."""
        return Jet(f, df * self.first, ddf * self.first**2 + df * self.second)


def evaluate_jet(tree: ast.expr, jets: Mapping[str, Jet]) -> Jet:
    """Return the jet of a checked expression; `jets` holds all names it uses, and `t`."""
    match tree:
        case ast.Constant(value=int() | float() as value):
            return constant(float(value), len(jets["t"].value))
        case ast.Name(id=name):
            return constant(np.pi, len(jets["t"].value)) if name == "pi" else jets[name]
        case ast.UnaryOp(op=op, operand=operand):
            x = evaluate_jet(operand, jets)
            return Jet(-x.value, -x.first, -x.second) if isinstance(op, ast.USub) else x
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, evaluate_jet(left, jets), evaluate_jet(right, jets))
        case ast.Call(func=ast.Name(id="atan2"), args=[y, x]):
            return _atan2(evaluate_jet(y, jets), evaluate_jet(x, jets))
        case ast.Call(func=ast.Name(id=name), args=[x]):
            u = evaluate_jet(x, jets)
            return u.through(*_FUNCTIONS[name](u.value))
    raise AssertionError(tree)


def constant(value: float, n: int) -> Jet:
    """Return a number as a jet."""
    return Jet(np.full(n, value), np.zeros(n), np.zeros(n))


def time(t: Floats) -> Jet:
    """Return time itself as a jet."""
    return Jet(np.asarray(t, dtype=float), np.ones(len(t)), np.zeros(len(t)))


def _binary(op: ast.operator, a: Jet, b: Jet) -> Jet:
    match op:
        case ast.Add():
            return Jet(*(x + y for x, y in zip(a, b, strict=True)))
        case ast.Sub():
            return Jet(*(x - y for x, y in zip(a, b, strict=True)))
        case ast.Mult():
            return _product(a, b)
        case ast.Div():
            return _product(a, b.through(1 / b.value, -1 / b.value**2, 2 / b.value**3))
        case ast.Pow():
            return _power(a, b)
    raise AssertionError(op)


def _product(a: Jet, b: Jet) -> Jet:
    return Jet(
        a.value * b.value,
        a.first * b.value + a.value * b.first,
        a.second * b.value + 2 * a.first * b.first + a.value * b.second,
    )


def _power(a: Jet, b: Jet) -> Jet:
    n = b.value
    if not np.any(b.first) and not np.any(b.second):
        # Where a factor n or n - 1 is zero so is the derivative, also of 0**1 and 0**0.
        first = np.where(n == 0, 0.0, n * a.value ** np.where(n == 0, 1.0, n - 1))
        flat = (n == 0) | (n == 1)
        second = np.where(flat, 0.0, n * (n - 1) * a.value ** np.where(flat, 1.0, n - 2))
        return a.through(a.value**n, first, second)
    log = a.through(np.log(a.value), 1 / a.value, -1 / a.value**2)
    exponent = _product(b, log)
    e = np.exp(exponent.value)
    return exponent.through(e, e, e)


def _atan2(y: Jet, x: Jet) -> Jet:
    r2 = x.value**2 + y.value**2
    first = (x.value * y.first - y.value * x.first) / r2
    r2_first = 2 * (x.value * x.first + y.value * y.first)
    second = (x.value * y.second - y.value * x.second - first * r2_first) / r2
    return Jet(np.arctan2(y.value, x.value), first, second)


_FUNCTIONS: Mapping[str, Callable[[Floats], tuple[Floats, Floats, Floats]]] = {
    "sin": lambda u: (np.sin(u), np.cos(u), -np.sin(u)),
    "cos": lambda u: (np.cos(u), -np.sin(u), -np.cos(u)),
    "tan": lambda u: (
        np.tan(u), 1 + np.tan(u) ** 2, 2 * np.tan(u) * (1 + np.tan(u) ** 2)
    ),
    "asin": lambda u: (np.arcsin(u), (1 - u**2) ** -0.5, u * (1 - u**2) ** -1.5),
    "acos": lambda u: (np.arccos(u), -((1 - u**2) ** -0.5), -u * (1 - u**2) ** -1.5),
    "atan": lambda u: (np.arctan(u), 1 / (1 + u**2), -2 * u / (1 + u**2) ** 2),
    "sqrt": lambda u: (np.sqrt(u), 0.5 * u**-0.5, -0.25 * u**-1.5),
    "abs": lambda u: (np.abs(u), np.sign(u), np.zeros(len(u))),
}  # fmt: skip


TIME = "t"
# Where a period that was stated is checked, in periods, and how well it must hold.
_CHECKED = np.array([0.05, 0.21, 0.37, 0.58, 0.83])
_SAME = 1e-6


@dataclass(frozen=True)
class Expression(Family):
    """A given motion, without coefficients; its derivatives are exact.

    Attributes
    ----------
    text : str
        Expression of the time t (s) and of parameters, as in model files.
    parameters : tuple of (str, float)
        Values of the names in it.
    repeats : float or None
        Period, s, if it has one.
    """

    text: str
    parameters: tuple[tuple[str, float], ...] = ()
    repeats: float | None = None

    def __post_init__(self) -> None:
        """Reject invalid expressions, and periods after which the motion does not repeat."""
        try:
            tree = expressions.parse(self.text)
        except ValueError as error:
            what, _, remedy = str(error).partition("; ")
            raise DataError(what, remedy=remedy) from None
        known = [TIME, *(name for name, _ in self.parameters)]
        for name in sorted(expressions.names(tree)):
            if name not in known:
                raise DataError(
                    f'there is no parameter {name} in "{self.text}"', remedy=hint(name, known)
                )
        if self.repeats is not None:
            self._check_period(self.repeats)

    def given(self, t: Floats) -> Rates:
        """Return y, ẏ, ÿ."""
        jets = {name: constant(value, len(t)) for name, value in self.parameters}
        with np.errstate(all="ignore"):
            found = Rates(*evaluate_jet(self._tree, {**jets, TIME: time(t)}))
        for what, values in zip(("value", "speed", "acceleration"), found, strict=True):
            bad = np.flatnonzero(~np.isfinite(values))
            if bad.size:
                raise DataError(
                    f'"{self.text}" has no finite {what} at t = {t[bad[0]]:.10g} s',
                    remedy="check the expression, or use another time range",
                )
        return found

    @property
    def period(self) -> float | None:
        """As it was stated; 0 if it does not depend on time."""
        return self.repeats if TIME in expressions.names(self._tree) else 0.0

    @cached_property
    def _tree(self) -> ast.expr:
        return expressions.parse(self.text)

    def _check_period(self, period: float) -> None:
        if not 0 < period < np.inf:
            raise DataError(f"the period must be > 0 s, got {period:g}")
        once, again = (self.given(period * (_CHECKED + k)) for k in (0, 1))
        for a, b in zip(once, again, strict=True):
            if np.any(np.abs(a - b) > _SAME * np.max(np.abs(a))):
                raise DataError(
                    f'"{self.text}" does not repeat after {period:.10g} s',
                    remedy="correct or omit the period",
                )
