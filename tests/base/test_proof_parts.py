"""Which equations of a proof are linear, and which follow from others: directions by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from mechid.base.loop_constraints import Alike
from mechid.base.proof import (
    Count,
    _classes,
    _constrained,
    _Equations,
    _image,
    _product,
    _repeated,
    _still,
)
from mechid.kinematics.reference_point.constraints import Product

ORIGIN = (0.0, 0.0, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def equations(turning: tuple[int, ...] = (0, 1)) -> _Equations:
    A = np.stack([np.eye(3, 4)] * 3)
    A[0, :, 3], A[1, :, 3] = [1.0, 2.0, 3.0], [0.0, 5.0, 0.0]
    return _Equations(2, 0.5, A, list(turning))


def test_what_a_count_proves() -> None:
    found = Count(24, 10, 12, 2, True)
    assert found.proves
    assert found.words == (
        "24 unknowns - 10 linear - 12 quadratic equations = 2, for 2 degrees of freedom"
    )
    assert not Count(24, 10, 12, 2, False).proves
    assert not Count(24, 10, 12, 1, True).proves
    assert not Count(24, 10, 11, 2, True).proves


def test_rows_of_columns() -> None:
    """weight · A ρ, the position in units of L."""
    eq = equations()
    row = eq.column(1, np.array([1.0, 2.0, 3.0, 4.0]), np.array([5.0, 6.0, 7.0])).reshape(2, 4, 3)
    assert not row[0].any()
    np.testing.assert_allclose(row[1, 1], [10.0, 12.0, 14.0])
    np.testing.assert_allclose(row[1, 3], np.array([5.0, 6.0, 7.0]) * 4 / 0.5)
    assert not eq.column(2, np.ones(4), np.ones(3)).any()  # the ground has no unknowns


def test_what_follows_from_linear_equations() -> None:
    eq = equations()
    a, b = np.zeros(24), np.zeros(24)
    a[[0, 3]] = 1.0
    b[[3, 7]] = [2.0, 1.0]
    eq.linear += [a, b, a + b]
    eq.close_span()
    assert eq.span.shape == (2, 24)
    assert eq.follows(3 * a - b)
    other = a.copy()
    other[9] = 1e-6
    assert not eq.follows(other)
    other[9] = 1e-10
    assert eq.follows(other)
    assert eq.follows(np.zeros(24))
    empty = equations()
    empty.close_span()
    assert len(empty.span) == 0
    assert not empty.follows(a)


def row(u: tuple[float, ...], fourth: float, c: tuple[float, ...]) -> list[float]:
    return [*u, fourth, *c, fourth]


def test_directions_at_rest() -> None:
    assert _still(np.zeros((0, 8))).shape == (0, 6)
    # One point at rest is no direction; two points are one, whose image is their difference.
    point = row((1.0, 1.0, 0.0), 1.0, (4.0, 4.0, 4.0))
    assert _still(np.array([point])).shape == (0, 6)
    other = row((1.0, 3.0, 0.0), 1.0, (4.0, 4.0, 6.0))
    (found,) = _still(np.array([point, other]))
    sign = np.sign(found[1])
    np.testing.assert_allclose(sign * found, [0, 1, 0, 0, 0, 1], atol=1e-12)
    # Weighted points are the same points.
    (again,) = _still(np.array([point, [2 * x for x in other]]))
    np.testing.assert_allclose(np.sign(again[1]) * again, [0, 1, 0, 0, 0, 1], atol=1e-12)
    # A direction of any length gets length one, and so does its image.
    (unit,) = _still(np.array([row((0.0, 0.0, 4.0), 0.0, (0.0, 4.0, 0.0))]))
    np.testing.assert_allclose(np.sign(unit[2]) * unit, [0, 0, 1, 0, 1, 0], atol=1e-12)


def test_images_of_directions() -> None:
    """x of body 0 points along y and y along -x, at rest; body 1 has nothing at rest."""
    still = {0: np.array([[1, 0, 0, 0, 1, 0], [0, 1, 0, -1, 0, 0]], dtype=float),
             1: np.zeros((0, 6))}  # fmt: skip
    np.testing.assert_allclose(_image(0, np.array([2.0, 3.0, 0.0]), still, 2), [-3.0, 2.0, 0.0])
    assert _image(0, np.array([2.0, 3.0, 0.1]), still, 2) is None
    assert _image(1, np.array([1.0, 0.0, 0.0]), still, 2) is None
    np.testing.assert_array_equal(_image(2, np.array([1.0, 2.0, 3.0]), still, 2), [1, 2, 3])


STILL = {0: np.array([[0, 0, 1, 0, 0, 1.0]]), 1: np.zeros((0, 6))}
NONE = {0: np.zeros((0, 6)), 1: np.zeros((0, 6))}


def added(t: Product, still: dict[int, Any], eq: _Equations | None = None) -> tuple[int, int]:
    """Return how many linear and quadratic equations a product adds."""
    eq = eq or equations()
    if not eq.span.size:
        eq.close_span()
    before = len(eq.linear), len(eq.quadratic)
    _product(eq, t, still)
    return len(eq.linear) - before[0], len(eq.quadratic) - before[1]


@pytest.mark.parametrize(
    ("t", "still", "wanted"),
    [
        (Product(0, Z, 0, ORIGIN, 1, X, False), STILL, (1, 0)),  # the first direction rests
        (Product(1, X, 1, ORIGIN, 0, Z, False), STILL, (1, 0)),  # the second
        (Product(0, X, 0, ORIGIN, 1, Y, False), STILL, (0, 1)),
        (Product(0, Z, 0, ORIGIN, 1, X, True), STILL, (1, 0)),
        (Product(0, X, 0, ORIGIN, 1, Y, True), STILL, (0, 1)),
        (Product(2, X, 2, ORIGIN, 1, Y, False), NONE, (1, 0)),  # of the ground
        (Product(1, X, 1, ORIGIN, 2, Y, False), NONE, (1, 0)),
        (Product(0, X, 0, ORIGIN, 1, Y, False), NONE, (0, 1)),
    ],
)
def test_linear_if_one_factor_rests(t: Product, still: Any, wanted: tuple[int, int]) -> None:
    assert added(t, still) == wanted


def test_directions_of_bodies_that_turn_together_say_nothing() -> None:
    t = Product(0, X, 0, ORIGIN, 1, Y, False)
    assert added(t, NONE, equations((0, 0))) == (0, 0)
    # A distance between them does.
    assert added(Product(0, X, 0, ORIGIN, 1, Y, True), NONE, equations((0, 0))) == (0, 1)


def test_a_constant_distance_makes_a_product_linear() -> None:
    eq = equations()
    t = Product(0, X, 0, ORIGIN, 1, Y, True)
    for e in np.eye(3):  # the way from one point to the other is known
        eq.linear.append(
            eq.column(1, np.array([*Y, 1.0]), e) - eq.column(0, np.array([*ORIGIN, 1.0]), e)
        )
    assert added(t, NONE, eq) == (1, 0)


def test_products_that_were_met_before() -> None:
    eq = equations()
    t = Product(0, X, 0, ORIGIN, 1, Y, False)
    u, w = np.array(X), np.array(Y)
    assert not _repeated(eq, t, u, w)
    assert _repeated(eq, t, u, w)
    assert _repeated(eq, t, u + 1e-10, w)
    assert not _repeated(eq, t, u + 1e-6, w)
    assert not _repeated(eq, Product(1, X, 1, ORIGIN, 0, Y, False), u, w)
    # Another body that turns with the second one is the same.
    same = equations((0, 0))
    ground = Product(2, X, 2, ORIGIN, 1, Y, False)
    assert not _repeated(same, ground, u, w)
    assert _repeated(same, Product(2, X, 2, ORIGIN, 0, Y, False), u, w)
    assert added(t, NONE, eq) == (0, 0)


def pairs(*rows: tuple[int, ...]) -> tuple[Any, ...]:
    exact = [tuple(sp.Integer(x) for x in r) for r in rows]
    return tuple((r, r) for r in exact)


AXES = ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0))


def test_bodies_that_turn_together() -> None:
    names = ["a", "b", "c", "d"]
    found: Any = SimpleNamespace(alike=(Alike(("b", "c"), pairs(*AXES)),))
    assert _classes(names, found) == [0, 1, 1, 3]
    # Two directions are not enough, nor are points.
    for rows in (AXES[:2], (*AXES[:2], (0, 0, 0, 1)), (*AXES[:2], (0, 0, 0, 0))):
        assert _classes(names, SimpleNamespace(alike=(Alike(("b", "c"), pairs(*rows)),))) == [
            0, 1, 2, 3,
        ]  # type: ignore[arg-type]  # fmt: skip
    chain = (Alike(("c", "d"), pairs(*AXES)), Alike(("d", "a"), pairs(*AXES)))
    assert _classes(names, SimpleNamespace(alike=chain)) == [0, 1, 0, 0]  # type: ignore[arg-type]


def test_equations_of_what_rests_and_of_what_moves_alike() -> None:
    eq = equations()
    found: Any = SimpleNamespace(alike=(Alike(("a", "b"), pairs((1, 0, 0, 0), (0, 0, 0, 1))),))
    rest = {0: np.array([row(Z, 0.0, Z)]), 1: np.zeros((0, 8))}
    _constrained(eq, ["a", "b"], rest, found)
    assert len(eq.linear) == 3 + 3 * 2
    axes = np.eye(3)
    for k in range(3):
        np.testing.assert_array_equal(eq.linear[k], eq.column(0, np.array([*Z, 0.0]), axes[k]))
        both = eq.column(0, np.array([*X, 0.0]), axes[k]) - eq.column(
            1, np.array([*X, 0.0]), axes[k]
        )
        np.testing.assert_array_equal(eq.linear[3 + k], both)
