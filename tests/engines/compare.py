"""One random mechanism against one engine: the largest disagreements, and what explains them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.forward.engine import Engine
from mechid.dynamics.regressor import cad_parameters, observation_matrix
from mechid.kinematics.frames import FrameMotion
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import JointCoordinate

from ..contract.states import condition, reach
from ..dynamics.virtual_power import VirtualPower
from .cases import SAMPLES, Case
from .closed_tree import ClosedTree
from .on_exudyn import LINEAR, LOADS, OnExudyn, expressible, reason_against
from .on_mujoco import OnMujoco
from .on_pinocchio import OnPinocchio

Array = npt.NDArray[np.float64]
TREES: dict[str, Callable[..., Any]] = {"Pinocchio": OnPinocchio, "MuJoCo": OnMujoco}
ENGINES = (*TREES, "Exudyn")
EXUDYN_HAS = {*LINEAR, *LOADS}  # other laws are user functions of its connectors


@dataclass(frozen=True)
class Agreement:
    """Largest relative disagreements of one mechanism with one engine.

    Attributes
    ----------
    number : int
        Of the mechanism.
    engine : str
    reason : str
        Why the engine cannot express the mechanism; "" if it can.
    kinds : tuple of str
        Joints, constraints and elements that were compared.
    native : tuple of str
        Kinds of elements that the engine has itself.
    left_out : tuple of str
        Kinds of elements that were taken out of the mechanism for this engine.
    differences : dict
        Poses by the size of the mechanism; forces and accelerations by the largest of the path;
        entries M_ij of the mass matrix by the root of M_ii M_jj; residuals of the engine's own
        constraints by the size of their terms.
    """

    number: int
    engine: str
    reason: str
    kinds: tuple[str, ...] = ()
    native: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    differences: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Ours:
    """What mechid finds at the samples that are compared.

    `causes` are what rounding is amplified by: 1/σ of the closure, the terms of a force by the
    force, the condition of the mass matrix, 1/cos of an independent pitch.
    """

    tau: Array
    applied: Array
    mass: Array
    acceleration: Array
    causes: tuple[tuple[str, float], ...]


def ours(case: Case) -> Ours:
    """Inverse and forward dynamics of a case; the forces of the latter are random."""
    phi = cad_parameters(case.model)
    o = observation_matrix(case.motion, case.model)
    tau = o.W @ phi + o.known
    engine = Engine(case.model, phi)
    rng = np.random.default_rng(case.number)
    applied = rng.uniform(-1, 1, tau[SAMPLES].shape) * np.abs(tau).max(axis=0)
    mass, acceleration = [], []
    for k, push in zip(SAMPLES, applied, strict=True):
        y, yd = case.motion.y[k], case.motion.yd[k]
        engine.anchor(y, case.motion.q[k])
        acceleration.append(engine.accelerate(y, yd, push).ydd)
        mass.append(engine.reduced(y, yd).M)
    size = VirtualPower(case.motion.part(SAMPLES)).inverse.size
    causes = {
        "1/σ of the closure": condition(case.motion),
        "terms of a force by the force": float((size / np.abs(tau[SAMPLES]).max(axis=0)).max()),
        "condition of the mass matrix": float(np.linalg.cond(mass).max()),
        "1/cos of an independent pitch": _pitch(case),
    }
    found = tau[SAMPLES], applied, np.array(mass), np.array(acceleration)
    return Ours(*found, tuple(causes.items()))


def _pitch(case: Case) -> float:
    """Return 1/cos of the independent pitch nearest to 90°, where its rates are singular."""
    largest = 1.0
    for i, c in enumerate(case.mechanism.coordinates):
        assert isinstance(c, JointCoordinate)
        if case.mechanism.joint(c.joint).kind.choices[c.index] == "pitch":
            largest = max(largest, float((1 / np.abs(np.cos(case.motion.y[:, i]))).max()))
    return largest


def against_tree(case: Case, name: str, found: Ours) -> Agreement:
    """Compare with an engine that has joint coordinates."""
    engine = TREES[name](case.mechanism)
    tree = ClosedTree(case.mechanism, engine)
    m = case.motion
    states = tree.follow(m.y, m.yd, m.ydd, SAMPLES)
    tau, mass, rest = tree.equations(states)
    f, far = m.bodies(), reach(m)
    position = 0.0
    for s, k in zip(states, SAMPLES, strict=True):
        for i, body in enumerate(case.mechanism.bodies):
            p, R = s.kinematics.position[body.name], s.kinematics.rotation[body.name]
            position = max(position, np.abs(p - f.position[k, i]).max() / far)
            position = max(position, np.abs(R - f.rotation[k, i]).max())
    acceleration = np.array(
        [np.linalg.solve(*x) for x in zip(mass, found.applied - rest, strict=True)]
    )
    differences = {
        "poses through the loops": float(position),
        "inverse dynamics": relative(found.tau, tau),
        "mass matrix": mass_difference(found.mass, mass),
        "forward dynamics": float(
            np.abs(found.acceleration - acceleration).max() / np.abs(acceleration).max()
        ),
    }
    if own := getattr(engine, "closed", None):
        differences["the engine's own constraints"] = max(own(s.q, s.R) for s in states)
    native = {e.kind for e in case.mechanism.elements if e.name in engine.native}
    kinds, own_kinds = tuple(sorted(case.kinds)), tuple(sorted(native))
    return Agreement(case.number, name, "", kinds, own_kinds, (), tuple(differences.items()))


def against_exudyn(case: Case) -> Agreement:
    """Compare the accelerations of all bodies under the forces of inverse dynamics.

    Once from rest and once in motion, where Exudyn takes differences of its constraints.
    """
    reason = reason_against(case.mechanism)
    if not reason and case.model.kinematics.redundant_rows:
        reason = "redundant constraints"
    if reason:
        return Agreement(case.number, "Exudyn", reason)
    mechanism = expressible(case.mechanism)
    model, m = dynamic_model(mechanism), case.motion
    residual, differences = 0.0, {}
    for word, speed in (("accelerations from rest", 0.0), ("accelerations in motion", 1.0)):
        motion = solve_motion(model.kinematics, m.y, speed * m.yd, m.ydd, time=m.time)
        o = observation_matrix(motion, model)
        tau, f = o.W @ cad_parameters(model) + o.known, motion.bodies()
        worst = 0.0
        for k in SAMPLES:
            linear, angular, open_ = OnExudyn(mechanism, f, k, tau[k]).accelerations()
            residual = max(residual, open_ / reach(m))
            worst = max(worst, _acceleration_difference(f, k, linear, angular, reach(m)))
        differences[word] = worst
    differences["the engine's own constraints"] = residual
    left_out = {e.kind for e in case.mechanism.elements} - {e.kind for e in mechanism.elements}
    return Agreement(
        case.number,
        "Exudyn",
        "",
        tuple(sorted(case.kinds - left_out)),
        tuple(sorted({e.kind for e in mechanism.elements} & EXUDYN_HAS)),
        tuple(sorted(left_out)),
        tuple(differences.items()),
    )


def _acceleration_difference(
    f: FrameMotion, k: int, linear: Array, angular: Array, size: float
) -> float:
    """Largest difference of accelerations, turns counted at the size of the mechanism."""
    gap = max(np.abs(f.acceleration[k] - linear).max(), size * np.abs(f.alpha[k] - angular).max())
    return float(gap / max(np.abs(linear).max(), size * np.abs(angular).max()))


def agreements(case: Case, found: Ours) -> list[Agreement]:
    """Compare a mechanism with all engines."""
    return [*(against_tree(case, name, found) for name in TREES), against_exudyn(case)]


def relative(a: Array, b: Array) -> float:
    """Largest difference per column, by the largest entry of the column."""
    return float((np.abs(a - b).max(axis=0) / np.abs(b).max(axis=0)).max())


def mass_difference(a: Array, b: Array) -> float:
    root = np.sqrt(np.einsum("nii->ni", b))
    return float((np.abs(a - b) / (root[:, :, None] * root[:, None, :])).max())
