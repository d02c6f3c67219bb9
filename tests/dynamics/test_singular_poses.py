"""Motions through singular poses: crossed on the right branch, or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mechid.dynamics.energy_balance import Energies, Rest, allowed
from mechid.dynamics.forward.on_tree import Independent
from mechid.dynamics.integrate import integrate
from mechid.dynamics.integrators.task import CREEPING, IntegrationError
from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import SimulationError, SimulationOptions
from mechid.kinematics.tables import Floats
from mechid.modelfile import load, loads

from ..problems.crossing import INTEGRATORS, change_points, try_all
from ..problems.problems import CHANGE_POINTS, ChangePoint, n_four_bar

TREE = ("gibbs-appell", "explicit-gibbs-appell", "udwadia-kalaba")


def pendulum(n: int, times: Floats) -> Floats:
    """Angle of the cranks: they stay parallel, so that the whole is a pendulum."""
    inertia, moment = (n + 1) / 3 + n, ((n + 1) / 2 + n) * 9.81
    found = solve_ivp(
        lambda t, z: [z[1], moment * np.sin(z[0]) / inertia],
        (0, times[-1]),
        [0.0, -1.0],
        rtol=1e-12,
        atol=1e-13,
        t_eval=times,
    )
    return np.asarray(found.y[0])


@pytest.mark.slow
@pytest.mark.parametrize("formulation", TREE)
@pytest.mark.parametrize("n", [1, 2])
def test_branch_that_momentum_continues_on(n: int, formulation: str) -> None:
    times = np.linspace(0, 3, 31)  # four singular poses
    found = simulate(n_four_bar(n), times, formulation=formulation)
    wanted = pendulum(n, times)
    assert np.ptp(wanted) > 2 * np.pi
    assert np.abs(found.y[:, 0] - wanted).max() < 1e-5
    assert found.steps < 200  # and not ever shorter ones


def test_even_number_of_loops_in_the_coordinate_of_a_crank() -> None:
    times = np.linspace(0, 3, 31)
    found = simulate(n_four_bar(2), times)
    assert np.abs(found.y[:, 0] - pendulum(2, times)).max() < 1e-5


@pytest.mark.parametrize("integrator", ["DOP853", "LSODA"])
@pytest.mark.parametrize("n", [1, 3])
def test_odd_number_of_loops(n: int, integrator: str) -> None:
    """The determinant of the closure changes its sign at each of the poses."""
    times = np.linspace(0, 3, 31)
    found = simulate(n_four_bar(n), times, integrator=integrator)
    assert np.abs(found.y[:, 0] - pendulum(n, times)).max() < 1e-5
    assert found.steps < 500


@pytest.mark.parametrize("formulation", ["independent", "udwadia-kalaba"])
def test_stiff_integrator_with_two_loops(formulation: str) -> None:
    times = np.linspace(0, 3, 31)
    settings = {"integrator": "Radau", "rtol": 1e-6, "atol": 1e-8}
    found = simulate(n_four_bar(2), times, formulation=formulation, **settings)
    assert np.abs(found.y[:, 0] - pendulum(2, times)).max() < 1e-4


@pytest.mark.parametrize("linkage", CHANGE_POINTS, ids=str)
def test_change_points_of_unequal_links(linkage: ChangePoint) -> None:
    """All links on one line after about 0.5 s; the truth is a closed form of the branch."""
    times = np.linspace(0, 1, 21)
    mechanism, wanted = linkage.mechanism(0.7), linkage.truth(0.7, -1.4, times)
    found = simulate(mechanism, times, yd0=np.array([-1.4]))
    assert np.abs(found.y[:, 0] - wanted).max() < 1e-7


@pytest.mark.slow
def test_change_points_on_the_tree() -> None:
    """Some of the many ways of benchmarks/problems.py: rounding does not decide."""
    for row in try_all(change_points()[3::2], TREE, INTEGRATORS[:2]):
        assert row["outcome"] == "right", row
        assert row["error"] < 100 * row["rtol"], row  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("off", [1e-9, 1e-7])
def test_branches_that_nearly_meet(off: float) -> None:
    """Longer ground: the branches do not meet, and the motion turns from one to the other."""
    linkage = CHANGE_POINTS[2]
    mechanism, times = linkage.mechanism(0.7), np.linspace(0, 1, 11)
    *others, rocker = mechanism.joints
    x, y, z = rocker.frame_a.origin
    frame = replace(rocker.frame_a, origin=(x + off, y, z), origin_expr=None)
    longer = replace(mechanism, joints=(*others, replace(rocker, frame_a=frame)))
    wanted = simulate(longer, times, yd0=np.array([-1.4])).y
    straight = linkage.truth(0.7, -1.4, times)
    assert np.abs(wanted[:, 0] - straight)[-1] > 0.01
    found = simulate(longer, times, yd0=np.array([-1.4]), formulation="udwadia-kalaba")
    assert np.abs(found.y - wanted).max() < 1e-5


@pytest.mark.parametrize("stabilise", ["none", "baumgarte", "projection"])
@pytest.mark.parametrize("formulation", ["udwadia-kalaba", "independent"])
def test_right_or_refused(formulation: str, stabilise: str) -> None:
    """Whatever is chosen: what is returned is right."""
    times = np.linspace(0, 3, 31)
    options = SimulationOptions(
        formulation=formulation, stabilise=stabilise, rtol=1e-6, atol=1e-8, integrator="RK45"
    )
    try:
        found = simulate(n_four_bar(2), times, options)
    except SimulationError as error:
        found = error.partial
    wanted = pendulum(2, times)[: len(found.y)]
    assert np.abs(found.y[:, 0] - wanted).max() < 1e-2


# --------------------------------------------------------------------------- overconstrained loops


@pytest.mark.parametrize("formulation", [*TREE, "augmented"])
def test_formulations_agree_on_an_overconstrained_loop(formulation: str) -> None:
    """Rows are redundant in closed poses only: errors of the steps must not make them count."""
    times = np.linspace(0, 0.4 if formulation == "augmented" else 2.0, 11)
    mechanism = load("bricard@cube")
    wanted = simulate(mechanism, times)
    found = simulate(mechanism, times, formulation=formulation)
    assert np.abs(found.y - wanted.y).max() < 1e-7
    assert found.steps < 100


def test_redundant_rows_do_not_count() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(4, 6))
    rows = np.vstack([A, A[0] + A[1] + 1e-9 * rng.normal(size=6)])  # open by an error of 1e-9
    right = np.concatenate([A @ np.ones(6), [A[0].sum() + A[1].sum()]])
    kept = Independent.of(rows, 4)
    assert np.allclose(kept.solve(right), np.linalg.lstsq(A, A @ np.ones(6), rcond=None)[0])
    full, b, U = kept.rows(right)
    assert full.shape == (4, 6)
    assert np.allclose(U @ full, rows, atol=1e-8)
    assert np.allclose(U @ b, right, atol=1e-8)


# --------------------------------------------------------------------------- energy, and steps


def test_energy_from_nowhere_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An integrator that adds a little speed at every step."""
    import mechid.dynamics.simulate as module

    plain = module.integrate

    def wrong(f, z, times, **options):  # type: ignore[no-untyped-def]
        return plain(lambda t, z: f(t, z) * np.array([1.0, 1.01, 1.0, 1.0]), z, times, **options)

    mechanism = load("pendulum")
    times = np.linspace(0, 5, 51)
    assert simulate(mechanism, times, stabilise="none", yd0=np.array([3.0])).time[-1] == 5
    monkeypatch.setattr(module, "integrate", wrong)
    monkeypatch.setattr(module, "CompiledStages", lambda *_: None)
    with pytest.raises(SimulationError, match="nowhere") as caught:
        simulate(mechanism, times, yd0=np.array([3.0]))
    assert 0 < len(caught.value.partial.time) < 51


