"""Rows of the equations that a proof counts, against differences of what they are gradients of."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from mechid.base.proof import _distance, _Equations, _gradient, _orthonormal, _screw, _turn
from mechid.kinematics.reference_point.constraints import Product
from mechid.kinematics.tables import Floats

SIZE = 0.4
STEP = 1e-6
GROUND = 2  # the last of the poses
Poses = Floats  # (3, 3, 4), [R | p]


def equations(turning: tuple[int, ...] = (0, 1)) -> _Equations:
    """Two bodies in poses at random, whose axes need not be orthonormal, and the ground."""
    A = np.random.default_rng(8).normal(size=(3, 3, 4))
    A[GROUND] = np.eye(3, 4)
    return _Equations(2, SIZE, A, list(turning))


def slope(eq: _Equations, value: Callable[[Poses], float]) -> Floats:
    """Return the gradient over the 12 numbers of each body; positions count in units of 1/L."""
    row = np.zeros((2, 4, 3))
    for body, column, axis in np.ndindex(row.shape):
        change = np.zeros((3, 3, 4))
        change[body, axis, column] = STEP / (SIZE if column == 3 else 1.0)
        row[body, column, axis] = (value(eq.A + change) - value(eq.A - change)) / (2 * STEP)
    return row.ravel()


def product(t: Product) -> Callable[[Poses], float]:
    def value(A: Poses) -> float:
        w = A[t.b] @ [*t.local_b, float(t.points)]
        if t.points:
            w = w - A[t.a] @ [*t.local_a, 1.0]
        return float(A[t.of] @ [*t.direction, 0.0] @ w)

    return value


OF, AT, TO, U = (0.3, -0.5, 0.8), (0.1, 0.7, -0.2), (-0.6, 0.2, 0.9), (0.4, 0.4, -0.3)
BETWEEN = Product(0, OF, 0, AT, 1, TO, True)
DIRECTIONS = Product(0, OF, 0, AT, 1, TO, False)
TO_GROUND = Product(1, OF, 1, AT, GROUND, TO, True)
ON_GROUND = Product(GROUND, OF, GROUND, AT, 0, TO, True)


@pytest.mark.parametrize("t", [BETWEEN, DIRECTIONS, TO_GROUND, ON_GROUND])
def test_products_of_a_direction_and_a_distance(t: Product) -> None:
    eq = equations()
    np.testing.assert_allclose(_gradient(eq, t), slope(eq, product(t)), atol=1e-8)


COSINE = Product(0, U, 0, AT, 1, TO, False)


def angle(A: Poses) -> float:
    return float(np.arctan2(product(DIRECTIONS)(A), product(COSINE)(A)))


def test_angles_and_threads() -> None:
    eq = equations()
    wanted = slope(eq, angle)
    np.testing.assert_allclose(_turn(eq, DIRECTIONS, COSINE), wanted, atol=1e-8)
    row = SimpleNamespace(products=(BETWEEN, DIRECTIONS, COSINE), coefficient=0.03)
    thread = slope(eq, lambda A: product(BETWEEN)(A) - 0.03 * angle(A))
    np.testing.assert_allclose(_screw(eq, row), thread, atol=1e-8)  # type: ignore[arg-type]


def test_distances() -> None:
    """In units of L; the products are the components of the way between two points."""
    eq = equations()
    axes = [tuple(map(float, e)) for e in np.eye(3)]
    row = SimpleNamespace(products=[Product(GROUND, e, 0, AT, 1, TO, True) for e in axes])  # type: ignore[arg-type]

    def value(A: Poses) -> float:
        return float(np.linalg.norm(A[1] @ [*TO, 1.0] - A[0] @ [*AT, 1.0])) / SIZE

    np.testing.assert_allclose(_distance(eq, row), slope(eq, value), atol=1e-8)  # type: ignore[arg-type]


def test_axes_of_a_body_that_turns_freely() -> None:
    """Six products of its axes, with each other and with themselves; nothing is linear."""
    eq = equations(turning=(0, 0))  # the second body turns with the first: nothing is new
    _orthonormal(eq, {0: np.zeros((0, 8)), 1: np.zeros((0, 8))})
    assert eq.linear == []
    assert len(eq.quadratic) == 6
    pairs = ((a, b) for a in range(3) for b in range(a, 3))
    for row, (a, b) in zip(eq.quadratic, pairs, strict=True):
        wanted = slope(eq, lambda A, a=a, b=b: float(A[0, :, a] @ A[0, :, b]))  # type: ignore[misc]
        np.testing.assert_allclose(row, wanted, atol=1e-8)


@pytest.mark.parametrize("turning", [(0, 1), (0, 0)])
def test_axes_of_a_body_that_turns_about_a_line_at_rest(turning: tuple[int, int]) -> None:
    """Others are normal to the image of that line, which is linear: two rows for each body.

    Their own products, three, are new for bodies that do not turn with another one.
    """
    eq = equations(turning)
    u, image = np.array([0.0, 0.6, 0.8]), np.array([0.8, 0.0, 0.6])
    at_rest = np.concatenate([u, [0.0], image, [0.0]])[None]
    _orthonormal(eq, {0: at_rest, 1: at_rest})
    assert len(eq.linear) == 4
    assert len(eq.quadratic) == (6 if turning == (0, 1) else 3)
    for body in (0, 1):
        rows = np.array(eq.linear[2 * body : 2 * body + 2]).reshape(2, 2, 4, 3)
        assert not rows[:, 1 - body].any()
        assert not rows[:, :, 3].any()  # wherever the body is
        for row in rows[:, body, :3]:  # the derivative by column k of R is v_k times the image
            v = row @ image
            np.testing.assert_allclose(row, np.outer(v, image), atol=1e-12)
            assert abs(v @ u) < 1e-12
            assert np.linalg.norm(v) == pytest.approx(1.0)
    for row in np.array(eq.quadratic).reshape(-1, 2, 4, 3):
        assert not row[:, 3].any()
        assert np.allclose(np.einsum("bck,bc->bk", row[:, :3], np.tile(u, (2, 1))), 0.0)
