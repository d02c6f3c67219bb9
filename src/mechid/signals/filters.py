"""Zero-phase low-pass filter, and decimation with it: the same for W and for τ.

A Butterworth filter of order 4 runs forwards and backwards, so that its gain is 1/(1 + (f/fc)⁸): no
delay, and half of the amplitude is left at the cut-off. What passes both W and τ through
the same linear filter keeps W φ = τ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.kinematics.tables import Floats

ORDER = 4
_SETTLED = 0.01  # what is left of the response of the slowest pole at an edge that is dropped
_ENDLESS = 1 << 60  # samples
_TOGETHER = 64  # columns that are filtered at once: W of a long log is large


def gain(frequency: Floats, cutoff: float) -> Floats:
    """Return the gain of the zero-phase filter at frequencies, in the unit of the cut-off."""
    return 1.0 / (1.0 + (frequency / cutoff) ** (2 * ORDER))


def zero_phase(values: Floats, cutoff: float) -> Floats:
    """Return values (N, …), low-pass filtered along the first axis; cutoff in cycles per sample."""
    from scipy.signal import butter, sosfiltfilt

    sos = butter(ORDER, 2 * cutoff, output="sos")
    pad = min(len(values) - 1, edge(cutoff))
    return np.asarray(sosfiltfilt(sos, values, axis=0, padlen=pad))


def edge(cutoff: float) -> int:
    """Return how many samples at each end feel that the record ends there.

    The response of the slowest pole has decayed to one per cent by then.
    """
    from scipy.signal import butter

    _, poles, _ = butter(ORDER, 2 * cutoff, output="zpk")
    slowest = np.abs(poles).max()
    if slowest >= 1:  # of a cut-off so low that rounding hides it
        return _ENDLESS
    return int(np.ceil(np.log(_SETTLED) / np.log(slowest)))


@dataclass(frozen=True)
class Decimation:
    """Low-pass filter at 0.8 of the new Nyquist frequency, then every `factor`-th sample.

    The ends, where the filter has little to average over, are dropped: `factor` samples at each.

    Attributes
    ----------
    factor : int
        Every how many samples are kept.
    """

    factor: int

    def __post_init__(self) -> None:
        """Reject a factor below 1."""
        if self.factor < 1:
            raise DataError(f"the decimation factor must be ≥ 1, got {self.factor}")

    @property
    def cutoff(self) -> float:
        """Cut-off in cycles per sample."""
        return 0.4 / self.factor

    def kept(self, n: int) -> slice:
        """Return which of n samples are kept.

        Raises
        ------
        DataError
            If none would be.
        """
        if n <= 2 * self.factor:
            raise DataError(
                f"{n} samples are too few to decimate by {self.factor}",
                remedy="use a smaller factor",
            )
        return slice(self.factor, n - self.factor, self.factor)

    def apply(self, values: Floats) -> Floats:
        """Return values (N, …) filtered and decimated along the first axis, (M, …)."""
        kept = self.kept(len(values))
        flat = values.reshape(len(values), -1)
        parts = [
            zero_phase(flat[:, k : k + _TOGETHER], self.cutoff)[kept]
            for k in range(0, flat.shape[1], _TOGETHER)
        ]
        out = np.concatenate(parts, axis=1) if parts else flat[kept]
        return out.reshape(-1, *values.shape[1:])

    def valid(self, valid: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which decimated samples of a mask (N, …) depend on valid samples only."""
        kept, reach, n = self.kept(len(valid)), edge(self.cutoff), len(valid)
        missing = np.zeros((n + 1, *valid.shape[1:]), dtype=np.int64)
        np.cumsum(~valid, axis=0, out=missing[1:])
        k = np.arange(n)[kept]
        return np.asarray(
            missing[np.minimum(k + reach + 1, n)] == missing[np.maximum(k - reach, 0)]
        )


def decimation_of(factor: int, n: int) -> Decimation | None:
    """Return the decimation of n samples by a factor; None for a factor of 1. Raises DataError if
    no samples remain."""
    if factor == 1:
        return None
    decimation = Decimation(factor)
    decimation.kept(n)
    return decimation


def decimate(values: Floats, factor: int) -> Floats:
    """Return values (N, …) low-pass filtered without delay and decimated: τ, or W (N, n_d, p).

    Parameters
    ----------
    values : array (N, …)
        Samples at a constant rate, along the first axis.
    factor : int
        Every how many samples are kept.

    Examples
    --------
    >>> import mechid, numpy as np
    >>> t = np.arange(1000) / 1000
    >>> slow = mechid.decimate(np.sin(2 * np.pi * t)[:, None], 10)
    >>> slow.shape  # every tenth sample, without the ends
    (98, 1)
    """
    return Decimation(factor).apply(values)
