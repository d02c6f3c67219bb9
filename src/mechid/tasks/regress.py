"""From a measured motion and a base set to the linear problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.regressor import observe_path
from mechid.errors import DataError, MechidError
from mechid.estimation.regression import Bools, Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.runs.record import MotionData
from mechid.signals.filters import Decimation
from mechid.signals.record import Prepared
from mechid.tables.forces import force_unit


@dataclass(frozen=True)
class DeclaredNoise:
    """What the user says of the noise of the forces.

    Attributes
    ----------
    share : float
        Deviation as a share of the root mean square of each force.
    channels : mapping force → float
        Deviations of single forces (N or N m), instead.
    """

    share: float = 0.0
    channels: Mapping[str, float] = field(default_factory=dict)


NO_NOISE = DeclaredNoise()


def motion_data(name: str, source: str, prepared: Prepared) -> MotionData:
    """Return a prepared measurement as the motion of a run."""
    return MotionData(
        name,
        source,
        prepared.time,
        prepared.y,
        prepared.yd,
        prepared.ydd,
        prepared.forces,
        np.where(prepared.valid, prepared.tau, np.nan),
        1 if prepared.decimation is None else prepared.decimation.factor,
        prepared.notes,
        prepared.warnings,
    )


def regression_of(
    model: DynamicModel, motion: MotionData, parameters: Sequence[str] | None = None
) -> Regression:
    """Return W φ + known = τ of a motion, filtered and decimated as the motion asks for.

    Parameters
    ----------
    model : DynamicModel
    motion : MotionData
    parameters : sequence of str, optional
        Columns of W that are kept: those that head the base parameters; by default all.

    Raises
    ------
    MechidError
        Naming the file, if the mechanism cannot perform the motion.
    """
    try:
        seen = observe_path(model, motion.y, motion.yd, motion.ydd, time=motion.time)
    except MechidError as error:
        raise error.located(motion.source) from None
    names = [column.name for column in model.columns]
    places = [names.index(name) for name in (names if parameters is None else parameters)]
    rows = measured_rows(model.mechanism, motion.forces)
    valid = np.isfinite(motion.tau)
    found = Regression(
        np.ascontiguousarray(seen.W[:, rows][:, :, places]),
        np.where(valid, motion.tau, 0.0),
        seen.known[:, rows],
        motion.time,
        tuple(names[i] for i in places),
        motion.forces,
        tuple(force_unit(model.mechanism.coordinates[i]) for i in rows),
        valid,
    )
    return found if motion.decimation == 1 else _decimated(found, Decimation(motion.decimation))


def declared(regression: Regression, noise: DeclaredNoise) -> Regression:
    """Return the problem with the noise that the user declares."""
    if strange := [name for name in noise.channels if name not in regression.channels]:
        raise DataError(
            f"{strange[0]} is no measured force",
            remedy=f"those are {', '.join(regression.channels)}",
        )
    if not noise.share and not noise.channels:
        return regression
    squares = np.mean(np.square(regression.tau), axis=0, where=regression.valid)
    sigma = noise.share * np.sqrt(np.nan_to_num(squares))
    for name, value in noise.channels.items():
        sigma[regression.channels.index(name)] = value
    return replace(regression, noise=sigma)


def with_instruments(regression: Regression, second: Regression) -> Regression:
    """Return the problem with W of a second measurement of the same motion as instruments.

    Raises
    ------
    DataError
        If the two do not have the same samples.
    """
    if second.W.shape != regression.W.shape:
        raise DataError(
            f"the second measurement has {len(second.time)} samples of {len(second.channels)} "
            f"forces, the first {len(regression.time)} of {len(regression.channels)}",
            remedy="instruments are the same motion measured twice, sample by sample",
        )
    return replace(regression, instruments=second.W)


def measured_rows(mechanism: Mechanism, forces: Sequence[str]) -> list[int]:
    """Return which forces of a mechanism were measured, by number."""
    known = [c.force for c in mechanism.coordinates]
    if not forces:
        raise DataError("no force was measured", remedy=f"those are {', '.join(known)}")
    if strange := [name for name in forces if name not in known]:
        raise DataError(
            f"{strange[0]} is no force of the mechanism", remedy=f"those are {', '.join(known)}"
        )
    return [known.index(name) for name in forces]


def _decimated(r: Regression, decimation: Decimation) -> Regression:
    """Pass W and τ through the same filter: W φ = τ holds after it as before."""

    def apply(values: Floats) -> Floats:
        return decimation.apply(values)

    # Gaps are bridged for the filter; what feels them is not valid afterwards.
    tau = np.column_stack(
        [_bridged(r.time, r.tau[:, j], r.valid[:, j]) for j in range(len(r.channels))]
    )
    return Regression(
        apply(r.W),
        apply(tau),
        apply(r.known),
        r.time[decimation.kept(len(r.time))],
        r.parameters,
        r.channels,
        r.units,
        decimation.valid(r.valid),
    )


def _bridged(time: Floats, values: Floats, valid: Bools) -> Floats:
    if valid.all() or not valid.any():
        return values
    return np.asarray(np.interp(time, time[valid], values[valid]))
