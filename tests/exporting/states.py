"""Random states of the zoo, and what other engines are asked about them.

Coordinates of elementary joints are found by their names; speeds and accelerations follow from
those of the bodies, by the Jacobians of the other engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load

from ..contract.states import SPECS, random_course, solve_course

Array = npt.NDArray[np.float64]
SAMPLES = 2
# Every mechanism of the zoo, and the variants with other joints, coordinates or elements.
_VARIANTS = ("table", "isostatic", "bearing", "guided", "motor", "payload", "distances", "free",
             "cube", "spring", "two-balls", "tip", "friction")  # fmt: skip
MOVED = tuple(s for s in SPECS if "@" not in s or s.endswith(_VARIANTS))
# Rounding, amplified by the closing of loops and by Jacobians of other engines.
TOLERANCE = 1e-9


@cache
def random_motion(spec: str) -> Motion:
    """A short random motion; loads, which no robot format holds, are taken off."""
    mechanism = load(spec)
    elements = tuple(e for e in mechanism.elements if e.kind not in ("force", "moment"))
    model = kinematic_model(replace(mechanism, elements=elements))
    course = random_course(model, np.random.default_rng(5))
    return solve_course(model, course, np.linspace(0.3, 5, SAMPLES))


def forces(motion: Motion) -> Array:
    """W φ + known."""
    model = dynamic_model(motion.model.mechanism)
    o = observation_matrix(motion, model)
    return np.asarray(o.W @ cad_parameters(model) + o.known)


def body_twists(motion: Motion) -> Array:
    """(N, 6 n_b): velocities of the body frames and angular velocities."""
    f = motion.bodies()
    return np.concatenate([f.velocity, f.omega], axis=2).reshape(len(motion.y), -1)


def body_rates(motion: Motion) -> Array:
    """(N, 6 n_b): their derivatives."""
    f = motion.bodies()
    return np.concatenate([f.acceleration, f.alpha], axis=2).reshape(len(motion.y), -1)


def unit_twists(motion: Motion, k: int) -> Array:
    """(6 n_b, n_i): twists of the bodies per unit of each independent speed, at sample k."""
    n = motion.y.shape[1]
    y = np.repeat(motion.y[k : k + 1], n, axis=0)
    return body_twists(solve_motion(motion.model, y, np.eye(n), ordered=False)).T


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Values of elementary joints by their names."""

    of: dict[str, Array]  # (N,)
    balls: dict[str, str]  # names of pieces that are balls → joint


def coordinates(motion: Motion) -> Coordinates:
    found: dict[str, Array] = {}
    balls: dict[str, str] = {}
    for joint in motion.model.mechanism.joints:
        values = joint_motion(motion, joint.name).coordinates
        alone = len(joint.kind.steps) == 1
        for i, step in joint.kind.numbered:
            if step.motion == "ball":
                balls[joint.name if alone else f"{joint.name}_turn"] = joint.name
                continue
            name = joint.name if alone else f"{joint.name}_{step.names[0]}"
            found[name] = values[:, i]
            if step.motion == "screw":
                found[f"{name}_lead"] = joint.pitch / (2 * np.pi) * values[:, i]
    return Coordinates(found, balls)


def relative_turn(motion: Motion, k: int, parent: str, child: str) -> Array:
    """Rotation of a child relative to its parent, from that of the home pose."""
    mechanism = motion.model.mechanism
    home = solve_motion(motion.model, motion.model.home_y[None]).bodies().rotation[0]
    now = motion.bodies().rotation[k]
    at = {b.name: i for i, b in enumerate(mechanism.bodies)}

    def turn(rotations: Array) -> Array:
        return (rotations[at[parent]].T if parent in at else np.eye(3)) @ rotations[at[child]]

    return np.asarray(turn(home).T @ turn(now))


def assert_same_dynamics(
    motion: Motion,
    k: int,
    J: Array,
    bias: Array,
    inverse: Callable[[Array, Array], tuple[Array, Array]],
    tau: Array,
) -> Array:
    """Compare inverse dynamics, projected on the admissible motions; return these (n_v, n_i).

    J is the Jacobian of the body frames in the other engine, `bias` their accelerations without
    those of the coordinates; `inverse` returns forces for speeds and accelerations, and their size.
    """

    def coordinates_of(twist: Array) -> Array:
        found, *_ = np.linalg.lstsq(J, twist)
        scale = np.abs(twist).max(initial=1.0)
        assert np.abs(J @ found - twist).max() <= TOLERANCE * scale
        return np.asarray(found)

    G = coordinates_of(unit_twists(motion, k))
    v = coordinates_of(body_twists(motion)[k])
    vd = coordinates_of(body_rates(motion)[k] - bias)
    found, size = inverse(v, vd)
    scale = np.abs(G.T) @ size + np.abs(tau)
    assert np.all(np.abs(G.T @ found - tau) <= TOLERANCE * scale)
    return G


def body_names(mechanism: Mechanism) -> list[str]:
    return [body.name for body in mechanism.bodies]
