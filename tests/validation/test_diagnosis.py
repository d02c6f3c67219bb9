"""Diagnosis in words: every error is named with its size, and clean data have no finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.estimate import Agreement, Estimate, Finding
from mechid.estimation.posterior.estimator import JointPosterior
from mechid.estimation.regression import joined
from mechid.validation.diagnosis import diagnose, of_findings
from mechid.validation.diagnosis_motion import believed, near_standstill, slow_samples
from mechid.validation.diagnosis_record import Diagnosis

from .worlds import NAMES, RATE, Array, World

SEEDS = range(4)


def only(found: tuple[Diagnosis, ...], kind: str) -> Diagnosis:
    """Return the only finding."""
    assert [d.kind for d in found] == [kind], [str(d) for d in found]
    return found[0]


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_clean_data_have_no_finding(seed: int) -> None:
    world = World(seed)
    assert world.diagnosis() == ()
    assert world.diagnosis(auto=True) == ()


@pytest.mark.slow
def test_noise_with_memory_is_no_error() -> None:
    """300 samples are worth 16 for a mean: of twelve forces one may be off by three deviations."""
    worlds = [World(seed, correlation=0.9) for seed in SEEDS]
    assert not any(world.diagnosis() for world in worlds)
    assert sum(len(world.diagnosis(auto=True)) for world in worlds) <= 1


@pytest.mark.parametrize(("seed", "part"), [(0, 0.2), (1, -0.2)])
def test_offset(seed: int, part: float) -> None:
    size = part * World(seed).size[1]

    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] += size
        return tau

    world = World(seed, wrong)
    d = only(world.diagnosis(auto=True), "offset")
    assert d.channel == "M2"
    assert d.size == pytest.approx(size, rel=0.3)
    assert d.significance > 0.9
    assert d.settled
    # Values contain it.
    estimate = world.estimate(auto=True)
    assert estimate.errors is not None
    assert abs(estimate.errors.offset[1] - size) < 4 * estimate.errors.sigma_offset[1]
    assert np.all(np.abs(estimate.values - world.true) < 4 * estimate.sigma)


def test_offset_of_one_of_two_logs() -> None:
    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] += 0.8
        return tau

    first, second = World(0), World(0)
    second.regression = World(1, wrong).regression
    # Both have the parameters of the first.
    W = second.regression.W
    tau = second.regression.tau - World(1).exact + W @ first.true
    r = joined([first.regression, replace(second.regression, tau=tau)])
    estimate = JointPosterior()(r, first.prior)
    motions = [first.motion, replace(World(1).motion, tau=tau)]
    d = only(diagnose(r, estimate, motions), "offset")
    assert "log 2" in d.text
    assert d.size == pytest.approx(0.8, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_drift(seed: int) -> None:
    """A straight line from end to end: its root mean square is that of its length by √12."""
    size = World(seed).size[2]

    def wrong(tau: Array, t: Array) -> Array:
        tau[:, 2] += 0.4 * size * (t / t[-1] - 0.5)
        return tau

    world = World(seed, wrong)
    d = only(world.diagnosis(auto=True), "drift")
    assert d.channel == "M3"
    assert d.settled
    estimate = world.estimate(auto=True)
    assert estimate.errors is not None
    assert estimate.errors.drift is not None
    assert estimate.errors.drift[2] == pytest.approx(0.4 * size / np.sqrt(12), rel=0.3)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "samples"), [(0, -2), (1, 1), (2, 3)])
def test_delay(seed: int, samples: int) -> None:
    """All forces late by whole samples, or early."""

    def wrong(tau: Array, t: Array) -> Array:
        late = t - samples / RATE
        return np.column_stack([np.interp(late, t, x) for x in tau.T])

    (d,) = (d for d in World(seed, wrong, noise=0.01).diagnosis(auto=True) if d.kind == "delay")
    assert d.channel == ""
    assert d.unit == "s"
    assert d.size == pytest.approx(samples / RATE, rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "factor"), [(0, 1.15), (1, 0.88)])
def test_gain(seed: int, factor: float) -> None:
    world = World(seed, lambda tau, _: tau * (1, factor, 1), noise=0.01)
    d = only(world.diagnosis(auto=True), "gain")
    assert d.channel == "M2"
    assert np.sign(d.size) == np.sign(factor - 1)
    assert abs(d.size) == pytest.approx(abs(factor - 1), rel=0.25)
    assert d.settled


def found(name: str, family: str, owner: str, p: float, *values: float) -> Finding:
    return Finding(name, family, owner, name[-2:], p, values, values, "", 0.1, "measure it")


def test_findings_are_settled_where_values_or_model_contain_them() -> None:
    """What a machine has is contained if it was written into the model only."""
    offset = found("offset of M1", "offsets", "log", 0.8, -0.5)
    place = found("place of C1", "places", "machine", 0.9, 0.003, 0.0, -0.004)
    bent = found("elasticity of q2", "elasticity", "machine", 0.7, 2.0)
    doubtful = found("gain of M2", "gains", "sensor", 0.4, 0.03)
    both = [*of_findings([offset, place, bent, doubtful], [place])]
    assert {d.kind: d.settled for d in both} == {"place": True, "offset": True, "elasticity": False}
    sizes = {d.kind: d.size for d in both}
    assert sizes == pytest.approx({"place": 0.005, "offset": -0.5, "elasticity": 2.0})
    assert [d.channel for d in both] == ["C1", "M1", "q2"]


@pytest.mark.parametrize("seed", SEEDS)
def test_clipped(seed: int) -> None:
    limit = 0.8 * np.abs(World(seed).motion.tau[:, 0]).max()

    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 0] = np.clip(tau[:, 0], -limit, limit)
        return tau

    (d,) = [d for d in World(seed, wrong).diagnosis() if d.kind == "clipped"]
    assert d.channel == "M1"
    assert abs(d.size) == limit


def test_a_force_that_is_constant_in_truth_is_not_clipped() -> None:
    """At rest, without noise, a force stays at its extreme value, and the model says so."""
    world = World(0, noise=0.0)
    m = world.motion
    stop = int(np.argmax(np.abs(world.exact[:, 0])))
    hold = np.minimum(np.arange(len(m.time)), stop)
    r = world.regression
    world.motion = replace(m, tau=m.tau[hold], y=m.y[hold], yd=m.yd[hold], ydd=m.ydd[hold])
    world.regression = replace(r, W=r.W[hold], tau=r.tau[hold])
    assert not [d for d in world.diagnosis() if d.kind == "clipped"]


@pytest.mark.parametrize("seed", SEEDS)
def test_quantised(seed: int) -> None:
    step = 0.3 * World(seed).size[1]

    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] = step * np.round(tau[:, 1] / step)
        return tau

    d = only(World(seed, wrong).diagnosis(), "quantised")
    assert d.channel == "M2"
    assert d.size == pytest.approx(step)


def test_fine_steps_do_not_matter() -> None:
    def wrong(tau: Array, _: Array) -> Array:
        return 0.02 * np.round(tau / 0.02)

    assert World(0, wrong).diagnosis() == ()


@pytest.mark.parametrize(("seed", "prior"), [*((k, True) for k in SEEDS), (0, False), (1, False)])
def test_swapped(seed: int, prior: bool) -> None:
    def wrong(tau: Array, _: Array) -> Array:
        return tau[:, [0, 2, 1]]

    d = only(World(seed, wrong).diagnosis(prior=prior), "swapped")
    assert d.channel == "M2, M3"


@pytest.mark.parametrize("seed", SEEDS)
def test_sign(seed: int) -> None:
    def wrong(tau: Array, _: Array) -> Array:
        return tau * (1, 1, -1)

    d = only(World(seed, wrong).diagnosis(), "sign")
    assert d.channel == "M3"


@pytest.mark.parametrize("prior", [True, False])
def test_pure_noise(prior: bool) -> None:
    """A channel that was never connected is named, whether CAD values are known or not."""

    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] = tau[:, 1].std() * np.random.default_rng(5).standard_normal(len(tau))
        return tau

    d = only(World(1, wrong).diagnosis(prior=prior), "unexplained")
    assert d.channel == "M2"
    assert "looks like noise" in d.text


def test_two_channels_reversed() -> None:
    def wrong(tau: Array, _: Array) -> Array:
        return tau * (-1, 1, -1)

    assert {(d.kind, d.channel) for d in World(1, wrong).diagnosis()} == {
        ("sign", "M1"),
        ("sign", "M3"),
    }


@pytest.mark.parametrize(
    ("factor", "words"),
    [(1000.0, "kN"), (1 / 9.80665, "kgf"), (57.29578, "degrees"), (32.0, "alike")],
)
def test_unit(factor: float, words: str) -> None:
    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] *= factor
        return tau

    d = only(World(2, wrong).diagnosis(), "unit")
    assert d.channel == "M2"
    assert d.size == pytest.approx(factor, rel=0.4)
    assert words in d.text


@pytest.mark.parametrize("seed", SEEDS)
def test_outliers(seed: int) -> None:
    world = World(seed)
    at = np.random.default_rng(seed).choice(np.arange(5, 595, 5), 6, replace=False)

    def wrong(tau: Array, _: Array) -> Array:
        tau[at, 2] += 2 * world.size[2]
        return tau

    d = only(World(seed, wrong).diagnosis(), "outliers")
    assert d.channel == "M3"
    assert "6 outliers" in d.text
    assert d.size == pytest.approx(2 * world.size[2], rel=0.2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("correlation", [0.0, 0.9])
def test_hum(seed: int, correlation: float) -> None:
    size = World(seed).size[0]

    def wrong(tau: Array, t: Array) -> Array:
        tau[:, 0] += 0.08 * size * np.sin(2 * np.pi * 16.7 * t)
        return tau

    d = only(World(seed, wrong, correlation=correlation).diagnosis(), "hum")
    assert d.channel == "M1"
    assert "16." in d.text
    assert d.size == pytest.approx(0.08 * size, rel=0.3)


def test_a_coordinate_that_stands_still() -> None:
    world = World(0, still=1)
    estimate = replace(world.estimate(), resting=("J_2", "c_2"))
    coordinates = [(name, "rad") for name in NAMES]
    found = diagnose(world.regression, estimate, [world.motion], coordinates=coordinates)
    d = only(found, "motion")
    assert d.channel == "q2"
    assert "J_2, c_2" in d.text


@pytest.mark.parametrize("seed", SEEDS)
def test_near_standstill(seed: int) -> None:
    """Friction that vanishes at low speed instead of jumping: residuals are large only there."""
    world = World(seed)
    rng = np.random.default_rng(seed)
    v = world.motion.yd.copy()
    v[200:260, 1] = 0.01 * rng.standard_normal(60)
    e = 0.1 * rng.standard_normal(v.shape)
    assert near_standstill(world.regression, e, v) == ()
    e[200:260, 1] *= 5
    d = only(near_standstill(world.regression, e, v), "standstill")
    assert d.channel == "M2"
    speed, ratio = slow_samples(e[:, 1], v[:, 1])
    slow = np.abs(v[:, 1]) < speed
    ratios = [f(e[slow, 1] ** 2) / f(e[~slow, 1] ** 2) for f in (np.mean, np.median)]
    assert ratio == pytest.approx(min(ratios))


def doubtful(p: float, scale: float) -> Estimate:
    return replace(World(0).estimate(), agreement=Agreement(500.0, 10.0, p, scale))


def test_whom_to_believe() -> None:
    sure, torn = doubtful(0.5, 1.0), doubtful(1e-9, 8.0)
    worse, better = [("other", 0.1, 0.2)], [("other", 0.5, 0.05)]
    assert "believe the CAD values" in only(believed(sure, worse), "cad").remedy
    assert "believe the data" in only(believed(torn, better), "cad").remedy
    assert believed(sure, better) == ()
    assert believed(torn, []) == ()


@pytest.mark.parametrize("kind", ["swap", "sign", "unit", "clip", "outliers"])
def test_remedies_help(kind: str) -> None:
    """What a finding advises brings the parameters back to where clean data have them."""
    size = World(3).size

    def wrong(tau: Array, t: Array) -> Array:
        match kind:
            case "swap":
                return tau[:, [1, 0, 2]]
            case "sign":
                return tau * (1, -1, 1)
            case "unit":
                return tau * (1, 1, 1000)
            case "clip":
                tau = np.clip(tau, -0.7 * np.abs(tau).max(axis=0), 0.7 * np.abs(tau).max(axis=0))
            case "outliers":
                tau[7::60, 0] += 4 * size[0]
        return tau

    def right(tau: Array, t: Array) -> Array:
        tau = wrong(tau, t)
        found = World(3, wrong).diagnosis()
        assert found
        match kind:
            case "swap":
                return tau[:, [1, 0, 2]]
            case "sign":
                return tau * (1, -1, 1)
            case "unit":
                return tau * (1, 1, 1 / 1000)
            case "clip":
                tau[np.abs(tau) == np.abs(tau).max(axis=0)] = np.nan
            case "outliers":
                tau[7::60, 0] = np.nan
        return tau

    def error(change: Callable[[Array, Array], Array]) -> float:
        world = World(3, change)
        r = world.regression
        world.regression = replace(r, tau=np.where(r.valid, r.tau, 0.0))
        e = world.regression.W @ world.estimate().values - world.exact
        return float(np.linalg.norm(e / world.size) / np.sqrt(e.size))

    assert error(right) < 0.5 * error(wrong)
