"""Rows of parameters and offsets, written out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mechid.estimation.channels import Channels
from mechid.estimation.linear import Solution
from mechid.estimation.regression import Floats, Regression, joined

from .problems import regression

PHI = np.array([2.0, -3.0])


def log(n: int, seed: int = 0) -> Regression:
    """Return two forces, of which one value is missing."""
    r = regression(np.random.default_rng(seed), PHI, n=n, n_d=2)
    valid = np.ones((n, 2), dtype=bool)
    valid[3, 1] = False
    return replace(r, known=np.full((n, 2), 0.25), valid=valid)


def residuals(channels: Channels, x: Floats) -> Floats:
    J, y = channels.problem
    return channels.regression.unstacked(y - J @ x)


def test_offsets_of_two_logs() -> None:
    r = joined([log(12), log(9, 1)])
    channels = Channels(r, offsets=True)
    offset = np.array([[1.0, 2.0], [-3.0, 0.5]])
    x = np.concatenate([PHI, offset.ravel()])
    assert channels.size == len(x)
    assert channels.names == ("f0 of log 1", "f1 of log 1", "f0 of log 2", "f1 of log 2")
    wanted = r.tau - r.W @ PHI - r.known - np.repeat(offset, [12, 9], axis=0)
    np.testing.assert_allclose(
        residuals(channels, x), np.where(r.valid, wanted, np.nan), atol=1e-12
    )


def test_without_offsets() -> None:
    r = joined([log(8), log(8)])
    plain = Channels(r)
    assert plain.size == 2
    assert plain.errors(Solution(PHI, np.eye(2), np.zeros(0), np.zeros((0, 2)))) is None
    for found, rows in zip(plain.problem, r.stacked(), strict=False):
        np.testing.assert_array_equal(found, rows)
    one = Channels(log(8))
    assert one.names == ("f0", "f1")
    assert one.n_logs == 1


def test_sizes_of_forces() -> None:
    base = regression(np.random.default_rng(0), [1.0], n=400, n_d=2)
    first = np.arange(400) < 200
    r = replace(base, tau=np.stack([np.full(400, 3.0), np.where(first, 1.0, -7.0)], axis=1))
    np.testing.assert_allclose(Channels(r).sizes, [3.0, 5.0])
    two = Channels(replace(r, log=(~first).astype(np.int64)))
    np.testing.assert_allclose(two.sizes, [3.0, 1.0, 3.0, 7.0])


def test_errors_of_an_estimate() -> None:
    """Of other logs the mean offset, as uncertain as it and as one log differs from another."""
    channels = Channels(joined([log(8)] * 3), offsets=True)
    rng = np.random.default_rng(3)
    x, T = rng.normal(size=8), rng.normal(size=(8, 7))
    found = channels.errors(Solution(x, T, np.zeros(0), np.zeros((0, 8))))
    assert found is not None
    C, offset = T @ T.T, x[2:].reshape(3, 2)
    np.testing.assert_allclose(found.offset, offset.mean(axis=0))
    assert found.by_log is not None
    np.testing.assert_array_equal(found.by_log, offset)
    # Mean over the logs as a matrix: covariances follow.
    A = np.kron(np.ones(3) / 3, np.eye(2))
    variance = np.diag(A @ C[2:, 2:] @ A.T) + offset.var(axis=0, ddof=1)
    np.testing.assert_allclose(found.sigma_offset, np.sqrt(variance))
    assert found.cross is not None
    np.testing.assert_allclose(found.cross, C[:2, 2:] @ A.T)
    assert set(found.terms) == {"offset"}
    one = Channels(log(8), offsets=True).errors(Solution(x[:4], T[:4], x[:0], T[:0]))
    assert one is not None
    assert one.by_log is None
    assert one.logs == ()
    np.testing.assert_allclose(one.offset, x[2:4])
    np.testing.assert_allclose(one.sigma_offset, np.linalg.norm(T[2:4], axis=1))


def test_a_force_that_one_log_lacks() -> None:
    """Its offset is that of the other log."""
    logs = [log(12), log(9, 1)]
    logs[1] = replace(logs[1], valid=np.stack([np.ones(9, dtype=bool), np.zeros(9, bool)], axis=1))
    channels = Channels(joined(logs), offsets=True)
    x = np.array([*PHI, 1.0, 2.0, 3.0, 99.0])
    root = np.diag([1.0, 1.0, 0.1, 0.2, 0.1, 1e12])
    found = channels.errors(Solution(x, root, np.zeros(0), np.zeros((0, 6))))
    assert found is not None
    np.testing.assert_allclose(found.offset, [2.0, 2.0])
    np.testing.assert_allclose(found.sigma_offset, [np.hypot(np.sqrt(0.02) / 2, np.sqrt(2)), 0.2])
