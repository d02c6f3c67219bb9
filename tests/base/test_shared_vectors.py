"""Points, directions and their products: against integrals, turned tensors and intersections."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from flint import arb, ctx

from mechid.base.constant import (
    _combined,
    _common,
    _completed,
    _directions,
    _handed_on,
    _level,
    _level_on,
    _Link,
    _spread,
    _still,
    parallel,
)
from mechid.base.fractions import LARGEST, FractionField, TooLargeError, _generators, _power
from mechid.base.homogeneous import (
    UPPER,
    Shared,
    direction,
    point,
    relative_rotation,
    symmetric_product,
    tensor_unit,
)
from mechid.exact.numbers import PRECISION, Balls
from mechid.mechanism.records import GROUND

ZERO = 2.0**-100
Array = np.ndarray


def rows(*values: Any) -> list[list[arb]]:
    return [[arb(x) for x in row] for row in values]


def floats(found: list[list[arb]]) -> Array:
    return np.array([[float(x.mid()) for x in row] for row in found])


# ---------------------------------------------------------------------------------- products


def ten_of(S: Array) -> Array:
    """Return (m, mx, …, Izz) of Σ = ∫ ρ ρᵀ dm, I = tr(J) 1 - J."""
    J = S[:3, :3]
    inertia = np.trace(J) * np.eye(3) - J
    return np.array([S[3, 3], *S[:3, 3], *(inertia[i, j] for i, j in UPPER)])


def test_products_are_inertia() -> None:
    rng = np.random.default_rng(0)
    rho, sigma = rng.standard_normal((2, 4))
    both = np.outer(rho, sigma) + np.outer(sigma, rho)
    np.testing.assert_allclose(symmetric_product(rho, sigma), ten_of(both))
    np.testing.assert_allclose(symmetric_product(rho, rho), ten_of(np.outer(rho, rho)))
    # Equal numbers count as the same vector.
    np.testing.assert_allclose(
        symmetric_product(rho, rho.copy()), symmetric_product(rho, rho), rtol=1e-15
    )


@pytest.mark.parametrize("number", range(6))
def test_turned_tensors(number: int) -> None:
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((3, 3)))[0]
    i, j = UPPER[number]
    tensor = np.zeros((3, 3))
    tensor[i, j] = tensor[j, i] = 1.0
    turned = Q @ tensor @ Q.T
    found = tensor_unit(number, Q.tolist())
    np.testing.assert_allclose(found, [0] * 4 + [turned[a, b] for a, b in UPPER], atol=1e-15)


def test_points_and_directions() -> None:
    v = (sp.Integer(1), sp.Integer(2), sp.Integer(3))
    assert point(v) == (1, 2, 3, 1)
    assert direction(v) == (1, 2, 3, 0)
    shared = Shared("s", point(v), direction(v))
    assert shared.is_point
    assert (shared.on(0), shared.on(1)) == (point(v), direction(v))
    assert not Shared("s", direction(v), point(v)).is_point


def test_relative_rotations() -> None:
    """Axes of frames are given one by one: Q takes those of a to those of b."""
    A, B = (np.linalg.qr(np.random.default_rng(k).standard_normal((3, 3)))[0] for k in (2, 3))
    frames: Any = [SimpleNamespace(axes=M.T.tolist()) for M in (A, B)]
    Q = np.array(relative_rotation(*frames), dtype=float)
    np.testing.assert_allclose(Q @ A, B, atol=1e-12)


# ----------------------------------------------------------------------------- what stays constant


def test_multiples() -> None:
    a, b, c = rows([1, 2, 3], [2, 4, 6], [2, 4, 6.001])
    assert parallel(a, b, ZERO)
    assert not parallel(a, c, ZERO)
    assert parallel(rows([0, 0, 0])[0], a, ZERO)
    assert parallel(a, c, 1e-2)


def test_intersections_of_spaces() -> None:
    xy, yz = rows([1, 0, 0], [0, 1, 0]), rows([0, 2, 0], [0, 1, 1])
    np.testing.assert_allclose(floats(_common(xy, yz, ZERO)), [[0, 1, 0]])
    assert _common(xy, rows([0, 0, 1]), ZERO) == []
    assert _common(xy, [], ZERO) == []
    assert _common([], xy, ZERO) == []
    np.testing.assert_allclose(floats(_common(xy, xy, ZERO)), [[1, 0, 0], [0, 1, 0]])


def test_combinations() -> None:
    found = _combined(rows([2, -1])[0], rows([1, 2, 3], [4, 5, 6]))
    assert [float(x.mid()) for x in found] == [-2.0, -1.0, 0.0]


def rest(u: Any, fourth: float, c: Any) -> list[float]:
    return [*u, fourth, *c, fourth]


def test_directions_among_what_is_at_rest() -> None:
    """Two points and a direction: their difference is a direction, too."""
    known = rows(
        rest((0, 0, 0), 1, (5, 0, 0)), rest((0, 2, 0), 1, (5, 0, 2)), rest((1, 0, 0), 0, (0, 1, 0))
    )
    found = _still(known, ZERO)
    assert len(found) == 2
    assert all(float(r[3].mid()) == float(r[7].mid()) == 0 for r in found)
    np.testing.assert_allclose(floats(_directions(known, ZERO)), [[1, 0, 0], [0, 1, 0]])
    assert _still([], ZERO) == []
    # The third direction follows: z points along (0, 1, 0) × (0, 0, 1).
    whole = floats(_completed(known, ZERO))
    assert len(whole) == 4
    z = next(r for r in whole if abs(r[2]) > 0.5)
    np.testing.assert_allclose(z[[2, 4, 5, 6]] / z[2], [1, 1, 0, 0], atol=1e-12)
    one = rows(rest((1, 0, 0), 0, (0, 1, 0)))
    assert _completed(one, ZERO) is one
    assert _completed([], ZERO) == []


def test_what_a_joint_hands_on() -> None:
    """A body with a point and x at rest; the joint shares x, which is y of the next body."""
    space = rows(rest((0, 0, 0), 1, (5, 0, 0)), rest((1, 0, 0), 0, (0, 0, 1)))
    x_y = (rows([1, 0, 0, 0])[0], rows([0, 1, 0, 0])[0])
    (found,) = floats(_handed_on(space, [x_y], ZERO))
    scale = found[1]
    np.testing.assert_allclose(found / scale, [0, 1, 0, 0, 0, 0, 1, 0], atol=1e-12)
    z_y = (rows([0, 0, 1, 0])[0], rows([0, 1, 0, 0])[0])
    assert _handed_on(space, [z_y], ZERO) == []
    assert _handed_on([], [x_y], ZERO) == []
    assert _handed_on(space, [], ZERO) == []


def test_directions_of_constant_height() -> None:
    g = rows([0, 0, -9.81])[0]
    vertical = rows(rest((0, 1, 0), 0, (0, 0, 1)))  # y of the body is vertical: it turns about it
    assert len(_level(vertical, g, ZERO)) == 3
    across = rows(rest((0, 1, 0), 0, (1, 0, 0)))  # y is horizontal: y keeps its height only
    np.testing.assert_allclose(floats(_level(across, g, ZERO)), [[0, 1, 0]])
    assert _level([], g, ZERO) == []
    assert len(_level([], rows([0, 0, 0])[0], ZERO)) == 3  # without gravity
    pairs = [(rows([0, 1, 0, 0])[0], rows([0, 0, 1, 0])[0]),
             (rows([0, 1, 0, 1])[0], rows([9, 9, 9, 1])[0])]  # fmt: skip
    # Points hand on no heights.
    (found,) = floats(_level_on(rows([0, 1, 0]), pairs, ZERO))
    np.testing.assert_allclose(found / found[2], [0, 0, 1])
    assert _level_on(rows([1, 0, 0]), pairs, ZERO) == []
    assert _level_on(rows([0, 1, 0]), pairs[1:], ZERO) == []


def test_vectors_spread_from_body_to_body() -> None:
    """Ground – a – b – c by joints about x, x, y: x gets to b, and no further."""
    x, y = rows([1, 0, 0, 0], [0, 1, 0, 0])
    links = [
        _Link(("c", "b"), ((y, y),)),
        _Link((GROUND, "a"), ((x, x),)),
        _Link(("b", "a"), ((x, x),)),
    ]
    unit = np.eye(4)
    spaces = {GROUND: rows(*(np.concatenate([e, e]) for e in unit))}
    _spread(spaces, links, lambda s, p: _handed_on(s, p, ZERO), ZERO)
    assert {name: len(found) for name, found in spaces.items()} == {GROUND: 4, "a": 1, "b": 1}
    assert links[0].seen_from(1) == [(y, y)]


# ----------------------------------------------------------------------------------- fractions


def field(*texts: str) -> tuple[FractionField, list[sp.Expr]]:
    names = sp.symbols("a b t")
    values = dict(
        zip(names, (sp.Rational(3, 10), sp.Rational(7, 10), sp.Rational(1, 5)), strict=True)
    )
    made = [sp.sympify(x, {s.name: s for s in names}) for x in texts]
    geometry: Any = SimpleNamespace(balls=Balls(values), values=values)
    return FractionField(made, geometry), made


def test_relations_between_roots_and_sines() -> None:
    with ctx.workprec(PRECISION):
        F, (s, c, r) = field("sin(t)", "cos(t)", "sqrt(3)")
        one = F(s) * F(s) - (-(F(c) * F(c)))
        assert sp.simplify(F.expression(one)) == 1
        assert F.expression(F(r) * F(r)) == 3
        nothing = one - one
        assert nothing.vanishes
        assert nothing.size == 0.0
        assert F(s).size == pytest.approx(np.sin(0.2))
        assert not F(s).vanishes


def test_what_vanishes_only_at_the_numbers_of_the_model() -> None:
    with ctx.workprec(PRECISION):
        F, (x, y) = field("a", "b")
        special = F(x) / F(y) - F(sp.Rational(3, 7))
        assert special.size == 0.0
        assert not special.vanishes
        assert sp.simplify(F.expression(special) - (x / y - sp.Rational(3, 7))) == 0
        assert F.expression(-F(x)) == -x


def test_expressions_that_grow_too_large() -> None:
    with ctx.workprec(PRECISION):
        F, _ = field("a", "b")
        a, b = sp.symbols("a b")
        long = F(sp.expand((a + b + 1) ** 3))  # ten terms, and one below
        assert long.terms == 11
        assert LARGEST >= 11 * 11
        long * long
        longer = F(sp.expand((a + b + 1) ** 4))  # sixteen
        assert longer.terms == 16
        with pytest.raises(TooLargeError):
            longer * longer
        plain, _ = field("1/2")
        assert not plain.has_symbols
        assert plain(sp.Rational(1, 2)).terms == 1
        assert plain.expression(plain(sp.Rational(1, 2)) / plain(sp.Rational(3, 4))) == sp.Rational(
            2, 3
        )


def test_powers_and_symbols_of_a_field() -> None:
    a, b = sp.symbols("a b")
    assert _power(a**3) == (a, 3)
    assert _power(a**-2) == (a, -2)
    assert _power(sp.sqrt(a)) == (sp.sqrt(a), 1)
    assert _power(a ** sp.Rational(3, 2)) == (sp.sqrt(a), 3)
    assert _power(a ** sp.Rational(-1, 2)) == (sp.sqrt(a), -1)
    found: dict[sp.Expr, None] = {}
    _generators(2 * a**2 + sp.sin(b) / sp.sqrt(2) + sp.pi, found)
    assert set(found) == {a, sp.sin(b), sp.sqrt(2), sp.pi}
