"""Forces on the independent coordinates, read from a table or written to one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mechid.dynamics.inverse import InverseDynamics
from mechid.dynamics.reactions import JointReactions
from mechid.errors import DataError
from mechid.mechanism.records import Mechanism
from mechid.mechanism.records import force_unit as force_unit
from mechid.tables.files import Floats, read_columns, usable_numbers
from mechid.tables.motion import TIME
from mechid.tables.observe import Columns

COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")


@dataclass(frozen=True)
class ForceTable:
    """Forces over time: time (N,), tau (N, n_i) in the order of the model, and notes."""

    time: Floats
    tau: Floats
    notes: tuple[str, ...] = ()


def read_forces(path: str | Path, mechanism: Mechanism) -> ForceTable:
    """Read forces from a CSV or Parquet table with a column `time` and columns named as the forces.

    Forces without a column are zero (`notes` says which).

    Raises
    ------
    DataError
        With file, row and column; also if no column is a force of this mechanism.
    """
    where = str(path)
    columns = read_columns(path)
    names = [c.force for c in mechanism.coordinates]
    if TIME not in columns:
        raise DataError(f"missing column {TIME}", where=where)
    absent = [name for name in names if name not in columns]
    if len(absent) == len(names):
        raise DataError(
            "no column belongs to a force of this mechanism",
            where=where,
            remedy=f"name the columns {', '.join(names[:12])}{', …' if len(names) > 12 else ''}",
        )
    time = usable_numbers(columns[TIME], TIME, where)
    tau = np.zeros((time.size, len(names)))
    for i, name in enumerate(names):
        if name in columns:
            tau[:, i] = usable_numbers(columns[name], name, where)
    notes = (f"no column for {', '.join(absent)}: set to zero",) if absent else ()
    return ForceTable(time, tau, notes)


def inverse_columns(result: InverseDynamics) -> Columns:
    """Return time and forces by name; with reactions, `joint.fx` … `joint.mz` too.

    Free and spherical joints with independent orientation have `joint.Fx` … `joint.Mz`: what a
    sensor in them measures.
    """
    motion = result.motion
    coordinates = motion.model.mechanism.coordinates
    columns: Columns = {} if motion.time is None else {TIME: motion.time}
    columns |= {c.force: result.tau[:, i] for i, c in enumerate(coordinates)}
    columns |= result.sensed
    if result.reactions is not None:
        columns |= reaction_columns(result.reactions)
    return columns


def reaction_columns(found: JointReactions) -> Columns:
    """Return the reactions as `joint.fx` … `joint.mz`, `constraint.multiplier` (N, N m).

    Components that redundant constraints leave open are empty (nan), and left out if they are open
    in every sample.
    """
    values = np.concatenate([found.force, found.moment], axis=2)
    values = np.where(found.undetermined, np.nan, values)
    columns = {
        f"{name}.{component}": values[:, j, k]
        for j, name in enumerate(found.joints)
        for k, component in enumerate(COMPONENTS)
        if not found.undetermined[:, j, k].all()
    }
    multipliers = np.where(found.open_multipliers, np.nan, found.multipliers)
    return columns | {
        f"{name}.multiplier": multipliers[:, i]
        for i, name in enumerate(found.constraints)
        if not found.open_multipliers[:, i].all()
    }
