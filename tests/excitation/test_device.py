"""Motions judged as on a GPU: kernels as plain C++, NumPy in the place of CuPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np
import pytest

from mechid.errors import DataError, MechidError
from mechid.excitation.bounds import MotionLimit
from mechid.excitation.criteria.batch import criterion_values, on_processor
from mechid.excitation.criteria.criterion import CRITERIA, Criterion, CriterionOptions
from mechid.excitation.device import DeviceJudge, judge_of
from mechid.excitation.many_starts import draw_many
from mechid.excitation.optimise import Effort, optimise
from mechid.excitation.starts import Starts
from mechid.options.excite import NoiseOf
from mechid.tape import cuda

from ..tape.fake_cupy import fake_cupy
from .problems import moved, problem_of

LIMITS = (
    MotionLimit("position", "q1", -0.2, 0.4),
    MotionLimit("joint", "A2", -0.5, 0.5),
    MotionLimit("speed", "q1", -3.0, 2.0),
    MotionLimit("acceleration", "q2", upper=30.0),
    MotionLimit("force", "M1", -1.0, 1.0),
    MotionLimit("margin", "", lower=0.1),
)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy())
    cuda.loaded.cache_clear()
    yield "cuda:0"
    cuda.loaded.cache_clear()


def weighted(rng: np.random.Generator, n: int, m: int, b: int) -> np.ndarray:
    return rng.standard_normal((n, m, 2, b)) * np.geomspace(1, 1e3, b)


@pytest.mark.parametrize("name", CRITERIA)
@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("subset", [None, (0, 3)])
def test_values_of_factors(name: str, prior: bool, subset: tuple[int, ...] | None) -> None:
    """From triangular factors as from the matrices themselves, by singular values."""
    rng = np.random.default_rng(4)
    b = 5
    P = np.diag([1.0, 4.0, 0.0, 1e-2, 1e2]) if prior else None
    targets = rng.standard_normal((b, b)) if name == "prediction" else None
    options = CriterionOptions(
        sigma=np.array([0.5, 2.0]),
        scales=np.geomspace(1, 10, b),
        prior=P,
        subset=None if name == "prediction" else subset,
        targets=targets,
        repeats=3.0,
        log=True,
        mix=(1.0, 2.0),
    )
    criterion = Criterion(name, options)
    W = weighted(rng, 4, 20, b)
    W[3, :, :, 1] = W[3, :, :, 0]  # not of full rank
    A = W * np.sqrt(3.0) / np.array([0.5, 2.0])[:, None] * np.geomspace(1, 10, b)
    R = on_processor().factor(A.reshape(4, -1, b))
    found = criterion_values(criterion, R, on_processor())
    expected = [criterion(one) for one in W]
    np.testing.assert_allclose(found[:3], expected[:3], rtol=1e-10, atol=1e-10)
    if prior:
        np.testing.assert_allclose(found[3], expected[3], rtol=1e-10, atol=1e-10)
    else:  # the smallest singular value is rounding
        assert np.isfinite(found[3])


@pytest.mark.slow
@pytest.mark.parametrize(("criterion", "noise_of"), [("d", "motion"), ("condition", "usual")])
def test_values_and_slacks_of_motions(criterion: str, noise_of: NoiseOf, gpu: str) -> None:
    prior = criterion != "condition"
    problem = problem_of("five_bar", criterion, LIMITS, prior=prior, noise_of=noise_of)
    starts, rng = Starts(problem), np.random.default_rng(5)
    x = np.array([starts.drawn(rng) for _ in range(5)])
    judge = judge_of(problem, "cuda")
    assert isinstance(judge, DeviceJudge)
    expected = np.array([problem.slack(one) for one in x])
    np.testing.assert_allclose(judge.slacks(x), expected, rtol=1e-6, atol=1e-9)
    expected = np.array([problem.value(problem.motion(one)) for one in x])
    np.testing.assert_allclose(judge.values(x), expected, rtol=1e-9)


def test_motions_that_do_not_close(gpu: str) -> None:
    """They are left to the processor, which refuses them."""
    problem = problem_of("five_bar", "d", LIMITS[:1], prior=True)
    x = np.stack([moved(problem, 0.1), moved(problem, 9.0)])
    judge = DeviceJudge(problem, gpu)
    assert np.isfinite(judge.slacks(x)[0]).all()
    assert np.isnan(judge.slacks(x)[1]).all()
    assert np.isfinite(judge.values(x)[0])
    assert judge.values(x)[1] == np.inf


def test_the_same_motions_are_chosen(gpu: str) -> None:
    problem = problem_of("five_bar", "d", LIMITS, prior=True)
    effort = Effort(random=6, starts=0, iterations=1)
    host = optimise(problem, effort, seed=1)
    device = optimise(problem, effort, seed=1, judge=DeviceJudge(problem, gpu))
    np.testing.assert_allclose(device.x, host.x, rtol=1e-6)
    np.testing.assert_allclose(device.value, host.value, rtol=1e-6)
    assert len(device.random_values) == len(host.random_values)


def test_many_starts_are_those_that_are_drawn_one_by_one() -> None:
    problem = problem_of("five_bar", "d", LIMITS, prior=True)
    starts, rng = Starts(problem), np.random.default_rng(6)
    expected = [x for x in (starts.draw(rng) for _ in range(6)) if x is not None]

    def slacks(x: np.ndarray) -> np.ndarray:
        found = [problem.slack(one) for one in x]
        nothing = np.full(len(problem.limits), np.nan)
        return np.array([nothing if slack is None else slack for slack in found])

    found = draw_many(starts, np.random.default_rng(6), 6, slacks)
    np.testing.assert_array_equal(found, expected)


def test_limits_that_a_gpu_does_not_know(gpu: str) -> None:
    limit = MotionLimit("distance", "ground.A1-coupler_1.tool", 0.38, 0.45)
    with pytest.raises(DataError, match=r"cannot judge motions with .* distance"):
        judge_of(problem_of("five_bar", "d", (limit,), prior=True), gpu)


def test_without_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of("five_bar", "d", LIMITS, prior=True)
    monkeypatch.delenv("MECHID_DEVICE", raising=False)
    assert judge_of(problem, None) is None
    assert judge_of(problem, "cpu") is None
    with pytest.raises(DataError, match=r"there is no device 'gpu'.*choose one of: cpu, cuda"):
        judge_of(problem, "gpu")
    monkeypatch.setitem(sys.modules, "cupy", None)  # it cannot be imported
    monkeypatch.setenv("MECHID_DEVICE", "cuda")
    with pytest.raises(MechidError, match=r"needs CuPy.*pip install 'mechid\[gpu\]'"):
        judge_of(problem, None)
    monkeypatch.setitem(sys.modules, "cupy", fake_cupy(gpus=1))
    with pytest.raises(MechidError, match="there is no device cuda:1: this machine has 1 GPU"):
        judge_of(problem, "cuda:1")
