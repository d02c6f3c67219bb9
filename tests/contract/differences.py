"""Central differences of sixth order, and angular motion from rotation matrices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

# Step (s) for courses with frequencies w up to about 2 rad/s. Truncation is (n w h)⁶/140 of the
# n-th harmonic of the motion: 1e-8 of one with n = 6. Rounding is eps/h² ≈ 2e-12 of the values.
STEP = 0.01
TRUNCATION = 1e-8
OFFSETS = np.arange(-3, 4)
_FIRST = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
_SECOND = np.array([2, -27, 270, -490, 270, -27, 2]) / 180
_FIRST_4 = np.array([0, 1, -8, 0, 8, -1, 0]) / 12
_SECOND_4 = np.array([0, -1, 16, -30, 16, -1, 0]) / 12


def stencil_times(centers: npt.ArrayLike) -> Array:
    """Times of the samples about each centre, one after the other, (7 n,)."""
    return (np.asarray(centers, float)[:, None] + STEP * OFFSETS).ravel()


def middle(values: Array) -> Array:
    """Values at the centres, (n, ...)."""
    return values.reshape(len(values) // 7, 7, *values.shape[1:])[:, 3]


def first(values: Array) -> Array:
    """First derivatives at the centres."""
    return np.einsum("k,nk...->n...", _FIRST, _grouped(values)) / STEP


def second(values: Array) -> Array:
    """Second derivatives at the centres."""
    return np.einsum("k,nk...->n...", _SECOND, _grouped(values)) / STEP**2


def doubt(values: Array, derivative: int) -> float:
    """Truncation error of `first` or `second`, from stencils of sixth and of fourth order.

    Their errors are (n w h)⁶/140 and (n w h)⁴/30 of a harmonic: the ratio is below a tenth as long
    as the stencil is shorter than half a period of the highest harmonic.
    """
    six, four = ((_FIRST, _FIRST_4), (_SECOND, _SECOND_4))[derivative - 1]
    change = np.einsum("k,nk...->n...", six - four, _grouped(values)) / STEP**derivative
    return 0.1 * float(np.abs(change).max(initial=0.0))


def angular(R: Array) -> tuple[Array, Array]:
    """ω and ω̇ at the centres: Ṙ Rᵀ = [ω], R̈ Rᵀ = [ω̇] + [ω]², in the axes R maps to."""
    Rt = np.swapaxes(middle(R), -1, -2)
    spin = first(R) @ Rt
    turn = second(R) @ Rt - spin @ spin
    return _vector(spin), _vector(turn)


def _vector(m: Array) -> Array:
    skew = (m - np.swapaxes(m, -1, -2)) / 2
    return np.stack([skew[..., 2, 1], skew[..., 0, 2], skew[..., 1, 0]], axis=-1)


def _grouped(values: Array) -> Array:
    # Differences of what changes only: large constants would cost digits.
    grouped = values.reshape(len(values) // 7, 7, *values.shape[1:])
    return np.asarray(grouped - grouped[:, 3:4])
