"""Payloads: which of the ten parameters can be determined, how well, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import mechid
from mechid.errors import DataError
from mechid.estimation.estimate import ChannelErrors
from mechid.estimation.payload import LENGTHS, all_ten, payload_groups
from mechid.estimation.regression import Regression
from mechid.estimation.sensed import sensed
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.size import characteristic_size
from mechid.spatial.inertia import NAMES, parameters, pseudo_inertia
from mechid.tasks.payload import attached_body
from mechid.tasks.stages import base_of

from ..contract.states import random_course, solve_course

CENTRAL = np.array([2.0, 0.03, -0.02, 0.12, 0.02, 0.001, -0.002, 0.015, 0.003, 0.01])
PI = parameters(CENTRAL[0], CENTRAL[1:4], CENTRAL[4:])


load = cache(mechid.load)


@cache
def forces(model: str, body: str, seed: int) -> np.ndarray:
    """Forces of the payload along the motion of a seed, by the second formulation."""
    mechanism = load(model)
    log = mechid.synthesise(mechanism, motion(model, seed)).measurement
    solved = mechid.solve_motion(mechanism, log.y, log.yd, log.ydd, time=log.time)
    first = 10 * [b.name for b in mechanism.bodies].index(body)
    W = mechid.observation_matrix_reference(mechanism, solved).W
    return np.asarray(W[..., first : first + 10] @ PI)


@cache
def motion(model: str, seed: int) -> mechid.DesignedMotion:
    return mechid.excite(load(model), random=4, starts=0, harmonics=3, seed=seed)


def pair(
    seed: int, model: str = "five_bar", body: str = "coupler_1"
) -> tuple[mechid.Run, mechid.Measurement]:
    """A run of a machine, and a log of it with the payload, both with noise of 2 %."""
    machine = load(model)
    log = mechid.synthesise(machine, motion(model, 0), noise="2%", cad_error="10%", seed=seed)
    run = mechid.identify(machine, log, cad_error="10%", estimator="map")
    other = mechid.synthesise(machine, motion(model, 1), truth=log.truth, seed=seed).measurement
    tau = other.tau + forces(model, body, 1)
    noise = 0.02 * np.sqrt(np.mean(tau**2, axis=0))
    rng = np.random.default_rng(seed)
    return run, replace(other, tau=tau + noise * rng.standard_normal(tau.shape))


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_claim() -> None:
    """12 machines with 12 logs: a closed loop whose coupler carries something."""
    z = []
    for seed in range(12):
        found = mechid.payload(*pair(seed), body="coupler_1")
        assert found.groups == ("m", "mx", "mz", "Iyy")  # it moves in the plane of x and z
        there = np.isfinite(found.central)
        assert [NAMES[k] for k in np.flatnonzero(there)] == ["m", "mx", "mz", "Iyy"]
        z.append(((found.central - CENTRAL) / found.central_sigma)[there])
    z = np.array(z)
    inside = np.count_nonzero(np.abs(z) < 1.96)
    assert binom.cdf(inside, z.size, 0.95) > 0.01
    assert 0.5 < np.sqrt(np.mean(z**2)) < 1.4


@pytest.mark.slow
def test_a_measured_mass_narrows_the_rest() -> None:
    run, log = pair(0)
    free = mechid.payload(run, log, body="coupler_1")
    weighed = mechid.payload(run, log, body="coupler_1", known_mass="2.0±0.001")
    assert weighed.known_mass == (2.0, 0.001)
    assert weighed.mass == pytest.approx(2.0, abs=0.002)
    assert weighed.central_sigma[0] < 0.001 < free.central_sigma[0]
    there = np.isfinite(free.values)
    assert np.all(weighed.sigma[there] <= free.sigma[there] * (1 + 1e-6))
    exact = mechid.payload(run, log, body="coupler_1", known_mass=2.0)
    assert exact.central[0] == pytest.approx(2.0, rel=1e-9)
    wrong = mechid.payload(run, log, body="coupler_1", known_mass=(3.0, 0.01))
    assert any("standard deviations apart" in w for w in wrong.warnings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("estimator", "settings"), [("map", {"offsets": 0.0}), ("auto", {"without": "offsets, drifts"})]
)
def test_a_run_without_offsets_has_none_in_the_second_log(
    estimator: str, settings: dict[str, object]
) -> None:
    """However its estimator was told: an offset of half of a force is found, or is left over."""
    run, log = pair(0)
    size = np.sqrt(np.mean(log.tau[:, 0] ** 2))
    log = replace(log, tau=log.tau + 0.5 * size * np.array([1.0, 0.0]))

    def explained(settings: dict[str, object]) -> float:
        options = replace(run.about.options, estimator=estimator, settings=settings)
        told = replace(run, about=replace(run.about, options=options))
        return float(mechid.payload(told, log, body="coupler_1").explained[0])

    assert explained({}) < 0.03
    assert explained(settings) > 0.1


def test_nothing_attached(tmp_path: Path) -> None:
    log = mechid.synthesise("five_bar", motion("five_bar", 0), noise="2%", cad_error="10%", seed=0)
    mechid.save_measurement(log, tmp_path / "log.csv")
    run = mechid.identify("five_bar", tmp_path / "log.csv", cad_error="10%", estimator="map")
    found = mechid.payload(run, tmp_path / "log.csv", body="coupler_1")
    assert any("does not differ from zero" in w for w in found.warnings)
    assert any("log.csv was used in the run" in w for w in found.warnings)
    assert np.isfinite(found.central).tolist() == [True] + 9 * [False]


@pytest.mark.parametrize(
    "spec", ["five_bar", "four_bar", "slider_crank", "puma560@bare", "stewart_platform"]
)
def test_groups_are_the_column_space_of_the_second_formulation(spec: str) -> None:
    """The rank of the ten columns of each body, and W of the body is W of the heads times G."""
    mechanism = mechid.load(spec)
    model = kinematic_model(mechanism)
    course = random_course(model, np.random.default_rng(1))
    motion = solve_course(model, course, np.linspace(0, 5, 12))
    W = mechid.observation_matrix_reference(mechanism, motion).W
    chosen = base_of(mechanism)
    units = {c.name: c.unit for c in chosen.null_space.columns}
    lengths = np.array([{"kg m": 1, "kg m²": 2}.get(units[n], 0) for n in chosen.base])
    size = characteristic_size(mechanism)
    bodies = range(len(mechanism.bodies))
    for b in bodies if len(bodies) < 8 else (0, 1, len(bodies) - 1):
        own = (W[..., 10 * b : 10 * b + 10] * size**LENGTHS).reshape(-1, 10)
        s = np.linalg.svd(own, compute_uv=False)
        columns = chosen.matrix[:, 10 * b : 10 * b + 10]
        if not s[0] > 1e-12 * np.abs(W).max():
            with pytest.raises(DataError, match="no force depends on"):
                payload_groups(columns, lengths, size)
            continue
        groups = payload_groups(columns, lengths, size)
        assert len(groups.heads) == np.count_nonzero(s > 1e-9 * s[0])
        G = groups.matrix * size ** -LENGTHS.astype(float)
        heads = list(groups.heads)
        G = groups.matrix / size ** LENGTHS[heads][:, None] * size**LENGTHS
        assert np.abs(own[:, heads] @ G - own).max() < 1e-9 * np.abs(own).max()


def test_all_ten_belong_to_a_body_and_have_the_groups() -> None:
    groups = payload_groups(np.eye(10), LENGTHS, 1.0)
    assert groups.names == NAMES
    good = all_ten(groups, PI, 1e-6 * np.eye(10))
    assert good.phi == pytest.approx(PI, abs=1e-5)
    assert good.distance == 0
    impossible = PI.copy()
    impossible[4] = -0.5  # a negative moment of inertia
    moved = all_ten(groups, impossible, 1e-2 * np.eye(10))
    assert moved.distance > 1
    assert np.linalg.eigvalsh(pseudo_inertia(moved.phi))[0] > 0


def test_gains_delays_and_offsets_of_the_run_hold_in_the_second_log() -> None:
    t = np.linspace(0, 2, 401)
    W = np.stack([np.sin(3 * t), np.cos(2 * t)], axis=1)[:, None, :]
    tau = (1.1 * W @ np.array([1.0, 2.0])) + 0.5
    there = np.ones_like(tau, dtype=bool)
    r = Regression(W, tau, 0 * tau, t, ("a", "b"), ("F",), ("N",), there)
    one, zero = np.ones(1), np.zeros(1)
    errors = ChannelErrors(0.1 * one, zero, 0.5 * one, zero, delay=0.02 * one, sigma_delay=zero)
    late = np.stack([np.sin(3 * (t - 0.02)), np.cos(2 * (t - 0.02))], axis=1)
    found = sensed(r, errors)
    assert found.W[found.valid] == pytest.approx(1.1 * late[found.valid[:, 0]], abs=1e-6)
    assert np.flatnonzero(~found.valid).tolist() == [0, 1, 2, 3]
    assert sensed(r, None) is r


def test_the_end_of_a_chain_is_the_default() -> None:
    assert attached_body(mechid.load("puma560"), None) == "link_6"
    assert attached_body(mechid.load("pendulum"), None) == "bob"
    assert attached_body(mechid.load("five_bar"), "crank_2") == "crank_2"
    with pytest.raises(DataError, match="not clear: all bodies are in loops; name the body, one"):
        attached_body(mechid.load("five_bar"), None)
    with pytest.raises(DataError, match="there is no body crank with a mass; did you mean"):
        attached_body(mechid.load("five_bar"), "crank")


@pytest.mark.slow
def test_what_the_motion_does_not_show_is_said() -> None:
    """A pendulum that turns about z: only Izz + …, and the first moments across the axis."""
    found = mechid.payload(*pair(0, "pendulum", "bob"))
    assert found.rank == 3
    assert np.isnan(found.mass)
    there = np.isfinite(found.values)
    assert np.all(np.abs((found.values - PI)[there] / found.sigma[there]) < 4)


def test_files_and_wrong_input(tmp_path: Path) -> None:
    run, log = pair(1)
    found = mechid.payload(run, log, body="coupler_1")
    mechid.write_payload(found, tmp_path / "p.json")
    whole = json.loads((tmp_path / "p.json").read_text())
    assert whole["central"]["m"]["value"] == found.mass
    assert whole["central"]["cy"]["value"] is None
    assert whole["rank"] == 4
    mechid.write_payload(found, tmp_path / "p.csv")
    lines = (tmp_path / "p.csv").read_text().splitlines()
    assert lines[1] == f"m,{found.mass!r},{float(found.central_sigma[0])!r},kg,yes"
    assert "cy,,,m,no" in lines
    with pytest.raises(DataError, match=r"unknown file type \.xml; use a \.json or a \.csv"):
        mechid.write_payload(found, tmp_path / "p.xml")
    half = replace(log, forces=("M1",), tau=log.tau[:, :1], valid=log.valid[:, :1])
    with pytest.raises(DataError, match="the forces must be those of the identification motion"):
        mechid.payload(run, half, body="coupler_1")
    with pytest.raises(DataError, match="a mass must be > 0"):
        mechid.payload(run, log, body="coupler_1", known_mass=-1)
    with pytest.raises(DataError, match="no data with the payload"):
        mechid.payload(run, [], body="coupler_1")
