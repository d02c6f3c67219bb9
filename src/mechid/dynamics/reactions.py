"""Joint reactions along a motion: the force and the moment that each joint transmits.

The net wrench that every body needs is summed from the leaves of the spanning tree to its root.
What a tree joint must transmit is this sum less what cut joints supply; along its own freedoms it
can transmit nothing, and that determines the multipliers of the cut joints.

Where constraints are redundant, the reactions are those of least norm,

    Σ over all joints of L² |f|² + |m|²,

with the size L of the mechanism, forces f and moments m as in `JointReactions` (the moment along a
thread is not counted beside its force), the dimensionless multipliers of couplings and distance
constraints, and the moments that hold passive spins. These are the shortest multipliers of the
reference-point formulation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.kernels.reactions import reactions_batch
from mechid.dynamics.reaction_tables import multiplier_scale, reaction_tables
from mechid.errors import SingularPoseError
from mechid.kinematics.couplings import coupling_unit
from mechid.kinematics.motion import Motion
from mechid.kinematics.refusals import place_of
from mechid.kinematics.tables import Floats
from mechid.kinematics.threads import spread
from mechid.mechanism.records import Constraint, Coupling, Mechanism
from mechid.shown import Plotted, Tabular

_BLOCK = 2048  # samples between two reports of progress
_SHORTEST_PART = 64  # samples that are worth a thread


@dataclass(frozen=True, eq=False, repr=False)
class JointReactions(Plotted, Tabular):
    """What each joint does to its second body, along a motion.

    Forces and moments act on body b at the origin of b's joint frame, in ground axes; body a
    receives the opposite. Actuators are not part of them. What a coupling exerts on a joint
    coordinate is: a gear acts between the two bodies of each of its joints.

    Attributes
    ----------
    joints : tuple of str
        Names, in the order of the mechanism.
    force, moment : arrays (N, n_joints, 3)
        N and N m.
    undetermined : array of bool (N, n_joints, 6)
        Components (force, moment) that redundant constraints leave open. They carry the value of
        least norm (see the head of this module), which no real mechanism need have.
    constraints : tuple of str
        Names of couplings and distance constraints, in the order of the mechanism.
    units : tuple of str
        Units of their multipliers: N, or N m.
    multipliers : array (N, n_constraints)
        λ: a coupling exerts factor × λ on each of its coordinates; a distance constraint pushes
        its points apart with the force λ.
    open_multipliers : array of bool (N, n_constraints)
        Multipliers that redundant constraints leave open.
    """

    joints: tuple[str, ...]
    force: Floats
    moment: Floats
    undetermined: npt.NDArray[np.bool_]
    constraints: tuple[str, ...]
    units: tuple[str, ...]
    multipliers: Floats
    open_multipliers: npt.NDArray[np.bool_]

    def summary(self) -> Mapping[str, object]:
        """Return what `repr` shows: the largest forces of joints and constraints."""
        f, m = (np.abs(np.linalg.norm(x, axis=2)) for x in (self.force, self.moment))
        return {
            "samples": len(self.force),
            **{
                name: f"up to {f[:, j].max(initial=0.0):.4g} N, {m[:, j].max(initial=0.0):.4g} N m"
                for j, name in enumerate(self.joints)
            },
            **{
                name: f"multiplier up to {np.abs(values).max(initial=0.0):.4g} {unit}"
                for name, unit, values in zip(
                    self.constraints, self.units, self.multipliers.T, strict=True
                )
            },
        }

    @property
    def open_joints(self) -> tuple[str, ...]:
        """Joints with an undetermined component in some sample."""
        found = np.any(self.undetermined, axis=(0, 2)).tolist()
        return tuple(name for name, is_open in zip(self.joints, found, strict=True) if is_open)

    @staticmethod
    def empty(motion: Motion) -> JointReactions:
        """Return zeros for the samples and joints of a motion."""
        mechanism = motion.model.mechanism
        shape = (len(motion.y), len(mechanism.joints))
        constraints = (len(motion.y), len(mechanism.constraints))
        return JointReactions(
            joints=tuple(joint.name for joint in mechanism.joints),
            force=np.zeros((*shape, 3)),
            moment=np.zeros((*shape, 3)),
            undetermined=np.zeros((*shape, 6), dtype=bool),
            constraints=tuple(c.name for c in mechanism.constraints),
            units=tuple(multiplier_unit(mechanism, c) for c in mechanism.constraints),
            multipliers=np.zeros(constraints),
            open_multipliers=np.zeros(constraints, dtype=bool),
        )


def multiplier_unit(mechanism: Mechanism, constraint: Constraint) -> str:
    """Return the unit of the multiplier of a coupling or distance constraint, N or N m."""
    if isinstance(constraint, Coupling) and coupling_unit(mechanism, constraint) == "rad":
        return "N m"
    return "N"


def joint_reactions(
    motion: Motion, phi: Floats, tau: Floats, watch: Callable[[int], None] | None = None
) -> JointReactions:
    """Return the reactions of all joints along a motion under the forces τ that it takes.

    What bodies and elements ask for, less the actuators, is what the constraints supply. A part
    that can spin between spherical joints is held as in the motion; the moment that holds it
    belongs to no joint.

    Parameters
    ----------
    motion : Motion
    phi : array (p,)
        Parameters in the order of the columns of W.
    tau : array (N, n_i)
        Forces on the independent coordinates (N or N m), as inverse dynamics gives them for this
        motion and these parameters.
    watch : callable (samples), optional
        Called from time to time with the number of samples that are done.

    Raises
    ------
    SingularPoseError
        Naming the first sample in which the reactions are not finite.
    """
    mechanism = motion.model.mechanism
    held, actuation = reaction_tables(mechanism)
    d = dynamic_model(mechanism).tables
    found = JointReactions.empty(motion)
    parameters = np.ascontiguousarray(phi, dtype=float)
    forces = np.ascontiguousarray(tau, dtype=float)
    tables = (motion.model.tables, d, held, *actuation)
    moved = (motion.q, motion.v, motion.vd, forces)
    filled = (found.force, found.moment, found.undetermined)
    constraints = (found.multipliers, found.open_multipliers)
    for start in range(0, len(motion.y), _BLOCK):
        size = min(_BLOCK, len(motion.y) - start)

        def run(first: int, last: int, start: int = start) -> None:
            part = (start + first, start + last)
            reactions_batch(*tables, parameters, *part, *moved, *filled, *constraints)

        spread(run, size, _SHORTEST_PART)
        if watch is not None:
            watch(start + size)
    found.multipliers[:] *= multiplier_scale(mechanism, held.size)
    _refuse_infinite(motion, found)
    return found


def _refuse_infinite(motion: Motion, found: JointReactions) -> None:
    finite = np.isfinite(found.force).all(axis=(1, 2)) & np.isfinite(found.moment).all(axis=(1, 2))
    if not finite.all():
        sample = int(np.argmin(finite))
        where, when = place_of(sample, motion.time)
        raise SingularPoseError(
            "the constraints do not determine the reactions in this pose",
            where=where,
            remedy="keep the motion away from this pose",
            sample=sample,
            time=when,
        )
