"""What the dynamics of every mechanism of the zoo, and of every variant, must fulfil."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import Observation, cad_parameters, observation_matrix
from mechid.dynamics.simulate import FORMULATIONS
from mechid.kinematics.motion import Motion, solve_motion
from mechid.modelfile import load

from ..dynamics.formulations import EVERY, ON_TREE, formulation
from ..dynamics.gradients import check_gradient
from ..dynamics.virtual_power import VirtualPower, ten
from .differences import first, middle, stencil_times
from .states import EPS, LENGTH, SPECS, Array, condition, solve_course, zoo_course, zoo_model

CENTERS = np.array([0.3, 1.7, 3.1, 4.4, 5.6])

every_model = pytest.mark.parametrize("spec", SPECS)


@cache
def course_motion(spec: str) -> Motion:
    return solve_course(zoo_model(spec), zoo_course(spec), np.linspace(0, LENGTH, 13))


@cache
def observed(spec: str) -> tuple[DynamicModel, Observation, VirtualPower, float]:
    """Observation and virtual power of a course, and how well the two can agree.

    Both use the same solved motion. They differ in the admissible motions, each solved with the
    matrix of the closure and so wrong by eps times its condition, and in sums of a few dozen
    products each.
    """
    motion = course_motion(spec)
    model = dynamic_model(load(spec))
    return model, observation_matrix(motion), VirtualPower(motion), 100 * EPS * condition(motion)


# --------------------------------------------------------------------------- inverse dynamics


@every_model
def test_columns_are_named_in_the_order_of_the_file(spec: str) -> None:
    model = dynamic_model(load(spec))
    names = [c.name for c in model.columns]
    assert len(set(names)) == len(names)
    words = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")
    units = ("kg", *["kg m"] * 3, *["kg m²"] * 6)
    bodies = model.mechanism.bodies
    inertial = [(f"{w}_{i + 1}", u) for i in range(len(bodies)) for w, u in zip(words, units)]  # noqa: B905
    assert [(c.name, c.unit) for c in model.columns[: 10 * len(bodies)]] == inertial
    assert [c.owner for c in model.columns[: 10 * len(bodies) : 10]] == [b.name for b in bodies]
    places = [e.name for e in model.mechanism.elements]
    motors = {m.name: e.name for e in model.mechanism.elements for m in e.parts}
    owners = [places.index(motors.get(c.owner, c.owner)) for c in model.columns[10 * len(bodies) :]]
    assert owners == sorted(owners)


@every_model
def test_every_body_by_virtual_power(spec: str) -> None:
    """Ten columns of each body, for CAD values and for random ones that exercise all of them."""
    _, observation, power, bound = observed(spec)
    rng = np.random.default_rng(3)
    size = power.motion.model.size
    for b, cad in enumerate(power.cad):
        x = rng.uniform(-1, 1, (3, 3))
        random = (1.7, rng.uniform(-size, size, 3), (size**2 * x @ x.T)[np.triu_indices(3)])
        for mass, center, central in (cad, random):
            want = power.body(b, mass, center, central)
            found = observation.W[:, :, 10 * b : 10 * b + 10] @ ten(mass, center, central)
            error = np.abs(found - want.force).max(axis=0)
            assert np.all(error <= bound * want.size), power.mechanism.bodies[b].name


@every_model
def test_inverse_dynamics_by_virtual_power(spec: str) -> None:
    """All together for the CAD values: W φ + known."""
    model, observation, power, bound = observed(spec)
    want = power.inverse
    found = observation.W @ cad_parameters(model) + observation.known
    assert np.all(np.abs(found - want.force).max(axis=0) <= bound * want.size)
    # Not an empty comparison: what is left of the sums is far above the bound.
    assert np.all(np.abs(want.force).max(axis=0) > 1e4 * bound * want.size)


@every_model
def test_power_balance(spec: str) -> None:
    """τ ẏ and what the loads feed in are the rate of energy, by differences, plus losses."""
    motion = solve_course(zoo_model(spec), zoo_course(spec), stencil_times(CENTERS))
    power = VirtualPower(motion)
    observation = observation_matrix(motion)
    tau = observation.W @ cad_parameters(dynamic_model(load(spec))) + observation.known
    kinetic, potential = power.energy
    rate = first(kinetic + potential) + middle(power.losses)
    fed = middle(np.sum((tau + power.loads.force) * motion.yd, axis=1))
    # Truncation is 1e-8 of the energies that change (differences.py), at rates up to a few rad/s.
    changed = max(float(np.ptp(kinetic)), float(np.ptp(potential)), float(np.abs(fed).max()))
    assert np.abs(fed - rate).max() <= 1e-7 * changed


@every_model
def test_work_is_energy_and_losses(spec: str) -> None:
    """Over a whole course: the work of τ and loads, less losses, is the difference of energies.

    Gauss' rule with ten points in each of twenty parts of the course. Friction that changes its
    sign has a kink, but takes in the losses what it adds to τ.
    """
    nodes, weights = np.polynomial.legendre.leggauss(10)
    parts = np.linspace(0, LENGTH, 21)
    half = LENGTH / 40
    inner = (parts[:-1, None] + half * (1 + nodes)).ravel()
    motion = solve_course(zoo_model(spec), zoo_course(spec), [0.0, *inner, LENGTH])
    power = VirtualPower(motion)
    tau = inverse_dynamics(motion).tau
    fed = np.sum((tau + power.loads.force) * motion.yd, axis=1) - power.losses
    work = half * np.tile(weights, 20) @ fed[1:-1]
    kinetic, potential = power.energy
    gained = (kinetic + potential)[-1] - (kinetic + potential)[0]
    changed = max(float(np.ptp(kinetic)), float(np.ptp(potential)), float(np.abs(fed).max()))
    assert abs(work - gained) <= 1e-7 * changed


@every_model
def test_columns_are_linear_in_accelerations_and_quadratic_in_speeds(spec: str) -> None:
    """At one pose, W(2 ẏ, 4 ÿ) - W(0, 0) is 4 times W(ẏ, ÿ) - W(0, 0), and W is linear in ÿ.

    The first holds for the ten columns of each body, the second for all. Exact but for rounding,
    which is relative to the terms of the columns: velocity times acceleration for a mass, and so
    on with rates of turning for first moments and inertias.
    """
    m = course_motion(spec)
    bodies = 10 * len(m.model.mechanism.bodies)

    def at(speed: float, acceleration: float) -> tuple[Array, Motion]:
        again = solve_motion(m.model, m.y, speed * m.yd, acceleration * m.ydd, time=m.time)
        return observation_matrix(again).W, again

    bound = 100 * EPS * condition(m)
    (still, _), (once, _), (twice, fast) = at(0, 0), at(1, 1), at(2, 4)
    f = fast.bodies()
    A = np.abs(f.acceleration).max() + np.linalg.norm(m.model.mechanism.gravity)
    turn = np.abs(f.alpha).max() + np.abs(f.omega).max() ** 2
    V, W = (np.abs(x).max() for x in observed(spec)[2].partials)
    size = np.tile([A * V, *[turn * V + A * W] * 3, *[turn * W] * 6], bodies // 10)
    left = (twice - (4 * once - 3 * still))[..., :bodies]
    assert np.all(np.abs(left).max(axis=(0, 1)) <= bound * size)
    left = at(1, -1)[0] + at(1, 3)[0] - 2 * once
    elements = np.abs(once[..., bodies:]).max(axis=(0, 1)) + np.abs(twice[..., bodies:]).max(
        axis=(0, 1)
    )
    assert np.all(np.abs(left).max(axis=(0, 1)) <= bound * np.concatenate([size, elements]))


@every_model
def test_gradient_in_reverse_is_that_in_forward_mode(spec: str) -> None:
    motion = course_motion(spec)
    check_gradient(dynamic_model(load(spec)), motion, np.random.default_rng(5))


# --------------------------------------------------------------------------- forward dynamics


def test_no_formulation_is_forgotten() -> None:
    assert set(FORMULATIONS) == set(EVERY)


@every_model
def test_forward_is_the_inverse_of_inverse_dynamics(spec: str) -> None:
    """Every formulation finds the accelerations that need the given forces.

    An acceleration that solves M ÿ = τ - h with a backward stable method leaves a residual of
    rounding in the forces, whatever the condition of M. On the tree the reduced equations are
    part of a larger system: bodies that move much may cancel to forces that are small, and the
    condition of the closure comes in twice, by the constraints and by the projection.
    """
    model, _, power, _ = observed(spec)
    motion = power.motion
    phi = cad_parameters(model)
    engine = Engine(model, phi)
    rng = np.random.default_rng(4)
    size = power.inverse.size
    kinetic, _ = power.energy
    bound = 1000 * EPS * condition(motion) ** 2
    for k in (3, 9):
        engine.anchor(motion.y[k], motion.q[k])
        tau = rng.uniform(-0.3, 0.3, size.shape) * size
        for name in EVERY:
            chosen = formulation(name, engine)
            z = chosen.start(motion.q[k], motion.v[k])
            y, yd = chosen.independent(z)
            assert np.abs(y - motion.y[k]).max() <= bound * (1 + np.abs(y).max())
            assert np.abs(yd - motion.yd[k]).max() <= bound * (1 + np.abs(yd).max())
            now = chosen.evaluate(z, tau)
            ydd = chosen.independent_acceleration(z, now.rate)
            back = solve_motion(motion.model, y[None], yd[None], ydd[None], start=motion.q[k])
            o = observation_matrix(back)
            error = np.abs(o.W[0] @ phi + o.known[0] - tau)
            needed = np.abs(engine.reduced(y, yd).M) @ np.abs(ydd) + size
            assert np.all(error <= bound * needed.max()), (name, error / needed)
            assert now.kinetic == pytest.approx(kinetic[k], rel=1e-12, abs=1e-15)
            assert now.dissipated == pytest.approx(power.losses[k], rel=1e-10, abs=1e-12)
            fed = (tau + power.loads.force[k]) @ yd
            assert now.power == pytest.approx(fed, rel=1e-9, abs=bound * (size @ np.abs(yd)))


@every_model
def test_multipliers_do_the_balance_on_the_tree(spec: str) -> None:
    """M v̇ + h = Q + load + Jᵀ λ with the multipliers of each formulation on the tree."""
    model, _, power, _ = observed(spec)
    motion = power.motion
    engine = Engine(model, cad_parameters(model))
    tau = 0.2 * power.inverse.size
    k = 5
    for name in ON_TREE:
        chosen = formulation(name, engine)
        z = chosen.start(motion.q[k], motion.v[k])
        now = chosen.evaluate(z, tau)
        q, v = chosen.tree(z)
        e = engine.tree(q, v)
        vd = now.rate[engine.n_q :]
        pull = e.J[engine.closure].T @ now.multipliers
        applied = engine.tree_forces(e, tau)
        left = e.M @ vd + e.h - applied - pull
        size = np.abs(e.M) @ np.abs(vd) + np.abs(e.h) + np.abs(applied) + np.abs(pull)
        scale = np.array(motion.model.tables.columns.scale)
        bound = 1000 * EPS * condition(motion) ** 2
        assert np.abs(scale * left).max() <= bound * (scale * size).max(), name
