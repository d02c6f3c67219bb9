"""What resistance in joints, actuated or not, adds to the generalised forces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion, rates
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Joint, Mechanism


@dataclass(frozen=True, eq=False)
class JointSliding:
    """How the surfaces of a joint move on each other.

    Attributes
    ----------
    joint : str
    speeds : array (N, k)
        Of its k parts, ≥ 0: rad/s, or m/s of a joint that does not turn. A universal joint has two
        parts; those of a spherical one are the three components of one angular velocity, whose
        absolute value is the speed.
    partials : array (N, k, n_i)
        Derivatives of the speeds by ẏ: a resistance r of a part adds r · ∂speed/∂ẏ to τ.
    """

    joint: str
    speeds: Floats
    partials: Floats

    def forces(self, resistance: Floats) -> Floats:
        """Return generalised forces (N, n_i) of resistances (N, k) of the parts."""
        return np.asarray(np.einsum("nk,nkj->nj", resistance, self.partials))


def sliding_joints(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the joints that can have friction: those that move, and hold something."""
    return tuple(j.name for j in mechanism.joints if j.kind.steps and not j.kind.holds_nothing)


def joint_sliding(motion: Motion) -> tuple[JointSliding, ...]:
    """Return the sliding of all joints that can have friction."""
    mechanism = motion.model.mechanism
    joints = [mechanism.joint(name) for name in sliding_joints(mechanism)]
    R = rates(motion).R
    still = np.zeros_like(motion.vd)
    unit = [
        replace(motion, v=np.ascontiguousarray(R[:, :, j]), vd=still)
        for j in range(motion.y.shape[1])
    ]
    return tuple(_sliding(joint, motion, unit) for joint in joints)


def _sliding(joint: Joint, motion: Motion, unit: list[Motion]) -> JointSliding:
    own = joint_motion(motion, joint.name).speeds
    by_y = np.stack([joint_motion(m, joint.name).speeds for m in unit], axis=-1)
    speeds, partials = [], []
    for part in _parts(joint):
        u = own[:, part]
        speed = np.linalg.norm(u, axis=1)
        # At rest there is no direction to resist.
        along = u / np.where(speed > 0, speed, np.inf)[:, None]
        speeds.append(speed)
        partials.append(np.einsum("nk,nkj->nj", along, by_y[:, part]))
    return JointSliding(joint.name, np.stack(speeds, axis=1), np.stack(partials, axis=1))


def _parts(joint: Joint) -> list[slice]:
    """Return which speeds belong together: of its turns, or of its slides if it does not turn."""
    out, first = [], 0
    for step in joint.kind.steps:
        n = 3 if step.motion == "ball" else 1
        if (step.motion == "slide") != bool(joint.kind.n_turns):
            out.append(slice(first, first + n))
        first += n
    return out
