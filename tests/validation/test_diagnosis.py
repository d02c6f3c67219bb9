"""Diagnosis in words: every error is named with its size, and clean data have no finding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import Agreement, ChannelErrors, Estimate
from mechid.estimation.regression import Regression, joined
from mechid.estimation.weighted import WeightedLeastSquares
from mechid.signals.record import PreparedMeasurement
from mechid.validation.diagnosis import diagnose
from mechid.validation.diagnosis_linear import Candidate
from mechid.validation.diagnosis_motion import believed, near_standstill, slow_samples
from mechid.validation.diagnosis_record import SETTLED, Diagnosis

from .worlds import NAMES, RATE, Array, N, World, motion

SEEDS = range(4)


def only(found: tuple[Diagnosis, ...], kind: str) -> Diagnosis:
    """Return the only finding."""
    assert [d.kind for d in found] == [kind], [str(d) for d in found]
    return found[0]


@pytest.mark.parametrize("correlation", [0.0, 0.7, 0.9])
def test_clean_data_have_no_finding(correlation: float) -> None:
    """At most one run in twenty, white noise or coloured."""
    any_ = [bool(World(seed, correlation=correlation).diagnosis()) for seed in range(20)]
    assert np.mean(any_) <= 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_offset(seed: int) -> None:
    size = World(seed).size[1]

    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] += 0.2 * size
        return tau

    d = only(World(seed, wrong).diagnosis(), "offset")
    assert d.channel == "M2"
    assert d.size == pytest.approx(0.2 * size, rel=0.3)
    assert abs(d.size - 0.2 * size) < 4 * abs(d.size) / d.significance
    assert "--offsets" in d.remedy


def test_an_offset_that_was_estimated_needs_nothing() -> None:
    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] += 0.5
        return tau

    world = World(0, wrong)
    zero = np.zeros(3)
    errors = ChannelErrors(zero, zero, np.array([0.0, 0.5, 0.0]), np.full(3, 0.01))
    estimate = replace(world.estimate(), errors=errors)
    found = diagnose(world.regression, estimate, [world.motion], prior=world.prior)
    assert "nothing to do" in only(found.found, "offset").remedy


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
    estimate = MaximumAPosteriori(scale=1.0)(r, first.prior)
    motions = [first.motion, replace(World(1).motion, tau=tau)]
    d = only(diagnose(r, estimate, motions, prior=first.prior).found, "offset")
    assert "in log 2" in d.text
    assert d.size == pytest.approx(0.8, rel=0.2)


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_of_missing_friction(seed: int) -> None:
    """They are those that were put in; joints without have none."""
    _, _, yd, _ = motion(seed)
    shapes = [np.sign(yd), yd * np.abs(yd)]
    friction = [
        Candidate("friction", name, shape * np.eye(3)[j], "", f"shape {k}")
        for j, name in enumerate(NAMES)
        for k, shape in enumerate(shapes)
    ]
    true = 0.6 * shapes[0] * np.eye(3)[1]
    world = World(seed, lambda tau, _: tau + true)
    found = diagnose(
        world.regression, world.estimate(), [world.motion], prior=world.prior, lacking=friction
    )
    assert list(found.friction) == ["q2"]
    assert np.linalg.norm(found.friction["q2"] - true) < 0.1 * np.linalg.norm(true)


@pytest.mark.parametrize("seed", SEEDS)
def test_friction_that_the_model_has_is_not_found_again(seed: int) -> None:
    """A column of the model that is computed a little differently: what parameters leave of it
    explains residuals with a factor that makes no sense, friction 17 times the force and more."""
    _, _, yd, _ = motion(seed)
    true = 0.6 * np.sign(yd) * np.eye(3)[1]
    world = World(seed, lambda tau, _: tau + true)
    again = Candidate("friction", "q2", yd * np.eye(3)[1] + 0.01 * true, "", "viscous friction")
    found = diagnose(world.regression, world.estimate(), [world.motion], lacking=[again])
    assert not found.friction
    assert not [d for d in found.found if d.kind == "friction"]


def test_long_logs_are_thinned(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(tau: Array, _: Array) -> Array:
        tau[:, 1] += 0.5
        return tau

    whole = only(World(0, wrong).diagnosis(), "offset")
    monkeypatch.setattr("mechid.validation.diagnosis._ROWS", 600)
    thin = only(World(0, wrong).diagnosis(), "offset")
    assert thin.size == pytest.approx(whole.size, rel=0.2)
    assert thin.size != whole.size


@pytest.mark.parametrize("seed", SEEDS)
def test_drift(seed: int) -> None:
    size = World(seed).size[2]

    def wrong(tau: Array, t: Array) -> Array:
        tau[:, 2] += 0.4 * size * (t / t[-1] - 0.5)
        return tau

    d = only(World(seed, wrong).diagnosis(), "drift")
    assert d.channel == "M3"
    assert d.size == pytest.approx(0.4 * size, rel=0.3)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("samples", [-2, 1, 3])
def test_delay(seed: int, samples: int) -> None:
    """All forces late by whole samples: named in ms and in samples."""

    def wrong(tau: Array, t: Array) -> Array:
        late = t - samples / RATE
        return np.column_stack([np.interp(late, t, x) for x in tau.T])

    (d,) = [d for d in World(seed, wrong, noise=0.01).diagnosis() if d.kind == "delay"]
    assert d.channel == ""
    assert d.size == pytest.approx(samples / RATE, rel=0.15)
    assert ("late" in d.text) == (samples > 0)


@pytest.mark.parametrize("seed", SEEDS)
def test_delay_of_one_force(seed: int) -> None:
    def wrong(tau: Array, t: Array) -> Array:
        tau[:, 0] = np.interp(t - 0.03, t, tau[:, 0])
        return tau

    found = [d for d in World(seed, wrong, noise=0.01).diagnosis() if d.kind == "delay"]
    assert [d.channel for d in found] == ["M1"]
    assert found[0].size == pytest.approx(0.03, rel=0.15)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delay_that_was_estimated_is_taken_as_it_is(seed: int) -> None:
    """An unbalanced wheel turns by 1.9 rad per sample: derivatives of samples say nothing."""
    late = 0.006
    rng = np.random.default_rng(seed)
    t, y, yd, ydd = motion(seed)

    def columns(time: Array) -> Array:
        """Return W and known (zero) of two forces at times (...), each a closed form."""
        x = np.stack([np.cos(190 * time), np.sin(190 * time), np.sin(3 * time), np.ones_like(time)])
        W = np.zeros((*time.shape, 2, 4 + 1))
        W[..., 0, :3], W[..., 1, :4] = np.moveaxis(x[:3], 0, -1), np.moveaxis(x, 0, -1)
        return W

    def between(fractions: Array) -> tuple[Array, Array]:
        time = t[:, None] + fractions / RATE
        return time, columns(time)

    true = np.array([2.0, 1.0, 3.0, 4.0])
    tau = columns(t - late)[..., :-1] @ true + 0.05 * rng.standard_normal((N, 2))
    r = Regression(
        columns(t)[..., :-1], tau, np.zeros_like(tau), t, ("a", "b", "c", "d"), ("M1", "M2"),
        ("N m",) * 2, np.isfinite(tau), between=between,
    )  # fmt: skip
    zero = np.zeros(2)
    errors = ChannelErrors(
        zero, zero, zero, zero, delay=np.array([late, late]), sigma_delay=np.array([2e-5, 2e-5])
    )
    estimate = replace(WeightedLeastSquares()(r), values=true, errors=errors)
    friction = [Candidate("friction", "q1", yd[:, :2], "", "viscous friction")]
    measured = PreparedMeasurement(
        time=t, y=y[:, :2], yd=yd[:, :2], ydd=ydd[:, :2], forces=("M1", "M2"), tau=tau
    )
    found = diagnose(r, estimate, [measured], lacking=friction)
    assert not found.friction
    d = only(found.found, "delay")
    assert (d.channel, d.size) == ("", pytest.approx(late))
    assert d.significance == pytest.approx(300)
    assert d.remedy.startswith(SETTLED)
    # What the estimate has wrong is told from what it knows.
    wrong = replace(estimate, errors=replace(errors, delay=np.array([late, late / 2])))
    other = [d for d in diagnose(r, wrong, [measured]).found if d.kind == "delay"]
    assert [d.channel for d in other if d.remedy.startswith(SETTLED)] == ["M1", "M2"]


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
    found = diagnose(
        world.regression,
        estimate,
        [world.motion],
        prior=world.prior,
        coordinates=[(name, "rad") for name in NAMES],
    )
    d = only(found.found, "motion")
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


@pytest.mark.parametrize("kind", ["swap", "sign", "unit", "offset", "delay", "clip", "outliers"])
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
            case "offset":
                tau[:, 1] += 0.3 * size[1]
            case "delay":
                tau = np.column_stack([np.interp(t - 0.05, t, x) for x in tau.T])
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
            case "offset":
                tau[:, 1] -= found[0].size
            case "delay":
                tau = np.column_stack([np.interp(t + found[0].size, t, x) for x in tau.T])
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
