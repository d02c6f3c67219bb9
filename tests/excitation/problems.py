"""Small design problems, and finite differences of what they say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from mechid.base.baseset import BaseSet, base_set
from mechid.base.bounds import all_transfers
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING
from mechid.exact.geometry import exact_geometry
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.conditions import rest_at_ends
from mechid.excitation.design import design
from mechid.excitation.families import BSpline, Constant, Family, Fourier
from mechid.excitation.problem import DesignProblem
from mechid.excitation.trajectory import Trajectory
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load
from mechid.options.excite import ExciteOptions, NoiseOf
from mechid.tasks.criteria import criterion_of

Array = np.ndarray


@cache
def mechanism_of(name: str) -> Mechanism:
    return load(name)


@cache
def base_of(name: str) -> BaseSet:
    null = all_transfers(exact_geometry(mechanism_of(name)), EVERYTHING).null
    return base_set(null, last(null))


def problem_of(
    name: str,
    criterion: str = "condition-equilibrated",
    limits: Sequence[MotionLimit] = (),
    *,
    family: str = "fourier",
    harmonics: int = 2,
    samples: int = 16,
    rest: bool = False,
    prior: bool = False,
    fixed: Sequence[str] = (),
    noise_of: NoiseOf = "usual",
) -> DesignProblem:
    """Return a problem about the home pose, sampled over one period of one second."""
    mechanism = mechanism_of(name)
    families: dict[str, Family] = {}
    home = kinematic_model(mechanism).home_y.tolist()
    for c, y in zip(mechanism.coordinates, home, strict=True):
        if c.name in fixed:
            families[c.name] = Constant(y)
        elif family == "fourier":
            families[c.name] = Fourier.zeros(1.0, harmonics, y)
        else:
            ends = "rest" if rest else "periodic"
            families[c.name] = BSpline(1.0, (y,) * (2 * harmonics + 3), ends=ends)
    free = [c.name for c in mechanism.coordinates if c.name not in fixed]
    needed = rest and family == "fourier"
    made = design(
        Trajectory.of(families, 1.0),
        np.linspace(0.0, 1.0, samples, endpoint=family != "fourier" and rest),
        free=free,
        conditions=dict.fromkeys(free, rest_at_ends(1.0)) if needed else {},
    )
    plan = ExciteOptions(criterion=criterion, prior=prior, noise_of=noise_of)
    found = criterion_of(mechanism, base_of(name), plan, log=True)
    return DesignProblem(mechanism, made, base_of(name).places, found, tuple(limits))


def moved(problem: DesignProblem, size: float = 0.15, seed: int = 3) -> Array:
    """Return x of a motion about the start; positions move by about `size`, m or rad."""
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal(len(problem.design.start))
    reach = max(float(np.ptp(problem.design.sample(draw).y, axis=0).max()), 1e-9)
    return problem.design.start + size / reach * draw


def differences(f: Callable[[Array], Array | float], x: Array, step: float = 1e-5) -> Array:
    """Return ∂f/∂x (…, n_x), of order four."""
    columns = []
    for k in range(len(x)):
        h = np.zeros(len(x))
        h[k] = step
        near = np.asarray(f(x + h)) - np.asarray(f(x - h))
        far = np.asarray(f(x + 2 * h)) - np.asarray(f(x - 2 * h))
        columns.append((8 * near - far) / (12 * step))
    return np.stack(columns, axis=-1)
