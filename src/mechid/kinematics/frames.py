"""Motion of bodies and of points, from the motion of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mechid.kinematics.compile import STILL, Rigid
from mechid.kinematics.kernels.few import few
from mechid.kinematics.kernels.observe import observe_frames
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.threads import spread
from mechid.shown import Shown

Values = npt.NDArray[Any]

# Samples that are worth a thread: about a millisecond.
_SHORTEST_PART = 500


@dataclass(frozen=True, repr=False)
class FrameMotion(Shown):
    """Motion of several frames, ground axes; shapes (N, n, 3), rotation (N, n, 3, 3).

    Attributes
    ----------
    position, velocity, acceleration : arrays (N, n, 3)
        Of the origins: m, m/s, m/s².
    rotation : array (N, n, 3, 3)
        Columns are the axes of a frame.
    omega, alpha : arrays (N, n, 3)
        Angular velocity and acceleration: rad/s, rad/s².
    """

    position: Values
    rotation: Values
    velocity: Values
    omega: Values
    acceleration: Values
    alpha: Values


def frame_motion(
    model: KinematicModel,
    q: Values,
    v: Values,
    vd: Values,
    frames: Sequence[tuple[str, Rigid]],
) -> FrameMotion:
    """Return the motion of frames given as (body, pose in the body frame).

    Parameters
    ----------
    model : KinematicModel
    q, v, vd : arrays (N, n_q), (N, n_v), (N, n_v)
        Tree coordinates, speeds and accelerations, as in `Motion`.
    frames : sequence of (body, Rigid)

    Examples
    --------
    >>> import mechid
    >>> motion = mechid.tour(mechid.load("four_bar"))
    >>> frames = motion.bodies()  # `frame_motion` of all body frames
    >>> frames.position.shape == (len(motion.y), 3, 3)
    True
    """
    links, rotations, origins = [], [], []
    for body, local in frames:
        link, fixed = model.compiled.body_link[body]
        whole = fixed @ local
        links.append(link)
        rotations.append(whole.rotation)
        origins.append(whole.translation)
    # Other layouts in memory would make Numba compile the kernel once more.
    q, v, vd = (np.ascontiguousarray(a) for a in (q, v, vd))
    n, f = q.shape[0], len(frames)
    vectors = np.zeros((5, n, f, 3), dtype=q.dtype)
    rotation = np.zeros((n, f, 3, 3), dtype=q.dtype)
    if f and n:
        places = np.array(links, dtype=np.int64), np.array(rotations), np.array(origins)

        tables = model.compiled.for_kernels
        observe = few(observe_frames, n) if q.dtype == float else observe_frames

        def run(first: int, last: int) -> None:
            observe(tables, first, last, q, v, vd, *places, rotation, vectors)

        spread(run, n, _SHORTEST_PART)
    position, velocity, omega, acceleration, alpha = vectors
    return FrameMotion(position, rotation, velocity, omega, acceleration, alpha)


def body_frames(model: KinematicModel) -> list[tuple[str, Rigid]]:
    """Return the frames of all moving bodies, for `frame_motion`."""
    return [(body.name, STILL) for body in model.mechanism.bodies]
