"""Mechanisms and motions to measure with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mechid.errors import MechidError
from mechid.kinematics.model import KinematicModel
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import (
    GROUND,
    IDENTITY,
    Body,
    Frame,
    Joint,
    JointCoordinate,
    Mat3,
    Mechanism,
    Vec3,
)

GRAVITY = (0.0, 0.0, -9.81)
# Frames whose z axis is the ground's x or y.
Z_IS_X: Mat3 = ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
Z_IS_Y: Mat3 = ((0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


@dataclass(frozen=True)
class Path:
    """Independent coordinates, speeds and accelerations along time, a constant dt apart."""

    dt: float
    time: np.ndarray
    y: np.ndarray
    yd: np.ndarray
    ydd: np.ndarray

    def first(self, n: int) -> Path:
        """Return the first n samples."""
        return Path(self.dt, self.time[:n], self.y[:n], self.yd[:n], self.ydd[:n])

    def solve(self, model: KinematicModel) -> Motion:
        """Solve the path, as a user would."""
        return solve_motion(model, self.y, self.yd, self.ydd, time=self.time)


def path(model: KinematicModel, n: int, dt: float = 1e-3, part: float = 1.0) -> Path:
    """Return a swing of every coordinate about the home pose, 0.7 to 1.9 Hz, starting there.

    Angles swing by 0.3 rad, lengths by 2.5 % of the size of the mechanism, times `part`.
    """
    coordinates = model.mechanism.coordinates
    amplitude = part * np.array(
        [0.3 if c.unit == "rad" else 0.025 * model.size for c in coordinates]
    )
    w = 2 * np.pi * (0.7 + 0.3 * (np.arange(len(coordinates)) % 5))
    time = dt * np.arange(n)
    s, c = np.sin(w * time[:, None]), np.cos(w * time[:, None])
    y = model.home_y + amplitude * s
    return Path(dt, time, y, amplitude * w * c, -amplitude * w * w * s)


def reachable_path(model: KinematicModel, n: int, dt: float = 1e-3) -> Path:
    """Return the largest of the paths with part 1, 1/2, 1/4, … that the mechanism can perform."""
    for halvings in range(8):
        trial = path(model, n, dt, 0.5**halvings)
        try:
            trial.solve(model)
        except MechidError:
            continue
        return trial
    raise ValueError(f"{model.mechanism.name}: no reachable path found")


def chain(n: int) -> Mechanism:
    """Return n bars that hang on each other, with hinges along y and x in turn, all driven."""
    length = 0.2
    names = [GROUND, *(f"bar_{k}" for k in range(1, n + 1))]
    places = {name: (0.0, 0.0, -length * max(k - 1, 0)) for k, name in enumerate(names)}
    joints = [
        hinge(f"q_{k + 1}", names[k], names[k + 1], places, places[names[k + 1]], axes)
        for k, axes in enumerate((Z_IS_Y, Z_IS_X)[k % 2] for k in range(n))
    ]
    return mechanism(f"chain_{n}", places, joints, [joint.name for joint in joints])


def ladder(loops: int) -> Mechanism:
    """Return a row of rockers on the ground, neighbours joined by couplers: four-bars in series.

    The first rocker is driven. The rockers stand upright, every other one is a little longer, so
    that nothing is a parallelogram.
    """
    places: dict[str, Vec3] = {GROUND: (0.0, 0.0, 0.0)}
    tips = [(float(k), 0.5 + 0.05 * (k % 2), 0.0) for k in range(loops + 1)]
    joints = []
    for k in range(loops + 1):
        foot = (float(k), 0.0, 0.0)
        places[f"rocker_{k}"] = foot
        joints.append(hinge(f"A_{k}", GROUND, f"rocker_{k}", places, foot, IDENTITY.rotation))
    for k in range(loops):
        coupler = f"coupler_{k}"
        places[coupler] = tips[k]
        for end in (k, k + 1):
            name = f"{'BC'[end - k]}_{k}"
            joints.append(
                hinge(name, f"rocker_{end}", coupler, places, tips[end], IDENTITY.rotation)
            )
    return mechanism(f"ladder_{loops}", places, joints, ["A_0"])


def hinge(name: str, a: str, b: str, places: dict[str, Vec3], at: Vec3, axes: Mat3) -> Joint:
    """Return a revolute joint at a place; the frames of all bodies are parallel to the ground's."""
    frames = [
        Frame(tuple(float(x - o) for x, o in zip(at, places[body], strict=True)), axes)
        for body in (a, b)
    ]
    return Joint(name, "revolute", a, b, *frames)


def mechanism(
    name: str, places: dict[str, Vec3], joints: list[Joint], driven: list[str]
) -> Mechanism:
    """Return the mechanism of bodies at places; the angles of `driven` joints are independent."""
    return Mechanism(
        name,
        GRAVITY,
        tuple(
            Body(body, Frame(at, IDENTITY.rotation))
            for body, at in places.items()
            if body != GROUND
        ),
        tuple(joints),
        tuple(JointCoordinate(joint, joint, 0, f"M_{joint}", "rad") for joint in driven),
    )
