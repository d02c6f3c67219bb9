"""Equations of motion with constraints, and what is asked of them: small matrices, closed forms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from mechid.dynamics import reference_point as rp
from mechid.dynamics.forward.explicit_gibbs_appell import ExplicitGibbsAppell
from mechid.dynamics.forward.formulation import Instant, massive
from mechid.dynamics.forward.gibbs_appell import GibbsAppell
from mechid.dynamics.forward.on_tree import Crossing, Independent
from mechid.dynamics.forward.remembering import Remembering
from mechid.dynamics.forward.udwadia_kalaba import UdwadiaKalaba
from mechid.dynamics.reference_point.eliminate import null_basis
from mechid.errors import MechidError, ModelError, SingularPoseError
from mechid.kinematics.reference_point import assemble, jacobian
from mechid.modelfile import load

WAYS = [GibbsAppell, ExplicitGibbsAppell, UdwadiaKalaba]
Array = np.ndarray


def solved(way: type, M: Array, force: Array, A: Array, b: Array) -> tuple[Array, Array]:
    return way.accelerations(SimpleNamespace(), M, force, A, b)  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("m", [0, 1, 3])
def test_accelerations_solve_both_equations(way: type, m: int) -> None:
    """M v̇ = force + Aᵀ λ and A v̇ = b have one solution."""
    rng = np.random.default_rng(m)
    L = rng.standard_normal((5, 5))
    M, force = L @ L.T + np.eye(5), rng.standard_normal(5)
    A, b = rng.standard_normal((m, 5)), rng.standard_normal(m)
    vd, multipliers = solved(way, M, force, A, b)
    assert multipliers.shape == (m,)
    np.testing.assert_allclose(M @ vd, force + A.T @ multipliers, atol=1e-10)
    np.testing.assert_allclose(A @ vd, b, atol=1e-10)


@pytest.mark.parametrize("way", WAYS)
def test_constraints_may_hold_what_has_no_mass(way: type) -> None:
    """A weight of 2 kg on a rope over a wheel without inertia: v₂ = r v₁ is all that is known."""
    M, force = np.diag([2.0, 0.0]), np.array([6.0, 0.0])
    A, b = np.array([[0.5, -1.0]]), np.array([0.25])
    vd, multipliers = solved(way, M, force, A, b)
    np.testing.assert_allclose(vd, [3.0, 1.25], atol=1e-12)
    np.testing.assert_allclose(multipliers, 0.0, atol=1e-12)
    # A moment on the wheel pulls at the weight.
    vd, multipliers = solved(way, M, np.array([6.0, 4.0]), A, b)
    np.testing.assert_allclose(vd, [4.0, 1.75], atol=1e-12)
    np.testing.assert_allclose(multipliers, 4.0, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
def test_motions_without_mass_have_no_accelerations(way: type) -> None:
    A, b = np.array([[0.0, 0.0, 1.0]]), np.zeros(1)
    with pytest.raises(ModelError, match="moves no mass"), massive():
        solved(way, np.diag([2.0, 0.0, 1.0]), np.ones(3), A, b)
    with pytest.raises(ModelError, match="moves no mass"), massive():
        solved(way, np.zeros((3, 3)), np.ones(3), A, b)


# ------------------------------------------------------------------------- admissible motions


@pytest.mark.parametrize("method", ["partition", "svd", "qr", "gauss"])
def test_null_spaces_by_four_methods(method: Any) -> None:
    rng = np.random.default_rng(1)
    C = rng.standard_normal((4, 3)) @ rng.standard_normal((3, 6))  # rank 3, one row redundant
    Z = null_basis(C, 3, method)
    assert Z.shape == (6, 3)
    np.testing.assert_allclose(C @ Z, 0.0, atol=1e-12)
    assert np.linalg.svd(Z, compute_uv=False)[-1] > 0.1
    np.testing.assert_array_equal(null_basis(np.zeros((2, 4)), 4, method), np.eye(4))
    assert null_basis(np.eye(3), 0, method).shape == (3, 0)
    for free in (2, -1):  # the rank would have to be 4, or 7
        with pytest.raises(MechidError):
            null_basis(C[:3] if free > 0 else C, free, method)
    with pytest.raises(SingularPoseError, match="do not determine the velocities"):
        null_basis(C, 2, method)


@pytest.mark.parametrize("method", ["partition", "svd", "qr", "gauss"])
@pytest.mark.parametrize(("size", "regular"), [(1.5e-9, True), (0.5e-9, False)])
def test_pivots_below_a_billionth_are_singular(method: Any, size: float, regular: bool) -> None:
    C = np.array([[1.0, 0.0, 0.0], [0.0, size, 0.0]])
    if regular:
        np.testing.assert_allclose(np.abs(null_basis(C, 1, method)[:, 0]), [0, 0, 1], atol=1e-12)
    else:
        with pytest.raises(SingularPoseError):
            null_basis(C, 1, method)


def test_what_too_few_rows_say() -> None:
    with pytest.raises(ModelError, match="leave more than the 1 motions that are declared"):
        null_basis(np.ones((1, 3)), 1)


# ----------------------------------------------------------------------------- crossing a pose


def crossed(after: list[float], least: float = 0.04, dt: float = 0.1) -> Crossing:
    """Pass a near singular pose with speeds (1, 0) before and `after` behind it."""
    crossing = Crossing(np.ones(2))
    crossing.see(1.0, 0.0, np.array([1.0, 0.0]), np.zeros(2))
    crossing.step(0.0)
    crossing.see(least, 0.5 * dt, np.array([1.0, 0.0]), np.zeros(2))
    crossing.see(1.0, dt, np.array(after), np.zeros(2))
    crossing.step(dt)
    return crossing


def test_half_of_the_speed_may_change() -> None:
    crossed([1.0, 0.49])
    crossed([0.51, 0.0])
    crossed([1.0, 0.6], least=0.05)  # not near
    for after in ([1.0, 0.7], [0.49, 0.0], [-1.0, 0.0]):
        with pytest.raises(SingularPoseError, match=r"after t = 0 s, where several branches meet"):
            crossed(after)
    # Of the larger of both speeds.
    crossed([1.9, 0.0])
    with pytest.raises(SingularPoseError):
        crossed([2.1, 0.0])


def test_accelerations_explain_a_change() -> None:
    """Trapezoids: half of both accelerations times the time."""

    def passing(vd: float) -> None:
        crossing = Crossing(np.array([2.0]))
        crossing.see(1.0, 0.0, np.array([2.0]), np.array([vd]))
        crossing.step(0.0)
        crossing.see(0.01, 0.1, np.array([2.0]), np.array([0.0]))
        crossing.see(1.0, 0.2, np.array([8.0]), np.array([vd]))
        crossing.step(0.2)

    passing(30.0)  # 6 of 6
    passing(11.0)  # 2.2 of 6: 3.8 are left, less than half of 8
    with pytest.raises(SingularPoseError):
        passing(9.0)  # 4.2 are left


def test_inside_what_was_before_counts() -> None:
    crossing = Crossing(np.ones(1))
    crossing.step(-1.0)  # nothing was evaluated
    crossing.see(1.0, 0.0, np.array([1.0]), np.zeros(1))
    crossing.step(0.0)
    for t, v in ((1.0, 0.7), (2.0, 0.4)):  # both ends of steps are inside
        crossing.see(0.01, t, np.array([v]), np.zeros(1))
        crossing.step(t)
    crossing.see(1.0, 3.0, np.array([0.3]), np.zeros(1))
    with pytest.raises(SingularPoseError, match="after t = 0 s"):
        crossing.step(3.0)


# ---------------------------------------------------------------------------------- hysteresis


def test_hysteresis_is_a_part_of_the_state() -> None:
    """ḣ = (u - |u| h)/w; its force -c h is dissipated, not fed in."""
    changes: list[Any] = []
    compiled = SimpleNamespace(coordinate={
        ("J", 0): SimpleNamespace(v=1, ball=False), ("K", 0): SimpleNamespace(v=0, ball=False)
    })  # fmt: skip
    engine = SimpleNamespace(
        change=lambda places, values: changes.append((places.tolist(), values.tolist())),
        model=SimpleNamespace(kinematics=SimpleNamespace(compiled=compiled, n_independent=1)),
    )
    now = Instant(np.array([7.0]), np.zeros(1), np.zeros(0), 1.0, 2.0, 10.0, 20.0)
    inner: Any = SimpleNamespace(
        name="inner",
        engine=engine,
        drifts=True,
        start=lambda q, v: np.array([5.0]),
        evaluate=lambda z, tau, t: now,
        tree=lambda z, t: (np.zeros(2), np.array([-3.0, 2.0])),
        independent=lambda z, t: (z, z),
        independent_acceleration=lambda z, rate, t: rate,
        constraint_error=lambda z, t: float(z[0]),
        project=lambda z, t: z + 1,
    )
    past: Any = SimpleNamespace(
        terms=(
            SimpleNamespace(joint="J", index=0, width=0.5),
            SimpleNamespace(joint="K", index=0, width=2.0),
        )
    )
    state = Remembering(inner, past, np.array([10.0, 4.0]), np.array([8, 9]))
    assert state.start(np.zeros(2), np.zeros(2)).tolist() == [5.0, 0.0, 0.0]
    z = np.array([6.0, 0.25, 0.5])
    found = state.evaluate(z, np.zeros(1))
    assert changes == [([8, 9], [-2.5, -2.0])]
    # u = 2 and -3: (2 - 2 · 0.25)/0.5 and (-3 - 3 · 0.5)/2.
    np.testing.assert_allclose(found.rate, [7.0, 3.0, -2.25])
    taken = 10 * 0.25 * 2 + 4 * 0.5 * -3
    assert found.power == pytest.approx(10 + taken)
    assert found.dissipated == pytest.approx(20 + taken)
    assert (found.kinetic, found.potential) == (1.0, 2.0)
    assert state.project(z).tolist() == [7.0, 0.25, 0.5]
    assert state.constraint_error(z) == 6.0
    assert state.independent(z)[0].tolist() == [6.0]
    assert state.independent_acceleration(z, np.array([3.0, 1.0, 1.0])).tolist() == [3.0]
    assert (state.name, state.drifts) == ("inner", True)


# ------------------------------------------------------------------- constraints that are kept


def test_redundant_rows_say_the_same() -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((2, 4))
    A = np.vstack([A, A[0] + 2 * A[1]])
    x = rng.standard_normal(4)
    kept = Independent.of(A, 2)
    assert kept.least == pytest.approx(np.linalg.svd(A, compute_uv=False)[1])
    rows, b, U = kept.rows(A @ x)
    assert rows.shape == (2, 4)
    np.testing.assert_allclose(rows @ x, b)
    np.testing.assert_allclose(U @ rows, A, atol=1e-12)
    # The shortest solution lies in the span of the rows.
    found = kept.solve(A @ x)
    np.testing.assert_allclose(found, np.linalg.pinv(A) @ (A @ x), atol=1e-12)
    whole = Independent.of(A[:2], 2)
    rows, b, U = whole.rows(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(rows, A[:2])
    np.testing.assert_array_equal(U, np.eye(2))
    none = Independent.of(np.zeros((0, 4)), 0)
    assert (none.rank, none.least) == (0, np.inf)


def test_rows_that_say_nothing_any_more() -> None:
    A = np.diag([2.0, 0.1, 1e-3])
    assert Independent.of(A, 3).rank == 3
    assert Independent.of(A, 2).rank == 2
    assert Independent.of(A, 3, reached=2e-3).rank == 2
    assert Independent.of(np.diag([2.0, 1e-14]), 2).rank == 1
    b = np.array([2.0, 0.2, 0.003])
    kept = Independent.of(A, 3)
    np.testing.assert_allclose(kept.solve(b), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(kept.solve(b, reached=0.01), [1.0, 2.0, 0.0])
    # A step must be shorter than the singular value it is divided by: right / s < s.
    bent = kept.solve(np.array([3.9, 0.011, 0.9e-6]), bent=True)
    np.testing.assert_allclose(bent, [1.95, 0.0, 0.9e-3], atol=1e-12)
    bent = kept.solve(np.array([4.1, 0.009, 1.1e-6]), bent=True)
    np.testing.assert_allclose(bent, [0.0, 0.09, 0.0], atol=1e-12)


def test_multipliers_of_joints_and_of_unit_quaternions() -> None:
    """C_qᵀ λ is the force again; e·e = 1 has the gradient 2 e."""
    model = rp.reference_model(load("five_bar"))
    q = assemble(model.system).q
    e = q.reshape(-1, 7)[:, 3:]
    C = jacobian(model.constraints, q)
    rng = np.random.default_rng(6)
    joints, norms = rng.standard_normal(len(C)), rng.standard_normal(len(e))
    along = np.zeros((len(e), 7))
    along[:, 3:] = 2 * norms[:, None] * e
    force = C.T @ joints + along.ravel()
    found = rp.multipliers_of(model, q, force)
    back = np.zeros((len(e), 7))
    back[:, 3:] = 2 * found[len(C) :, None] * e
    np.testing.assert_allclose(C.T @ found[: len(C)] + back.ravel(), force, atol=1e-9)
    alone = rp.multipliers_of(model, q, along.ravel())
    np.testing.assert_allclose(alone[len(C) :], norms, atol=1e-12)
    np.testing.assert_allclose(alone[: len(C)], 0.0, atol=1e-12)
