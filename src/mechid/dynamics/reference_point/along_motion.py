"""Joint reactions along a motion, sample by sample: the independent check of the fast ones."""

from __future__ import annotations

from collections.abc import Callable

from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.reference_point.body_matrix import unprojected
from mechid.dynamics.reference_point.model import reference_model
from mechid.dynamics.reference_point.multipliers import multipliers_of
from mechid.dynamics.reference_point.reactions import joint_reactions
from mechid.dynamics.reference_point.state import state_from_motion
from mechid.kinematics.couplings import coupling_scale
from mechid.kinematics.motion import Motion
from mechid.kinematics.reference_point.evaluate import jacobian
from mechid.mechanism.records import Coupling
from mechid.spatial.rotations import Array


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
