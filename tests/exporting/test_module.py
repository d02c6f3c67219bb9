"""Exported Python and MATLAB against inverse dynamics, without mechid."""

from __future__ import annotations

import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat

import mechid
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.quantities import quantity_motion
from mechid.measurementfile.mapping import find_quantity
from mechid.runs.record import Run

from ..contract.states import EPS, LENGTH, condition, solve_course, zoo_course, zoo_model
from .matlab_subset import Column, run_matlab
from .test_c import MEASURED, near

# Loops, redundant rows, balls, a thread, an open chain with elements that have branches.
SPECS = ("four_bar", "bricard", "spatial_slider_crank@two-balls", "screw_press@guided", "tx40")
TIME = np.linspace(0.0, LENGTH, 61)
ALONE = """
import importlib, sys
import numpy as np
for name in ("mechid", "numba", "scipy", "llvmlite"):
    sys.modules[name] = None
sys.path.insert(0, sys.argv[1])
for k in range(int(sys.argv[2])):
    given = np.load(f"{sys.argv[1]}/given{k}.npz")
    module = importlib.import_module(f"model{k}")
    paths = given["y"], given["yd"], given["ydd"]
    tau, codes = module.forces(module.reset(), *paths)
    W, known, _ = module.observation(module.reset(), *paths)
    np.savez(f"{sys.argv[1]}/found{k}.npz", tau=tau, codes=codes, W=W, known=known)
"""


@pytest.mark.slow
def test_python_needs_numpy_only(tmp_path: Path) -> None:
    motions = [solve_course(zoo_model(spec), zoo_course(spec), TIME) for spec in SPECS]
    for k, (spec, motion) in enumerate(zip(SPECS, motions, strict=True)):
        mechid.export(spec, "python", tmp_path / f"model{k}.py")
        np.savez(tmp_path / f"given{k}.npz", y=motion.y, yd=motion.yd, ydd=motion.ydd)
    command = [sys.executable, "-W", "error", "-c", ALONE, str(tmp_path), str(len(SPECS))]
    subprocess.run(command, check=True)
    for k, motion in enumerate(motions):
        found, seen = np.load(tmp_path / f"found{k}.npz"), observation_matrix(motion)
        tolerance = 1e5 * EPS * condition(motion) ** 2
        assert not found["codes"].any()
        assert near(found["tau"], inverse_dynamics(motion).tau, tolerance)
        assert np.abs(found["W"] - seen.W).max() <= tolerance * np.abs(seen.W).max()
        assert near(found["known"], seen.known, tolerance)


def module_of(spec: str, measured: tuple[str, ...] = ()) -> dict[str, object]:
    names: dict[str, object] = {}
    exec(mechid.export(spec, "python", measured=measured).text, names)
    return names


def test_python_follows_the_path_sample_by_sample() -> None:
    """Turns that wind up, in one call and in two; samples that fail in between are left out."""
    model, m = zoo_model("four_bar"), module_of("four_bar")
    y = model.home_y + np.linspace(0.0, 20.0, 300)[:, None]
    motion = solve_motion(model, y, y * 0.1, y * 0.2)
    state = m["reset"]()
    parts = [slice(0, 100), slice(100, 300)]
    found = [m["forces"](state, motion.y[p], motion.yd[p], motion.ydd[p]) for p in parts]
    tau = np.concatenate([x for x, _ in found])
    assert near(tau, inverse_dynamics(motion).tau, 1e5 * EPS * condition(motion) ** 2)
    assert state.y.tolist() == y[-1].tolist()
    assert state.q == pytest.approx(motion.q[-1], abs=1e-9)

    model, m = zoo_model("five_bar"), module_of("five_bar")
    y = np.tile(model.home_y, (6, 1)) + np.linspace(0.0, 0.1, 6)[:, None]
    y[2], y[4] = model.home_y + np.array([1.5, -1.5]), np.nan
    zero = np.zeros_like(y)
    tau, codes = m["forces"](m["reset"](), y, zero, zero)
    good = [0, 1, 3, 5]
    assert codes[good].tolist() == [0] * 4
    assert codes[2] in (1, 2)
    assert codes[4] == 4
    assert np.isnan(tau[[2, 4]]).all()
    expected = inverse_dynamics(solve_motion(model, y[good])).tau
    assert tau[good] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("spec", "names"), MEASURED[1:])
