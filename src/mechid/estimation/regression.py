"""The linear problem behind an identification: W φ + known = τ, row by row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.shown import Shown

if TYPE_CHECKING:
    from mechid.estimation.late import Piece

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
# Parts of the step to the next sample (k,) → times (N, k), and W with known as its last column
# there, (N, k, n_d, b + 1).
Between: TypeAlias = Callable[[Floats], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Possible:
    """Something that a machine may have and its model lacks.

    Attributes
    ----------
    name : str
        As "Coulomb friction of q3".
    family : str
        Name in `mechid.estimation.posterior.component.FAMILIES`.
    at : str
        The joint or drive.
    forces : array (N, n_d, k)
        Forces per unit of its k coefficients, N or N m.
    usual : float
        Size of a coefficient that is usual; 0: as much as makes the family's share of a force.
    unit : str
        Of a coefficient.
    """

    name: str
    family: str
    at: str
    forces: Floats
    usual: float = 0.0
    unit: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Regression(Shown):
    """Observation matrix and measured forces of a motion.

    Rows keep sample and channel: forces and torques are never mixed in one norm.

    Attributes
    ----------
    W : array (N, n_d, b)
        Observation matrix of the parameters that are estimated.
    tau : array (N, n_d)
        Measured forces (N or N m); values where `valid` is False are not read.
    known : array (N, n_d)
        What known coefficients and loads contribute.
    time : array (N,)
        Seconds.
    parameters : tuple of str
        Names of the b parameters.
    channels : tuple of str
        Names of the n_d forces.
    units : tuple of str
        "N" or "N m" of each force.
    valid : array (N, n_d) of bool
        Rows that count.
    instruments : array (N, n_d, b), optional
        W of the same motion with errors independent of those in W, for instrumental variables.
    noise : array (n_d,), optional
        Declared standard deviation of the error of each force (N or N m); zero where none is.
    log : array (N,) of int, optional
        Which log each sample is from, 0, 1, …, in this order; by default all are from one.
    zeros : array (n_d,) of int, optional
        Rows of zeros that each force has besides, as `Compression` leaves them: they count for the
        noise. Rows of such a problem are no samples in time.
    between : callable, optional
        W and known between samples, for forces that are late. Whoever changes W or known otherwise
        than the methods below has to change or drop it.
    possible : tuple of Possible
        What the machine may have besides, for the estimator `auto`.
    """

    W: Floats
    tau: Floats
    known: Floats
    time: Floats
    parameters: tuple[str, ...]
    channels: tuple[str, ...]
    units: tuple[str, ...]
    valid: Bools
    instruments: Floats | None = None
    noise: Floats | None = None
    log: Ints | None = None
    zeros: Ints | None = None
    between: Between | None = None
    possible: tuple[Possible, ...] = ()

    def __post_init__(self) -> None:
        """Reject arrays of inconsistent shapes, and numbers that are not finite."""
        n, n_d, b = self.W.shape
        shapes = {
            "tau": (self.tau.shape, (n, n_d)),
            "known": (self.known.shape, (n, n_d)),
            "time": (self.time.shape, (n,)),
            "valid": (self.valid.shape, (n, n_d)),
            "parameters": ((len(self.parameters),), (b,)),
            "channels": ((len(self.channels),), (n_d,)),
            "units": ((len(self.units),), (n_d,)),
        }
        if self.instruments is not None:
            shapes["instruments"] = (self.instruments.shape, self.W.shape)
        if self.noise is not None:
            shapes["noise"] = (self.noise.shape, (n_d,))
        if self.log is not None:
            shapes["log"] = (self.log.shape, (n,))
        if self.zeros is not None:
            shapes["zeros"] = (self.zeros.shape, (n_d,))
        for name, (has, needs) in shapes.items():
            if has != needs:
                raise DataError(f"{name} must have shape {needs}, got {has}")
        if not np.all(np.isfinite(self.W[self.valid])):
            raise DataError("the observation matrix must be finite")
        if self.instruments is not None and not np.all(np.isfinite(self.instruments[self.valid])):
            raise DataError("the instruments must be finite")
        if self.noise is not None and not np.all(np.isfinite(self.noise) & (self.noise >= 0)):
            raise DataError("declared standard deviations of the forces must be ≥ 0")
        if not np.all(np.isfinite(self.target[self.valid])):
            bad = np.argwhere(self.valid & ~np.isfinite(self.target))[0]
            raise DataError(
                f"force {self.channels[bad[1]]} is not finite at {self.time[bad[0]]:.6g} s",
                remedy="mark such samples as not valid",
            )

    @property
    def target(self) -> Floats:
        """What the parameters have to explain, τ - known, (N, n_d)."""
        return np.asarray(self.tau - self.known)

    def stacked(self) -> tuple[Floats, Floats, Ints]:
        """Return the valid rows: A (m, b), t (m,), and the channel of each row (m,)."""
        channel = np.broadcast_to(np.arange(len(self.channels)), self.valid.shape)
        return self.W[self.valid], self.target[self.valid], channel[self.valid].astype(np.int64)

    def unstacked(self, rows: Floats) -> Floats:
        """Return values of the valid rows as (N, n_d), NaN elsewhere."""
        found = np.full(self.valid.shape, np.nan)
        found[self.valid] = rows
        return found

    def select(self, parameters: Sequence[str]) -> Regression:
        """Return the problem with some of the parameters; the others are taken as zero."""
        at = {name: i for i, name in enumerate(self.parameters)}
        if strange := [name for name in parameters if name not in at]:
            raise DataError(f"there is no parameter {strange[0]} in this problem")
        places = [at[name] for name in parameters]
        Z = None if self.instruments is None else self.instruments[..., places]
        return replace(
            self,
            W=self.W[..., places],
            parameters=tuple(parameters),
            instruments=Z,
            between=_changed(self.between, lambda x: x[..., [*places, -1]]),
        )

    def of_channels(self, places: Sequence[int]) -> Regression:
        """Return the problem of some of the forces, by number."""
        at = list(places)
        return replace(
            self,
            W=self.W[:, at],
            tau=self.tau[:, at],
            known=self.known[:, at],
            channels=tuple(self.channels[j] for j in at),
            units=tuple(self.units[j] for j in at),
            valid=self.valid[:, at],
            instruments=None if self.instruments is None else self.instruments[:, at],
            noise=None if self.noise is None else self.noise[at],
            zeros=None if self.zeros is None else self.zeros[at],
            between=_changed(self.between, lambda x: x[:, :, at]),
            possible=tuple(replace(p, forces=p.forces[:, at]) for p in self.possible),
        )

    def with_known(self, known: Regression, values: Floats) -> Regression:
        """Return the problem with the forces of known values added, of another's parameters."""
        fixed = np.append(values, 0.0)
        mine, other = self.between, known.between
        between: Between | None = None
        if mine is not None and other is not None:

            def between(fractions: Floats) -> tuple[Floats, Floats]:
                time, x = mine(fractions)
                x[..., -1] += other(fractions)[1] @ fixed
                return time, x

        return replace(self, known=self.known + known.W @ values, between=between)

    def less_known(self, forces: Floats) -> Regression:
        """Return the problem without forces (N, n_d) that are in `known`; between samples they are
        straight lines."""
        if not np.any(forces):
            return self
        mine = self.between
        rise = np.diff(forces, axis=0, append=forces[-1:])
        between: Between | None = None
        if mine is not None:

            def between(fractions: Floats) -> tuple[Floats, Floats]:
                time, x = mine(fractions)
                x[..., -1] -= forces[:, None] + fractions[:, None] * rise[:, None]
                return time, x

        return replace(self, known=self.known - forces, between=between)

    def part(self, samples: slice | Ints) -> Regression:
        """Return the problem of some of the samples."""
        return replace(
            self,
            W=self.W[samples],
            tau=self.tau[samples],
            known=self.known[samples],
            time=self.time[samples],
            valid=self.valid[samples],
            instruments=None if self.instruments is None else self.instruments[samples],
            log=None if self.log is None else self.log[samples],
            between=_changed(self.between, lambda x: x[samples], times=True),
            possible=tuple(replace(p, forces=p.forces[samples]) for p in self.possible),
        )

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """W and known over time."""
        from mechid.estimation.late import pieces

        return pieces(self)

    @property
    def logs(self) -> Ints:
        """Number of the log of each sample (N,), counted from 0 without gaps."""
        if self.log is None:
            return np.zeros(len(self.time), dtype=np.int64)
        return np.unique(self.log, return_inverse=True)[1].astype(np.int64)

    def of_log(self, log: int) -> Regression:
        """Return the problem of one log."""
        return self.part(np.flatnonzero(self.logs == log))


