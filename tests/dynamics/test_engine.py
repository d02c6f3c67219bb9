"""Equations of the engine: reduced ones against those on the tree, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.forward.engine import Engine, _ancestors
from mechid.dynamics.kernels.stages import Split
from mechid.errors import UnreachablePoseError
from mechid.kinematics.kernels.links import advance

from .rich import engine_of, some_state

NAMES = ["rich", "quarter_vehicle", "five_bar@distances", "three_rps"]


@pytest.mark.parametrize("name", NAMES)
def test_reduced_equations_are_those_of_the_tree_on_admissible_motions(name: str) -> None:
    engine = engine_of(name)
    y, yd = some_state(engine)
    e = engine.reduced(y, yd)
    on = engine.tree(e.q, e.v)
    J, gamma = on.J[engine.closure], on.gamma[engine.closure]
    np.testing.assert_allclose(e.R.T @ yd, e.v, atol=1e-10)
    np.testing.assert_allclose(J @ e.R.T, 0, atol=1e-9)
    np.testing.assert_allclose(J @ e.bias + gamma, 0, atol=1e-8)
    np.testing.assert_allclose(on.values[engine.closure], 0, atol=1e-10)
    assert e.gap < 1e-10
    np.testing.assert_allclose(e.M, e.R @ on.M @ e.R.T, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(e.h, e.R @ (on.M @ e.bias + on.h), rtol=1e-8, atol=1e-9)
    assert e.kinetic == pytest.approx(0.5 * yd @ e.M @ yd)
    for what in ("kinetic", "potential", "dissipated", "supplied"):
        assert getattr(e, what) == pytest.approx(getattr(on, what), rel=1e-9, abs=1e-10)
    # The independent coordinates, read on the tree.
    found, D, c = engine.coordinates_on_tree(on, e.q)
    np.testing.assert_allclose(found, y, atol=1e-10)
    np.testing.assert_allclose(D @ e.R.T, np.eye(engine.n_i), atol=1e-9)
    np.testing.assert_allclose(D @ e.bias + c, 0, atol=1e-8)
    tau = np.arange(1.0, engine.n_i + 1)
    np.testing.assert_allclose(e.R @ engine.tree_forces(on, tau), tau, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_rows_of_the_tree_by_finite_differences(name: str) -> None:
    """At a state whose loops are open; d/dt (J v) = J v̇ + γ with v̇ = 0."""
    engine = engine_of(name)
    rng = np.random.default_rng(1)
    e = engine.reduced(*some_state(engine))
    q, v, h = e.q.copy(), rng.uniform(-1, 1, engine.n_v), 1e-6
    tables = engine.kinematics.tables
    advance(tables, q, 0.02 * rng.uniform(-1, 1, engine.n_v), 1.0)
    on = engine.tree(q, v)
    ends = []
    for sign in (1.0, -1.0):
        moved = q.copy()
        advance(tables, moved, v, sign * h)
        ends.append((engine.tree(moved, v), moved))
    (after, _), (before, _) = ends
    rates = on.J @ v
    np.testing.assert_allclose((after.values - before.values) / (2 * h), rates, atol=1e-6)
    np.testing.assert_allclose((after.J @ v - before.J @ v) / (2 * h), on.gamma, atol=1e-5)
    ys = [engine.coordinates_on_tree(x, moved)[0] for x, moved in ends]
    _, D, c = engine.coordinates_on_tree(on, q)
    np.testing.assert_allclose((ys[0] - ys[1]) / (2 * h), D @ v, atol=1e-6)
    slopes = [engine.coordinates_on_tree(x, moved)[1] @ v for x, moved in ends]
    np.testing.assert_allclose((slopes[0] - slopes[1]) / (2 * h), c, atol=1e-5)
    np.testing.assert_allclose(on.M, on.M.T, atol=1e-12)
    assert on.kinetic == pytest.approx(0.5 * v @ on.M @ v)


@pytest.mark.parametrize("name", NAMES)
def test_power_is_what_changes_the_energy(name: str) -> None:
    """d(T + V)/dt = τ·ẏ + loads - dissipated, along the accelerations, by finite differences."""
    engine = engine_of(name)
    y, yd = some_state(engine)
    tau = np.random.default_rng(2).uniform(-2, 2, engine.n_i)
    a = engine.accelerate(y, yd, tau)
    e = engine.reduced(y, yd)
    np.testing.assert_allclose(e.M @ a.ydd + e.h, tau, rtol=1e-8, atol=1e-8)
    assert a.power == pytest.approx(tau @ yd + e.supplied, abs=1e-10)
    assert e.dissipated == a.dissipated
    assert (a.dissipated > 0) == (name in ("rich", "quarter_vehicle"))
    h = 1e-5
    totals = []
    for dt in (h, -h):
        x = engine.accelerate(y + dt * yd + 0.5 * dt**2 * a.ydd, yd + dt * a.ydd, tau)
        totals.append(x.kinetic + x.potential)
    change = (totals[0] - totals[1]) / (2 * h)
    assert change == pytest.approx(a.power - a.dissipated, rel=1e-5, abs=1e-5)


def test_some_coordinates_have_given_accelerations() -> None:
    """M_ff ÿ_f = (τ - h)_f - M_fd ÿ_d, and the drive has the force that this needs."""
    engine = engine_of("quarter_vehicle")
    y, yd = some_state(engine)
    tau = np.array([3.0, -4.0])
    e = engine.reduced(y, yd)
    for d in (0, 1):
        f = 1 - d
        split = Split(np.array([f]), np.array([d]), np.zeros(0, np.int64))
        a = engine.accelerate(y, yd, tau, split, np.array([2.5]))
        assert a.ydd[d] == 2.5
        assert a.ydd[f] == pytest.approx((tau[f] - e.h[f] - e.M[f, d] * 2.5) / e.M[f, f], rel=1e-9)
        assert a.tau[f] == tau[f]
        assert a.tau[d] == pytest.approx((e.M @ a.ydd + e.h)[d], rel=1e-9)
        assert a.power == pytest.approx(a.tau @ yd + e.supplied)
        # What was asked is told again, and something else is not taken for it.
        again = engine.accelerate(y, yd, tau, split, np.array([2.5]))
        np.testing.assert_array_equal(again.ydd, a.ydd)
        other = engine.accelerate(y, yd, tau, split, np.array([1.5]))
        assert other.ydd[d] == 1.5


def test_what_is_known_of_the_last_accelerations() -> None:
    engine = engine_of("rich")
    y, yd = some_state(engine)
    a = engine.accelerate(y, yd, np.array([1.5]))
    found = engine.motion()
    e = engine.reduced(y, yd)
    for part, wanted in zip(
        found,
        (y, yd, a.ydd, e.v, e.R.T @ a.ydd + e.bias, np.abs(e.R).max(axis=0)),
        strict=True,
    ):
        np.testing.assert_allclose(part, wanted, rtol=1e-9, atol=1e-9)


def test_parameters_that_are_changed() -> None:
    """Twice all of them: twice all forces; what was solved before is not told again."""
    engine = engine_of("five_bar")
    y, yd = some_state(engine)
    before = engine.reduced(y, yd)
    on = engine.tree(before.q, before.v)
    assert engine.tree(before.q, before.v) is on
    engine.change(np.arange(engine.phi.size), 2 * engine.phi)
    after = engine.reduced(y, yd)
    np.testing.assert_allclose(after.M, 2 * before.M)
    np.testing.assert_allclose(after.h, 2 * before.h)
    np.testing.assert_allclose(engine.tree(before.q, before.v).M, 2 * on.M)
    # The parameters are a copy.
    given = np.ones(engine.phi.size)
    other = Engine(engine.model, given)
    other.change(np.array([0]), np.array([5.0]))
    assert given[0] == 1.0


def test_motions_without_mass() -> None:
    engine = engine_of("five_bar")
    massless = Engine(engine.model, 0 * engine.phi)
    y, yd = some_state(engine)
    with pytest.raises(np.linalg.LinAlgError, match="singular mass matrix"):
        massless.accelerate(y, yd, np.ones(2))
    with pytest.raises(np.linalg.LinAlgError):  # also if it is asked again
        massless.accelerate(y, yd, np.ones(2))
    assert not massless.reduced(y, yd).M.any()


def test_columns_that_move_each_link() -> None:
    """A column moves its own link and all that it carries."""
    for name in ("rich", "three_rps", "stewart_platform"):
        t = engine_of(name).kinematics.tables
        start, columns = _ancestors(t)
        assert len(start) == t.links.size + 1
        for k in range(t.links.size):
            carriers, link = set(), k
            while link > 0:
                carriers.add(link)
                link = int(t.links.parent[link])
            wanted = [c for c in range(t.columns.size) if t.columns.link[c] in carriers]
            assert sorted(columns[start[k] : start[k + 1]].tolist()) == wanted


def test_poses_that_cannot_be_reached_are_named() -> None:
    engine = engine_of("five_bar")
    home = engine.kinematics.home_y
    with pytest.raises(UnreachablePoseError, match=r"no pose on this branch has q1 = ") as caught:
        engine.reduced(home + np.array([2.5, -2.5]), np.zeros(2))
    assert "those on the tree pass dead centres" in caught.value.remedy


def test_leaps_must_be_nearly_straight() -> None:
    """The way that the tangent says, less a tenth at most; else the anchor stays where it was."""
    engine = engine_of("rich")
    start = [x.copy() for x in engine._state.anchor]
    assert engine._leap(engine.kinematics.home_y + 0.01)
    np.testing.assert_allclose(engine._state.anchor.y, engine.kinematics.home_y + 0.01)
    e = engine.reduced(engine.kinematics.home_y + 0.01, np.zeros(1))
    np.testing.assert_allclose(e.q, engine._state.anchor.q, atol=1e-10)
    engine.anchor(start[0], start[1])
    before = [x.copy() for x in engine._state.anchor]
    assert not engine._leap(engine.kinematics.home_y + 0.6)
    for x, y in zip(engine._state.anchor, before, strict=True):
        np.testing.assert_array_equal(x, y)
    assert not engine._leap(np.array([np.nan]))
