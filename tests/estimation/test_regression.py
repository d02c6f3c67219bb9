"""Problems of several logs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.regression import Possible, Regression, joined


def _log(n: int, seed: int) -> Regression:
    rng = np.random.default_rng(seed)
    return Regression(
        W=rng.normal(size=(n, 2, 3)),
        tau=rng.normal(size=(n, 2)),
        known=np.zeros((n, 2)),
        time=0.01 * np.arange(n),
        parameters=("a", "b", "c"),
        channels=("F", "M"),
        units=("N", "N m"),
        valid=np.ones((n, 2), dtype=bool),
    )


def test_logs_are_joined_in_order_and_come_apart_again() -> None:
    logs = [_log(5, 0), _log(7, 1)]
    whole = joined(logs)
    assert whole.W.shape == (12, 2, 3)
    for i, log in enumerate(logs):
        part = whole.of_log(i)
        assert np.array_equal(part.W, log.W)
        assert np.array_equal(part.time, log.time)


def test_other_forces_are_rejected() -> None:
    other = replace(_log(5, 0), channels=("F", "G"))
    with pytest.raises(DataError, match="same forces, F, M, got F, G"):
        joined([_log(5, 0), other])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("tau", np.zeros((4, 2)), r"tau must have shape \(5, 2\), got \(4, 2\)"),
        ("known", np.zeros((5, 1)), r"known must have shape \(5, 2\)"),
        ("time", np.zeros(4), r"time must have shape \(5,\)"),
        ("valid", np.ones((5, 3), dtype=bool), r"valid must have shape \(5, 2\)"),
        ("parameters", ("a", "b"), r"parameters must have shape \(3,\), got \(2,\)"),
        ("channels", ("F",), r"channels must have shape \(2,\)"),
        ("units", ("N",) * 3, r"units must have shape \(2,\)"),
        ("instruments", np.zeros((5, 2, 2)), r"instruments must have shape \(5, 2, 3\)"),
        ("noise", np.zeros(3), r"noise must have shape \(2,\)"),
        ("log", np.zeros(4, dtype=np.int64), r"log must have shape \(5,\)"),
        ("zeros", np.zeros(1, dtype=np.int64), r"zeros must have shape \(2,\)"),
        ("W", np.full((5, 2, 3), np.nan), "the observation matrix must be finite"),
        ("instruments", np.full((5, 2, 3), np.inf), "the instruments must be finite"),
        ("noise", np.array([1.0, -1e-9]), "standard deviations of the forces must be ≥ 0"),
        ("noise", np.array([1.0, np.nan]), "standard deviations of the forces must be ≥ 0"),
    ],
)  # fmt: skip
def test_inconsistent_problems_are_rejected(field: str, value: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        replace(_log(5, 0), **{field: value})  # type: ignore[arg-type]


def test_forces_that_are_not_finite() -> None:
    """The first of them is named; where nothing was measured they are not read."""
    log = replace(_log(5, 0), noise=np.zeros(2), instruments=_log(5, 1).W)
    tau = log.tau.copy()
    tau[2, 1], tau[3, 0] = np.inf, np.nan
    with pytest.raises(DataError, match=r"force M is not finite at 0\.02 s; mark such samples"):
        replace(log, tau=tau)
    valid = np.isfinite(tau)
    W, Z = log.W.copy(), log.W.copy()
    W[2, 1], Z[3, 0] = np.nan, np.inf
    found = replace(log, tau=tau, valid=valid, W=W, instruments=Z)
    A, t, channel = found.stacked()
    assert len(A) == len(t) == 8
    assert channel.tolist() == [0, 1, 0, 1, 0, 1, 0, 1]
    back = found.unstacked(t)
    np.testing.assert_array_equal(np.isnan(back), ~valid)
    np.testing.assert_array_equal(back[valid], (tau - found.known)[valid])


def test_some_parameters_and_some_samples() -> None:
    log = replace(_log(5, 0), instruments=_log(5, 1).W, log=np.array([3, 3, 7, 7, 7]))
    found = log.select(["c", "a"])
    assert found.parameters == ("c", "a")
    np.testing.assert_array_equal(found.W, log.W[..., [2, 0]])
    assert found.instruments is not None
    assert log.instruments is not None
    np.testing.assert_array_equal(found.instruments, log.instruments[..., [2, 0]])
    with pytest.raises(DataError, match="there is no parameter d in this problem"):
        log.select(["a", "d"])
    part = log.part(np.array([1, 4]))
    for name in ("W", "tau", "known", "time", "valid", "instruments", "log"):
        np.testing.assert_array_equal(getattr(part, name), getattr(log, name)[[1, 4]])
    np.testing.assert_array_equal(log.logs, [0, 0, 1, 1, 1])
    np.testing.assert_array_equal(log.of_log(1).time, log.time[2:])
    plain = _log(5, 0)
    np.testing.assert_array_equal(plain.logs, 0)
    assert plain.part(slice(0, 2)).log is None
    assert plain.part(slice(0, 2)).instruments is None
    assert plain.select(["a"]).instruments is None


def test_what_logs_have_in_common() -> None:
    """The largest declared noise; instruments only if all have them."""
    one, two = _log(3, 0), _log(2, 1)
    assert joined([one]) is one
    both = joined(
        [replace(one, noise=np.array([1.0, 5.0])), replace(two, noise=np.array([3.0, 2.0]))]
    )
    np.testing.assert_array_equal(both.noise, [3.0, 5.0])
    np.testing.assert_array_equal(both.log, [0, 0, 0, 1, 1])
    some = joined([replace(one, noise=np.array([1.0, 5.0])), two])
    np.testing.assert_array_equal(some.noise, [1.0, 5.0])
    assert joined([one, two]).noise is None
    assert joined([replace(one, instruments=one.W), two]).instruments is None
    whole = joined([replace(one, instruments=one.W), replace(two, instruments=two.W)])
    np.testing.assert_array_equal(whole.instruments, whole.W)
    with pytest.raises(DataError, match="same forces"):
        joined([one, replace(two, units=("N", "N"))])
    with pytest.raises(DataError, match="same forces"):
        joined([one, replace(two, parameters=("a", "b", "d"))])


def test_what_a_machine_may_have_goes_along() -> None:
    """Forces of it are those of the samples, the forces and the logs that are used."""
    rng = np.random.default_rng(4)
    one, two = (
        replace(log, possible=(Possible("dry", "friction", "q", rng.normal(size=(n, 2, 1))),))
        for log, n in ((_log(5, 0), 5), (_log(7, 1), 7))
    )
    both = joined([one, two])
    (dry,) = both.possible
    assert dry.name == "dry"
    first, second = one.possible[0].forces, two.possible[0].forces
    np.testing.assert_array_equal(dry.forces, np.concatenate([first, second]))
    np.testing.assert_array_equal(both.of_log(1).possible[0].forces, second)
    np.testing.assert_array_equal(one.of_channels([1]).possible[0].forces, first[:, [1]])
    np.testing.assert_array_equal(one.part(slice(1, 3)).possible[0].forces, first[1:3])
    np.testing.assert_array_equal(one.select(["b"]).possible[0].forces, first)
