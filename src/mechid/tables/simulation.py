"""A simulation as named columns."""

from __future__ import annotations

from mechid.dynamics.reactions import JointReactions
from mechid.dynamics.simulation import Simulation
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion
from mechid.mechanism.records import JointCoordinate
from mechid.tables.forces import reaction_columns
from mechid.tables.motion import TIME
from mechid.tables.observe import Columns, coordinate_columns


def named_coordinates(motion: Motion) -> Columns:
    """Return the independent coordinates and those of all joints that have a single one.

    A joint is called by its name, or `joint.angle`, `joint.displacement` where an independent
    coordinate of another meaning has that name.
    """
    mechanism = motion.model.mechanism
    columns = {c.name: motion.y[:, i] for i, c in enumerate(mechanism.coordinates)}
    same = {c.name for c in mechanism.coordinates
            if isinstance(c, JointCoordinate) and c.joint == c.name}  # fmt: skip
    for joint in mechanism.joints:
        if len(joint.kind.coordinates) != 1 or joint.hidden or joint.name in same:
            continue
        taken = joint.name in columns
        name = f"{joint.name}.{joint.kind.coordinates[0]}" if taken else joint.name
        columns[name] = joint_motion(motion, joint.name).coordinates[:, 0]
    return columns


def simulation_columns(
    simulation: Simulation, motion: Motion, reactions: JointReactions | None = None
) -> Columns:
    """Return time, coordinates with their rates, forces, energies (J) and errors by name.

    `constraint.error` is relative to the size of the mechanism.

    Parameters
    ----------
    simulation : Simulation
    motion : Motion
        The same states, from `simulated_motion`.
    reactions : JointReactions, optional
        Columns `joint.fx` … `joint.mz` too, from `simulated_reactions`.
    """
    s = simulation
    columns = {TIME: s.time, **coordinate_columns(motion)}
    columns |= {k: v for k, v in named_coordinates(motion).items() if k not in columns}
    for i, coordinate in enumerate(s.model.mechanism.coordinates):
        columns.setdefault(coordinate.force, s.tau[:, i])
    if reactions is not None:
        columns |= reaction_columns(reactions)
    return columns | {
        "energy.kinetic": s.kinetic,
        "energy.potential": s.potential,
        "energy.work": s.work,
        "energy.dissipated": s.dissipated,
        "energy.error": s.energy_error,
        "constraint.error": s.constraint_error,
    }
