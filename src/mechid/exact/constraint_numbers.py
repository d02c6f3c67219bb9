"""Factors, constants and lengths of constraints in exact numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from mechid.exact.numbers import recognise, symbolic
from mechid.kinematics.couplings import coupling_constant
from mechid.mechanism.records import Coupling, DistanceConstraint, Mechanism


def exact_factors(coupling: Coupling) -> tuple[sp.Expr, ...]:
    """Return the factors of a coupling, in the symbols of the model."""
    texts = coupling.exprs or (None,) * len(coupling.terms)
    return tuple(
        recognise(factor)[0] if text is None else symbolic(text)
        for (*_, factor), text in zip(coupling.terms, texts, strict=True)
    )


def exact_length(constraint: DistanceConstraint) -> sp.Expr:
    """Return the length of a distance constraint."""
    text = constraint.expr
    return recognise(constraint.length)[0] if text is None else symbolic(text)


def exact_constant(mechanism: Mechanism, coupling: Coupling) -> tuple[sp.Expr, bool]:
    """Return the constant of a coupling, and whether it was recognised: π times a fraction too."""
    value = coupling_constant(mechanism, coupling)
    if abs(value) < 1e-15:  # angles between frames that were meant to coincide
        return sp.Integer(0), True
    part = Fraction(value / np.pi).limit_denominator(3600)
    if abs(float(part) * np.pi - value) < 1e-15 * max(1.0, abs(value)):
        return sp.Rational(part.numerator, part.denominator) * sp.pi, True
    return recognise(value)


def rounded_constraints(mechanism: Mechanism) -> list[str]:
    """Say which numbers of constraints were not recognised: their binary value counts."""
    found = []
    for c in mechanism.constraints:
        if isinstance(c, DistanceConstraint):
            if c.expr is None and not recognise(c.length)[1]:
                found.append(f"constraint {c.name}: length {c.length!r}")
            continue
        texts = c.exprs or (None,) * len(c.terms)
        for (name, _, factor), text in zip(c.terms, texts, strict=True):
            if text is None and not recognise(factor)[1]:
                found.append(f"constraint {c.name}: factor of {name} {factor!r}")
        if not exact_constant(mechanism, c)[1]:
            found.append(f"constraint {c.name}: constant")
    return found
