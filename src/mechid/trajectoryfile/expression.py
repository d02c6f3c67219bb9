"""A motion written as an expression of time, such as 50*sin(pi*f*t)."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mechid.errors import DataError
from mechid.excitation.families.family import Family, Floats, Rates
from mechid.textfile import expressions
from mechid.textfile.words import hint
from mechid.trajectoryfile.jets import constant, evaluate_jet, time

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
