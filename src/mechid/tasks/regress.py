"""From a measured motion and a base set to the linear problem."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechid.dynamics.compile import DynamicModel
from mechid.dynamics.load_friction import LoadFriction, load_friction
from mechid.dynamics.regressor import observe_path_blocks
from mechid.errors import DataError, MechidError
from mechid.estimation.regression import Between, Bools, Floats, Regression
from mechid.mechanism.records import Mechanism
from mechid.options import Level, NoiseLevels
from mechid.signals.filters import Decimation
from mechid.signals.interpolate import between_samples
from mechid.signals.moving import moving
from mechid.signals.record import PreparedMeasurement
from mechid.tables.forces import force_unit
from mechid.tasks.enough_memory import refuse_too_large

_BLOCK = 1 << 14  # samples whose W is held at once, with all columns


def regression_of(
    model: DynamicModel, motion: PreparedMeasurement, parameters: Sequence[str] | None = None
) -> Regression:
    """Return W φ + known = τ of a motion, filtered and decimated as its record requires.

    Parameters
    ----------
    model : DynamicModel
    motion : PreparedMeasurement
    parameters : sequence of str, optional
        Columns of W that are kept: those that head the base parameters; by default all.

    Raises
    ------
    MechidError
        Naming the file, if the mechanism cannot perform the motion.
    """
    names = [column.name for column in model.columns]
    places = [names.index(name) for name in (names if parameters is None else parameters)]
    rows = measured_rows(model.mechanism, motion.forces)
    n = len(motion.time)
    decimation = None if motion.decimation == 1 else Decimation(motion.decimation)
    seen = _seen(model, motion, rows, places)
    try:
        refuse_too_large(n // motion.decimation, len(rows), len(places))
        if decimation is None:
            found = np.empty((n, len(rows), len(places) + 1))
            for part, block in seen:
                found[part] = block
        else:
            found = decimation.apply_blocks((block for _, block in seen), n)
    except MechidError as error:
        raise error.located(motion.source or motion.name) from None
    tau, valid = filtered_forces(motion)
    fast = moving(model.mechanism, motion.forces, motion.yd, motion.ignore_below, motion.decimation)
    return Regression(
        W=found[..., :-1],
        tau=tau,
        known=found[..., -1],
        time=motion.time if decimation is None else motion.time[decimation.kept(n)],
        parameters=tuple(names[i] for i in places),
        channels=motion.forces,
        units=tuple(force_unit(model.mechanism.coordinates[i]) for i in rows),
        valid=valid & fast,
        # What the parallel filter leaves varies slowly.
        between=_between(model, motion, rows, places) if decimation is None and n > 1 else None,
    )


def _between(
    model: DynamicModel, motion: PreparedMeasurement, rows: list[int], places: list[int]
) -> Between:
    """Return what tells W and known between samples."""

    def found(fractions: Floats) -> tuple[Floats, Floats]:
        time, path = between_samples(motion.time, fractions, motion.y, motion.yd, motion.ydd)
        y, yd, ydd = (x.reshape(-1, x.shape[-1]) for x in path)
        forces = [np.interp(time.ravel(), motion.time, x) for x in motion.tau.T]
        finer = replace(motion, time=time.ravel(), y=y, yd=yd, ydd=ydd, tau=np.column_stack(forces))
        blocks = [block for _, block in _seen(model, finer, rows, places)]
        return time, np.concatenate(blocks).reshape(*time.shape, len(rows), len(places) + 1)

    return found


def filtered_forces(motion: PreparedMeasurement) -> tuple[Floats, Bools]:
    """Return measured forces after the parallel filter, and which of them count, (M, n_d) each."""
    valid = motion.valid
    tau = np.where(valid, motion.tau, 0.0)
    if motion.decimation == 1:
        return tau, valid
    # Gaps are bridged for the filter; what feels them is not valid afterwards.
    decimation = Decimation(motion.decimation)
    bridged = [_bridged(motion.time, t, ok) for t, ok in zip(tau.T, valid.T, strict=True)]
    return decimation.apply(np.column_stack(bridged)), decimation.valid(valid)


def _seen(
    model: DynamicModel, motion: PreparedMeasurement, rows: list[int], places: list[int]
) -> Iterator[tuple[slice, Floats]]:
    """Yield rows and columns of W, and the known part as one more column, (k, n_d, b + 1).

    In blocks: all columns of a long motion would not fit in memory. W and τ pass the same filter:
    W φ = τ holds after it as before.
    """
    rubbing = load_friction(model.mechanism)
    own = model if rubbing is None else rubbing.model
    loads = None if rubbing is None else _signed_loads(rubbing, motion, rows)
    for part, seen in observe_path_blocks(
        own, motion.y, motion.yd, motion.ydd, time=motion.time, size=_BLOCK, reuse=True
    ):
        if rubbing is not None and loads is not None:
            rubbing.apply(seen.W, seen.known, motion.yd[part], loads[part])
        W = chosen_entries(seen.W, rows, places)
        yield part, np.concatenate([W, seen.known[:, rows][..., None]], axis=-1)


def _signed_loads(rubbing: LoadFriction, motion: PreparedMeasurement, rows: list[int]) -> Floats:
    """Return forces (N, n_i) whose signs count for friction by load; NaN where CAD values tell.

    The sign of a measured force is known better than that of CAD values. Other rows are not taken.
    """
    loads = np.zeros(motion.y.shape)
    tau = motion.tau
    if not np.isfinite(rubbing.phi).all():
        # Nothing but forces beside a gap can tell; without any, there is no such friction. Samples
        # in gaps do not count, so that missing CAD values are no reason to stop.
        parts = zip(tau.T, motion.valid.T, strict=True)
        bridged = [_bridged(motion.time, t, ok) for t, ok in parts]
        tau = np.nan_to_num(np.column_stack(bridged))
    loads[:, rows] = tau
    return loads


def chosen_entries(W: Floats, rows: Sequence[int], columns: Sequence[int]) -> Floats:
    """Return W[:, rows][:, :, columns] in one pass, which takes half the time."""
    n, _, p = W.shape
    flat = np.add.outer(p * np.asarray(rows, np.int64), np.asarray(columns, np.int64)).ravel()
    found = W.reshape(n, -1).take(flat, axis=1)
    return np.asarray(found.reshape(n, len(rows), len(columns)))


def declared(
    regression: Regression, noise: NoiseLevels, stated: Mapping[str, float] | None = None
) -> Regression:
    """Return the problem with the noise that the user declares, or else the mapping of the log.

    `stated` has standard deviations of single forces (N or N m).
    """
    if not noise and stated:
        noise = NoiseLevels(channels={n: Level(x, relative=False) for n, x in stated.items()})
    if strange := [name for name in noise.channels if name not in regression.channels]:
        raise DataError(
            f"{strange[0]} is not a measured force",
            remedy=f"choose one of: {', '.join(regression.channels)}",
        )
    if not noise:
        return regression
    squares = np.sum(np.square(regression.tau), axis=0, where=regression.valid)
    sizes = np.sqrt(squares / np.maximum(np.sum(regression.valid, axis=0), 1))
    levels = [noise.of(name) for name in regression.channels]
    sigma = [x.value * (r if x.relative else 1.0) for x, r in zip(levels, sizes, strict=True)]
    return replace(regression, noise=np.array(sigma))


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
        raise DataError("no force was measured", remedy=f"choose one of: {', '.join(known)}")
    if strange := [name for name in forces if name not in known]:
        raise DataError(
            f"{strange[0]} is not a force of the mechanism",
            remedy=f"choose one of: {', '.join(known)}",
        )
    return [known.index(name) for name in forces]


def _bridged(time: Floats, values: Floats, valid: Bools) -> Floats:
    if valid.all() or not valid.any():
        return values
    return np.asarray(np.interp(time, time[valid], values[valid]))
