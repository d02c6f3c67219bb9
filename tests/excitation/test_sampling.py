"""Samples of a trajectory, and the whole way from coefficients to a criterion."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.base.analyse import base_parameters
from mechid.base.cad import cad_values
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError
from mechid.excitation.conditions import rest_at_ends
from mechid.excitation.criteria import Criterion, CriterionOptions
from mechid.excitation.design import design
from mechid.excitation.families import Chirp, Constant, Fourier, Sine
from mechid.excitation.observe import base_observation
from mechid.excitation.sampling import sample_times, sampling_table
from mechid.excitation.trajectory import Sampled, Trajectory, sample
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load

SERIES = Trajectory.of({"a": Fourier(0.5, 0.1, (1.0, 0.2), (0.3, 0.4))}, 4.0)


def test_whole_periods_leave_out_the_end() -> None:
    assert sample_times(SERIES, samples=8, periods=1) == pytest.approx(np.arange(8) / 4)
    assert sample_times(SERIES, rate=5.0) == pytest.approx(np.arange(20) / 5)
    assert sample_times(SERIES, rate=5.0, periods=3) == pytest.approx(np.arange(30) / 5)
    assert sample_times(SERIES, samples=4, periods=0.5) == pytest.approx(np.arange(4) / 3)


def test_other_motions_have_an_end() -> None:
    sweep = Trajectory.of({"a": Chirp(1.0, 0.0, 5.0, 2.0)}, 2.0)
    assert sample_times(sweep, samples=5) == pytest.approx(np.arange(5) / 2)
    assert sample_times(sweep, rate=2.0) == pytest.approx(np.arange(5) / 2)
    assert len(sample_times(sweep)) == 201
    with pytest.raises(DataError, match="is not periodic"):
        sample_times(sweep, periods=2)
    with pytest.raises(DataError, match="samples and rate exclude each other"):
        sample_times(sweep, samples=3, rate=2.0)
    with pytest.raises(DataError, match="samples must be ≥ 2, got 1"):
        sample_times(sweep, samples=1)
    with pytest.raises(DataError, match="or constant"):
        sample_times(Trajectory.of({"a": Constant(1.0)}, 1.0), periods=1)


def rows(sampled: Sampled) -> np.ndarray:
    return np.stack([sampled.y, sampled.yd, sampled.ydd], axis=2)


def test_table_of_a_criterion() -> None:
    found = sampling_table(SERIES, rows, Criterion("a"), samples=(20, 40), periods=(1, 2))
    assert [(r.samples, r.periods) for r in found] == [(20, 1), (20, 2), (40, 1), (40, 2)]
    assert [r.rate for r in found] == pytest.approx([10, 5, 20, 10])
    # Enough samples of whole periods: every product of harmonics has its exact mean, so that only
    # the number of samples counts.
    assert [r.per_sample for r in found] == pytest.approx([found[0].per_sample] * 4)
    assert [r.value * r.samples for r in found] == pytest.approx([found[0].per_sample] * 4)
    shape = sampling_table(SERIES, rows, Criterion("condition"), rates=(10.0,))
    assert shape[0].value == pytest.approx(shape[0].per_sample)
    assert shape[0].samples == 40


@pytest.mark.parametrize("name", ["a", "d", "condition-equilibrated"])
def test_gradient_by_coefficients_through_a_mechanism(name: str) -> None:
    """The chain of a design: coefficients, coordinates, W_b, criterion and back."""
    mechanism = load("five_bar")
    base = base_parameters(mechanism).chosen
    model = dynamic_model(mechanism)
    home = model.kinematics.home_y
    families = {
        c.name: Fourier.zeros(0.7, 3, float(home[i])).with_coefficients(
            np.array([home[i], *np.random.default_rng(i).normal(scale=0.3, size=6)])
        )
        for i, c in enumerate(mechanism.coordinates)
    }
    trajectory = Trajectory.of(families, 1 / 0.7)
    times = sample_times(trajectory, samples=15)
    rest = {c: rest_at_ends(1 / 0.7) for c in trajectory.names}
    free = design(trajectory, times, conditions=rest)
    observe = base_observation(model, base.places)
    criterion = Criterion(name, CriterionOptions(sigma=np.array([0.5, 1.0]), log=True))

    def value(x: np.ndarray) -> float:
        return criterion(observe(free.sample(x)))

    x = free.start
    s = free.sample(x)
    _, G = criterion.value_and_gradient(observe(s))
    # Per-sample gradients by differences of W, one coordinate of all samples at a time.
    h, by_rates = 1e-5, []
    for k in range(1, 4):
        g = np.zeros_like(s.y)
        for j in range(s.y.shape[1]):
            moved = []
            for sign in (1, -1):
                arrays = [a.copy() for a in s]
                arrays[k][:, j] += sign * h
                motion = solve_motion(model.kinematics, *arrays[1:])
                moved.append(observation_matrix(motion, model).W[:, :, base.places])
            g[:, j] = np.einsum("nip,nip->n", G, (moved[0] - moved[1]) / (2 * h))
        by_rates.append(g)
    gradient = free.gradient(*by_rates)
    step = np.random.default_rng(9).normal(size=len(x))
    difference = (value(x + 1e-6 * step) - value(x - 1e-6 * step)) / 2e-6
    assert gradient @ step == pytest.approx(difference, rel=1e-4, abs=1e-6)


def test_criteria_of_a_suspension() -> None:
    """Base parameters of the short-long-arm suspension, the case of the literature."""
    mechanism = load("sla_suspension")
    chosen = base_parameters(mechanism).chosen
    model = dynamic_model(mechanism)
    home = model.kinematics.home_y
    families = {}
    for i, c in enumerate(mechanism.coordinates):
        rng = np.random.default_rng(i)
        if c.unit == "rad":
            families[c.name] = Sine(50.0, 0.5)
        else:
            size = 0.02 * 2 * np.pi * np.array([0.0, *rng.uniform(-1, 1, 6)]) / 3
            families[c.name] = Fourier.zeros(1.0, 3).with_coefficients(
                size + np.array([home[i], 0, 0, 0, 0, 0, 0])
            )
    trajectory = Trajectory.of(families, 2.0).ordered([c.name for c in mechanism.coordinates])
    W = base_observation(model, chosen.places)(
        sample(trajectory, times=sample_times(trajectory, samples=200))
    )
    prior = cad_values(chosen).covariance
    noise = np.array([20.0] * W.shape[1])
    for name in ("a", "d", "e", "condition", "condition-equilibrated", "mixture"):
        for options in (
            CriterionOptions(sigma=noise),
            CriterionOptions(sigma=noise, prior=prior + 1e-12 * np.eye(len(prior))),
        ):
            value, gradient = Criterion(name, options).value_and_gradient(W)
            assert np.isfinite(value)
            assert np.all(np.isfinite(gradient))
    # The gradient with a prior, which the rounding of W does not reach.
    c = Criterion(
        "a", CriterionOptions(sigma=noise, prior=np.diag(0.01 + np.diag(prior)), log=True)
    )
    step = np.random.default_rng(1).normal(size=W.shape) * np.abs(W).mean(axis=0)
    gradient = c.value_and_gradient(W)[1]
    difference = (c(W + 1e-6 * step) - c(W - 1e-6 * step)) / 2e-6
    assert np.sum(gradient * step) == pytest.approx(difference, rel=1e-5)
