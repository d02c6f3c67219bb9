"""Couplings of joint coordinates: their constant, unit and scale, and what cannot be coupled."""

from __future__ import annotations

import numpy as np

from mechid.errors import ModelError
from mechid.kinematics.coordinates import joint_coordinates
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Coupling, Frame, Mechanism


def coupling_constant(mechanism: Mechanism, coupling: Coupling) -> float:
    """Return the value of the sum of factor × coordinate: as given, or as in the reference pose."""
    if coupling.constant is not None:
        return coupling.constant
    return sum(f * _reference_value(mechanism, name, k) for name, k, f in coupling.terms)


def coupling_unit(mechanism: Mechanism, coupling: Coupling) -> str:
    """Return the unit of the sum: that of its first coordinate, "m" or "rad"."""
    name, index, _ = coupling.terms[0]
    return mechanism.joint(name).kind.units[index]


def coupling_scale(mechanism: Mechanism, coupling: Coupling, size: float) -> float:
    """Return what makes the sum dimensionless and of the order of one (size: L in m)."""
    check_coupling(mechanism, coupling)
    return 1.0 / max(
        abs(factor) * (size if mechanism.joint(name).kind.units[index] == "m" else 1.0)
        for name, index, factor in coupling.terms
    )


def check_coupling(mechanism: Mechanism, coupling: Coupling) -> None:
    """Refuse a coupling of what is no joint coordinate, of one alone, or without factors.

    Raises
    ------
    ModelError
    """
    path = ("constraints", coupling.name)
    places = [(name, index) for name, index, _ in coupling.terms]
    for name, index in places:
        joint = next((j for j in mechanism.joints if j.name == name), None)
        if joint is None or not 0 <= index < len(joint.kind.units):
            raise ModelError(
                f"there is no coordinate {index} of a joint {name}",
                path=path,
                remedy="couple coordinates of joints of the mechanism",
            )
        if joint.kind.units[index] == "-":
            raise ModelError(
                f"the orientation of joint {name} is not a coordinate that can be coupled",
                path=path,
                remedy="couple angles and displacements of other joints",
            )
    if len(set(places)) < len(places):
        raise ModelError(
            "a coordinate occurs twice", path=path, remedy="give each coordinate one factor"
        )
    if len(places) < 2 or not all(factor and np.isfinite(factor) for *_, factor in coupling.terms):
        raise ModelError(
            "a coupling needs at least two coordinates, each with a factor other than 0",
            path=path,
            remedy="leave out coordinates with a factor of 0; hold a coordinate with a fixed joint",
        )


def _reference_value(mechanism: Mechanism, name: str, index: int) -> float:
    joint = mechanism.joint(name)

    def placed(body: str, frame: Frame) -> tuple[Floats, Floats]:
        pose = mechanism.body(body).frame
        R = np.array(pose.rotation)
        origin = np.array(pose.origin) + R @ np.array(frame.origin)
        return R @ np.array(frame.rotation), origin

    (Ra, a), (Rb, b) = placed(joint.body_a, joint.frame_a), placed(joint.body_b, joint.frame_b)
    return float(joint_coordinates(joint, Ra.T @ Rb, Ra.T @ (b - a))[index])
