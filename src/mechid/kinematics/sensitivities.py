"""Exact sensitivities of a motion to its independent coordinates, speeds and accelerations.

Each direction is one pass of the same kernels in complex numbers: with an imaginary step of 1e-30
the imaginary part of every result is its derivative, to rounding and without cancellation. The
closure is differentiated implicitly: one Newton step from the closed pose solves J δq = δy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion, Values, body_frames, frame_motion
from mechid.kinematics.motion import Motion, checked_motion, fill_rates
from mechid.kinematics.tables import Floats
from mechid.shown import Shown

_STEP = 1e-30


@dataclass(frozen=True, repr=False)
class Sensitivities(Shown):
    """Derivatives along a last axis of 3 n_i entries: by y, then by ẏ, then by ÿ.

    `q` (N, n_q, 3 n_i), `v` and `vd` (N, n_v, 3 n_i); `frames` holds those of positions, rotation
    matrices, velocities, … of the requested frames, e.g. position (N, f, 3, 3 n_i).

    Attributes
    ----------
    q : array (N, n_q, 3 n_i)
    v, vd : arrays (N, n_v, 3 n_i)
    frames : FrameMotion
        With a last axis of 3 n_i entries on every array.
    """

    q: Floats
    v: Floats
    vd: Floats
    frames: FrameMotion


def sensitivities(
    motion: Motion, frames: Sequence[tuple[str, Rigid]] | None = None
) -> Sensitivities:
    """Differentiate a motion; `frames` are (body, pose in the body), default all body frames.

    Parameters
    ----------
    motion : Motion
    frames : sequence of (body, Rigid), optional

    Examples
    --------
    >>> import mechid, numpy as np
    >>> model = mechid.load("four_bar")
    >>> y = np.array([[0.9], [0.9 + 1e-6]])
    >>> motion = mechid.solve_motion(model, y)
    >>> by_y = mechid.sensitivities(motion).q[0, :, 0]
    >>> np.allclose(by_y, (motion.q[1] - motion.q[0]) / 1e-6, atol=1e-5)
    True
    """
    motion = checked_motion(motion)
    model = motion.model
    chosen = body_frames(model) if frames is None else frames
    parts: list[tuple[Floats, ...]] = []
    for k in range(3 * motion.y.shape[1]):
        q, v, vd, step = complex_motion(motion, k)
        f = frame_motion(model, q, v, vd, chosen)
        arrays = (
            q, v, vd, f.position, f.rotation, f.velocity, f.omega, f.acceleration, f.alpha,
        )  # fmt: skip
        parts.append(tuple(np.imag(a) / step for a in arrays))
    stacked = [np.stack(column, axis=-1) for column in zip(*parts, strict=True)]
    return Sensitivities(stacked[0], stacked[1], stacked[2], FrameMotion(*stacked[3:]))


def complex_motion(motion: Motion, direction: int) -> tuple[Values, Values, Values, float]:
    """Return complex q, v, v̇ whose imaginary parts, over the step, are derivatives.

    `direction` counts the independent coordinates, then their speeds, then their accelerations.
    """
    n, n_i = motion.y.shape
    n_v = motion.v.shape[1]
    y, yd, ydd = (a.astype(complex) for a in (motion.y, motion.yd, motion.ydd))
    (y, yd, ydd)[direction // n_i][:, direction % n_i] += 1j * _STEP
    q = motion.q.astype(complex)
    v, vd, b = (np.zeros((n, n_v), dtype=complex) for _ in range(3))
    R = np.zeros((n, n_i, n_v), dtype=complex)
    fill_rates(motion.model, (y, yd, ydd, q), (v, vd, R, b, np.ones(n)))
    return q, v, vd, _STEP
