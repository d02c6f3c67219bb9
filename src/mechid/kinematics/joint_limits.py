"""How far a motion is outside the limits of the joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mechid.kinematics.joints import joint_motion
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Joint

_SLACK = 1e-9  # of the size, or rad: a motion that is meant to touch a limit does so with rounding


def limit_excess(motion: Motion) -> Iterator[tuple[Joint, int, Floats]]:
    """Yield joint, number of its coordinate, and how far that is beyond its limits, (N,)."""
    model = motion.model
    for joint in model.mechanism.joints:
        if joint.limits:
            values = joint_motion(motion, joint.name).coordinates
            known = [
                motion.ordered or (joint.name, k) in model.compiled.coordinate
                for k in range(len(joint.limits))
            ]
            for k, over in beyond(joint, values, known, model.size):
                yield joint, k, over


def beyond(
    joint: Joint, coordinates: Floats, known: Sequence[bool], size: float
) -> Iterator[tuple[int, Floats]]:
    """Yield the number of each limited coordinate, and how far it is beyond its limits, (N,).

    Zero within the limits, and what rounding explains (m or rad). Where the full turns of an angle
    are not `known`, the turn that fits best counts.
    """
    for k, limit in enumerate(joint.limits):
        values = coordinates[:, k]
        lower = -np.inf if limit.lower is None else limit.lower
        upper = np.inf if limit.upper is None else limit.upper
        if not known[k] and joint.kind.units[k] == "rad" and np.isfinite(lower + upper):
            middle = 0.5 * (lower + upper)
            values = middle + np.remainder(values - middle + np.pi, 2 * np.pi) - np.pi
        over = np.maximum(np.maximum(values - upper, lower - values), 0.0)
        scale = size if joint.kind.units[k] == "m" else 1.0
        yield k, np.where(over > _SLACK * scale, over, 0.0)


def outside_limits(motion: Motion) -> np.ndarray:
    """Tell for every pose whether a joint is outside its limits, (N,)."""
    outside = np.zeros(len(motion.q), dtype=bool)
    for _, _, over in limit_excess(motion):
        outside |= over > 0
    return outside
