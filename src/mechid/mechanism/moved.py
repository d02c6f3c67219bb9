"""Mechanisms whose joints are elsewhere: manufacture and assembly against the drawing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from mechid.mechanism.records import Frame, Joint, Mechanism


def movable_joints(mechanism: Mechanism) -> tuple[str, ...]:
    """Return the joints whose place matters: bodies turn about them.

    Those that only slide transmit the same motion wherever they are, and free ones only measure.
    """
    return tuple(j.name for j in mechanism.joints if j.kind.n_turns and not j.kind.holds_nothing)


def with_joints_moved(mechanism: Mechanism, by: Mapping[str, Sequence[float]]) -> Mechanism:
    """Return the mechanism with joints displaced in the reference pose.

    Both frames of a joint move, so that the loops stay closed in the reference pose; body frames,
    and with them inertias, points and springs, stay.

    Parameters
    ----------
    mechanism : Mechanism
    by : mapping joint → (3,)
        Displacements, m, ground axes.
    """
    joints = tuple(
        _moved(mechanism, joint, by[joint.name]) if joint.name in by else joint
        for joint in mechanism.joints
    )
    return replace(mechanism, joints=joints)


def _moved(mechanism: Mechanism, joint: Joint, by: Sequence[float]) -> Joint:
    def shifted(body: str, frame: Frame) -> Frame:
        local = np.array(mechanism.body(body).frame.rotation).T @ np.asarray(by)
        x, y, z = (np.array(frame.origin) + local).tolist()
        return replace(frame, origin=(x, y, z), origin_expr=None)

    return replace(
        joint,
        frame_a=shifted(joint.body_a, joint.frame_a),
        frame_b=shifted(joint.body_b, joint.frame_b),
    )
