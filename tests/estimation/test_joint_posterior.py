"""The posterior of everything that may be wrong, against closed forms and exact sums."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import multivariate_normal

from mechid.dynamics.compile import dynamic_model
from mechid.errors import DataError
from mechid.estimation.estimate import predict
from mechid.estimation.posterior.cad import cad_components
from mechid.estimation.posterior.component import FAMILIES, Component, chosen_families
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.posterior.fit import _Rows, fit
from mechid.estimation.posterior.lacking import possible_components
from mechid.estimation.posterior.sampler import (
    _COMMON,
    _COMMON_LAW,
    GRID,
    Block,
    Sampler,
    _Now,
)
from mechid.estimation.posterior.sensors import sensor_components
from mechid.estimation.posterior.start import samples_late
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats, Possible, Regression
from mechid.modelfile import load
from mechid.spatial.inertia_errors import parameter_root, relative_errors

from .problems import likely

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


SENSORS = ", ".join(f.name for f in FAMILIES.values() if f.owner != "machine")
# Dry friction of a joint that moves the first force alone.
DRY = Possible(
    "Coulomb friction of q1", "friction", "q1",
    np.sign(np.cos(3.1 * TIME))[:, None, None] * np.array([[1.0], [0.0]]),
)  # fmt: skip


def log_beta(a: float, b: float) -> float:
    return float(betaln(a, b))


def test_presence_and_scales_are_those_of_an_exact_sum() -> None:
    """A parameter, and two errors of a kind that look like it, one of two columns: all scales
    summed over, noise given."""
    rng = np.random.default_rng(2)
    offsets = FAMILIES["offsets"]
    cad = Component("a", FAMILIES["CAD values"], "coefficient", directions=np.ones((1, 1)))
    one, two = (
        Component(f"offset {k}", offsets, "offsets", columns=np.ones((40, k)), channel=0)
        for k in (1, 2)
    )
    column = 1.0 + 0.3 * rng.standard_normal(40)
    A = np.column_stack([0.5 * column, np.full(40, 0.2), 0.15 * rng.standard_normal((40, 2)) + 0.1])
    t = A @ [0.4, 2.0, 1.5, -1.1] + 0.5 * rng.standard_normal(40)
    block = Block(np.arange(4), A.T @ A / 0.25, A.T @ t / 0.25, float(t @ t) / 0.25, 40)
    sampler = Sampler((cad, one, two), np.ones(1), (0,), seed=0)
    state = sampler.start_state(np.ones(1))
    found = sampler.run([block], state, 2500, 100, declared=np.ones(1), free_noise=False)

    grid = GRID[::2]  # coarser: sums of smooth laws hardly change
    log = np.log(grid)
    x = log[:, None] - _COMMON
    with np.errstate(divide="ignore"):  # scales that no law has
        of_cad = np.log(np.sum(np.exp(-4 * x - 2 * np.exp(-2 * x) + _COMMON_LAW), axis=1))
    size = np.where(grid > offsets.most, -np.inf, -0.5 * (log / offsets.spread) ** 2)
    size -= np.log(np.sum(np.exp(size)))
    # The law of what is there, and one more place for what is absent.
    law, scales = np.append(0.0, size), np.append(GRID[0], grid)
    i, j, k = (x.ravel() for x in np.meshgrid(range(len(grid)), *2 * [range(len(law))]))
    n = (j > 0).astype(int) + (k > 0)
    common = np.array([log_beta(1 + m, 9 - m) for m in range(3)])[n]
    prior = of_cad[i] + law[j] + law[k] + common
    s = np.column_stack([grid[i], scales[j], scales[k], scales[k]])[np.isfinite(prior)]
    there = np.column_stack([j > 0, k > 0])[np.isfinite(prior)]
    H = block.G + np.eye(4) / s[:, :, None] ** 2
    V = np.linalg.inv(H)
    mu = V @ block.g
    evidence = 0.5 * mu @ block.g - 0.5 * np.linalg.slogdet(H)[1] - np.sum(np.log(s), axis=1)
    evidence += prior[np.isfinite(prior)]
    p = np.exp(evidence - evidence.max())
    p /= p.sum()
    mean = p @ mu
    spread = np.einsum("k,kij->ij", p, V + mu[:, :, None] * mu[:, None, :]) - np.outer(mean, mean)
    assert np.all((p @ there > 0.2) & (p @ there < 0.95))
    np.testing.assert_allclose(found.present[1:], p @ there, atol=0.03)
    deviation = np.sqrt(np.diag(spread))
    np.testing.assert_allclose((found.mean - mean) / deviation, 0.0, atol=0.15)
    np.testing.assert_allclose(np.sqrt(np.diag(found.covariance)), deviation, rtol=0.08)


SIZES = np.array([2, 1, 3, 1, 2])
START = np.concatenate([[0], np.cumsum(SIZES)])


def data() -> tuple[Floats, Floats]:
    """Return rows of five components that look alike, and measured values with noise one."""
    rng = np.random.default_rng(8)
    A = rng.standard_normal((12, START[-1])) + 1.5 * rng.standard_normal((12, 1))
    return A, 2.0 * rng.standard_normal(12)


def now_of(scale: list[int], there: tuple[int, ...] = ()) -> _Now:
    """Return what five components are, those of `there` all along."""
    A, t = data()
    open_ = [f for f in range(5) if f not in there]
    return _Now(A.T @ A, A.T @ t, START, np.array(scale), np.array(there, dtype=np.int64),
                np.array(open_, dtype=np.int64))  # fmt: skip


@pytest.mark.parametrize(
    ("scale", "there"),
    [
        *(([30, 40, 25, 35, 28], there) for there in ((), (1,), (0, 3), (0, 1, 2, 3, 4))),
        *(([30, 40, 0, 35, 0], there) for there in ((), (1,), (0, 3))),
    ],
)
def test_components_are_those_of_ridge_regression(scale: list[int], there: tuple[int, ...]) -> None:
    now = now_of(scale, there)
    A, t = data()
    own = np.repeat(np.array(scale) > 0, SIZES)
    A = A[:, own]
    V = np.linalg.inv(A.T @ A + np.diag(1 / np.repeat(GRID[scale], SIZES)[own] ** 2))
    mean, V_all = np.zeros(len(own)), np.zeros((len(own), len(own)))
    mean[own], V_all[np.ix_(own, own)] = V @ A.T @ t, V
    np.testing.assert_allclose(now.mean(), mean, atol=1e-9)
    at, found = now.covariance()
    np.testing.assert_allclose(found, V_all[np.ix_(at, at)], atol=1e-9)
    rng = np.random.default_rng(0)
    drawn = np.array([now.draw(rng) for _ in range(20_000)])
    assert not drawn[:, ~own].any()
    np.testing.assert_allclose(np.cov(drawn.T), V_all, atol=0.05 * np.max(np.abs(V)))


@pytest.mark.parametrize("f", range(1, 5))
def test_components_that_come_and_go(f: int) -> None:
    """As solved anew."""
    full = [30, 40, 25, 35, 28]
    now = now_of(full, (0,))
    for scale in (0, 33):
        now.put(f, scale)
        other = now_of([scale if i == f else x for i, x in enumerate(full)], (0,))
        np.testing.assert_allclose(now.mean(), other.mean(), atol=1e-10)
        np.testing.assert_allclose(now.covariance()[1], other.covariance()[1], atol=1e-10)


@pytest.mark.parametrize("scale", [[30, 0, 25, 35, 0], [0, 40, 0, 0, 28], [0, 0, 0, 0, 0]])
def test_evidence_is_that_of_marginal_likelihoods(scale: list[int]) -> None:
    """Measured values are Gaussian with covariance 1 + Σ s² A Aᵀ over what is there."""
    A, t = data()

    def log_likelihood(there: list[int]) -> float:
        s2 = np.where(np.array(there) > 0, GRID[there] ** 2, 0.0)
        C = np.eye(len(t)) + (A * np.repeat(s2, SIZES)) @ A.T
        return float(multivariate_normal(np.zeros(len(t)), C).logpdf(t))

    now = now_of(scale)
    found = now.evidence(np.arange(5))
    assert found.shape == (5, len(GRID) - 1)
    for f in range(5):
        for k in (1, 12, 31, 40, len(GRID) - 1):
            with_, without = (
                log_likelihood([x if i == f else y for i, y in enumerate(scale)]) for x in (k, 0)
            )
            assert found[f, k - 1] == pytest.approx(with_ - without, abs=1e-7)


@pytest.mark.parametrize("share", [1.0, 0.3])
def test_noise_has_its_law(share: float) -> None:
    """Of 50 rows and a coefficient that they tell exactly: inverse χ² with 49 degrees of freedom.
    Samples that count by a part widen the coefficient, and not the noise."""
    cad = Component("a", FAMILIES["CAD values"], "open", directions=np.ones((1, 1)))
    G, g, rest = 1e6, 2e5, 100.0
    block = Block(np.zeros(1, dtype=np.int64), np.array([[G]]), np.array([g]), g**2 / G + rest, 50)
    sampler = Sampler((cad,), np.ones(1), (0,), seed=1)
    found = sampler.run([block], sampler.start_state(np.ones(1)), 3000, 10, share=share)
    assert found.noise[0] ** 2 == pytest.approx(rest / (49 - 2), rel=0.03)
    assert found.mean[0] == pytest.approx(g / G, rel=1e-3)
    assert found.covariance[0, 0] == pytest.approx(rest / (49 - 2) / (share * G), rel=0.03)


def linearised(r: Regression, k: Prior) -> _Rows:
    """Return the rows with all components, in the order of `fit`."""
    components = (*cad_components(k), *possible_components(r), *sensor_components(r))
    return _Rows(
        r, k, sorted(components, key=lambda c: (c.directions is None, c.forces is None, c.name))
    )


def test_linearised_as_differences_say() -> None:
    """Residuals change with parameters, what a model lacks, gains, delay and offsets as the columns
    say."""
    r = replace(
        problem(exact()), known=0.3 * np.cos(TIME)[:, None] * np.ones((1, 2)), possible=(DRY,)
    )
    rows = linearised(r, prior())
    rng = np.random.default_rng(0)
    theta = 0.5 * rng.standard_normal(int(rows.start[-1]))
    rows.linearise(theta, 0.0)
    # About an estimate with these gains; a delay is about zero.
    theta[rows.start[rows.delays[0]]] = 0.0
    before = rows.residuals(theta)
    step = 1e-6
    for s, own in enumerate(rows.members):
        at, A = rows.series_of(s)
        for i, column in zip(at, A.T, strict=True):
            moved = theta.copy()
            moved[i] += step
            change = (rows.residuals(moved) - before)[own] / step
            np.testing.assert_allclose(-column / rows.u[own], change, atol=1e-4)


def test_rates_of_logs_with_gaps_and_of_their_own_pace() -> None:
    """Against the derivative, at every sample but the ends of stretches exactly to second order."""
    time = np.concatenate(
        [0.01 * np.arange(100), 2.0 + 0.01 * np.arange(80), 0.013 * np.arange(60)]
    )
    log = np.repeat([0, 1], [180, 60])

    def between(fractions: Floats) -> tuple[Floats, Floats]:
        steps = np.where(log == 0, 0.01, 0.013)
        at = time[:, None] + steps[:, None] * fractions
        W = np.stack([columns(t) for t in at.T], axis=1)
        return at, np.concatenate([W, np.zeros((*W.shape[:3], 1))], axis=3)

    W = columns(time)
    r = Regression(
        W, W @ TRUE, np.zeros((240, 2)), time, NAMES, ("F", "G"), ("N", "N"),
        np.ones((240, 2), bool), log=log, between=between,
    )  # fmt: skip
    rows = _Rows(r, prior(), (*cad_components(prior()), *sensor_components(r)))
    slope = (columns(time + 1e-5) - columns(time - 1e-5)) @ TRUE / 2e-5
    found = rows._rate(TRUE, np.zeros(480)).reshape(240, 2)
    ends = [0, 99, 100, 179, 180, 239]
    inner = np.setdiff1d(np.arange(240), ends)
    np.testing.assert_allclose(found[inner], slope[inner], atol=0.02 * np.abs(slope).max())
    np.testing.assert_allclose(found[ends], slope[ends], atol=0.1 * np.abs(slope).max())


def test_exact_data_with_columns_that_look_alike() -> None:
    """Their information is as large as doubles are exact."""
    r = problem(exact(), noise=0.0)
    W = np.concatenate([r.W, r.W[:, :, :1] + r.W[:, :, 1:2]], axis=2)
    names = (*NAMES, "d")
    values = np.append(1.3 * TRUE, 0.5)
    k = Prior(names, names, np.eye(4), values, np.diag((0.3 * values) ** 2))
    tau = W @ np.array([*TRUE, 0.2])
    found = JointPosterior("gains")(replace(r, W=W, tau=tau, parameters=names), k)
    np.testing.assert_allclose(W @ found.values, tau, atol=1e-3)


def test_noise_with_tails_that_grows_with_the_force() -> None:
    rng = np.random.default_rng(5)
    F = exact()
    tau = F * (1 + 0.05 * rng.standard_t(3, F.shape))
    found = JointPosterior("gains")(replace(problem(F), tau=tau), prior())
    off = np.sqrt(np.mean((tau - F) ** 2, axis=0))
    np.testing.assert_allclose(found.noise, off, rtol=0.5)


def test_delays_go_back_to_none() -> None:
    rows = linearised(replace(problem(exact()), possible=(DRY,)), prior())
    base, none = rows.base.copy(), np.zeros(rows.start[-1])
    rows.linearise(none, 0.03)
    assert np.all(np.abs(rows.base - base).max(axis=0) > 0.01)
    rows.linearise(none, 0.0)
    np.testing.assert_array_equal(rows.base, base)


def test_white_noise_is_all_there_is() -> None:
    """As least squares with the CAD values, and nothing invented."""
    r, k = problem(exact()), prior()
    found = JointPosterior()(r, k)
    A, t, _ = r.stacked()
    P = np.diag(1 / np.diag(k.covariance))
    V = np.linalg.inv(A.T @ A / 0.02**2 + P)
    plain = V @ (A.T @ t / 0.02**2 + P @ k.values)
    np.testing.assert_allclose(found.values, plain, atol=0.3 * np.sqrt(np.diag(V)).max())
    assert not likely(found)
    assert found.errors is not None
    assert np.all(np.abs(found.errors.gain) < 0.02)
    assert np.all(np.abs(found.errors.offset) < 5 * 0.02 / np.sqrt(N))
    np.testing.assert_allclose(found.noise, 0.02, rtol=0.1)
    assert np.all(np.abs(found.values - TRUE) < 3 * found.sigma)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_an_offset_is_found(seed: int) -> None:
    forces = exact() + np.array([0.3, 0.0])
    found = JointPosterior()(problem(forces, seed=seed), prior())
    assert found.errors is not None
    assert found.errors.offset[0] == pytest.approx(0.3, abs=3 * found.errors.sigma_offset[0])
    assert found.errors.sigma_offset[0] < 0.02
    assert set(likely(found)) == {"offset of F"}
    assert abs(found.errors.offset[1]) < 5 * 0.02 / np.sqrt(N)
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


@pytest.mark.slow
@pytest.mark.parametrize("late", [0.002, 0.01, 0.037])
def test_delays_are_found(late: float) -> None:
    forces = columns(TIME - late) @ TRUE
    found = JointPosterior()(problem(forces), prior())
    assert found.errors is not None
    assert found.errors.delay is not None
    np.testing.assert_allclose(found.errors.delay, late, atol=4e-4)
    assert np.all(np.abs(found.values - TRUE) < 3.5 * found.sigma)


def test_samples_late() -> None:
    """To a quarter of a sample, if W is known there; else to a whole one."""
    k = prior()
    F = np.diag(np.sqrt(np.diag(k.covariance)))
    around = {
        part: np.concatenate([columns(TIME + part * STEP), np.zeros((*exact().shape, 1))], axis=2)
        for part in (0.0, -0.25, 0.25)
    }
    for lag in (-3, 0, 4):
        r = problem(columns(TIME - (lag + 0.3) * STEP) @ TRUE)
        rate = np.gradient(r.W @ k.values, axis=0)
        assert samples_late(r, k.values, F, rate, around) == lag + 0.25
        assert samples_late(r, k.values, F, rate, {0.0: around[0.0]}) == lag


def test_outliers_count_less() -> None:
    forces = exact()
    forces[::37, 0] += 5.0
    one, plain = (JointPosterior("gains")(problem(x), prior()) for x in (forces, exact()))
    assert one.tails is not None
    assert np.all(np.abs(one.values - TRUE) < 3 * one.sigma)
    # 3 % of the samples are lost; Student's law is worth 2/3 of normal noise.
    assert np.all(one.sigma < 1.4 * plain.sigma)


@pytest.mark.parametrize("size", [0.0, -0.1])
def test_what_the_machine_may_have_besides(size: float) -> None:
    """It is found with its coefficient where it is in the forces, and not elsewhere."""
    forces = exact() + size * DRY.forces[:, :, 0]
    r, k = replace(problem(forces), possible=(DRY,)), prior()
    found = JointPosterior()(r, k)
    one = next(f for f in found.found if f.name == DRY.name)
    assert (one.family, one.owner, one.channel) == ("friction", "machine", "q1")
    assert set(likely(found)) == ({DRY.name} if size else set())
    (value,), (sigma,) = one.values, one.sigma
    assert value == pytest.approx(size, abs=4 * sigma)
    assert (value == 0) == (size == 0)
    assert sigma < 0.005  # 0.02 of 400 samples: 0.001
    rms = np.sqrt(np.mean(r.tau[:, 0] ** 2))
    assert one.share == pytest.approx(abs(value) / rms, rel=1e-9)
    assert np.all(np.abs(found.values - TRUE) < 3.5 * found.sigma)


def test_forces_of_the_same_machine_are_told_better_than_its_parameters() -> None:
    """Given what the machine has, parameters are Gaussian, whatever is known of that: their
    covariance is that of data and prior alone, and so is that of forces of the same machine."""
    r = problem(exact())
    # Almost the forces of b and of c.
    own = r.W[:, :, 1:] + 0.05 * np.random.default_rng(1).standard_normal((N, 2, 2))
    place = Possible("place of q1", "places", "q1", own, 0.3, "m")
    there = r.tau + own @ np.array([0.4, -0.3])
    r = replace(r, tau=there, possible=(place,), noise=np.full(2, 0.02))
    k = Prior(NAMES, NAMES, np.eye(3), np.zeros(3), np.eye(3))
    found = JointPosterior(SENSORS, noise="declared")(r, k)
    assert set(likely(found)) == {"place of q1"}
    A = r.W.reshape(-1, 3) / 0.02
    given = np.linalg.inv(A.T @ A + np.eye(3))
    assert found.doubted is not None
    rest = found.covariance - found.doubted @ found.doubted.T
    np.testing.assert_allclose(rest, given, atol=0.1 * given.max())
    told = predict(replace(found, unmodelled=None), r)
    whole = np.sqrt(np.einsum("nij,jk,nik->ni", r.W, found.covariance, r.W))
    exactly = np.sqrt(np.einsum("nij,jk,nik->ni", r.W, given, r.W))
    np.testing.assert_allclose(told.sigma, exactly, rtol=0.1)
    assert np.median(told.sigma / whole) < 0.5


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
    mechanism = load("pendulum")
    model = dynamic_model(mechanism)
    body = np.array([2.0, 0.4, -0.2, 0.3, 0.5, 0.02, -0.01, 0.6, 0.03, 0.4])
    names = tuple(c.name for c in model.columns[:10])
    root = parameter_root(body, relative_errors(body, 0.2))
    whole = Prior(names, names, np.eye(10), body, root @ root.T, bodies=(("arm", 0),))
    apart = cad_components(whole)
    assert [c.kind for c in apart] == ["mass", "centre", "moments"]
    tied = replace(whole, covariance=whole.covariance + 0.01 * np.ones((10, 10)))
    assert [c.kind for c in cad_components(tied)] == ["together"]
    for known in (whole, tied):
        both = sum(
            (
                c.directions @ c.directions.T
                for c in cad_components(known)
                if c.directions is not None
            ),
            np.zeros((10, 10)),
        )
        np.testing.assert_allclose(both, known.covariance, atol=1e-12)
    total = sum(
        (c.directions @ c.directions.T for c in parts if c.directions is not None),
        np.zeros((5, 5)),
    )
    np.testing.assert_allclose(total, P, atol=1e-12)


def test_refusals() -> None:
    r, k = problem(exact()), prior()
    with pytest.raises(DataError, match="there are no errors called gain"):
        JointPosterior(without="gain")
    with pytest.raises(DataError, match="without and only exclude each other"):
        JointPosterior(without="gains", only="offsets")
    for usual in ("offsets", "offsets=0", "offsets=big", "offsets=-2%"):
        with pytest.raises(DataError, match="the usual size of errors must be > 0, got offsets"):
            JointPosterior(usual=usual)
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
    all_but = JointPosterior(without="offsets, drifts").families
    found = fit(problem(forces), prior(), families=all_but)
    assert {c.family.name for c in found.components} == {"CAD values", "gains", "delays"}
    assert set(JointPosterior(only="gains, delays").families) == {"CAD values", "gains", "delays"}
    assert set(JointPosterior(only="none").families) == {"CAD values"}


def test_usual_sizes_that_are_known() -> None:
    known = JointPosterior(only="offsets", usual="offsets=2%, gains=7%")
    assert {name: f.usual for name, f in known.families.items()} == {
        "offsets": 0.02, "CAD values": 1.0,
    }  # fmt: skip
    forces = exact() + np.array([0.3, 0.0])
    twice, usual = (
        fit(problem(forces), prior(), families=chosen_families(only="offsets", usual=usual))
        for usual in ("offsets=6%", "offsets=3%")
    )
    (wide, *_), (narrow, *_) = (
        [c.columns for c in found.components if c.columns is not None] for found in (twice, usual)
    )
    np.testing.assert_allclose(wide, 2 * narrow)


def test_a_force_of_one_log_only() -> None:
    """Its offset is that of this log."""
    forces = exact() + np.array([0.0, 0.4])
    log = np.repeat([0, 1], N // 2)
    valid = np.ones((N, 2), bool)
    valid[N // 2 :, 1] = False
    found = JointPosterior()(replace(problem(forces), log=log, valid=valid), prior())
    assert found.errors is not None
    np.testing.assert_allclose(found.errors.offset, [0.0, 0.4], atol=0.02)
    assert found.errors.sigma_offset[1] < 0.05


def test_declared_noise_of_a_force_without_rows_is_not_asked_for() -> None:
    r = problem(exact())
    valid = r.valid.copy()
    valid[:, 1] = False
    told = replace(r, valid=valid, noise=np.array([0.01, 0.0]))
    assert np.all(np.isfinite(JointPosterior(noise="declared")(told, prior()).values))
    with pytest.raises(DataError, match="no measured force is usable"):
        JointPosterior()(replace(r, valid=np.zeros_like(valid)), prior())
