"""Identify from a log of any length: it is read in blocks, and memory does not grow with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from mechid.blas_threads import one_blas_thread
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.regressor import observe_stream
from mechid.errors import DataError, MechidError
from mechid.estimation.clipping import StreamedLimits
from mechid.estimation.compression import compressible
from mechid.estimation.estimate import Estimate
from mechid.estimation.regression import Floats
from mechid.estimation.streamed import streamed_regression
from mechid.measurementfile.timebase import check_increasing, is_even
from mechid.mechanism.records import Mechanism
from mechid.options import IdentifyOptions
from mechid.shown import Shown
from mechid.signals.filters import Decimation, overlap, windows
from mechid.signals.lowpass import dropped, low_pass
from mechid.signals.prepare import prepare
from mechid.signals.record import Measurement, Preparation, PreparedMeasurement
from mechid.tables.blocks import table_blocks, table_names
from mechid.tables.forces import force_unit
from mechid.tasks.cad_prior import left_open
from mechid.tasks.estimators import estimator_of, identify_options, uses_cad
from mechid.tasks.identification_prior import prior_of
from mechid.tasks.inputs import mechanism_of
from mechid.tasks.regress import chosen_entries, measured_rows
from mechid.tasks.stages import chosen_base

# Samples at the start of a log from which filters are chosen, and rows that are read at once.
_HEAD, _BLOCK = 1 << 18, 1 << 14
# Correlation of neighbouring residuals beyond which samples are not independent.
_CORRELATED = 0.1


@dataclass(frozen=True, eq=False, repr=False)
class StreamedIdentification(Shown):
    """What a log that was read in blocks says about the base parameters.

    Attributes
    ----------
    estimate : Estimate
        Base parameters and their covariance. Its `residuals` are those of the triangles, not of
        samples.
    samples : int
        That the log has.
    used : int
        That remain after the parallel filter.
    E_p : mapping force → float
        Error of the predicted forces, ‖τ_est - τ‖/‖τ‖, over the whole log.
    lag_one : mapping force → float
        Correlation of neighbouring residuals: 0 for white noise.
    cutoff : float or None
        Of the low-pass filter of the positions, Hz; None if speeds and accelerations are measured.
    decimation : int
    warnings : tuple of str
    """

    estimate: Estimate
    samples: int
    used: int
    E_p: dict[str, float]
    lag_one: dict[str, float]
    cutoff: float | None
    decimation: int
    warnings: tuple[str, ...] = field(default=())


@one_blas_thread()
def identify_streamed(
    model: Mechanism | str | Path,
    log: str | Path,
    *,
    estimator: str = "map",
    cad_error: float | str | None = None,
    cutoff: float | None = None,
    decimation: int | None = None,
    **settings: Any,
) -> StreamedIdentification:
    """Identify the base parameters from a log of any length, in bounded memory.

    The log is read block by block, three times: times, triangles of a QR factorisation, errors of
    the predicted forces. The observation matrix of a block is dropped when its triangle is known.

    Parameters
    ----------
    model : Mechanism, str or Path
        A mechanism, or what `load` takes.
    log : str or Path
        .csv or .parquet, in SI units, at a constant rate and without gaps. Columns are named as
        what they are: `time`, the independent coordinates, their forces; `name.d` and `name.dd` if
        speeds and accelerations are measured.
    estimator : str
        "map", "weighted" or "ols", without settings that need the order of samples in time.
    cad_error : float or str, optional
        Relative error of the CAD values, as for `identify`.
    cutoff, decimation : float, int, optional
        Of the low-pass filter (Hz) and of the parallel filter; by default as `identify` chooses
        them for the first 262 144 samples.
    **settings
        Of the estimator; map takes the full prior by default.

    Returns
    -------
    StreamedIdentification

    Raises
    ------
    DataError
        If the log does not fit, or the estimator needs all samples at once.

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.excite("five_bar", random=4, starts=0)
    >>> made = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    >>> written = mechid.save_measurement(made, "long.parquet")
    >>> found = mechid.identify_streamed("five_bar", "long.parquet", cad_error="20%")
    >>> found.estimate.values.shape
    (11,)
    """
    mechanism, path = mechanism_of(model), Path(log)
    if estimator == "map":
        settings = {"prior": "full", **settings}
    words = {
        "estimator": estimator,
        "settings": settings,
        "cad_error": cad_error,
        "cutoff": cutoff,
        "decimation": decimation,
    }
    given = {key: value for key, value in words.items() if value is not None}
    options = identify_options(IdentifyOptions(), given, mechanism)
    chosen_estimator = estimator_of(options.estimator, options.settings)
    if not compressible(chosen_estimator):
        raise DataError(
            f"the estimator {estimator} with these settings needs all samples at once",
            remedy="use map, weighted or ols without terms of the force channels, or identify",
        )
    how = Preparation(cutoff=options.cutoff, decimation=options.decimation)
    stream = _Stream.of(mechanism, path, how)
    base = chosen_base(mechanism, options)
    names = (*base.base, *(c for c in stream.open_columns if c not in base.base))
    try:
        whole = streamed_regression(
            stream.rows(names),
            names,
            stream.forces,
            tuple(force_unit(c) for c in stream.measured),
        )
        regression = whole.select(base.base)
        known = prior_of(mechanism, base, whole, options) if uses_cad(chosen_estimator) else None
        prior, notes = known or (None, ())
        found = chosen_estimator(regression, prior)
        limits = StreamedLimits(len(stream.forces))
        E_p, lag_one = _errors(stream.residuals(base.base, found.values, limits))
    except MechidError as error:
        raise (error if error.where.startswith(str(path)) else error.located(str(path))) from None
    by_force = {
        name: (float(e), float(r)) for name, e, r in zip(stream.forces, E_p, lag_one, strict=True)
    }
    return StreamedIdentification(
        estimate=found,
        samples=stream.n,
        used=int(len(regression.time) + (0 if regression.zeros is None else regression.zeros[0])),
        E_p={name: e for name, (e, _) in by_force.items()},
        lag_one={name: r for name, (_, r) in by_force.items()},
        cutoff=stream.head.cutoff,
        decimation=stream.head.decimation,
        warnings=(
            *stream.head.warnings,
            *notes,
            *found.warnings,
            *_clipped(stream, limits),
            *_correlated(by_force),
        ),
    )


def _clipped(stream: _Stream, limits: StreamedLimits) -> tuple[str, ...]:
    """Warn of samples at the limit of a sensor: they were counted as measurements."""
    return tuple(
        f"force {stream.forces[j]} is clipped at {limit:.4g} {force_unit(stream.measured[j])}: "
        f"{count} samples with exactly this value were used as if they were measured; take parts "
        "of the log without them, or identify, which leaves them out"
        for j, limit, count in limits.found()
    )


def _correlated(by_force: dict[str, tuple[float, float]]) -> tuple[str, ...]:
    """Warn of residuals that are correlated: standard deviations take them as independent."""
    return tuple(
        f"neighbouring residuals of force {name} have a correlation of {r:.2f}: standard "
        f"deviations are too small, about {np.sqrt((1 + r) / (1 - r)):.1f} times"
        for name, (_, r) in by_force.items()
        if r > _CORRELATED
    )


@dataclass(frozen=True, eq=False)
class _Stream:
    """A log that is read in blocks, and how it is prepared: as its first samples are."""

    model: DynamicModel
    path: Path
    columns: tuple[str, ...]
    forces: tuple[str, ...]
    n: int
    rate: float
    head: PreparedMeasurement

    @staticmethod
    def of(mechanism: Mechanism, path: Path, options: Preparation) -> _Stream:
        have = table_names(path)
        coordinates = [c.name for c in mechanism.coordinates]
        rates = [f"{name}{end}" for end in (".d", ".dd") for name in coordinates]
        rates = rates if set(rates) <= set(have) else []
        forces = tuple(c.force for c in mechanism.coordinates if c.force in have)
        for name in ("time", *coordinates):
            if name not in have:
                raise DataError(
                    f"there is no column {name}",
                    where=str(path),
                    remedy="name columns as what they are, or use identify with a mapping",
                )
        if not forces:
            measured_rows(mechanism, forces)  # says which there are
        n, rate = _clock(path)
        columns = ("time", *coordinates, *rates, *forces)
        first = np.concatenate(list(_first(table_blocks(path, columns), _HEAD)))
        time, y, yd, ydd, tau = _split(first, len(coordinates), bool(rates))
        head = prepare(
            Measurement(
                time=time, coordinates=mechanism.coordinates, y=y, yd=yd, ydd=ydd, forces=forces,
                tau=tau, valid=np.ones(tau.shape, dtype=bool), source=str(path),
            ),
            mechanism,
            options,
        )  # fmt: skip
        if head.method not in ("given", "low-pass"):
            raise DataError(
                "there is no noise floor in the positions to choose a cut-off by",
                where=str(path),
                remedy="give the cut-off, or a log with speeds and accelerations",
            )
        return _Stream(dynamic_model(mechanism), path, columns, forces, n, rate, head)

    @property
    def measured(self) -> list[Any]:
        """Coordinates whose force was measured."""
        coordinates = self.model.mechanism.coordinates
        return [coordinates[i] for i in measured_rows(self.model.mechanism, self.forces)]

    @property
    def open_columns(self) -> list[str]:
        """Parameters whose prior depends on the data."""
        missing = left_open(self.model)
        return [c.name for c, m in zip(self.model.columns, missing, strict=True) if m]

    def rows(self, parameters: tuple[str, ...]) -> Iterator[Floats]:
        """Yield W of some parameters and τ less the known part, (k, n_d, b + 1)."""
        return self._decimated(block[..., :-1] for block in self._observed(parameters))

    def residuals(
        self, parameters: tuple[str, ...], phi: Floats, limits: StreamedLimits
    ) -> Iterator[Floats]:
        """Yield what values of parameters leave of τ, and τ: (k, n_d, 2).

        The filter is linear: it needs not be applied to W again. Limits are seen before it.
        """

        def unfiltered() -> Iterator[Floats]:
            for block in self._observed(parameters):
                e, tau = block[..., -2] - block[..., :-2] @ phi, block[..., -1]
                limits.add(tau, tau - e)
                yield np.stack([e, tau], axis=-1)

        return self._decimated(unfiltered())

    def _decimated(self, blocks: Iterator[Floats]) -> Iterator[Floats]:
        decimation = self.head.decimation
        if decimation == 1:
            return blocks
        drop = 0 if self.head.cutoff is None else dropped(self.rate, self.head.cutoff)
        return Decimation(decimation).stream(blocks, self.n - 2 * drop)

    def _observed(self, parameters: tuple[str, ...]) -> Iterator[Floats]:
        """Yield W, τ less the known part, and τ at all samples, (k, n_d, b + 2)."""
        names = [column.name for column in self.model.columns]
        places = [names.index(name) for name in parameters]
        rows = measured_rows(self.model.mechanism, self.forces)
        forces: list[Floats] = []

        def motion() -> Iterator[tuple[Floats, Floats, Floats, Floats]]:
            for time, y, yd, ydd, tau in self._derived():
                forces.append(tau)
                yield time, y, yd, ydd

        for seen in observe_stream(self.model, motion(), self.n):
            tau = forces.pop()
            rest = np.stack([tau - seen.known[:, rows], tau], axis=-1)
            yield np.concatenate([chosen_entries(seen.W, rows, places), rest], axis=-1)

    def _derived(self) -> Iterator[tuple[Floats, ...]]:
        """Yield time, y, ẏ, ÿ, τ in blocks."""
        n_i = len(self.model.mechanism.coordinates)
        blocks = table_blocks(self.path, self.columns, _BLOCK)
        cutoff = self.head.cutoff
        measured = len(self.columns) > 1 + n_i + len(self.forces)
        if cutoff is None:
            for block in blocks:
                yield _split(block, n_i, measured)
            return
        drop = dropped(self.rate, cutoff)
        for window, inner in windows(blocks, overlap(cutoff / self.rate) + drop):
            time, y, *_, tau = _split(window, n_i, measured)
            derived = low_pass(y, self.rate, cutoff)
            own = slice(max(inner.start, drop), min(inner.stop, len(y) - drop))
            found = slice(own.start - drop, own.stop - drop)
            for k in range(found.start, found.stop, _BLOCK):
                part = slice(k, min(k + _BLOCK, found.stop))
                raw = slice(part.start + drop, part.stop + drop)
                yield time[raw], *(x[part] for x in derived), tau[raw]


def _split(block: Floats, n_i: int, rates: bool) -> tuple[Any, ...]:
    """Return time, y, ẏ, ÿ (or None) and τ of columns."""
    y = block[:, 1 : 1 + n_i]
    if not rates:
        return block[:, 0], y, None, None, block[:, 1 + n_i :]
    yd, ydd = block[:, 1 + n_i : 1 + 2 * n_i], block[:, 1 + 2 * n_i : 1 + 3 * n_i]
    return block[:, 0], y, yd, ydd, block[:, 1 + 3 * n_i :]


def _first(blocks: Iterator[Floats], n: int) -> Iterator[Floats]:
    for block in blocks:
        yield block[:n]
        n -= len(block)
        if n <= 0:
            return


def _clock(path: Path) -> tuple[int, float]:
    """Return the number of samples and their rate (Hz), or reject times that are not even."""
    n, last, step = 0, np.zeros(0), 0.0
    start = 0.0
    for block in table_blocks(path, ["time"]):
        t = np.concatenate([last, block[:, 0]])
        if n == 0:
            check_increasing(t, str(path))
            start = float(t[0])
            step = float(np.median(np.diff(t))) if len(t) > 1 else 0.0
        uneven = len(t) > 2 and not is_even(t)
        if uneven or abs(t[-1] - t[0] - (len(t) - 1) * step) > 0.5 * step:
            raise DataError(
                f"the rate is not constant near {t[0]:.6g} s",
                where=str(path),
                remedy="resample the log, or use identify, which fills short gaps",
            )
        n, last = n + len(block), t[-1:]
    if n < 2:
        raise DataError(f"a log must have 2 samples or more, got {n}", where=str(path))
    return n, (n - 1) / (float(last[0]) - start)


def _errors(blocks: Iterator[Floats]) -> tuple[Floats, Floats]:
    """Return E_p and the correlation of neighbouring residuals of each force, (n_d,) each."""
    missed = size = both = np.zeros(0)
    last: Floats | None = None
    for block in blocks:
        e, tau = block[..., 0], block[..., 1]
        chain = e if last is None else np.vstack([last, e])
        sums = [
            np.sum(e**2, axis=0),
            np.sum(tau**2, axis=0),
            np.sum(chain[1:] * chain[:-1], axis=0),
        ]
        missed, size, both = (
            x if not y.size else x + y for x, y in zip(sums, (missed, size, both), strict=True)
        )
        last = e[-1:] if len(e) else last
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.sqrt(missed / size), both / missed
