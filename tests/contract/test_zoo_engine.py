"""Generated code against the kernels: every zoo model, both widths of lanes, hard paths."""

from __future__ import annotations

import pickle

import numba
import numpy as np
import pytest

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.observation_code import gradient_code, record_observation
from mechid.dynamics.reference_point import observation_matrix_reference
from mechid.dynamics.regressor import Observation, observation_matrix, observe_path
from mechid.errors import DataError, SingularPoseError, UnreachablePoseError
from mechid.kinematics.branch import dependent_jacobians
from mechid.kinematics.engine.choice import engine, preferred, wanted
from mechid.kinematics.engine.path import PathCode
from mechid.kinematics.motion import Motion, solve_motion
from mechid.kinematics.samples import Samples
from mechid.modelfile import load, zoo
from mechid.tape.number import RecordingError

from .states import EPS, LENGTH, condition, solve_course, zoo_course, zoo_model

NAMES = tuple(entry.name for entry in zoo())
# Balls as coordinates, redundant rows, threads, elements with branches, a passive spin.
HARD = ("double_wishbone@free", "screw_press@guided", "spatial_slider_crank@two-balls")
TIME = np.linspace(0.0, LENGTH, 3000)


def path(spec: str) -> tuple[DynamicModel, tuple[np.ndarray, ...]]:
    return dynamic_model(load(spec)), zoo_course(spec).at(TIME)


