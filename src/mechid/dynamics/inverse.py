"""Inverse dynamics: from a motion to the forces that it takes, and to the reactions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.dynamics.columns import Column
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import observation_blocks
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats

_BLOCK = 2048  # samples of W in memory at a time


@dataclass(frozen=True, eq=False)
class JointReactions:
    """What each joint does to its second body, along a motion.

    Forces and moments act on body b at the origin of b's joint frame, in ground axes; body a
    receives the opposite. Actuators are not part of them.

    Attributes
    ----------
    joints : tuple of str
        Names, in the order of the mechanism.
    force, moment : arrays (N, n_joints, 3)
        N and N m.
    undetermined : array of bool (N, n_joints, 6)
        Components (force, moment) that redundant constraints leave open. They carry the value of
        the shortest multipliers, which no real mechanism need have.
    """

    joints: tuple[str, ...]
    force: Floats
    moment: Floats
    undetermined: npt.NDArray[np.bool_]

    @property
    def open_joints(self) -> tuple[str, ...]:
        """Joints with an undetermined component in some sample."""
        found = np.any(self.undetermined, axis=(0, 2)).tolist()
        return tuple(name for name, is_open in zip(self.joints, found, strict=True) if is_open)


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Forces that a motion takes.

    Attributes
    ----------
    motion : Motion
    tau : array (N, n_i)
        Forces on the independent coordinates (N or N m), in the order of the model.
    phi : array (p,)
        The parameters they were computed with.
    columns : tuple of Column
        Names and units of the parameters.
    reactions : JointReactions or None
        If asked for.
    """

    motion: Motion
    tau: Floats
    phi: Floats
    columns: tuple[Column, ...]
    reactions: JointReactions | None = None


def inverse_dynamics(
    motion: Motion,
    phi: Floats | None = None,
    *,
    reactions: bool = False,
    watch: Callable[[int], None] | None = None,
) -> InverseDynamics:
    """Return the generalised forces of a solved motion, τ = W φ + known.

    Parameters
    ----------
    motion : Motion
    phi : array (p,), optional
        Parameters in the order of the columns of W; default: CAD values.
    reactions : bool
        Also the forces and moments in every joint. They come from the second formulation, which
        takes some hundredths of a second per sample.
    watch : callable (samples), optional
        Called after every sample of the reactions, for progress.

    Raises
    ------
    ModelError
        If a parameter has no value.
    """
    model = dynamic_model(motion.model.mechanism)
    values = parameter_values(model, phi)
    tau = np.zeros(motion.y.shape)
    for part, seen in observation_blocks(motion, _BLOCK):
        tau[part] = seen.W @ values + seen.known
    found = joint_reactions(motion, values, tau, watch) if reactions else None
    return InverseDynamics(motion, tau, values, model.columns, found)


def joint_reactions(
    motion: Motion, phi: Floats, tau: Floats, watch: Callable[[int], None] | None = None
) -> JointReactions:
    """Return the reactions of all joints along a motion under the forces τ (N, n_i).

    What bodies and elements ask for, less the actuators, is what the constraints supply. A part
    that can spin between spherical joints is held as in the motion; the moment that holds it
    belongs to no joint.
    """
    from mechid.dynamics import reference_point as second
    from mechid.kinematics.reference_point.evaluate import jacobian

    model = second.reference_model(motion.model.mechanism)
    shape = (len(motion.y), len(motion.model.mechanism.joints))
    force, moment = np.zeros((*shape, 3)), np.zeros((*shape, 3))
    is_open = np.zeros((*shape, 6), dtype=bool)
    for k, state in enumerate(second.state_from_motion(model, motion)):
        H, known = second.unprojected(model, state, "euler")
        actuators = jacobian(model.system.drivers, state.q).T @ tau[k]
        multipliers = second.multipliers_of(model, state.q, H @ phi + known - actuators)
        found = second.joint_reactions(model, state.q, multipliers)
        force[k], moment[k], is_open[k] = found.force, found.moment, found.undetermined
        if watch is not None:
            watch(k + 1)
    names = tuple(joint.name for joint in motion.model.mechanism.joints)
    return JointReactions(names, force, moment, is_open)
