"""The posterior of everything that may be wrong, against closed forms and exact sums."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.estimate import predict
from mechid.estimation.posterior.cad import cad_components
from mechid.estimation.posterior.component import FAMILIES, Component
from mechid.estimation.posterior.estimator import JointPosterior, families
from mechid.estimation.posterior.fit import fit
from mechid.estimation.posterior.sampler import _COMMON, _COMMON_LAW, GRID, Block, Sampler
from mechid.estimation.posterior.start import whole_samples_late
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Regression

N, STEP = 400, 0.01
NAMES = ("a", "b", "c")
TRUE = np.array([2.0, -1.0, 0.6])
TIME = STEP * np.arange(N)


def columns(time: Floats) -> Floats:
    """Return W (N, 2, 3): two forces that share two of three parameters."""
    x, y = np.sin(3.1 * time), np.cos(7.3 * time + 0.4)
    z, w = np.sin(11.7 * time + 1.0), np.cos(5.9 * time) ** 3
    first, second = np.column_stack([x, y, z]), np.column_stack([w, x, 0 * x])
    return np.stack([first, second], axis=1)


def problem(forces: Floats, noise: float = 0.02, seed: int = 0) -> Regression:
    rng = np.random.default_rng(seed)
    tau = forces + noise * rng.standard_normal(forces.shape)
    return Regression(
        columns(TIME), tau, np.zeros((N, 2)), TIME, NAMES, ("F", "G"), ("N", "N"),
        np.ones((N, 2), bool),
    )  # fmt: skip


def prior(off: float = 0.1, seed: int = 3) -> Prior:
    """Return coefficients of force elements that are known to 20 %."""
    rng = np.random.default_rng(seed)
    values = TRUE * (1 + off * rng.standard_normal(3))
    return Prior(NAMES, NAMES, np.eye(3), values, np.diag((0.2 * values) ** 2))


def exact() -> Floats:
    return columns(TIME) @ TRUE


def test_presence_and_scales_are_those_of_an_exact_sum() -> None:
    """One parameter and an offset that looks like it: all scales summed over, noise given."""
    rng = np.random.default_rng(2)
    cad = Component("a", FAMILIES["CAD values"], "coefficient", directions=np.ones((1, 1)))
    offset = Component(
        "offset", FAMILIES["offsets"], "offsets", columns=np.ones((40, 1)), channel=0
    )
    column = 1.0 + 0.3 * rng.standard_normal(40)
    A = np.column_stack([0.5 * column, np.full(40, 0.2)])
    t = A @ [0.4, 1.6] + 0.5 * rng.standard_normal(40)
    block = Block(np.arange(2), A.T @ A / 0.25, A.T @ t / 0.25, float(t @ t) / 0.25, 40)
    sampler = Sampler((cad, offset), np.ones(1), (0,), seed=0)
    state = sampler.start_state(np.ones(1))
    found = sampler.run([block], state, 6000, 100, declared=np.ones(1), free_noise=False)

    log = np.log(GRID)
    x = log[:, None] - _COMMON
    with np.errstate(divide="ignore"):  # scales that no law has
        of_cad = np.log(np.sum(np.exp(-4 * x - 2 * np.exp(-2 * x) + _COMMON_LAW), axis=1))
    size = np.where(FAMILIES["offsets"].most < GRID, -np.inf, -0.5 * (log / 0.5) ** 2)[1:]
    size -= np.log(np.sum(np.exp(size)))
    # Of one candidate, how often such errors are there is anything between 0 and 1.
    of_offset = np.append(np.log(0.5), np.log(0.5) + size)
    weights, there, means, seconds = [], [], [], []
    for i, j in product(range(len(GRID)), repeat=2):
        if not np.isfinite(of_cad[i] + of_offset[j]):
            continue
        s = GRID[[i, j]]
        H = np.diag(1 / s**2) + block.G
        V = np.linalg.inv(H)
        mu = V @ block.g
        evidence = 0.5 * float(block.g @ mu) - 0.5 * np.linalg.slogdet(H)[1] - np.sum(np.log(s))
        weights.append(evidence + of_cad[i] + of_offset[j])
        there.append(j > 0)
        means.append(mu)
        seconds.append(V + np.outer(mu, mu))
    p = np.exp(np.array(weights) - max(weights))
    p /= p.sum()
    mean = p @ np.array(means)
    spread = np.einsum("k,kij->ij", p, np.array(seconds)) - np.outer(mean, mean)
    probability = float(p @ np.array(there))
    assert 0.2 < probability < 0.95
    assert found.present[1] == pytest.approx(probability, abs=0.04)
    deviation = np.sqrt(np.diag(spread))
    np.testing.assert_allclose(found.mean, mean, atol=0.08 * deviation.max())
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), deviation, rtol=0.08)


def test_white_noise_is_all_there_is() -> None:
    """As least squares with the CAD values, and nothing invented."""
    r, k = problem(exact()), prior()
    found = JointPosterior()(r, k)
    A, t, _ = r.stacked()
    P = np.diag(1 / np.diag(k.covariance))
    V = np.linalg.inv(A.T @ A / 0.02**2 + P)
    plain = V @ (A.T @ t / 0.02**2 + P @ k.values)
    np.testing.assert_allclose(found.values, plain, atol=0.3 * np.sqrt(np.diag(V)).max())
    assert found.errors is not None
    assert not found.errors.terms
    np.testing.assert_allclose(found.noise, 0.02, rtol=0.1)
    assert np.all(np.abs(found.values - TRUE) < 3 * found.sigma)


@pytest.mark.parametrize("seed", range(3))
def test_an_offset_is_found(seed: int) -> None:
    forces = exact() + np.array([0.3, 0.0])
    found = JointPosterior()(problem(forces, seed=seed), prior())
    assert found.errors is not None
    assert found.errors.offset[0] == pytest.approx(0.3, abs=3 * found.errors.sigma_offset[0])
    assert found.errors.sigma_offset[0] < 0.02
    assert found.errors.offset[1] == 0
    assert np.all(np.abs(found.values - TRUE) < 3.5 * found.sigma)


@pytest.mark.parametrize("gain", [0.9, 1.1])
def test_gains_are_found_up_to_their_common_factor(gain: float) -> None:
    """The forces share parameters: their ratio is seen, and only CAD values tell the rest."""
    forces = exact() * np.array([1.0, gain])
    found = JointPosterior()(problem(forces, noise=0.005), prior())
    assert found.errors is not None
    ratio = (1 + found.errors.gain[1]) / (1 + found.errors.gain[0])
    assert ratio == pytest.approx(gain, abs=0.005)
    assert np.all(np.abs(found.values - TRUE) < 3 * found.sigma)


@pytest.mark.parametrize("late", [0.002, 0.01, 0.037])
def test_delays_are_found(late: float) -> None:
    forces = columns(TIME - late) @ TRUE
    found = JointPosterior()(problem(forces), prior())
    assert found.errors is not None
    assert found.errors.delay is not None
    np.testing.assert_allclose(found.errors.delay, late, atol=4e-4)
    assert np.all(np.abs(found.values - TRUE) < 3.5 * found.sigma)


def test_whole_samples_late() -> None:
    k = prior()
    F = np.diag(np.sqrt(np.diag(k.covariance)))
    for lag in (-3, 0, 4):
        r = problem(columns(TIME - lag * STEP) @ TRUE)
        assert whole_samples_late(r, k.values, F) == lag


def test_outliers_count_less() -> None:
    forces = exact()
    forces[::37, 0] += 5.0
    one, plain = (JointPosterior("gains")(problem(x), prior()) for x in (forces, exact()))
    assert one.tails is not None
    assert np.all(np.abs(one.values - TRUE) < 3 * one.sigma)
    # 3 % of the samples are lost; Student's law is worth 2/3 of normal noise.
    assert np.all(one.sigma < 1.4 * plain.sigma)


def test_friction_that_may_be_absent() -> None:
    """A column whose value is 0 unless the data say otherwise."""
    r, k = problem(exact()), prior()
    extra = np.sign(np.cos(3.1 * TIME))
    W = np.concatenate([r.W, np.zeros((N, 2, 1))], axis=2)
    W[:, 0, 3] = extra
    wide = replace(
        k,
        parameters=(*NAMES, "dry"),
        base=(*NAMES, "dry"),
        matrix=np.eye(4),
        values=np.append(k.values, 0.0),
        covariance=np.pad(k.covariance, ((0, 1), (0, 1))),
        possible=("dry",),
    )
    for size in (0.0, 0.1):
        tau = r.tau + size * W[:, :, 3]
        found = fit(replace(r, W=W, tau=tau, parameters=wide.base), wide)
        i = next(i for i, c in enumerate(found.components) if c.name == "dry")
        direction = found.components[i].directions
        assert direction is not None
        value = float(direction[3, 0] * found.mean[found.of(i)][0])
        assert (found.draws.present[i] > 0.9) == (size > 0)
        assert value == pytest.approx(size, abs=0.01)


def test_offsets_belong_to_their_log() -> None:
    forces = exact()
    forces[N // 2 :, 0] += 0.4
    log = np.repeat([0, 1], N // 2)
    r = replace(problem(forces), log=log)
    found = JointPosterior()(r, prior())
    assert found.errors is not None
    assert found.errors.by_log is not None
    np.testing.assert_allclose(found.errors.by_log, [[0.0, 0.0], [0.4, 0.0]], atol=0.02)


def test_a_model_that_lacks_something_is_not_trusted() -> None:
    """Forces that are smooth in time, and that no component has: intervals have to hold them."""
    forces = exact() + 0.3 * np.sin(17.3 * TIME[:, None]) * np.cos(3.1 * TIME[:, None]) ** 5
    found = JointPosterior()(problem(forces), prior())
    assert np.all(np.abs(found.values - TRUE) < 3 * found.sigma)
    told = predict(replace(found, errors=None), problem(exact()))
    assert np.mean(np.abs(told.forces - exact()) < 1.96 * told.sigma) > 0.9


def test_the_same_seed_gives_the_same_bytes() -> None:
    r, k = problem(exact()), prior()
    one, other = (JointPosterior(seed=4)(r, k) for _ in range(2))
    assert one.values.tobytes() == other.values.tobytes()
    assert one.covariance.tobytes() == other.covariance.tobytes()
    assert not np.array_equal(one.values, JointPosterior(seed=5)(r, k).values)


def test_errors_of_bodies_make_their_covariance() -> None:
    """Mass, centre and moments apart, as declared, and coefficients one by one."""
    rng = np.random.default_rng(0)
    root = np.tril(rng.standard_normal((3, 3)))
    P = np.zeros((5, 5))
    P[:3, :3], P[3, 3] = root @ root.T, 4.0
    k = Prior(tuple("abcde"), tuple("abcde"), np.eye(5), np.array([1.0, 2, 3, 0, 5]), P)
    parts = cad_components(k)
    assert {c.kind for c in parts} == {"together", "open"}
    total = sum(
        (c.directions @ c.directions.T for c in parts if c.directions is not None),
        np.zeros((5, 5)),
    )
    np.testing.assert_allclose(total, P, atol=1e-12)


def test_refusals() -> None:
    r, k = problem(exact()), prior()
    with pytest.raises(DataError, match="there are no errors called gain"):
        families("gain")
    assert families("gains, delays") == ("gains", "delays")
    with pytest.raises(DataError, match="needs CAD values"):
        JointPosterior()(r)
    with pytest.raises(DataError, match="no standard deviations of the CAD values"):
        JointPosterior()(r, replace(k, covariance=np.zeros((3, 3))))
    with pytest.raises(DataError, match="no error of some force is declared"):
        JointPosterior(noise="declared")(r, k)
    with pytest.raises(DataError, match="too few measured values"):
        JointPosterior()(r.part(slice(0, 2)), k)


def test_errors_that_are_not_there_are_left_out() -> None:
    forces = exact() + np.array([0.3, 0.0])
    found = fit(problem(forces), prior(), without=("offsets", "drifts"))
    assert {c.family.name for c in found.components} == {"CAD values", "gains", "delays"}
