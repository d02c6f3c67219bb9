"""Random reachable motions of any mechanism, and what they are compared by.

A course is a sum of two sines per independent coordinate about the home pose, so that speeds and
accelerations are known exactly. Amplitudes are shrunk until the whole course can be reached and
stays clear of singular poses: what is left of a tolerance is then rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from mechid.errors import KinematicsError
from mechid.kinematics.branch import singularity_margin
from mechid.kinematics.compile import Rigid
from mechid.kinematics.frames import FrameMotion, frame_motion
from mechid.kinematics.model import KinematicModel, kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.samples import Samples
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load, zoo

Array = npt.NDArray[np.float64]
EPS = float(np.finfo(float).eps)

SPECS = tuple(
    spec
    for entry in zoo()
    for spec in (entry.name, *(f"{entry.name}@{variant}" for variant, _ in entry.variants))
)
LENGTH = 6.0  # s, of a course
# Of an amplitude that fails, this part is tried next.
_SHRINK = 0.7
# The distance to a singular pose stays above this part of that at home.
_CLEAR = 0.1


@dataclass(frozen=True, eq=False)
class Course:
    """y(t) = home + Σ_k A_k (sin(w_k t + f_k) - sin f_k), two terms per coordinate."""

    home: Array
    amplitude: Array  # (2, n_i)
    frequency: Array
    phase: Array

    def at(self, time: npt.ArrayLike) -> tuple[Array, Array, Array]:
        """Return y, ẏ, ÿ at the times, each (N, n_i)."""
        t = np.asarray(time, float)[:, None, None]
        A, w, f = self.amplitude, self.frequency, self.phase
        sine, cosine = np.sin(w * t + f), np.cos(w * t + f)
        y = self.home + np.sum(A * (sine - np.sin(f)), axis=1)
        return y, np.sum(A * w * cosine, axis=1), np.sum(-A * w * w * sine, axis=1)


@cache
def zoo_model(spec: str) -> KinematicModel:
    return kinematic_model(load(spec))


@cache
def zoo_course(spec: str, seed: int = 0) -> Course:
    return random_course(zoo_model(spec), np.random.default_rng(seed))


def random_course(model: KinematicModel, rng: np.random.Generator, largest: float = 0.6) -> Course:
    """Return a random course with amplitudes up to `largest` rad (lengths: a quarter, times L)."""
    n = model.n_independent
    unit = [1.0 if is_angle(model.mechanism, i) else model.size / 4 for i in range(n)]
    amplitude = largest * np.array(unit) * rng.uniform(0.3, 0.6, (2, n))
    frequency, phase = rng.uniform(0.6, 1.8, (2, n)), rng.uniform(0, 2 * np.pi, (2, n))
    least = _CLEAR * singularity_margin(model, model.home_q[None])[0]
    time = np.linspace(0, LENGTH, 121)
    for _ in range(30):
        course = Course(model.home_y, amplitude, frequency, phase)
        try:
            motion = solve_motion(model, course.at(time)[0])
        except KinematicsError:
            pass
        else:
            if np.all(singularity_margin(model, motion.q) >= least):
                return course
        amplitude = _SHRINK * amplitude
    raise AssertionError(f"{model.mechanism.name}: no course found")


def is_angle(mechanism: Mechanism, i: int) -> bool:
    return mechanism.coordinates[i].unit in ("rad", "")


def solve_course(model: KinematicModel, course: Course, time: npt.ArrayLike) -> Motion:
    return solve_motion(model, *course.at(time), time=np.asarray(time, float))


def solved_in_blocks(motion: Motion) -> bool:
    """Tell whether the order of solution in blocks does it, without all rows as one block."""
    model = motion.model
    samples = Samples.empty(model, motion.y, motion.yd, motion.ydd, motion.time)
    whole = np.array([0, len(motion.y)])
    samples.solve(whole, model.home_q[None], model.home_y[None], model.in_pieces)
    return not samples.status.any()


def condition(motion: Motion) -> float:
    """Return the largest 1/σ of the samples, at least 1: how much closing amplifies rounding."""
    return float(np.max(1 / singularity_margin(motion.model, motion.q), initial=1.0))


def reach(motion: Motion) -> float:
    """Return the size of the numbers that positions are: L, or the distance from the origin."""
    return max(motion.model.size, float(np.abs(motion.bodies().position).max(initial=0.0)))


def joint_frames(motion: Motion, name: str) -> FrameMotion:
    """Return the motion of the two frames of a joint."""
    joint = motion.model.mechanism.joint(name)
    frames = [(joint.body_a, Rigid.of(joint.frame_a)), (joint.body_b, Rigid.of(joint.frame_b))]
    return frame_motion(motion.model, motion.q, motion.v, motion.vd, frames)


def point_motion(motion: Motion) -> FrameMotion:
    """Return the motion of all named points."""
    points = motion.model.mechanism.points
    frames = [(p.body, Rigid(np.eye(3), np.array(p.local))) for p in points]
    return frame_motion(motion.model, motion.q, motion.v, motion.vd, frames)