def both(spec: str) -> tuple[Observation, Observation, Motion]:
    model, y = path(spec)
    with engine("tables"):
        by_tables = observe_path(model, *y, time=TIME)
        motion = solve_motion(model.kinematics, *y, time=TIME)
    with engine("compiled"):
        return by_tables, observe_path(model, *y, time=TIME), motion


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Compare with the largest entry of each force: columns that vanish are rounding of others."""
    size = np.abs(expected).max(axis=(0, 2), initial=1e-300)[:, None]
    return bool(np.all(np.abs(found - expected) <= tolerance * size))


@pytest.mark.parametrize("spec", [*NAMES, *HARD])
def test_observation_of_every_model(spec: str) -> None:
    by_tables, by_code, motion = both(spec)
    tolerance = 1e4 * EPS * condition(motion) ** 2
    assert close(by_code.W, by_tables.W, tolerance)
    size = np.abs(by_tables.known).max(initial=1e-300)
    assert np.abs(by_code.known - by_tables.known).max() <= tolerance * size
    # and it was the code that did it, not the kernels behind it
    code = dynamic_model(load(spec)).path_code
    assert code is not None


@pytest.mark.parametrize("spec", ["four_bar", "sla_suspension", "double_wishbone@free"])
def test_motion_and_second_formulation(spec: str) -> None:
    model, y = path(spec)
    with engine("compiled"):
        motion = solve_motion(model.kinematics, *y, time=TIME)
        W = observe_path(model, *y, time=TIME).W[::100]
    with engine("tables"):
        expected = solve_motion(model.kinematics, *y, time=TIME)
    tolerance = 1e4 * EPS * condition(expected) ** 2
    for name in ("q", "v", "vd"):
        found, wanted_ = getattr(motion, name), getattr(expected, name)
        assert np.abs(found - wanted_).max() <= tolerance * max(1.0, np.abs(wanted_).max())
    second = observation_matrix_reference(model.mechanism, expected.part(slice(None, None, 100)))
    assert close(W, second.W, 10 * tolerance)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_every_width_of_lanes(lanes: int) -> None:
    model, y = path("five_bar")
    code = PathCode.compile(record_observation(model), lanes)
    n, n_i = y[0].shape
    starts = np.linspace(0, n, 2 * lanes + 2).astype(np.int64)  # the last bundle has one chunk
    with engine("tables"):
        expected = observe_path(model, *y, time=TIME)
        motion = solve_motion(model.kinematics, *y, time=TIME)
    heads = np.maximum(starts[:-1] - 1, 0)
    q, W = np.zeros_like(motion.q), np.zeros((n, n_i * len(model.columns)))
    known = np.zeros((n, n_i))
    dt = np.append(np.diff(TIME), 0.0)
    done = code.follow(starts, (*y, dt), motion.y[heads], motion.q[heads], (q, W, known))
    assert done.tolist() == np.diff(starts).tolist()
    assert close(W.reshape(expected.W.shape), expected.W, 1e4 * EPS * condition(motion) ** 2)


@pytest.mark.parametrize("spec", ["four_bar", "quarter_vehicle", "screw_press@guided", "tx40"])
def test_gradients(spec: str) -> None:
    model, _ = path(spec)
    motion = solve_course(zoo_model(spec), zoo_course(spec), np.linspace(0.1, 5.9, 37))
    rng = np.random.default_rng(1)
    G = rng.standard_normal((*motion.y.shape, len(model.columns)))
    g = rng.standard_normal(motion.y.shape)
    with engine("tables"):
        expected = observation_gradient(model, motion, G, g)
    with engine("compiled"):
        found = observation_gradient(model, motion, G, g)
    assert model.gradient_code is not None
    tolerance = 1e5 * EPS * condition(motion) ** 3
    for a, b in zip(found, expected, strict=True):
        assert np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max())


@pytest.mark.parametrize(("spec", "coordinate", "turn"), [("five_bar", 1, 6.28), ("delta", 0, 1.5)])
def test_pivots_that_change_along_the_path(spec: str, coordinate: int, turn: float) -> None:
    """A crank that turns far: the pivots of the home pose become zero somewhere on the way."""
    model = dynamic_model(load(spec))
    n = 4000
    y = np.tile(model.kinematics.home_y, (n, 1))
    y[:, coordinate] += np.linspace(0.0, turn, n)
    yd, ydd = np.full_like(y, 2.0), np.full_like(y, 0.5)
    assert model.path_code is not None
    done: list[int] = []
    follow = PathCode.follow

    def counted(self: PathCode, *args: object) -> np.ndarray:
        found = follow(self, *args)  # type: ignore[arg-type]
        done.append(int(found.sum()))
        return found

    with pytest.MonkeyPatch.context() as patch, engine("compiled"):
        patch.setattr(PathCode, "follow", counted)
        found = observe_path(model, y, yd, ydd)
    with engine("tables"):
        expected = observe_path(model, y, yd, ydd)
    assert 0 < done[0] < n  # some of it was left to the kernels
    assert close(found.W, expected.W, 1e-9)


@pytest.mark.parametrize("choice", ["tables", "compiled"])
def test_paths_that_cannot_be_followed_are_refused_alike(choice: str) -> None:
    model = load("five_bar")
    home = zoo_model("five_bar").home_y
    y = home + np.linspace(0.0, 3.0, 2000)[:, None] * np.array([1.0, -1.0])
    with engine(choice), pytest.raises((SingularPoseError, UnreachablePoseError)) as caught:
        solve_motion(model, y)
    with engine("tables"), pytest.raises(type(caught.value)) as expected:
        solve_motion(model, y)
    assert str(caught.value) == str(expected.value)


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    model, y = path("five_bar")
    threads = numba.get_num_threads()
    found = []
    try:
        for n in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(n)
            with engine("compiled"):
                found.append(observe_path(model, *y, time=TIME).W)
    finally:
        numba.set_num_threads(threads)
    assert np.array_equal(found[0], found[-1])


def test_one_sample_and_none() -> None:
    model, y = path("four_bar")
    for n in (0, 1, 3):
        part = [x[:n] for x in y]
        with engine("tables"):
            expected = observe_path(model, *part)
        with engine("compiled"):
            found = observe_path(model, *part)
        assert found.W.shape == expected.W.shape
        assert np.allclose(found.W, expected.W, rtol=1e-10, atol=1e-10)


def test_the_choice_depends_on_the_size_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wanted(1000)
    assert wanted(1_000_000)
    monkeypatch.setenv("MECHID_ENGINE", "tables")
    assert not wanted(1_000_000)
    with engine("compiled"):
        assert wanted(1)
    monkeypatch.setenv("MECHID_ENGINE", "fast")
    with pytest.raises(DataError, match="choose one of: auto, tables, compiled"):
        wanted(1)


@pytest.mark.parametrize("error", [RecordingError("a branch"), ZeroDivisionError()])
def test_what_cannot_be_recorded_is_left_to_the_kernels(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    model = pickle.loads(pickle.dumps(dynamic_model(load("four_bar"))))
    monkeypatch.setattr("mechid.dynamics.observation_code.record_stages", fail)
    y = zoo_course("four_bar").at(TIME[:50])
    with engine("compiled"):
        found = observe_path(model, *y)
    assert model.path_code is None
    with engine("tables"):
        assert np.array_equal(found.W, observe_path(model, *y).W)


def test_the_code_can_be_made_for_models_that_travel() -> None:
    model = dynamic_model(load("four_bar"))
    assert model.path_code is not None
    copy = pickle.loads(pickle.dumps(model))
    assert "path_code" not in vars(copy)
    assert copy.path_code is not None
    assert gradient_code(copy) is not None


@pytest.mark.parametrize("spec", [*NAMES, *HARD])
def test_closed_poses_and_unrelated_samples(spec: str) -> None:
    """W and Jacobians of closed poses, and samples that are reached from home, by code."""
    model, y = path(spec)
    few = tuple(np.ascontiguousarray(x[::150]) for x in y)
    with engine("tables"):
        motion = solve_motion(model.kinematics, *few, ordered=False)
        by_tables = observation_matrix(motion, model)
        J = dependent_jacobians(model.kinematics, motion.q)
    with engine("compiled"):
        by_code = observation_matrix(motion, model)
        again = solve_motion(model.kinematics, *few, ordered=False)
        J_code = dependent_jacobians(model.kinematics, motion.q)
    tolerance = 1e4 * EPS * condition(motion) ** 2
    assert close(by_code.W, by_tables.W, tolerance)
    size = np.abs(by_tables.known).max(initial=1e-300)
    assert np.abs(by_code.known - by_tables.known).max() <= tolerance * size
    assert np.abs(J_code - J).max(initial=0.0) <= 1e3 * EPS * np.abs(J).max(initial=1.0)
    for name in ("q", "v", "vd"):
        found, wanted_ = getattr(again, name), getattr(motion, name)
        assert np.abs(found - wanted_).max() <= tolerance * max(1.0, np.abs(wanted_).max())


def test_samples_far_apart_do_without_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code comes to them in shorter steps, where one step is too long."""
    model, (y, yd, ydd) = path("sla_suspension")
    far = tuple(np.ascontiguousarray(x[::120]) for x in (y, yd, ydd))
    with engine("tables"):
        expected = solve_motion(model.kinematics, *far)
    monkeypatch.setattr(Samples, "solve", lambda *args: pytest.fail("kernels"))
    with engine("compiled"):
        found = solve_motion(model.kinematics, *far)
    np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.vd, expected.vd, rtol=0, atol=1e-8)


def test_a_choice_of_the_user_is_kept() -> None:
    with preferred("compiled"):
        assert wanted(1)
    with engine("tables"), preferred("compiled"):
        assert not wanted(10**9)
