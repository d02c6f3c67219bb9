"""W in balls against W in floats, rows against the float formulation, refused poses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb, arb_mat, ctx

from mechid.base.experiment import EVERYTHING, random_states
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import KinematicsError
from mechid.exact.geometry import Geometry, exact_geometry
from mechid.exact.poses import enclose, exact_system
from mechid.exact.rows import (
    Configuration,
    closure_rows,
    exact_mechanism,
    gamma,
    jacobian,
    value,
)
from mechid.exact.stack import ball_observation, reference_poses
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.reference_point import evaluate
from mechid.kinematics.reference_point.drivers import driver_rows
from mechid.mechanism.records import Frame, Mechanism
from mechid.modelfile import build, load
from mechid.spatial.inertia import transform

from ..contract.states import EPS, SPECS, zoo_model
from ..dynamics.test_elements import arm

Array = npt.NDArray[np.float64]
BITS = 160


def floats(A: arb_mat) -> Array:
    return np.array([float(x.mid()) for x in A.entries()]).reshape(A.nrows(), A.ncols())


def in_body_frames(W: Array, geometry: Geometry) -> Array:
    """Columns for parameters in the frames of the bodies, where the geometry took others."""
    W = W.copy()
    for i, body in enumerate(geometry.mechanism.bodies):
        if body.name in geometry.turned:
            R, p = np.array(body.frame.rotation), np.array(body.frame.origin)
            T = np.array([transform(phi, R, p) for phi in np.eye(10)]).T
            W[:, 10 * i : 10 * i + 10] = W[:, 10 * i : 10 * i + 10] @ T
    return W


def check_observation(mechanism: Mechanism, motion: Motion) -> None:
    geometry = exact_geometry(mechanism, "exact")
    found = ball_observation(geometry, motion, mechanism.gravity, precision=BITS)
    observation = observation_matrix(motion)
    W, units = observation.W, np.array([c.unit for c in observation.columns])
    # Rounding of a float pose is amplified on the way to speeds and accelerations.
    worst = 1 / float(np.min(singularity_margin(motion.model, motion.q), initial=1.0))
    for k, block in enumerate(found.W):
        gap = np.abs(in_body_frames(floats(block), geometry) - W[k])
        # A column may be small because its terms cancel: columns of one unit share their size.
        for unit in set(units):
            of = units == unit
            assert np.all(gap[:, of] <= 20 * EPS * worst**2 * np.abs(W[k][:, of]).max())
        assert max(float(x.rad()) for x in block.entries()) < 1e-30 * np.abs(W[k]).max()
    assert found.radius < 1e-40
    assert found.closure_error < 1e-40


@pytest.mark.parametrize("spec", SPECS)
def test_balls_are_the_floats(spec: str) -> None:
    mechanism = zoo_model(spec).mechanism
    check_observation(mechanism, random_states(mechanism, EVERYTHING, 2, 5))


@pytest.mark.parametrize("seed", [0, 1])
def test_balls_are_the_floats_for_every_element(seed: int) -> None:
    mechanism = arm(seed)
    check_observation(mechanism, random_states(mechanism, EVERYTHING, 2, 5, wide=False))


# --------------------------------------------------------------------------- turns of angles


def screw() -> Mechanism:
    """A nut on a thread, and a bar on the nut, with springs on both joints."""
    given = {"value": 3.0, "identify": True}
    return build(
        name="screw",
        gravity=[0, -9.81, 0],
        points={"O": [0, 0, 0], "A": [0.3, 0, 0]},
        bodies={"nut": {"frame": {"origin": "O"}}, "bar": {"frame": {"origin": "A"}}},
        joints={
            "thread": {
                "type": "helical",
                "between": ["ground", "nut"],
                "at": "O",
                "axis": "z",
                "pitch": 0.02,
            },
            "pin": {"type": "revolute", "between": ["nut", "bar"], "at": "A", "axis": "z"},
        },
        elements={
            "coil": {"type": "torsion_spring", "joint": "thread", "stiffness": given},
            "coil_2": {"type": "torsion_spring", "joint": "pin", "stiffness": given},
        },
        coordinates={"thread": {"joint": "thread"}, "pin": {"joint": "pin"}},
    )


@pytest.mark.parametrize("turns", [0.0, 0.5, -1.2, 7.4])
def test_several_turns(turns: float) -> None:
    """Threads advance by whole turns, and springs on a joint count them."""
    mechanism = screw()
    y = np.array([[2 * np.pi * turns + 0.1, -2 * np.pi * turns + 0.3]])
    motion = solve_motion(mechanism, y, np.ones((1, 2)), np.ones((1, 2)))
    check_observation(mechanism, motion)


def test_angle_that_is_not_declared() -> None:
    """A spring on a dependent joint whose angle is near half a turn, on both sides of it."""
    base = load("four_bar")
    spring = build(
        name="x",
        gravity=[0, 0, -9.81],
        points={"O": [0, 0, 0]},
        bodies={"a": {"frame": {"origin": "O"}}},
        joints={"q3": {"type": "revolute", "between": ["ground", "a"], "at": "O", "axis": "z"}},
        elements={
            "coil": {
                "type": "torsion_spring",
                "joint": "q3",
                "stiffness": {"value": 3.0, "identify": True},
            }
        },
        coordinates={"q": {"joint": "q3"}},
    ).elements
    joint = base.joint("q3")
    turned = tuple(
        replace(j, frame_b=turn_about_z(j.frame_b, np.pi)) if j is joint else j for j in base.joints
    )
    mechanism = replace(base, joints=turned, elements=spring)
    check_observation(mechanism, random_states(mechanism, EVERYTHING, 4, 1))


def turn_about_z(frame: Frame, angle: float) -> Frame:
    c, s = round(np.cos(angle), 12), round(np.sin(angle), 12)
    R = np.array(frame.rotation) @ [[c, -s, 0], [s, c, 0], [0, 0, 1]]
    x, y, z = (tuple(float(t) for t in row) for row in R)
    return replace(frame, rotation=(x, y, z), rotation_expr=None)


# --------------------------------------------------------------------------- rows


@pytest.mark.parametrize(
    "spec",
    [
        "screw_press",
        "spatial_slider_crank",
        "five_bar@distances",
        "stewart_platform",
        "macpherson",
        "rssr_linkage",
    ],
)
def test_rows_are_those_of_the_float_formulation(spec: str) -> None:
    """Values, gradients and γ at poses that need not be closed, at random rates."""
    mechanism = zoo_model(spec).mechanism
    geometry = exact_geometry(mechanism)  # the frames of the bodies, as in floats
    rng = np.random.default_rng(3)
    with ctx.workprec(80):
        exact = exact_mechanism(geometry)
        rows = (*closure_rows(geometry, exact), *driver_rows(exact))
        x = reference_poses(geometry, random_states(mechanism, EVERYTHING, 1, 2))[0]
        x = x + 0.01 * rng.standard_normal(len(x))
        xd = rng.standard_normal(len(x))
        c, d = (Configuration.of([arb(float(t)) for t in v]) for v in (x, xd))
        J = floats(jacobian(c, rows))
        near = np.zeros(len(rows))
        values = np.array([float(value(c, row).mid()) for row in rows])
        bent = np.array([float(gamma(c, d, row).mid()) for row in rows])
    numbers = tuple(float_row(row) for row in rows)
    table = evaluate.compile_rows(numbers, len(mechanism.bodies))
    assert values == pytest.approx(evaluate.values(table, x, near), abs=1e-13)
    assert pytest.approx(evaluate.jacobian(table, x), abs=1e-12) == J
    assert bent == pytest.approx(evaluate.gamma(table, x, xd), rel=1e-11, abs=1e-11)
    # and against differences, which share nothing with either
    h = 1e-5
    ahead, back = (evaluate.values(table, x + s * h * xd, near) for s in (1, -1))
    assert J @ xd == pytest.approx((ahead - back) / (2 * h), abs=1e-6)
    assert -bent == pytest.approx((ahead - 2 * values + back) / h**2, rel=1e-3, abs=1e-3)


def float_row(row):  # type: ignore[no-untyped-def]
    def vector(v):  # type: ignore[no-untyped-def]
        return tuple(float(arb(t).mid()) for t in v)

    products = tuple(
        replace(
            p,
            direction=vector(p.direction),
            local_a=vector(p.local_a),
            local_b=vector(p.local_b),
        )
        for p in row.products
    )
    return replace(row, products=products, coefficient=float(arb(row.coefficient).mid()))


# --------------------------------------------------------------------------- refused poses


def pose_of(spec: str) -> tuple[Geometry, Array, Array]:
    mechanism = zoo_model(spec).mechanism
    geometry = exact_geometry(mechanism, "exact")
    motion = random_states(mechanism, EVERYTHING, 1, 2)
    return geometry, reference_poses(geometry, motion)[0], motion.y[0]


def test_enclosed_pose_is_near() -> None:
    geometry, x, y = pose_of("four_bar")
    system = exact_system(geometry, x)
    found = enclose(system, x, y.tolist())
    assert len(found.x) == len(x) == system.n
    for ball, t in zip(found.x, x, strict=True):
        assert abs(float(ball.mid()) - t) < 1e-14


@pytest.mark.parametrize("by", [1e-3, 0.3, 5.0])
@pytest.mark.parametrize("spec", ["pendulum", "four_bar", "stewart_platform"])
def test_a_pose_that_is_not_closed_is_refused(spec: str, by: float) -> None:
    geometry, x, y = pose_of(spec)
    system = exact_system(geometry, x)
    with pytest.raises(KinematicsError, match="pose"):
        enclose(system, x + by * np.random.default_rng(0).standard_normal(len(x)), y.tolist())
    with pytest.raises(KinematicsError, match="pose"):
        enclose(system, x, (y + by).tolist())


def test_a_singular_pose_is_refused() -> None:
    """A slider crank in its dead centre, driven by the slider."""
    mechanism = build(
        name="dead_centre",
        gravity=[0, 0, -9.81],
        points={"A": [0, 0, 0], "B": [1, 0, 0], "C": [3, 0, 0]},
        bodies={"crank": {"frame": {"origin": "A"}}, "rod": {"frame": {"origin": "B"}},
                "slider": {"frame": {"origin": "C"}}},
        joints={
            "a": {"type": "revolute", "between": ["ground", "crank"], "at": "A", "axis": "z"},
            "b": {"type": "revolute", "between": ["crank", "rod"], "at": "B", "axis": "z"},
            "c": {"type": "spherical", "between": ["rod", "slider"], "at": "C"},
            "d": {"type": "prismatic", "between": ["ground", "slider"], "at": "C", "axis": "x"},
        },
        coordinates={"d": {"joint": "d"}},
    )  # fmt: skip
    geometry = exact_geometry(mechanism)
    x = np.array([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 3, 0, 0, 1, 0, 0, 0.0])
    other = exact_system(geometry, x)
    with pytest.raises(KinematicsError, match=r"singular|closed"):
        enclose(other, x, [0.0])
    near = np.array([1e-13 * np.sin(k) for k in range(len(x))])
    with pytest.raises(KinematicsError, match=r"singular|closed"):
        enclose(other, x + near, [0.0])
