"""Joint reactions: what each joint does to its second body, from the multipliers.

The rows of a joint act on its second body with the generalised force C_qᵀ λ, on twists a force and
a moment about the body's origin. Moved to the origin of its joint frame they are the reaction; the
first body receives the opposite. An actuator that acts on the coordinate of the joint is not part
of it; what a coupling exerts on its coordinate is.

Where constraints are redundant, reactions may be undetermined: null vectors of C_qᵀ are forces
that the joints can put on each other without any effect on the motion. What such a vector changes
is flagged, and given the value of the shortest multipliers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.reference_point.body_matrix import twist_rates, unprojected
from mechid.dynamics.reference_point.model import ReferenceModel, reference_model
from mechid.dynamics.reference_point.multipliers import multipliers_of, scaled_constraints
from mechid.dynamics.reference_point.state import state_from_motion
from mechid.kinematics.couplings import coupling_scale
from mechid.kinematics.motion import Motion
from mechid.kinematics.reference_point.evaluate import compile_rows, jacobian
from mechid.mechanism.records import GROUND, Coupling
from mechid.spatial.rotations import Array, matrix_from_quaternion

# Part of a null vector of the dimensionless constraints that counts as none.
NOTHING = 1e-8


@dataclass(frozen=True, eq=False)
class Reactions:
    """Reactions of all joints, on body b, at the origin of b's joint frame.

    Attributes
    ----------
    joints : tuple of str
        Names, in the order of the mechanism.
    force, moment : (n_joints, 3) arrays
        N and N m, in ground axes, or in those of frame a after `in_frame_a`.
    undetermined : (n_joints, 6) array of bool
        Components (force, moment) that redundant constraints leave open.
    internal : (n_joints, 6, r) array
        What each of the r internal states of stress does: force (N) and moment (N m) at each
        joint, per unit of a null vector of the dimensionless constraints.
    axes : (n_joints, 3, 3) array
        Axes of frame a, as columns, in the axes of `force` and `moment`.
    size : float
        Characteristic length (m), which makes forces and moments comparable.
    open_rows : (m',) array of bool
        Rows whose multiplier redundant constraints leave open.
    """

    joints: tuple[str, ...]
    force: Array
    moment: Array
    undetermined: np.ndarray
    internal: Array
    axes: Array
    size: float
    open_rows: np.ndarray

    def in_frame_a(self) -> Reactions:
        """Return the same reactions with components along the axes of each joint's frame a."""
        back = np.swapaxes(self.axes, 1, 2)
        internal = np.concatenate([back @ self.internal[:, :3], back @ self.internal[:, 3:]], 1)
        return Reactions(
            self.joints,
            np.einsum("jik,jk->ji", back, self.force),
            np.einsum("jik,jk->ji", back, self.moment),
            _open(internal, self.size),
            internal,
            np.tile(np.eye(3), (len(self.joints), 1, 1)),
            self.size,
            self.open_rows,
        )


def joint_reactions(model: ReferenceModel, q: Array, multipliers: Array) -> Reactions:
    """Return the reactions of all joints.

    Parameters
    ----------
    model : ReferenceModel
    q : (7 n_b,) array
        Closed pose.
    multipliers : (m,) array
        Of the rows of `model.system.closure`, from `accelerations` or `inverse_dynamics`.
    """
    wrench = _wrench_map(model, q)
    m = len(model.constraints.rows)
    C, rows, _ = scaled_constraints(model, q)
    U, _, _ = np.linalg.svd(C)
    rank = C.shape[1] - model.n_free
    internal = wrench @ (rows[:, None] * U[:, rank:])
    reaction = wrench @ multipliers[:m]
    rotation = np.concatenate([matrix_from_quaternion(q.reshape(-1, 7)[:, 3:]), np.eye(3)[None]])
    axes = [
        rotation[model.elements.numbers[j.body_a]] @ np.array(j.frame_a.rotation)
        for j in model.mechanism.joints
    ]
    return Reactions(
        joints=tuple(j.name for j in model.mechanism.joints),
        force=reaction[:, :3],
        moment=reaction[:, 3:],
        undetermined=_open(internal, model.system.size),
        internal=internal,
        axes=np.array(axes).reshape(-1, 3, 3),
        size=model.system.size,
        open_rows=np.linalg.norm(U[:, rank:], axis=1) > NOTHING,
    )


def _wrench_map(model: ReferenceModel, q: Array) -> Array:
    """Return the matrix (n_joints, 6, m') from multipliers to reactions."""
    table = q.reshape(-1, 7)
    rotation = matrix_from_quaternion(table[:, 3:])
    terms = [
        (i, factor, term)
        for i, row in enumerate(model.constraints.rows)
        for term, factor in (((row, 1.0),) if row.joint else row.terms)
    ]
    rows = compile_rows(tuple(term for *_, term in terms), model.n_bodies)
    C = (jacobian(rows, q) @ twist_rates(q)).reshape(-1, model.n_bodies, 6)
    C *= np.array([factor for _, factor, _ in terms])[:, None, None]
    owner = np.array([term.joint for *_, term in terms])
    into = np.zeros((len(terms), len(model.constraints.rows)))
    into[range(len(terms)), [i for i, *_ in terms]] = 1.0
    out = np.zeros((len(model.mechanism.joints), 6, len(model.constraints.rows)))
    for j, joint in enumerate(model.mechanism.joints):
        # On the ground there are no rows; its reaction is the opposite of that on body a.
        grounded = joint.body_b == GROUND
        body, frame = (joint.body_a, joint.frame_a) if grounded else (joint.body_b, joint.frame_b)
        k = model.elements.numbers[body]
        mine = owner == joint.name
        wrench = np.zeros((6, int(mine.sum())))
        wrench[:] = C[mine, k].T * (-1.0 if grounded else 1.0)
        # Where the joint's origin on body b stands, seen from the origin of the body at hand.
        if grounded:
            place = np.array(joint.frame_b.origin) - table[k, :3]
        else:
            place = rotation[k] @ np.array(frame.origin)
        wrench[3:] -= np.cross(place, wrench[:3], axisb=0).T
        out[j] = wrench @ into[mine]
    return out


def _open(internal: Array, size: float) -> np.ndarray:
    """Flag the components that some internal state of stress changes, (n_joints, 6)."""
    scale = np.array([size] * 3 + [1.0] * 3)
    strength = scale * np.linalg.norm(internal, axis=2)
    return np.asarray(strength > NOTHING)


def joint_reactions_reference(
    motion: Motion, phi: Array, tau: Array, watch: Callable[[int], None] | None = None
) -> JointReactions:
    """Return the reactions of all joints, computed without kernels of the tree formulation.

    Arguments as for `mechid.dynamics.reactions.joint_reactions`; some hundredths of a second per
    sample.
    """
    model = reference_model(motion.model.mechanism)
    out = JointReactions.empty(motion)
    kinds = [row.kind for row in model.constraints.rows]
    constraints = [i for i, kind in enumerate(kinds) if kind in ("coupling", "distance")]
    size = model.system.size
    scale = [
        coupling_scale(motion.model.mechanism, c, size) if isinstance(c, Coupling) else 1.0
        for c in motion.model.mechanism.constraints
    ]
    for k, state in enumerate(state_from_motion(model, motion)):
        H, known = unprojected(model, state, "euler")
        actuators = jacobian(model.system.drivers, state.q).T @ tau[k]
        multipliers = multipliers_of(model, state.q, H @ phi + known - actuators)
        found = joint_reactions(model, state.q, multipliers)
        out.force[k], out.moment[k] = found.force, found.moment
        out.undetermined[k] = found.undetermined
        out.multipliers[k] = scale * multipliers[constraints]
        out.open_multipliers[k] = found.open_rows[constraints]
        if watch is not None:
            watch(k + 1)
    return out
