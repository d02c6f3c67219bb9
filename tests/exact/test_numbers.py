"""Exact numbers: expressions, recognised floats, geometry, elimination."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx, fmpz_mat

from mechid.exact.elimination import eliminate
from mechid.exact.geometry import cross, dot, exact_geometry
from mechid.exact.numbers import Balls, parameter_values, recognise, symbol, symbolic
from mechid.mechanism.records import Parameter
from mechid.modelfile import load

from ..contract.states import SPECS

# --------------------------------------------------------------------------- expressions


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1 + 0.2", sp.Rational(3, 10)),
        ("-2**3/4", sp.Integer(-2)),
        ("+1e-3", sp.Rational(1, 1000)),
        ("sin(pi/6)", sp.Rational(1, 2)),
        ("cos(pi/4)", sp.sqrt(2) / 2),
        ("atan2(-1, -1)", -3 * sp.pi / 4),
        ("abs(-3) - sqrt(2)", 3 - sp.sqrt(2)),
        ("asin(1) + acos(1) + atan(1) + tan(pi/4)", 3 * sp.pi / 4 + 1),
    ],
)
def test_expressions(text: str, value: sp.Expr) -> None:
    found = symbolic(text)
    assert sp.simplify(found - value) == 0
    assert Balls({})(found).overlaps(Balls({})(value))


@pytest.mark.parametrize(
    "text",
    [
        "a*sin(b) + a**2/b - atan2(a, -b)",
        "sqrt(a**2 + b**2) * cos(a/b) / abs(a - b)",
        "a**0.5 + b**-1.5 + tan(a) + asin(a) - acos(a) * atan(b)",
    ],
)
def test_balls_hold_the_float_value(text: str) -> None:
    a, b = 0.25, 1.5  # binary numbers, so that the float expression has the same arguments
    names = {name: getattr(math, name) for name in ("sin", "cos", "tan", "asin", "acos", "atan")}
    expected = eval(text, names | {"a": a, "b": b, "sqrt": math.sqrt, "atan2": math.atan2})
    values = {symbol("a"): sp.Rational(1, 4), symbol("b"): sp.Rational(3, 2)}
    balls = Balls(values)
    for bits in (64, 200):
        with ctx.workprec(bits):
            ball = balls(symbolic(text))
            assert float(ball.mid()) == pytest.approx(expected, rel=1e-14)
            assert float(ball.rad()) <= 2.0 ** (16 - bits) * abs(expected)


def test_parameters_that_depend_on_each_other() -> None:
    given = (Parameter("c", 0.5, "2*b"), Parameter("b", 0.25, "a + 0.15"), Parameter("a", 0.1))
    values = parameter_values(replace(load("pendulum"), parameters=given))
    assert values[symbol("a")] == sp.Rational(1, 10)
    assert values[symbol("c")] == sp.Rational(1, 2)


# --------------------------------------------------------------------------- recognised floats


@pytest.mark.parametrize(
    "number",
    [
        sp.Integer(0),
        sp.Integer(-3),
        sp.Rational("0.1"),
        sp.Rational("-0.123456789012"),
        sp.Rational("1234.5678"),
        sp.Rational(1, 3),
        sp.Rational(-22, 7),
        sp.sqrt(2),
        -sp.sqrt(sp.Rational(3, 7)),
        sp.sqrt(sp.Rational("0.5")),
        sp.cos(7 * sp.pi / 180),
        sp.cos(sp.pi * sp.Rational(213, 360)),
    ],
)
def test_recognised(number: sp.Expr) -> None:
    found, exact = recognise(float(number))
    assert exact
    assert sp.simplify(found - number) == 0
    if number != sp.Rational("-0.123456789012"):  # too many digits for an inexact float
        near, exact = recognise(float(number) + 1e-15, 4e-15)
        assert exact
        assert abs(float(near - number)) < 1e-14


def test_random_floats_are_not_recognised() -> None:
    """They keep their binary value."""
    rng = np.random.default_rng(0)
    for value in (rng.uniform(-1, 1, 1000) * 10.0 ** rng.integers(-2, 3, 1000)).tolist():
        if len(repr(value)) < 16:
            continue  # a short decimal by chance
        found, exact = recognise(value)
        assert not exact, value
        assert Fraction(int(found.p), int(found.q)) == Fraction(value)
    near = sum(recognise(value, 4e-15)[1] for value in rng.uniform(-1, 1, 2000).tolist())
    assert near <= 3  # one in ten thousand lies that near to a decimal or a fraction


# --------------------------------------------------------------------------- geometry


@pytest.mark.parametrize("spec", SPECS)
def test_geometry_of_the_zoo(spec: str) -> None:
    """Nothing is rounded; axes are orthonormal to all digits; floats are those of the model."""
    mechanism = load(spec)
    geometry = exact_geometry(mechanism, "exact")
    assert geometry.rounded == ()
    with ctx.workprec(200):
        for joint in mechanism.joints:
            for side, body in enumerate((joint.body_a, joint.body_b)):
                frame = geometry.frames[joint.name, side]
                x, y, z = frame.axes
                gaps = [dot(x, y), dot(y, z), dot(z, x)]
                gaps += [dot(a, a) - 1 for a in frame.axes]
                gaps += [a - b for a, b in zip(cross(x, y), z, strict=True)]
                for gap in gaps:
                    assert abs(geometry.balls(gap)) < arb(2) ** -180
                given = (joint.frame_a, joint.frame_b)[side]
                turn, shift = np.eye(3), np.zeros(3)
                if body in geometry.turned:
                    place = mechanism.body(body).frame
                    turn, shift = np.array(place.rotation), np.array(place.origin)
                origin = [float(geometry.balls(t).mid()) for t in frame.origin]
                assert origin == pytest.approx(shift + turn @ given.origin, abs=1e-14)
                axes = np.array([[float(geometry.balls(t).mid()) for t in a] for a in frame.axes])
                needed = joint.type not in ("spherical", "free")
                if needed:
                    assert pytest.approx(turn @ np.array(given.rotation), abs=1e-14) == axes.T


# --------------------------------------------------------------------------- elimination


def balls(A: np.ndarray, radius: float = 0.0) -> list[list[arb]]:
    return [[arb(float(x), radius) for x in row] for row in A]


@pytest.mark.parametrize("seed", range(8))
def test_rank_of_integer_matrices(seed: int) -> None:
    """The rank that FLINT finds over the integers, with columns of very different size."""
    rng = np.random.default_rng(seed)
    n, m, r = rng.integers(1, 12, 3)
    A = rng.integers(-9, 10, (n, r)) @ rng.integers(-9, 10, (r, m))
    rank = fmpz_mat(A.tolist()).rank()
    pivots = eliminate(balls(A * 2.0 ** rng.integers(-200, 200, m)))
    assert pivots.rank == rank
    minor = A[np.ix_(pivots.rows, pivots.columns)]
    assert fmpz_mat(minor.tolist()).det() != 0
    assert len(pivots.sizes) == rank


@pytest.mark.parametrize("radius", [1e-30, 1e-12, 1e-3, 10.0])
def test_rank_is_never_overstated(radius: float) -> None:
    rng = np.random.default_rng(1)
    A = rng.integers(-9, 10, (12, 5)) @ rng.integers(-9, 10, (5, 9))
    found = eliminate(balls(A, radius))
    assert found.rank <= 5
    assert found.rank == (5 if radius < 1e-6 else found.rank)


def test_columns_of_noise_are_left_out() -> None:
    """A column that holds nothing but rounding is not scaled up to count."""
    rng = np.random.default_rng(2)
    A = balls(rng.integers(1, 9, (6, 4)))
    for row in A:
        row[2] = arb(float(rng.standard_normal()) * 1e-40, 1e-39)
    found = eliminate(A)
    assert found.rank == 3
    assert 2 not in found.columns


def test_wide_balls_do_not_hide_narrow_ones() -> None:
    """The largest midpoint may contain zero; another entry still proves rank 1."""
    assert eliminate([[arb(5, 6), arb(0)], [arb(0.001), arb(0)]]).rank == 1


def test_nothing_to_eliminate() -> None:
    assert eliminate([]).rank == 0
    assert eliminate([[], []]).rank == 0
    assert eliminate([[arb(0)], [arb(0)]]).rank == 0
