"""Formulations on the tree at states whose loops are open, against equations solved at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.dynamics.drive import Driven, driven_coordinates
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.forward.formulation import Baumgarte
from mechid.dynamics.forward.gibbs_appell import GibbsAppell
from mechid.dynamics.forward.on_tree import TreeFormulation
from mechid.kinematics.kernels.links import advance
from mechid.spatial.rotations import matrix_from_quaternion

from .rich import engine_of, some_state

Array = np.ndarray
NAMES = ["rich", "quarter_vehicle", "three_rps"]


def driven_by(engine: Engine, **motions: Any) -> Driven:
    return driven_coordinates(engine.model.mechanism, motions)


def a_little_open(form: TreeFormulation, seed: int = 3) -> Array:
    """A state near a closed one: loops open by a thousandth, speeds that do not fit."""
    engine, rng = form.engine, np.random.default_rng(seed)
    e = engine.reduced(*some_state(engine))
    q = e.q.copy()
    advance(engine.kinematics.tables, q, 1e-3 * rng.uniform(-1, 1, engine.n_v), 1.0)
    return form.start(q, e.v + 0.01 * rng.uniform(-1, 1, engine.n_v))


def solved_at_once(form: TreeFormulation, z: Array, tau: Array) -> Array:
    """v̇ of M v̇ - Jᵀ λ = Q - h, J v̇ = -γ - 2 α J v - β² Φ, rows that say the same twice too."""
    engine = form.engine
    q, v = form.tree(z)
    e = engine.tree(q, v)
    rows = engine.closure
    J, alpha, beta = e.J[rows], form.baumgarte.alpha, form.baumgarte.beta
    n, m = engine.n_v, len(rows)
    matrix = np.block([[e.M, -J.T], [J, np.zeros((m, m))]])
    right = np.concatenate(
        [
            engine.tree_forces(e, tau) - e.h,
            -e.gamma[rows] - 2 * alpha * J @ v - beta**2 * e.values[rows],
        ]
    )
    return np.linalg.lstsq(matrix, right, rcond=1e-11)[0][:n]


@pytest.mark.parametrize("name", ["three_rps", "five_bar@isostatic"])
def test_accelerations_where_loops_are_open(name: str) -> None:
    engine = engine_of(name)
    form = GibbsAppell(engine, Baumgarte(3.0, 5.0))
    z = a_little_open(form)
    tau = np.random.default_rng(5).uniform(-2, 2, engine.n_i)
    now = form.evaluate(z, tau)
    q, v = form.tree(z)
    e = engine.tree(q, v)
    vd = now.rate[engine.n_q :]
    J = e.J[engine.closure]
    np.testing.assert_allclose(
        J @ vd, -e.gamma[engine.closure] - 6 * J @ v - 25 * e.values[engine.closure], atol=1e-6
    )
    np.testing.assert_allclose(vd, solved_at_once(form, z, tau), rtol=1e-5, atol=1e-5)
    # Multipliers are those of the rows as they are.
    left = e.M @ vd + e.h - engine.tree_forces(e, tau)
    np.testing.assert_allclose(J.T @ now.multipliers, left, rtol=1e-6, atol=1e-6)
    assert now.power == pytest.approx(engine.tree_forces(e, tau) @ v + e.supplied)
    assert (now.kinetic, now.potential, now.dissipated) == (e.kinetic, e.potential, e.dissipated)
    rows = e.values[engine.closure] * np.array(engine.kinematics.tables.rows.scale)[engine.closure]
    assert form.constraint_error(z) == pytest.approx(np.abs(rows).max())
    assert form.constraint_error(z) > 1e-5


@pytest.mark.parametrize("name", NAMES)
def test_closed_states_move_as_independent_coordinates_say(name: str) -> None:
    engine = engine_of(name)
    form = GibbsAppell(engine, Baumgarte())
    y, yd = some_state(engine)
    tau = np.random.default_rng(6).uniform(-2, 2, engine.n_i)
    a, e = engine.accelerate(y, yd, tau), engine.reduced(y, yd)
    z = form.start(e.q, e.v)
    now = form.evaluate(z, tau)
    for found, wanted in zip(form.independent(z), (y, yd), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    ydd = form.independent_acceleration(z, now.rate)
    np.testing.assert_allclose(ydd, a.ydd, rtol=1e-7, atol=1e-7)
    assert now.power == pytest.approx(a.power, abs=1e-8)
    np.testing.assert_array_equal(now.tau, tau)
    assert form.constraint_error(z) < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_how_many_constraints_are_independent(name: str) -> None:
    """As many as joints take of the motions of the tree, and one more for each drive."""
    engine = engine_of(name)
    n = engine.n_v - engine.n_i
    t = engine.kinematics.tables
    form = GibbsAppell(engine, Baumgarte())
    rows = np.array(t.rows.scale)[engine.closure][:, None]
    J = engine.tree(engine.kinematics.home_q, np.zeros(engine.n_v)).J[engine.closure]
    singular = np.linalg.svd(rows * J * np.array(t.columns.scale), compute_uv=False)
    assert form._rank == n
    assert form._least == pytest.approx(singular[n - 1], rel=1e-6)
    first = engine.model.mechanism.coordinates[0].name
    driven = GibbsAppell(engine, Baumgarte(), driven_by(engine, **{first: 0.0}))
    assert driven._rank == n + 1
    assert 0 < driven._least <= form._least * (1 + 1e-9)


def test_trees_without_loops() -> None:
    form = GibbsAppell(engine_of("n_pendulum"), Baumgarte())
    engine = form.engine
    assert (form._rank, form._least) == (0, 0.0)
    y, yd = some_state(engine)
    e = engine.reduced(y, yd)
    z = form.start(e.q, e.v)
    now = form.evaluate(z, np.zeros(engine.n_i))
    a = engine.accelerate(y, yd, np.zeros(engine.n_i))
    np.testing.assert_allclose(now.rate, np.concatenate([yd, a.ydd]), rtol=1e-8, atol=1e-8)
    assert now.multipliers.shape == (0,)
    np.testing.assert_allclose(form.project(z), z)
    assert form.constraint_error(z) == 0.0


def test_quaternions_turn_with_their_speeds() -> None:
    """d/dt R = ω × R, with ω in the outer axes."""
    form = GibbsAppell(engine_of("three_rps"), Baumgarte())
    engine = form.engine
    ((j, c),) = form._balls
    z = a_little_open(form)
    q, v = form.tree(z)
    rate = form._position_rate(q, v)
    h = 1e-6
    ends = [matrix_from_quaternion(q[j : j + 4] + s * h * rate[j : j + 4]) for s in (1, -1)]
    turned = (ends[0] - ends[1]) / (2 * h)
    wanted = np.cross(v[c : c + 3], matrix_from_quaternion(q[j : j + 4]), axisb=0).T
    np.testing.assert_allclose(turned, wanted, atol=1e-8)
    assert q[j : j + 4] @ rate[j : j + 4] == pytest.approx(0, abs=1e-12)
    screws = [k for k in range(engine.n_q) if not j <= k < j + 4]
    columns = [k for k in range(engine.n_v) if not c <= k < c + 3]
    np.testing.assert_array_equal(rate[screws], v[columns])
    # A state with quaternions of any length stands for the same pose; it is not written to.
    long = z.copy()
    long[j : j + 4] *= 3.0
    kept = long.copy()
    np.testing.assert_allclose(form.tree(long)[0], q, atol=1e-14)
    np.testing.assert_array_equal(long, kept)


@pytest.mark.parametrize("name", NAMES)
def test_the_nearest_closed_state(name: str) -> None:
    engine = engine_of(name)
    form = GibbsAppell(engine, Baumgarte())
    z = a_little_open(form)
    closed = form.project(z)
    assert form.constraint_error(closed) < 1e-12
    q, v = form.tree(closed)
    J = engine.tree(q, v).J[engine.closure]
    np.testing.assert_allclose(J @ v, 0, atol=1e-10)
    # Speeds change along the constraints only: the shortest way, in scaled units.
    s = np.array(engine.kinematics.tables.columns.scale)
    change = (v - form.tree(z)[1]) / s
    free = np.linalg.svd(J * s)[2][engine.n_v - engine.n_i :]
    np.testing.assert_allclose(free @ change, 0, atol=1e-9)
    assert np.linalg.norm(change) > 1e-4
    np.testing.assert_allclose(form.project(closed), closed, atol=1e-12)


def test_driven_angles_are_the_same_after_a_turn() -> None:
    """Baumgarte's terms and projection pull a driven angle to its motion, the short way round."""
    engine = engine_of("rich")
    y, yd = some_state(engine)
    e = engine.reduced(y, yd)
    alpha, beta = 2.0, 3.0
    for turns in (0, 1, -2):
        wanted = y[0] - 0.01 + 2 * np.pi * turns

        def motion(t: float, at: float = wanted) -> tuple[float, float, float]:
            return at + t, 0.2, 0.7

        form = GibbsAppell(engine, Baumgarte(alpha, beta), driven_by(engine, q=motion))
        z = form.start(e.q, e.v)
        now = form.evaluate(z, np.zeros(1), 0.0)
        ydd = form.independent_acceleration(z, now.rate)
        pull = 0.7 - 2 * alpha * (yd[0] - 0.2) - beta**2 * 0.01
        assert ydd[0] == pytest.approx(pull, rel=1e-6)
        # The force that drives is what inverse dynamics says.
        assert now.tau[0] == pytest.approx(float((e.M @ ydd + e.h)[0]), rel=1e-6)
        assert now.power == pytest.approx(now.tau[0] * yd[0] + e.supplied, rel=1e-6)
        assert len(now.multipliers) == len(engine.closure)
        there = form.project(z, 0.005)
        found, speed = form.independent(there)
        assert found[0] == pytest.approx(y[0] - 0.01 + 0.005, abs=1e-10)
        assert speed[0] == pytest.approx(0.2, abs=1e-10)


def test_a_driven_length_is_no_angle() -> None:
    """Off by a little or by much: nothing is taken modulo 2π; errors count in sizes."""
    engine = engine_of("quarter_vehicle")
    y, yd = some_state(engine)
    e = engine.reduced(y, yd)
    form = GibbsAppell(engine, Baumgarte(0.0, 1.0), driven_by(engine, z=float(y[0] - 8.0)))
    z = form.start(e.q, e.v)
    rows = form._rows(engine.tree(e.q, e.v), e.q, e.v, 0.0)
    size = engine.kinematics.size
    assert rows.error[-1] == pytest.approx(8.0 / size)
    assert rows.speed[-1] == pytest.approx(yd[0] / size)
    ydd = form.independent_acceleration(z, form.evaluate(z, np.zeros(2)).rate)
    assert ydd[0] == pytest.approx(-8.0, rel=1e-6)