def test_measured_quantities(spec: str, names: tuple[str, ...]) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), TIME[:20])
    quantities = [find_quantity(motion.model.mechanism, x) for x in names]
    told = zip(*(quantity_motion(motion, c) for c in quantities), strict=True)
    s, sd, sdd = (np.stack(x, axis=1) for x in told)
    m = module_of(spec, names)
    tau, codes, *found = m["forces_measured"](m["reset"](), s, sd, sdd)
    assert not codes.any()
    for x, wanted in zip(found, (motion.y, motion.yd, motion.ydd), strict=True):
        assert x == pytest.approx(wanted, rel=1e-8, abs=1e-8)
    expected = inverse_dynamics(motion).tau
    size = np.abs(expected).max()
    assert np.abs(tau - expected).max() <= 1e-7 * size
    file = mechid.export(spec, "matlab", measured=names)
    function, phi = run_matlab(file.text, 3), m["VALUES"].view(Column)
    state = None
    for k in range(5):
        given = [x[k].view(Column) for x in (s, sd, sdd)]
        force, code, state, *_ = function(state, phi, *given, "measured")
        assert code == 0
        assert np.abs(force - expected[k]).max() <= 1e-7 * size


@pytest.mark.parametrize("spec", ["five_bar", "screw_press@guided", "tx40"])
def test_matlab(spec: str) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), TIME[:12])
    seen, expected = observation_matrix(motion), inverse_dynamics(motion).tau
    file = mechid.export(spec, "matlab")
    parameters = loadmat(BytesIO(file.beside[0][1]))
    phi = parameters["phi"][:, 0].view(Column)
    assert [x[0] for x in parameters["names"][:, 0]] == [c.name for c in seen.columns]
    assert phi.tolist() == [c.value for c in seen.columns]
    function, state = run_matlab(file.text, 5), None
    tolerance = 1e5 * EPS * condition(motion) ** 2
    for k in range(len(motion.y)):
        given = [x[k].view(Column) for x in (motion.y, motion.yd, motion.ydd)]
        tau, code, state, W, known = function(state, phi, *given)
        assert code == 0
        assert np.abs(tau - expected[k]).max() <= tolerance * np.abs(expected).max()
        assert np.abs(W - seen.W[k]).max() <= tolerance * np.abs(seen.W).max()
        assert np.abs(known - seen.known[k]).max() <= tolerance * np.abs(expected).max()
    given[1] = given[1] * np.nan
    tau, code, after, *_ = function(state, phi, *given)
    assert code == 4
    assert np.isnan(tau).all()
    assert after.q.tolist() == state.q.tolist()


def test_matlab_guards() -> None:
    function = run_matlab(mechid.export("five_bar", "matlab").text, 3)
    phi, zero = np.ones(40).view(Column), np.zeros(2).view(Column)
    _, code, state, *_ = function(None, phi, zero, zero, zero)
    assert code == 0
    far = np.array([1.5, -1.5]).view(Column)
    tau, code, after, *_ = function(state, phi, far, zero, zero)
    assert code in (1, 2)
    assert np.isnan(tau).all()
    assert after.y.tolist() == state.y.tolist()


def test_same_bytes_and_identified_values(run: Run) -> None:
    for name in ("python", "matlab", "c"):
        first, second = (mechid.export(run, name) for _ in range(2))
        assert (first.data, first.beside) == (second.data, second.beside)
        assert "base parameters identified" in (first.text + str(first.beside))
    assert run.full is not None
    parameters = loadmat(BytesIO(mechid.export(run, "matlab").beside[0][1]))
    assert parameters["phi"][:, 0] == pytest.approx(run.full.values, rel=1e-12, abs=1e-15)
    assert np.count_nonzero(parameters["sigma"]) > 30
