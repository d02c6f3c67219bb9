"""What joints elsewhere would do to the parameters is said, where it matters."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.dynamics.inverse import inverse_dynamics
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.size import characteristic_size
from mechid.runs.record import Run
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.misplaced_joints import misplaced_joints
from mechid.tasks.stages import base_of

SENTENCE = re.compile(
    r"joints that are all (\S+) mm off their places, in random directions, would shift (\S+) by "
    r"(\S+) standard deviations: places are taken as exact; declare .* \(--hardpoints\)"
)


@cache
def log_of(noise: str, hardpoints: float = 0.0, seed: int = 0) -> Any:
    motion = mechid.excite("five_bar", random=4, starts=0, seed=1)
    return mechid.synthesise(
        "five_bar", motion, noise=noise, cad_error="20%", periods=8, rate=50.0,
        hardpoints=hardpoints, seed=seed,
    )  # fmt: skip


@cache
def identified(noise: str, **words: Any) -> Run:
    calibrated = {} if "estimator" in words else {"gains": 0.0}
    return mechid.identify("five_bar", log_of(noise), cad_error="20%", **calibrated, **words)


def said(run: Run) -> list[tuple[float, str, float]]:
    assert run.estimate is not None
    found = (SENTENCE.match(text) for text in run.estimate.known)
    return [(float(m[1]), m[2], float(m[3])) for m in found if m]


def test_the_shift_is_what_such_machines_cause() -> None:
    """Of machines with joints that far off in drawn directions, against the one without."""
    run = identified("1%")
    ((size, name, shift),) = said(run)
    five_bar = mechid.load("five_bar")
    assert size == pytest.approx(characteristic_size(five_bar), rel=0.01)  # 0.1 %, in mm
    at = run.parameters.names.index(name)

    def value(seed: int, hardpoints: float) -> float:
        log = log_of("1%", hardpoints, seed)
        found = mechid.identify("five_bar", log, cad_error="20%", gains=0.0).estimate
        assert found is not None
        return float(found.values[at])

    off = [value(seed, 1e-3 * size) - value(seed, 0.0) for seed in range(8)]
    assert run.estimate is not None
    size = float(np.sqrt(np.mean(np.square(off)))) / run.estimate.sigma[at]
    # Of eight machines and of twelve, and the parameter that seems to be shifted most.
    assert shift / 2 < size < 2 * shift


def test_forces_are_those_of_machines_with_joints_elsewhere() -> None:
    five_bar, run = mechid.load("five_bar"), identified("1%")
    prior = prior_from_cad(five_bar, base_of(five_bar), cad_error=0.2)
    found = misplaced_joints(five_bar, run.motions[:1], prior)
    assert found is not None
    joints, off = movable_joints(five_bar), 1e-3 * characteristic_size(five_bar)
    drawn = np.random.default_rng(0).standard_normal((12, len(joints), 3))
    drawn *= off / np.linalg.norm(drawn, axis=2)[..., None]
    m = run.motions[0]

    def forces(machine: Any) -> np.ndarray:
        return inverse_dynamics(solve_motion(machine, m.y, m.yd, m.ydd, time=m.time)).tau

    for k, by in enumerate(drawn):
        moved = with_joints_moved(five_bar, dict(zip(joints, by.tolist(), strict=True)))
        want = (forces(moved) - forces(five_bar)) / np.sqrt(12)
        np.testing.assert_allclose(found.forces[..., k], want, atol=1e-9)


def test_nothing_is_said_where_it_does_not_matter_or_is_declared() -> None:
    assert said(identified("20%")) == []
    told = identified("1%", hardpoints=0.0005)
    assert said(told) == []
    plain = identified("1%")
    assert told.estimate is not None
    assert plain.estimate is not None
    np.testing.assert_array_equal(told.estimate.values, plain.estimate.values)
    assert np.all(told.estimate.sigma >= plain.estimate.sigma)
    assert said(identified("1%", estimator="weighted")) == []


def test_reduced_models_say_it_too() -> None:
    run = mechid.reduce(identified("0.05%"), size=8)
    assert run.reduction is not None
    assert any(SENTENCE.match(text) for text in run.reduction.estimate.known)


def test_a_loop_that_closes_in_one_geometry_only() -> None:
    """Six hinges of a Bricard linkage move because of how they lie."""
    bricard = mechid.load("bricard")
    motion = mechid.excite(bricard, random=2, starts=0)
    log = mechid.synthesise(bricard, motion, noise="1%", cad_error="20%", periods=2)
    assert said(mechid.identify(bricard, log, cad_error="20%")) == []
