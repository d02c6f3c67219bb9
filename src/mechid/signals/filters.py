"""Zero-phase low-pass filter, and decimation with it: the same for W and for τ.

A Butterworth filter of order 4 runs forwards and backwards, so that its gain is 1/(1 + (f/fc)⁸): no
delay, and half of the amplitude is left at the cut-off. What passes both W and τ through
the same linear filter keeps W φ = τ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.errors import DataError
from mechid.kinematics.tables import Floats

ORDER = 4
_SETTLED = 0.01  # what is left of the response of the slowest pole at an edge that is dropped
_ENDLESS = 1 << 60  # samples
# A long record is filtered in windows that overlap by this many edges: what a window does not see
# has decayed to 0.01⁹ of its size there, below rounding. Windows are longer than their overlap.
_OVERLAP, _WINDOW = 9, 4
_TOGETHER = 64  # columns that are filtered at once: W is wide


def gain(frequency: Floats, cutoff: float) -> Floats:
    """Return the gain of the zero-phase filter at frequencies, in the unit of the cut-off."""
    return 1.0 / (1.0 + (frequency / cutoff) ** (2 * ORDER))


def zero_phase(values: Floats, cutoff: float) -> Floats:
    """Return values (N, …), low-pass filtered along the first axis; cutoff in cycles per sample."""
    found = np.empty(values.shape)
    first = 0
    for block in zero_phase_blocks([values], cutoff):
        found[first : first + len(block)] = block
        first += len(block)
    return found


def zero_phase_blocks(blocks: Iterable[Floats], cutoff: float) -> Iterator[Floats]:
    """Yield filtered values of a record that comes in blocks (n_k, …), as `zero_phase` of all.

    The memory that this needs does not depend on the length of the record; blocks that are yielded
    have other lengths. Equal to 1e-13 of the largest value, whatever the blocks.
    """
    for window, inner in windows(blocks, overlap(cutoff)):
        yield _filtered(window, cutoff)[inner]


def overlap(cutoff: float) -> int:
    """Return how many samples beyond its own a window needs on each side."""
    return _OVERLAP * edge(cutoff)


def windows(blocks: Iterable[Floats], wide: int) -> Iterator[tuple[Floats, slice]]:
    """Yield overlapping windows of a record that comes in blocks, and which rows of each are new.

    There are `wide` rows on each side of the new ones, but at the ends of the record.
    """
    held: list[Floats] = []
    done, ready = 0, 0  # rows of what is held: given out already, and all
    for block in (part for whole in blocks for part in _parts(whole, _WINDOW * wide)):
        held.append(block)
        ready += len(block)
        if ready - done < (_WINDOW + 1) * wide:
            continue
        window = np.concatenate(held)
        yield window, slice(done, ready - wide)
        held = [window[max(ready - 2 * wide, 0) :]]
        done, ready = min(wide, ready - wide), len(held[0])
    if ready > done:
        yield np.concatenate(held), slice(done, ready)


def _parts(values: Floats, size: int) -> Iterator[Floats]:
    return (values[first : first + size] for first in range(0, len(values), size))


def _filtered(values: Floats, cutoff: float) -> Floats:
    from scipy.signal import butter, sosfiltfilt

    sos = butter(ORDER, 2 * cutoff, output="sos")
    pad = min(len(values) - 1, edge(cutoff))
    flat = values.reshape(len(values), -1)
    found = np.empty(flat.shape)
    for k in range(0, flat.shape[1], _TOGETHER):
        columns = slice(k, k + _TOGETHER)
        found[:, columns] = sosfiltfilt(sos, flat[:, columns], axis=0, padlen=pad)
    return found.reshape(values.shape)


def edge(cutoff: float) -> int:
    """Return how many samples at each end feel that the record ends there.

    The response of the slowest pole has decayed to one per cent by then.
    """
    from scipy.signal import butter

    if 2 * cutoff < np.finfo(float).eps:  # so low that rounding hides it
        return _ENDLESS
    _, poles, _ = butter(ORDER, 2 * cutoff, output="zpk")
    slowest = np.abs(poles).max()
    if slowest >= 1:
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
        self.kept(len(values))
        return self.apply_blocks([values], len(values))

    def apply_blocks(self, blocks: Iterable[Floats], n: int) -> Floats:
        """Return what `apply` does for a record of n samples that comes in blocks (n_k, …)."""
        return np.concatenate(list(self.stream(blocks, n)))

    def stream(self, blocks: Iterable[Floats], n: int) -> Iterator[Floats]:
        """Yield the same in blocks."""
        kept, first = self.kept(n), 0
        for block in zero_phase_blocks(blocks, self.cutoff):
            # Where the first sample that is kept lies in this block.
            start = max(kept.start - first, -first % self.factor)
            yield block[start : max(kept.stop - first, 0) : self.factor].copy()
            first += len(block)

    def valid(self, valid: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which decimated samples of a mask (N, …) depend on valid samples only."""
        kept, reach, n = self.kept(len(valid)), edge(self.cutoff), len(valid)
        if valid.all():
            return np.ones_like(valid[kept], dtype=bool)
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
