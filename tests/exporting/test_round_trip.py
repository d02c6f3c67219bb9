"""Model → export → import: the same bodies, mobility, observation matrix and forces."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.dynamics.regressor import observation_matrix
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import IndependentCoordinate, JointCoordinate, Mechanism

from .states import MOVED, TOLERANCE, forces, random_motion

# Force elements that the format cannot hold.
WITHOUT = {"mjcf": (), "urdf": ("spring_damper", "torsion_spring")}
REFUSED = {
    "mjcf": ("four_bar@example-1", "four_bar@example-3"),
    "urdf": ("geared_gripper", "geared_gripper@tip", "rssr_linkage", "tx40"),
}
# Coordinates of the model that the file does not have as such: rods that spin between balls are
# joints with angles in URDF, and the only joint of a loop that MJCF can cut is the driven one.
OTHER_COORDINATES = {
    "mjcf": ("screw_press@guided",),
    "urdf": ("delta", "spatial_slider_crank@two-balls"),
}


def cases(target: str) -> list[tuple[str, str]]:
    return [(target, spec) for spec in MOVED if spec not in REFUSED[target]]


@pytest.mark.parametrize(("target", "spec"), [*cases("mjcf"), *cases("urdf")])
def test_round_trip(target: str, spec: str, tmp_path: Path) -> None:
    motion = taken_off(random_motion(spec), WITHOUT[target])
    mechanism = motion.model.mechanism
    path = tmp_path / f"model.{'xml' if target == 'mjcf' else 'urdf'}"
    mechid.export(mechanism, target, path)
    found = mechid.import_model(path, keep_fixed=True)
    assert not [part for part in found.left_out if "motor: " not in part]
    back = replace(found.mechanism, gravity=mechanism.gravity)
    assert mechid.mobility(back).dof == mechid.mobility(mechanism).dof
    same_bodies(mechanism, back)
    if spec in OTHER_COORDINATES[target]:
        return
    chosen = tuple(coordinate(back, mechanism, c) for c in mechanism.coordinates)
    model = kinematic_model(replace(back, coordinates=chosen))
    y = motion.y
    if motion.model.tree.cut:  # in URDF loops are closed at zero
        y = y + model.home_y - motion.model.home_y
    again = solve_motion(model, y, motion.yd, motion.ydd, time=motion.time)
    W, other = observation_matrix(motion).W, observation_matrix(again).W
    at = {body.name: i for i, body in enumerate(back.bodies)}
    for i, body in enumerate(mechanism.bodies):
        k = at[body.name]
        mine, theirs = W[..., 10 * i : 10 * i + 10], other[..., 10 * k : 10 * k + 10]
        assert np.abs(mine - theirs).max() <= TOLERANCE * max(np.abs(mine).max(), 1.0), body.name
    tau = forces(motion)
    assert np.abs(forces(again) - tau).max() <= TOLERANCE * max(np.abs(tau).max(), 1.0)


def taken_off(motion: Motion, kinds: tuple[str, ...]) -> Motion:
    mechanism = motion.model.mechanism
    elements = tuple(e for e in mechanism.elements if e.kind not in kinds)
    model = kinematic_model(replace(mechanism, elements=elements))
    return solve_motion(model, motion.y, motion.yd, motion.ydd, time=motion.time)


def coordinate(
    back: Mechanism, mechanism: Mechanism, c: IndependentCoordinate
) -> IndependentCoordinate:
    """The same coordinate; joints of several freedoms are chains of joints."""
    if not isinstance(c, JointCoordinate) or c.joint in {joint.name for joint in back.joints}:
        return c
    kind = mechanism.joint(c.joint).kind
    if kind.step(c.index).motion == "ball":
        return replace(c, joint=f"{c.joint}_turn", index=c.index - kind.n_scalars)
    return replace(c, joint=f"{c.joint}_{kind.choices[c.index]}", index=0)


def same_bodies(mechanism: Mechanism, back: Mechanism) -> None:
    for body in mechanism.bodies:
        a, b = body.inertia, back.body(body.name).inertia
        if a is None or b is None:
            assert a is b
            continue
        assert b.mass == a.mass
        assert b.center == pytest.approx(a.center, abs=1e-15)
        assert b.inertia_center == pytest.approx(a.inertia_center, rel=1e-12, abs=1e-15)
