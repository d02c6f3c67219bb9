"""Random small mechanisms: Lagrange's equations by finite differences, forward and back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import (
    GROUND,
    JOINT_KINDS,
    Coefficient,
    ForceElement,
    JointType,
    Mechanism,
)

from ..dynamics.formulations import EVERY, formulation
from ..dynamics.virtual_power import VirtualPower
from ..elements import motor, spring_damper, torsion_spring, transmission
from ..kinematics.mechanisms import Build, four_bar, slider_crank, spatial_crank
from .generate import random_elements, random_inertia

Array = npt.NDArray[np.float64]

TYPES: tuple[JointType, ...] = tuple(t for t, kind in JOINT_KINDS.items() if kind.steps)
# Central differences of sixth order. Truncation is h⁶/140 of the seventh derivative, which for
# products of a few sines at rates near 1 and a closure well away from singular poses is below 1e-10
# of the energies; rounding is a few eps/h ≈ 1e-13 of them.
STEP = 0.005
OFFSETS = np.arange(-3, 4)
WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60 / STEP


def chain(types: list[JointType], rng: np.random.Generator) -> Mechanism:
    """Bodies one after the other (some on the ground), all joint coordinates independent."""
    build = Build("chain", rng)
    names = [GROUND]
    for i, kind in enumerate(types):
        body = build.body(f"b{i}", rng.uniform(-0.4, 0.4, 3))
        before = names[int(rng.integers(max(0, len(names) - 2), len(names)))]
        at, z, x = rng.uniform(-0.5, 0.5, 3), rng.standard_normal(3), rng.standard_normal(3)
        build.joint(f"J{i}", kind, before, body, at, z, x, pitch=0.4)
        for index in range(JOINT_KINDS[kind].n_speeds):
            build.drive(f"J{i}", index, f"J{i}_{index}")
        build.point(f"P{i}", body, at + rng.uniform(-0.5, 0.5, 3))
        names.append(body)
    build.point("G", GROUND, rng.uniform(1.5, 2, 3))
    return build.mechanism()


def filled(mechanism: Mechanism, rng: np.random.Generator) -> Mechanism:
    """With random physical inertias, gravity in a random direction, and springs."""
    bodies = tuple(replace(body, inertia=random_inertia(rng)) for body in mechanism.bodies)
    known, unknown = Coefficient(3.0), Coefficient(5.0, identify=True)
    none = Coefficient(0.0)
    elements: list[ForceElement] = []
    points = {p.body: p for p in mechanism.points}
    if GROUND in points:
        for p in mechanism.points:
            if p.body != GROUND:
                free = Coefficient(0.8, identify=bool(rng.integers(2)))
                stiffness = known if rng.integers(2) else unknown
                elements.append(
                    spring_damper(f"s_{p.name}", points[GROUND], p, stiffness, none, free)
                )
    turning = [
        (j, k) for j in mechanism.joints for k, unit in enumerate(j.kind.units) if unit == "rad"
    ]
    for joint, k in turning[:2]:
        free = Coefficient(0.2, identify=bool(rng.integers(2)))
        elements.append(torsion_spring(f"t_{joint.name}_{k}", joint.name, k, unknown, none, free))
    if len(turning) > 1:
        motors = tuple(motor(f"m{i}", c, none, none) for i, c in enumerate((known, unknown)))
        matrix = tuple(tuple(rng.uniform(-2, 2, 2).tolist()) for _ in motors)
        coordinates = tuple((j.name, k) for j, k in turning[:2])
        elements.append(transmission("gear", motors, coordinates, matrix))
    elements += smooth(mechanism, rng)
    gravity = tuple((9.81 * unit_vector(rng)).tolist())
    return replace(mechanism, bodies=bodies, elements=tuple(elements), gravity=gravity)


def _swivels(type: JointType) -> bool:
    kind = JOINT_KINDS[type]
    return kind.has_orientation and not kind.holds_nothing


def smooth(mechanism: Mechanism, rng: np.random.Generator) -> list[ForceElement]:
    """A polynomial spring and a bushing: energies with derivatives of all orders."""
    found = []
    for e in random_elements(mechanism, rng, ("polynomial_spring_damper", "bushing")):
        values = tuple((k, () if k == "damping" else v) for k, v in e.parts[0].values)
        found.append(replace(e, parts=(replace(e.parts[0], values=values),)))
    return found


def unit_vector(rng: np.random.Generator) -> Array:
    x = rng.standard_normal(3)
    return np.asarray(x / np.linalg.norm(x))


@st.composite
def mechanisms(draw: st.DrawFn) -> tuple[Mechanism, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["chain", "chain", "four_bar", "slider_crank", "spatial_crank"]))
    match kind:
        case "four_bar":
            lengths = (
                rng.uniform(0.2, 0.35),
                rng.uniform(0.85, 1),
                rng.uniform(0.65, 0.8),
                rng.uniform(0.75, 0.9),
            )
            mechanism = four_bar(*lengths, angle=rng.uniform(0, 6), normal=unit_vector(rng))
        case "slider_crank":
            mechanism = slider_crank(
                rng.uniform(0.1, 0.2), rng.uniform(0.4, 0.6), rng.uniform(-0.05, 0.05)
            )
        case "spatial_crank":
            mechanism = spatial_crank(rng)
        case _:
            types = draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))
            # The spin of a part between two balls is passive and cannot be a coordinate.
            balls = [i for i, x in enumerate(types) if _swivels(x)]
            mechanism = chain([x for i, x in enumerate(types) if i not in balls[1:]], rng)
    return filled(mechanism, rng), rng


def lagrange(model: KinematicModel, y: Array, yd: Array, ydd: Array) -> tuple[Array, Array]:
    """d/dt ∂L/∂ẏ - ∂L/∂y by differences, and the size of its terms, (n_i,) each.

    L is quadratic in ẏ, so that ∂L/∂ẏ by differences with a step of 1 is exact.
    """
    n = len(y)
    unit = np.eye(n)
    t = STEP * OFFSETS[:, None]
    path, speed = y + t * yd + t**2 / 2 * ydd, yd + t * ydd
    places = [path] * (2 * n) + [y + t * unit[j] for j in range(n)]
    speeds = [speed + sign * unit[j] for j in range(n) for sign in (1, -1)]
    speeds += [np.tile(yd, (7, 1))] * n
    motion = solve_motion(model, np.concatenate(places), np.concatenate(speeds), ordered=False)
    kinetic, potential = (x.reshape(3 * n, 7) for x in VirtualPower(motion).energy)
    momentum = (kinetic[0 : 2 * n : 2] - kinetic[1 : 2 * n : 2]) / 2
    force = (momentum - (kinetic - potential)[2 * n :]) @ WEIGHTS
    energies = np.abs(kinetic).max() + np.ptp(potential)
    return force, np.full(n, energies)


def random_state(
    model: KinematicModel, rng: np.random.Generator
) -> tuple[Array, Array, Array] | None:
    """Near home; None if it comes near a singular pose or a locked angle."""
    n = model.n_independent
    y = model.home_y + rng.uniform(-0.3, 0.3, n)
    yd, ydd = rng.uniform(-1, 1, n), rng.uniform(-2, 2, n)
    near = y + np.linspace(-0.1, 0.1, 9)[:, None] * np.ones(n)
    motion = solve_motion(model, near)
    clear = singularity_margin(model, motion.q).min() > 0.05
    return (y, yd, ydd) if clear else None


@settings(max_examples=30)
@given(mechanisms())
def test_lagrange_by_differences(case: tuple[Mechanism, np.random.Generator]) -> None:
    mechanism, rng = case
    model = dynamic_model(mechanism)
    state = random_state(model.kinematics, rng)
    if state is None:
        return
    y, yd, ydd = state
    motion = solve_motion(model.kinematics, y[None], yd[None], ydd[None], ordered=False)
    o = observation_matrix(motion, model)
    tau = o.W[0] @ cad_parameters(model) + o.known[0]
    want, size = lagrange(model.kinematics, y, yd, ydd)
    assert np.all(np.abs(tau - want) <= 1e-9 * size), (tau, want)
    power = VirtualPower(motion).inverse
    closed = max(1.0, float(1 / singularity_margin(model.kinematics, motion.q)[0]))
    error = np.abs(tau - power.force[0])
    assert np.all(error <= 100 * np.finfo(float).eps * closed * power.size)


@pytest.mark.slow
@settings(max_examples=30)
@given(mechanisms())
def test_every_formulation_inverts(case: tuple[Mechanism, np.random.Generator]) -> None:
    """Accelerations under random forces need these forces; all formulations agree on them."""
    mechanism, rng = case
    model = dynamic_model(mechanism)
    state = random_state(model.kinematics, rng)
    if state is None:
        return
    y, yd, _ = state
    phi = cad_parameters(model)
    engine = Engine(model, phi)
    motion: Motion = solve_motion(model.kinematics, y[None], yd[None], ordered=False)
    tau = rng.uniform(-20, 20, len(y))
    engine.anchor(y, motion.q[0])
    closed = max(1.0, float(1 / singularity_margin(model.kinematics, motion.q)[0]))
    bound = 1000 * np.finfo(float).eps * closed**2
    for name in EVERY:
        chosen = formulation(name, engine)
        z = chosen.start(motion.q[0], motion.v[0])
        now = chosen.evaluate(z, tau)
        ydd = chosen.independent_acceleration(z, now.rate)
        back = solve_motion(model.kinematics, y[None], yd[None], ydd[None], ordered=False)
        o = observation_matrix(back, model)
        size = VirtualPower(back).inverse.size + np.abs(tau)
        error = np.abs(o.W[0] @ phi + o.known[0] - tau)
        assert np.all(error <= bound * size.max()), name
