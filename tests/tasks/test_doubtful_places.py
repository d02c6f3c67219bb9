"""Places of joints that are not exactly known."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mechid
from mechid.cli.app import app
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.errors import DataError
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.moved import movable_joints, with_joints_moved
from mechid.mechanism.size import characteristic_size
from mechid.options.noise import NoiseLevels
from mechid.runs.record import Run
from mechid.tasks.doubtful_places import doubtful_places
from mechid.tasks.stages import chosen_base, problem_of

MODEL = "five_bar"
GEAR = "elements: {gear: {type: friction, joint: A1, load: 0.08}}\n"


@cache
def log_of(seed: int, periods: int = 2) -> Any:
    motion = mechid.excite(MODEL, random=4, starts=0, seed=1)
    words = {"noise": "1%", "cad_error": "20%", "periods": periods, "rate": 50.0}
    return mechid.synthesise(MODEL, motion, hardpoints=0.002, seed=seed, **words)


def identified(log: Any, **words: Any) -> Run:
    calibrated = {} if "estimator" in words else {"gains": 0.0}
    return mechid.identify(MODEL, log, cad_error="20%", **calibrated, **words)


def levels(given: Any) -> NoiseLevels:
    return NoiseLevels.read(given, "hardpoints")


@pytest.mark.parametrize("elements", ["", GEAR])
def test_forces_are_those_of_a_moved_joint(elements: str) -> None:
    """Against inverse dynamics of mechanisms with a joint that is 0.1 mm elsewhere."""
    mechanism = mechid.loads(mechid.dumps(mechid.load(MODEL)) + elements)
    run = mechid.identify(mechanism, log_of(0), cad_error="20%")
    problem = problem_of(
        mechanism, chosen_base(mechanism, run.about.options), run.motions, run.about.options
    )
    assert problem.prior is not None
    joint = movable_joints(mechanism)[1]
    found = doubtful_places(mechanism, run.motions, levels({joint: 0.0001}), problem.prior)
    assert found is not None
    assert found.forces.shape == (*problem.regression.tau.shape, 3)
    assert (
        found.words == "that joints may be elsewhere by 0.1 mm (standard deviation) in every axis"
    )
    phi = parameter_values(dynamic_model(mechanism))
    m = run.motions[0]

    def forces(by: np.ndarray) -> np.ndarray:
        moved = with_joints_moved(mechanism, {joint: by.tolist()})
        return inverse_dynamics(solve_motion(moved, m.y, m.yd, m.ydd, time=m.time), phi).tau

    rest = forces(np.zeros(3))
    for k, unit in enumerate(np.eye(3)):
        want = forces(1e-4 * unit) - rest
        # friction that grows with a force has the sign of the measured one
        same = (np.sign(forces(1e-4 * unit)) == np.sign(rest)) & (np.sign(m.tau) == np.sign(rest))
        off = np.abs(found.forces[..., k] - want)[same]
        assert off.max() < 2e-3 * max(np.abs(want).max(), 1e-6)


def test_a_joint_is_elsewhere_in_all_logs() -> None:
    """Columns of several logs are those of each, one behind the other."""
    mechanism = mechid.load(MODEL)
    logs = [log_of(0), log_of(0, periods=1)]
    run = identified(logs, hardpoints=0.0005)
    assert run.estimate is not None
    assert np.all(run.estimate.sigma > identified(logs).estimate.sigma)
    options = run.about.options
    problem = problem_of(mechanism, chosen_base(mechanism, options), run.motions, options, 2)
    assert problem.prior is not None

    def places(motions: Any) -> np.ndarray:
        found = doubtful_places(mechanism, motions, levels(0.0005), problem.prior)
        assert found is not None
        return found.forces

    apart = [places(run.motions[i : i + 1]) for i in range(2)]
    np.testing.assert_allclose(places(run.motions[:2]), np.concatenate(apart), rtol=1e-9)


def test_shares_are_of_the_size_of_the_mechanism() -> None:
    mechanism = mechid.load(MODEL)
    run = identified(log_of(0))
    options = run.about.options
    problem = problem_of(mechanism, chosen_base(mechanism, options), run.motions, options)
    assert problem.prior is not None
    size = characteristic_size(mechanism)
    joint = movable_joints(mechanism)[0]
    pairs = ({joint: "0.1%"}, {joint: 1e-3 * size})
    share, metres = (
        doubtful_places(mechanism, run.motions, levels(x), problem.prior) for x in pairs
    )
    assert share is not None
    assert metres is not None
    np.testing.assert_allclose(share.forces, metres.forces, rtol=1e-9)
    assert doubtful_places(mechanism, run.motions, levels({joint: 0.0}), problem.prior) is None


def test_declared_places_make_intervals_hold(tmp_path: Path) -> None:
    """Joints that are 2 mm elsewhere, declared as 1 mm in every axis: the same values, wider."""
    z = []
    for seed in range(1, 4):
        log = log_of(seed)
        plain, told = identified(log), identified(log, hardpoints=0.001)
        assert plain.estimate is not None
        assert told.estimate is not None
        np.testing.assert_array_equal(told.estimate.values, plain.estimate.values)
        assert np.all(told.estimate.sigma >= plain.estimate.sigma)
        off = told.estimate.values - told.parameters.truth
        z.append([off / plain.estimate.sigma, off / told.estimate.sigma])
    before, after = np.sqrt(np.mean(np.square(z), axis=(0, 2)))
    assert before > 1.5
    assert 0.4 < after < 1.2
    # The run keeps the option, and reduced models have it, too.
    mechid.save_run(told, tmp_path / "run")
    again = mechid.load_run(tmp_path / "run")
    assert again.about.options.hardpoints == levels(0.001)
    narrow, wide = (mechid.reduce(run, size=6).reduction for run in (plain, again))
    assert narrow is not None
    assert wide is not None
    assert np.all(wide.estimate.sigma >= narrow.estimate.sigma)
    assert np.max(wide.estimate.sigma / narrow.estimate.sigma) > 1.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"hardpoints": {"Z": 0.001}}, "there is no joint Z for hardpoints.*choose one of: "),
        ({"hardpoints": 0.5}, r"between 0 and a tenth of the size .* m, got 0\.5 m"),
        ({"hardpoints": "20%"}, "between 0 and a tenth of the size"),
        ({"hardpoints": -0.001}, "must be"),
        ({"hardpoints": 0.001, "estimator": "ols"}, "hardpoints needs CAD values"),
        ({"hardpoints": 0.001, "prior": "none"}, "hardpoints needs CAD values"),
    ],
)
def test_what_is_refused(words: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        identified(log_of(0), **words)


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.csv"
    mechid.save_measurement(log_of(0), log)
    words = ["--hardpoints", "0.0005", "--hardpoints", "C=0.001", "--json"]
    app(["identify", MODEL, str(log), "-o", str(tmp_path / "run"), *words], standalone_mode=False)
    known = json.loads(capsys.readouterr().out)["known"]
    assert any("by up to 1 mm (standard deviation)" in word for word in known)
