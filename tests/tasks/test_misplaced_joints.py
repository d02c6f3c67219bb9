"""Joints that may be a little elsewhere than the model has them, where nothing is declared."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.dynamics.inverse import inverse_dynamics
from mechid.estimation.doubtful_forces import if_in_place
from mechid.estimation.estimate import Estimate, predict
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.size import characteristic_size
from mechid.runs.record import Run
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.misplaced_joints import misplaced_joints
from mechid.tasks.stages import base_of, chosen_base, problem_of

USUAL = 3e-4  # of the size of the mechanism, in every axis


@cache
def log_of(noise: str, hardpoints: float = 0.0, seed: int = 0) -> Any:
    motion = mechid.excite("five_bar", random=4, starts=0, seed=1)
    return mechid.synthesise(
        "five_bar", motion, noise=noise, cad_error="20%", periods=8, rate=50.0,
        hardpoints=hardpoints, seed=seed,
    )  # fmt: skip


@cache
def identified(noise: str, **words: Any) -> Run:
    known = {} if "estimator" in words else {"gains": 0.0, "offsets": 0.0}
    return mechid.identify("five_bar", log_of(noise), cad_error="20%", **known, **words)


def estimate_of(noise: str, **words: Any) -> Estimate:
    found = identified(noise, **words).estimate
    assert found is not None
    return found


def added(wide: Estimate, narrow: Estimate) -> np.ndarray:
    return np.asarray(np.diag(wide.covariance - narrow.covariance))


def test_they_contain_what_such_machines_cause() -> None:
    """Against identifications of machines whose joints are that far off in drawn directions."""
    usual, exact = estimate_of("0.2%"), estimate_of("0.2%", hardpoints=0.0)
    np.testing.assert_array_equal(usual.values, exact.values)
    at = int(np.argmax(usual.sigma / exact.sigma))
    off = USUAL * characteristic_size(mechid.load("five_bar"))

    def value(seed: int, hardpoints: float) -> float:
        log = log_of("0.2%", hardpoints, seed)
        found = mechid.identify("five_bar", log, cad_error="20%", gains=0.0, offsets=0.0).estimate
        assert found is not None
        return float(found.values[at])

    # `synthesise` takes the distance from the place in the drawing.
    shifts = [value(seed, np.sqrt(3) * off) - value(seed, 0.0) for seed in range(8)]
    expected = float(np.sqrt(added(usual, exact)[at]))
    assert expected / 2 < np.sqrt(np.mean(np.square(shifts))) < 2 * expected


def test_forces_are_those_of_machines_with_joints_elsewhere() -> None:
    five_bar, run = mechid.load("five_bar"), identified("1%")
    prior = prior_from_cad(five_bar, base_of(five_bar), cad_error=0.2)
    found = misplaced_joints(five_bar, run.motions[:1], prior)
    assert found is not None
    joints, m = movable_joints(five_bar), run.motions[0]
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (found.forces.shape[-1], len(joints), 3))

    def forces(machine: Any) -> np.ndarray:
        return inverse_dynamics(solve_motion(machine, m.y, m.yd, m.ydd, time=m.time)).tau

    for k, by in enumerate(USUAL * characteristic_size(five_bar) * signs):
        moved = with_joints_moved(five_bar, dict(zip(joints, by.tolist(), strict=True)))
        want = (forces(moved) - forces(five_bar)) / np.sqrt(len(signs))
        np.testing.assert_allclose(found.forces[..., k], want, atol=1e-9)


def test_some_machines_tell_what_all_joints_and_axes_do() -> None:
    usual, exact, declared = (
        estimate_of("0.2%", **words)
        for words in ({}, {"hardpoints": 0.0}, {"hardpoints": f"{USUAL:.2%}"})
    )
    ratio = np.sqrt(added(usual, exact) / added(declared, exact))
    # χ² of 16 machines at worst, where many displacements matter alike
    assert np.all((ratio > 0.5) & (ratio < 1.6))
    assert np.sqrt(np.mean(ratio**2)) == pytest.approx(1, abs=0.25)


@pytest.mark.parametrize("words", [{}, {"hardpoints": 0.0005}])
def test_forces_of_the_same_machine_do_not_contain_them(words: dict[str, Any]) -> None:
    wide, exact = estimate_of("0.2%", **words), estimate_of("0.2%", hardpoints=0.0)
    assert np.max(wide.sigma / exact.sigma) > 1.1
    run = identified("0.2%")
    options, mechanism = run.about.options, run.mechanism
    r = problem_of(mechanism, chosen_base(mechanism, options), run.motions, options).regression
    for one, other in zip(
        (predict(wide, r).sigma, predict(wide, r).total),
        (predict(exact, r).sigma, predict(exact, r).total),
        strict=True,
    ):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    right = if_in_place(wide)
    size = np.outer(exact.sigma, exact.sigma)
    np.testing.assert_allclose(right.covariance / size, exact.covariance / size, atol=1e-6)
    assert if_in_place(exact) is exact


def test_what_is_said() -> None:
    (said,) = [text for text in estimate_of("0.2%").known if "elsewhere" in text]
    # 0.03 % of 0.411 m
    assert said.startswith(
        "standard deviations contain that joints may be elsewhere by 0.12 mm (standard deviation) "
        "in every axis; that of "
    )
    assert said.endswith(
        "times; declare how well places are known (--hardpoints), 0 if they are exact"
    )
    for words in ({"hardpoints": 0.0}, {"estimator": "weighted"}):
        assert not any("elsewhere" in text for text in estimate_of("0.2%", **words).known)
    told = [text for text in estimate_of("0.2%", hardpoints=0.0005).known if "elsewhere" in text]
    assert len(told) == 1
    assert "--hardpoints" not in told[0]


def test_reduced_models_contain_them(tmp_path: Any) -> None:
    usual, exact = identified("0.05%"), identified("0.05%", hardpoints=0.0)
    mechid.save_run(usual, tmp_path / "run")
    one, again, other = (
        mechid.reduce(run, size=8).reduction for run in (usual, tmp_path / "run", exact)
    )
    assert one is not None
    assert again is not None
    assert other is not None
    assert np.max(one.estimate.sigma / other.estimate.sigma) > 1.1
    np.testing.assert_allclose(again.estimate.sigma, one.estimate.sigma, rtol=1e-9)


def test_a_loop_that_closes_in_one_geometry_only() -> None:
    """Six hinges of a Bricard linkage move because of how they lie."""
    bricard = mechid.load("bricard")
    motion = mechid.excite(bricard, random=2, starts=0)
    log = mechid.synthesise(bricard, motion, noise="1%", cad_error="20%", periods=2)
    found = mechid.identify(bricard, log, cad_error="20%").estimate
    assert found is not None
    assert found.doubted_places is None