def _changed(
    between: Between | None, change: Callable[[Floats], Floats], *, times: bool = False
) -> Between | None:
    """Return W between samples with another choice of samples, forces or columns."""
    if between is None:
        return None

    def found(fractions: Floats) -> tuple[Floats, Floats]:
        time, x = between(fractions)
        return change(time) if times else time, change(x)

    return found


def joined(regressions: Sequence[Regression]) -> Regression:
    """Return the problem of several logs of one mechanism together, each numbered in `log`.

    Times are those of each log; noise that is declared is the largest.

    Raises
    ------
    DataError
        If parameters or channels differ.
    """
    first = regressions[0]
    if len(regressions) == 1:
        return first
    for r in regressions[1:]:
        if (r.parameters, r.channels, r.units) != (first.parameters, first.channels, first.units):
            raise DataError(
                "logs of one identification must have the same forces, "
                f"{', '.join(first.channels)}, got {', '.join(r.channels)}"
            )

    def stacked(name: str) -> Floats:
        return np.concatenate([getattr(r, name) for r in regressions])

    whole = all(r.instruments is not None for r in regressions)
    known = [r.between for r in regressions if r.between is not None]

    def between(fractions: Floats) -> tuple[Floats, Floats]:
        times, values = zip(*(each(fractions) for each in known), strict=True)
        return np.concatenate(times), np.concatenate(values)

    noises = [r.noise for r in regressions if r.noise is not None]
    return replace(
        first,
        W=stacked("W"),
        tau=stacked("tau"),
        known=stacked("known"),
        time=stacked("time"),
        valid=np.concatenate([r.valid for r in regressions]),
        instruments=stacked("instruments") if whole else None,
        noise=np.max(noises, axis=0) if noises else None,
        log=np.repeat(np.arange(len(regressions)), [len(r.time) for r in regressions]),
        between=between if len(known) == len(regressions) else None,
        possible=tuple(
            replace(same[0], forces=np.concatenate([p.forces for p in same]))
            for same in zip(*(r.possible for r in regressions), strict=True)
        ),
    )
