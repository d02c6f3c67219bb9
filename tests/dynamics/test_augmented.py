"""Multipliers on positions and Euler parameters against independent coordinates and by hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.dynamics.drive import driven_coordinates
from mechid.dynamics.forward.augmented import Augmented
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Baumgarte
from mechid.dynamics.reference_point.augmented import (
    Augmented as AugmentedBlocks,
)
from mechid.dynamics.reference_point.augmented import (
    _refuse_massless,
    _solve,
    accelerations,
    augmented,
    constraint_error,
)
from mechid.errors import ModelError, SingularPoseError
from mechid.kinematics.reference_point.evaluate import gamma, jacobian

from .rich import engine_of, some_state

Array = np.ndarray
NAMES = ["rich", "quarter_vehicle", "three_rps"]


def formulation(
    name: str,
    baumgarte: Baumgarte | None = None,
    **motions: Any,
) -> tuple[Augmented, Array, Array, Array]:
    """Return the formulation at a state, y and ẏ."""
    engine = engine_of(name)
    y, yd = some_state(engine)
    driven = driven_coordinates(engine.model.mechanism, motions)
    form = Augmented(engine, baumgarte or Baumgarte(), driven)
    e = engine.reduced(y, yd)
    return form, form.start(e.q, e.v), y, yd


@pytest.mark.parametrize("name", NAMES)
def test_it_moves_as_independent_coordinates_say(name: str) -> None:
    form, z, y, yd = formulation(name)
    tau = np.random.default_rng(6).uniform(-2, 2, len(y))
    other = Engine(form.engine.model, form.engine.phi)
    a = other.accelerate(y, yd, tau)
    now = form.evaluate(z, tau)
    for found, wanted in zip(form.independent(z), (y, yd), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    ydd = form.independent_acceleration(z, now.rate)
    np.testing.assert_allclose(ydd, a.ydd, rtol=1e-7, atol=1e-7)
    assert now.kinetic == pytest.approx(a.kinetic, rel=1e-8)
    assert now.power == pytest.approx(a.power, rel=1e-7, abs=1e-8)
    assert now.dissipated == pytest.approx(a.dissipated, rel=1e-7, abs=1e-8)
    # Potential energies have the same zero here: all heights count from the ground.
    assert now.potential == pytest.approx(a.potential, rel=1e-8, abs=1e-8)
    np.testing.assert_array_equal(now.tau, tau)
    q, v = form.tree(z)
    e = other.reduced(y, yd)
    np.testing.assert_allclose(q, e.q, atol=1e-9)
    np.testing.assert_allclose(v, e.v, atol=1e-9)
    assert form.constraint_error(z) < 1e-9
    # Rates of the angles that are integrated beside it, by finite differences.
    h, n = 1e-6, 14 * len(form.engine.model.mechanism.bodies)
    ends = [form._parts(z + s * h * now.rate) and np.r_[form._y, form._near, form._pose.turns]
            for s in (1, -1)]  # fmt: skip
    np.testing.assert_allclose((ends[0] - ends[1]) / (2 * h), now.rate[n:], atol=1e-6)


def test_angles_count_their_turns() -> None:
    """From the tree on, and from state to state."""
    engine = engine_of("rich")
    y, yd = some_state(engine)
    e = engine.reduced(y, yd)
    place = engine.kinematics.tables.direct.q[0]
    form = Augmented(engine, Baumgarte())
    for turns in (1, -3):
        q = e.q.copy()
        q[place] += 2 * np.pi * turns
        z = form.start(q, e.v)
        found, _ = form.independent(z)
        assert found[0] == pytest.approx(y[0] + 2 * np.pi * turns, abs=1e-9)
        closed = form.project(z)
        assert form.independent(closed)[0][0] == pytest.approx(found[0], abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_the_nearest_closed_state_of_bodies(name: str) -> None:
    form, z, y, _ = formulation(name)
    rng = np.random.default_rng(7)
    n = 7 * len(form.engine.model.mechanism.bodies)
    off = z.copy()
    off[: 2 * n] += 1e-3 * rng.uniform(-1, 1, 2 * n)
    assert form.constraint_error(off) > 1e-5
    closed = form.project(off)
    assert form.constraint_error(closed) < 1e-12
    assert len(closed) == len(z)
    q, qd = closed[:n], closed[n : 2 * n]
    C = jacobian(form.model.system.closure, q)
    np.testing.assert_allclose(C @ qd, 0, atol=1e-9)
    # The shortest change of speeds, in units of the sizes.
    s = form.model.system.q_scale
    change = (qd - off[n : 2 * n]) / s
    free = np.linalg.svd(C * s)[2][n - form.model.n_free :]
    np.testing.assert_allclose(free @ change, 0, atol=1e-8)
    # Angles are those of the closed pose.
    found, _ = form.independent(closed)
    np.testing.assert_allclose(closed[2 * n : 2 * n + len(y)], found, atol=1e-12)


def test_largest_gap_by_hand() -> None:
    """A body 3 mm off: gaps of its joints, in sizes of the mechanism."""
    form, z, _, _ = formulation("rich")
    off = z.copy()
    off[7 * 2] += 0.003  # the rocker along x: both of its joints
    size = form.model.system.size
    assert form.constraint_error(off) == pytest.approx(0.003 / size, rel=1e-9)
    off = z.copy()
    off[3:7] *= 1.5  # length of a quaternion is no gap: it is normalised
    assert form.constraint_error(off) < 1e-9


def test_driven_coordinates_are_pulled_to_their_motion() -> None:
    engine = engine_of("quarter_vehicle")
    y, yd = some_state(engine)
    alpha, beta = 2.0, 3.0
    form, z, y, yd = formulation(
        "quarter_vehicle", Baumgarte(alpha, beta),
        spin=lambda t: (y[1] - 0.01 + t, yd[1] - 0.2, 0.7),
    )  # fmt: skip
    now = form.evaluate(z, np.array([5.0, 0.0]), 0.0)
    ydd = form.independent_acceleration(z, now.rate)
    pull = 0.7 - 2 * alpha * 0.2 - beta**2 * 0.01
    assert ydd[1] == pytest.approx(pull, rel=1e-6)
    e = engine.reduced(y, yd)
    np.testing.assert_allclose(e.M @ ydd + e.h, now.tau, rtol=1e-6, atol=1e-6)
    assert now.tau[0] == pytest.approx(5.0, rel=1e-9)
    assert now.power == pytest.approx(now.tau @ yd + e.supplied, rel=1e-8)
    closed = form.project(z, 0.004)
    found, speed = form.independent(closed)
    assert found[1] == pytest.approx(y[1] - 0.01 + 0.004, abs=1e-10)
    assert speed[1] == pytest.approx(yd[1] - 0.2, abs=1e-10)
    assert form.constraint_error(closed) < 1e-12
    # A length counts in sizes of the mechanism, an angle as it is.
    both, z, y, yd = formulation("quarter_vehicle", z=0.0, spin=0.0)
    np.testing.assert_allclose(both._driver_scale, [1 / form.model.system.size, 1.0])
    q, _ = both._parts(z)
    C, error = both._constraints(q, np.array([y[0] - 0.1, y[1] + 0.2]))
    np.testing.assert_allclose(error[-2:], [0.1 / form.model.system.size, -0.2], atol=1e-9)
    assert C.shape[0] == len(error) == len(form.model.system.closure.rows) + 2


# ------------------------------------------------------------------------- the equations alone


def test_blocks_of_the_system() -> None:
    """Its solution makes the matrix times (q̈, -λ) equal to the right side."""
    form, z, _, _ = formulation("rich")
    model, n = form.model, 7 * form.model.n_bodies
    q, qd = z[:n].copy(), z[n : 2 * n]
    q[14] += 1e-4  # open a little
    tau, phi = np.array([1.5]), form.engine.phi
    a = augmented(model, q, qd, tau, phi=phi, alpha=2.0, beta=3.0)
    C = jacobian(model.system.closure, q)
    np.testing.assert_array_equal(a.C, C)
    error = constraint_error(model, q)
    assert np.abs(error).max() == pytest.approx(1e-4, rel=1e-6)
    right = gamma(model.system.closure, q, qd) - 4 * C @ qd - 9 * error
    np.testing.assert_allclose(a.right, right, atol=1e-12)
    alone = augmented(model, q, qd, tau, phi=phi, beta=3.0)
    np.testing.assert_allclose(alone.right, right + 4 * C @ qd, atol=1e-12)
    none = augmented(model, q, qd, tau, phi=phi)
    np.testing.assert_allclose(none.right, gamma(model.system.closure, q, qd), atol=1e-12)
    m = len(C)
    assert a.matrix.shape == (n + m, n + m)
    np.testing.assert_allclose(a.matrix, a.matrix.T, atol=1e-14)
    assert not a.matrix[n:, n:].any()
    closed = z[:n]
    b = augmented(model, closed, qd, tau, phi=phi)
    found = accelerations(model, closed, qd, lambda t: np.array([t]), 1.5, phi=phi)
    both = b.matrix @ np.concatenate([found.qdd, -found.multipliers])
    np.testing.assert_allclose(both, np.concatenate([b.force, b.right]), atol=1e-7)
    np.testing.assert_array_equal(found.tau, tau)
    # Coordinates whose accelerations are given.
    driven = accelerations(model, closed, qd, np.zeros(1), phi=phi, driven={0: 2.0})
    D = jacobian(model.system.drivers, closed)
    ydd = D @ driven.qdd - gamma(model.system.drivers, closed, qd)
    assert ydd[0] == pytest.approx(2.0, rel=1e-9)
    again = accelerations(model, closed, qd, driven.tau, phi=phi)
    np.testing.assert_allclose(again.qdd, driven.qdd, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(again.multipliers, driven.multipliers, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("mass", "massless"),
    [
        (np.diag([1e-9, 1e9]), False),  # sizes do not matter, only whether there is any
        (np.diag([0.0, 1.0]), True),
        (np.array([[1.0, 1.0], [1.0, 1.0]]), True),  # one motion of both has none
        (np.array([[1.0, 1.0 - 1e-10], [1.0 - 1e-10, 1.0]]), False),
        (np.zeros((0, 0)), False),
    ],
)
def test_motions_that_move_no_mass(mass: Array, massless: bool) -> None:
    model: Any = SimpleNamespace(mechanism=SimpleNamespace(name="thing"))
    if not massless:
        _refuse_massless(model, mass)
        return
    with pytest.raises(ModelError, match="moves no mass") as caught:
        _refuse_massless(model, mass)
    assert caught.value.path == ("bodies",)


def by_hand(n_free: int) -> Any:
    """A model of three coordinates in units of 1, 2 and 1, whose rows count twice."""
    return SimpleNamespace(
        n_free=n_free,
        n_independent=-1,
        mechanism=SimpleNamespace(name="thing"),
        system=SimpleNamespace(
            q_scale=np.array([1.0, 2.0, 1.0]),
            size=0.5,
            closure=SimpleNamespace(scale=lambda size: np.array([1 / size])),
            drivers=SimpleNamespace(scale=lambda size: np.array([1.0, 1 / size])),
        ),
    )


def test_a_system_of_three_numbers() -> None:
    """x + 3 y = 5 with masses 1, 2, 4: λ by hand; then z̈ is given, too."""
    mass, C = np.diag([1.0, 2.0, 4.0]), np.array([[1.0, 3.0, 0.0]])
    force, right = np.array([1.0, 2.0, 3.0]), np.array([5.0])
    a = AugmentedBlocks(mass, C, force, right)
    # x = 1 + λ, y = (2 + 3 λ) / 2: 1 + λ + 3 + 4.5 λ = 5.
    multiplier = 1 / 5.5
    want = [1 + multiplier, 1 + 1.5 * multiplier, 0.75]
    qdd, free = _solve(by_hand(2), a, np.zeros(3), [], np.zeros((0, 3)), np.zeros(0))
    np.testing.assert_allclose(qdd, want, rtol=1e-12)
    assert free.shape == (3, 2)
    np.testing.assert_allclose(C @ free, 0, atol=1e-12)
    D = np.array([[0.0, 1.0, 1.0]])
    qdd, _ = _solve(by_hand(2), a, np.zeros(3), [1], D, np.array([4.0]))
    # One motion is left: (3, -1, 1); its force must vanish.
    np.testing.assert_allclose(C @ qdd, [5.0], rtol=1e-12)
    np.testing.assert_allclose(D @ qdd, [4.0], rtol=1e-12)
    assert np.array([3.0, -1.0, 1.0]) @ (mass @ qdd - force) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(("size", "regular"), [(1.1, True), (0.9, False)])
def test_rows_that_do_not_determine_the_motion(size: float, regular: bool) -> None:
    """The bound is a billionth: of constraints without units, and of what drives say."""
    small = size * 1e-9
    weak = AugmentedBlocks(np.eye(3), np.array([[0.5 * small, 0, 0]]), np.ones(3), np.zeros(1))
    fine = AugmentedBlocks(np.eye(3), np.array([[1.0, 0, 0]]), np.ones(3), np.zeros(1))
    drives = np.array([[0, 0.5, 0], [0, 0, 0.5 * small]])
    for blocks, which, D, words in (
        (weak, [], np.zeros((0, 3)), "more motions than the declared ones"),
        (fine, [0, 1], drives, "do not determine their part of the motion"),
    ):
        given = np.zeros(len(which))
        if regular:
            _solve(by_hand(2), blocks, np.zeros(3), which, D, given)
            continue
        with pytest.raises(SingularPoseError, match=words):
            _solve(by_hand(2), blocks, np.zeros(3), which, D, given)
    with pytest.raises(SingularPoseError):  # one row, and two are needed
        _solve(by_hand(1), fine, np.zeros(3), [], np.zeros((0, 3)), np.zeros(0))