def test_what_the_balance_allows() -> None:
    potential = np.array([0.0, 10.0, 5.0])
    nothing = np.zeros(3)
    rest = Rest(np.zeros((1, 1)), np.zeros(1), np.zeros(1))
    energies = Energies(np.array([10.0, 0.0, 5.0]), potential, nothing, nothing)
    assert np.all(energies.error == 0)
    assert energies.exchanged == 20
    tight, loose = SimulationOptions(rtol=1e-9, atol=0.0), SimulationOptions(rtol=1e-2, atol=0.0)
    assert allowed(energies, tight, 100, rest) == pytest.approx(20 * 1e-4 + 1e-8)
    assert allowed(energies, tight, 1, rest) < allowed(energies, tight, 10, rest)
    assert allowed(energies, loose, 1000, rest) == pytest.approx(20 * 0.05, rel=1e-6)
    gained = replace(energies, kinetic=np.array([10.0, 0.0, 8.0]))
    assert gained.error[-1] == 3


def test_steps_that_get_ever_shorter_end() -> None:
    """z' = -sign(z) cannot go on at zero: steps about zero become as short as rounding allows."""
    with pytest.raises(IntegrationError, match="gave up"):
        integrate(
            lambda t, z: -np.sign(z) * 1e3, np.array([1e-3]), np.array([0.0, 1e3]), rtol=1e-10
        )


def test_dry_friction_that_sticks_is_named() -> None:
    """A pendulum that its bearing holds: friction has no sign there, and steps collapse."""
    mechanism = loads(
        "mechid: 1\nname: stuck\ninclude: pendulum\n"
        "elements: {rub: {type: friction, joint: hinge, coulomb: 100}}\n"
    )
    with pytest.raises(SimulationError, match="the friction of rub changes its sign") as caught:
        simulate(mechanism, np.array([0.0, 1.0]), y0=np.array([0.5]), yd0=np.array([0.1]))
    assert "smoothing" in caught.value.remedy
    assert caught.value.partial.steps <= 2 * CREEPING
