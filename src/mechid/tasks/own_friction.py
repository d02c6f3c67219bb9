"""Friction of a machine that its model has parameters for: more of it is no error of the model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.joint_friction import joint_sliding
from mechid.dynamics.regressor import observation_blocks
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.tasks.synthetic_errors import FRICTION_LAWS, Drawn

_SAME = 1e-9  # columns that differ by no more than rounding, relative to their size
_KINDS = ("friction", "viscous_friction")


def taken_up(motion: Motion, drawn: Mapping[str, Mapping[str, float]]) -> tuple[Floats, Drawn]:
    """Return what friction in joints adds to the parameters of the model (p,), and what is left of
    it: friction of joints for which the model has none.

    Parameters
    ----------
    motion : Motion
    drawn : mapping kind → joint → coefficient
        Of all errors of the machine.
    """
    added = np.zeros(len(dynamic_model(motion.model.mechanism).columns))
    left: Drawn = {kind: dict(values) for kind, values in drawn.items()}
    kinds = [kind for kind in _KINDS if kind in drawn]
    units = {
        (kind, sliding.joint): sliding.forces(FRICTION_LAWS[kind](sliding.speeds, 0.0))
        for sliding in (joint_sliding(motion) if kinds else ())
        for kind in kinds
    }
    if not units:
        return added, left
    apart = {key: np.zeros(len(added)) for key in units}
    for part, seen in observation_blocks(motion):
        for key, unit in units.items():
            gap = np.abs(seen.W - unit[part][..., None]).max(axis=(0, 1))
            apart[key] = np.maximum(apart[key], gap)
    for (kind, joint), unit in units.items():
        size = float(np.abs(unit).max(initial=0.0))
        nearest = int(np.argmin(apart[kind, joint]))
        if size > 0 and apart[kind, joint][nearest] <= _SAME * size:  # a joint at rest shows none
            added[nearest] += left[kind].pop(joint, 0.0)
    return added, left
