"""Forces as functions of parameters and errors of the channels, written out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.channels import DRIFT_TERMS, Channels
from mechid.estimation.linear import Solution
from mechid.estimation.regression import Floats, Regression, joined

from .problems import regression

PHI = np.array([2.0, -3.0])


def polynomials(s: Floats) -> tuple[Floats, Floats]:
    """Return W (N, 2, 2) and known forces (N, 2) at times s (N, 2): a spline is exact there."""
    W = np.stack([1.0 + s**3, s - s**5], axis=2)
    return W, 0.5 * s**4 - s


def log(time: Floats) -> Regression:
    W, known = polynomials(np.tile(time[:, None], 2))
    base = regression(np.random.default_rng(0), PHI, n=len(time), n_d=2)
    return replace(base, W=W, known=known, tau=np.ones(known.shape), time=time)


def test_all_errors_of_two_logs() -> None:
    """(1 + g) F(t - δ) + offset + Σ a_k cos(π k s)/k; delayed values stay within their log."""
    times = 0.1 * np.arange(12), 0.3 + 0.1 * np.arange(9)
    r = joined([log(t) for t in times])
    channels = Channels(r, gains=True, offsets=True, drift=True, delay=True)
    rng = np.random.default_rng(1)
    gain, offset, delay = np.array([0.1, -0.2]), rng.normal(size=(2, 2)), np.array([0.03, -0.05])
    drift = rng.normal(size=(2, 2, 8))
    x = np.concatenate([PHI, gain, offset.ravel(), drift.ravel(), delay])
    assert channels.size == len(x) == 2 + 2 + 4 + 2 * 2 * DRIFT_TERMS + 2
    assert channels.names == ("f0 of log 1", "f1 of log 1", "f0 of log 2", "f1 of log 2")
    assert not channels.linear
    parts = channels.split(x)
    for found, own in zip(parts, (PHI, gain, offset, drift, delay), strict=True):
        np.testing.assert_array_equal(found, own)
    wanted = []
    for k, t in enumerate(times):
        late = np.clip(t[:, None] - delay, t[0], t[-1])
        W, known = polynomials(late)
        s = (t - t[0]) / (t[-1] - t[0])
        cosines = np.array([np.cos(np.pi * n * s) / n for n in range(1, 9)])
        wanted.append(1.0 - (1 + gain) * (W @ PHI + known) - offset[k] - (drift[k] @ cosines).T)
    residuals = r.unstacked(channels.residuals(x))
    np.testing.assert_allclose(residuals, np.concatenate(wanted), atol=1e-9)


def test_a_single_sample_is_not_delayed() -> None:
    """A curve needs two of them."""
    for n, moved in ((6, True), (2, True), (1, False)):
        r = log(0.1 * np.arange(n))
        channels = Channels(r, delay=True)
        change = channels.residuals(np.append(PHI, [0.05, 0.05])) - channels.residuals(
            np.append(PHI, [0.0, 0.0])
        )
        assert np.any(np.abs(change) > 1e-6) == moved


def test_parts_that_are_not_there() -> None:
    r = joined([log(0.1 * np.arange(8))] * 2)
    plain = Channels(r)
    assert plain.size == 2
    assert plain.linear
    assert plain.errors(Solution(PHI, np.eye(2), np.zeros(0), np.zeros((0, 2)))) is None
    parts = plain.split(PHI)
    assert [part.shape for part in parts] == [(2,), (2,), (2, 2), (2, 2, 8), (2,)]
    assert not any(np.any(part) for part in parts[1:])
    J, y = plain.linearised(PHI)
    np.testing.assert_array_equal(J, r.stacked()[0])
    np.testing.assert_array_equal(y, r.stacked()[1])
    assert Channels(r, offsets=True, drift=True).linear
    assert not Channels(r, gains=True).linear
    one = Channels(log(0.1 * np.arange(8)))
    assert one.names == ("f0", "f1")
    assert one.n_logs == 1


def test_usual_sizes() -> None:
    """What changes a force by its root mean square: a delay of 1/ω for a sine, none at rest."""
    t = np.linspace(0.0, 2 * np.pi, 401)[:-1]
    base = regression(np.random.default_rng(0), [1.0], n=400, n_d=2)
    W = np.stack([np.sin(3 * t), np.ones(400)], axis=1)[..., None]
    tau = np.stack([np.full(400, 3.0), np.where(t < np.pi, 1.0, -7.0)], axis=1)
    r = replace(base, W=W, tau=tau, time=t)
    channels = Channels(r, gains=True, offsets=True, drift=True, delay=True)
    np.testing.assert_array_equal(channels.usual_sizes("gains", np.ones(1)), [1.0, 1.0])
    np.testing.assert_allclose(channels.usual_sizes("offsets", np.ones(1)), [3.0, 5.0])
    drift = channels.usual_sizes("drift", np.ones(1))
    np.testing.assert_allclose(drift, np.repeat([3.0, 5.0], 8))
    late = channels.usual_sizes("delay", np.array([4.0]))
    assert late[0] == pytest.approx(1 / 3, rel=1e-4)
    assert late[1] < 1e300
    two = Channels(replace(r, log=(t >= np.pi).astype(np.int64)), offsets=True)
    np.testing.assert_allclose(two.usual_sizes("offsets", np.ones(1)), [3.0, 1.0, 3.0, 7.0])


def test_errors_of_an_estimate() -> None:
    """Of other logs the mean offset, as uncertain as it and as one log differs from another."""
    r = joined([log(0.1 * np.arange(8))] * 3)
    r = replace(r, log=np.repeat([2, 5, 6], 8))
    channels = Channels(r, gains=True, offsets=True, drift=True, delay=True)
    rng = np.random.default_rng(3)
    x = rng.normal(size=channels.size)
    T = rng.normal(size=(channels.size, 7))
    found = channels.errors(Solution(x, T, np.zeros(0), np.zeros((0, len(x)))))
    assert found is not None
    C = T @ T.T
    np.testing.assert_array_equal(found.gain, x[2:4])
    np.testing.assert_allclose(found.sigma_gain, np.sqrt(np.diag(C)[2:4]))
    offset = x[4:10].reshape(3, 2)
    np.testing.assert_allclose(found.offset, offset.mean(axis=0))
    assert found.by_log is not None
    np.testing.assert_array_equal(found.by_log, offset)
    assert found.logs == (2, 5, 6)
    # Mean over the logs as a matrix: covariances follow.
    A = np.kron(np.ones(3) / 3, np.eye(2))
    variance = np.diag(A @ C[4:10, 4:10] @ A.T) + offset.var(axis=0, ddof=1)
    np.testing.assert_allclose(found.sigma_offset, np.sqrt(variance))
    assert found.cross is not None
    np.testing.assert_allclose(found.cross, C[:2, 4:10] @ A.T)
    assert found.delay is not None
    assert found.sigma_delay is not None
    np.testing.assert_array_equal(found.delay, x[-2:])
    np.testing.assert_allclose(found.sigma_delay, np.sqrt(np.diag(C)[-2:]))
    s = np.arange(8) / 7
    cosines = np.array([np.cos(np.pi * n * s) / n for n in range(1, 9)])
    drift = x[10:-2].reshape(3, 2, 8) @ cosines
    assert found.drift is not None
    np.testing.assert_allclose(found.drift, np.sqrt(np.mean(drift**2, axis=(0, 2))))
    assert set(found.terms) == {"gain", "offset", "drift", "delay"}
    assert found.terms["drift"][1] is None


def test_errors_of_one_log_and_without_offsets() -> None:
    r = log(0.1 * np.arange(8))
    rng = np.random.default_rng(4)
    offsets = Channels(r, offsets=True)
    x, T = rng.normal(size=4), rng.normal(size=(4, 3))
    found = offsets.errors(Solution(x, T, np.zeros(0), np.zeros((0, 4))))
    assert found is not None
    assert found.by_log is None
    assert found.logs == ()
    np.testing.assert_allclose(found.offset, x[2:])
    np.testing.assert_allclose(found.sigma_offset, np.linalg.norm(T[2:], axis=1))
    assert set(found.terms) == {"offset"}
    gains = Channels(r, gains=True).errors(Solution(x, T, np.zeros(0), np.zeros((0, 4))))
    assert gains is not None
    assert gains.cross is None
    assert not np.any(gains.offset)
    assert not np.any(gains.sigma_offset)
    assert gains.drift is not None
    assert not np.any(gains.drift)
    several = joined([r, r])
    gains = Channels(several, gains=True).errors(Solution(x, T, np.zeros(0), np.zeros((0, 4))))
    assert gains is not None
    assert gains.by_log is None
