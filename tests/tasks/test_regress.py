"""The linear problem of a motion: which rows count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observe_path
from mechid.errors import DataError
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load
from mechid.signals.filters import Decimation
from mechid.signals.record import PreparedMeasurement
from mechid.tasks import enough_memory
from mechid.tasks.regress import regression_of

FIVE = load("five_bar")
T = np.arange(1000) / 200.0


def motion() -> PreparedMeasurement:
    w = 2 * np.pi * np.array([1.0, 0.5])
    y = 0.2 * np.sin(np.outer(T, w))
    yd, ydd = 0.2 * w * np.cos(np.outer(T, w)), -(w**2) * y
    tau = inverse_dynamics(solve_motion(FIVE, y, yd, ydd, time=T)).tau
    forces = tuple(c.force for c in FIVE.coordinates)
    return PreparedMeasurement(time=T, y=y, yd=yd, ydd=ydd, forces=forces, tau=tau, decimation=5)


def test_slow_rows_do_not_count_after_the_parallel_filter() -> None:
    model, whole = dynamic_model(FIVE), motion()
    whole.tau[500, 1] = np.nan
    before = regression_of(model, whole)
    after = regression_of(model, replace(whole, ignore_below={"q2": 0.3}))
    speed = Decimation(5).apply(whole.yd)
    assert np.array_equal(after.valid[:, 0], before.valid[:, 0])
    assert np.array_equal(after.valid[:, 1], before.valid[:, 1] & (np.abs(speed[:, 1]) >= 0.3))
    assert 0 < after.valid[:, 1].sum() < before.valid[:, 1].sum() < len(before.time)
    assert np.array_equal(after.W, before.W)


def test_a_problem_that_does_not_fit_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert enough_memory.available_memory() > 1e8
    monkeypatch.setattr(enough_memory, "available_memory", lambda: 1e6)
    with pytest.raises(DataError, match=r"200 samples of 2 forces.*identify-streamed"):
        regression_of(dynamic_model(FIVE), motion())


def test_memory_of_a_container_and_of_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enough_memory, "_CGROUPS", tmp_path)
    file = tmp_path / "memory.max"
    file.write_text("1000000\n")
    assert enough_memory.available_memory() == 1e6
    file.write_text("max\n")
    assert enough_memory.available_memory() > 1e8
    monkeypatch.setattr(enough_memory, "_limit", lambda: 1.0)
    assert enough_memory.available_memory() < 0  # this process has more already


@pytest.mark.parametrize("decimation", [1, 5])
def test_blocks_of_W_make_the_whole(decimation: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With all base columns, and with some: as one W of all samples, filtered at once."""
    model, whole = dynamic_model(FIVE), replace(motion(), decimation=decimation)
    monkeypatch.setattr("mechid.tasks.regress._BLOCK", 37)
    seen = observe_path(model, whole.y, whole.yd, whole.ydd, time=T)
    W = seen.W if decimation == 1 else Decimation(5).apply(seen.W)
    names = [c.name for c in model.columns]
    found = regression_of(model, whole)
    np.testing.assert_allclose(found.W, W, atol=1e-12 * np.abs(W).max())
    some = regression_of(model, whole, names[3:1:-1])
    np.testing.assert_allclose(some.W, W[..., [3, 2]], atol=1e-12 * np.abs(W).max())
    assert some.parameters == (names[3], names[2])


def turning(time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a motion of the five-bar linkage, slow against the samples, at any times."""
    w = 2 * np.pi * np.array([1.0, 0.5])
    y = 0.2 * np.sin(time[..., None] * w)
    return y, 0.2 * w * np.cos(time[..., None] * w), -(w**2) * y


def test_W_between_samples_is_that_of_the_motion_there() -> None:
    y, yd, ydd = turning(T)
    names = tuple(c.force for c in FIVE.coordinates)
    zero = np.zeros((len(T), 2))
    measured = PreparedMeasurement(time=T, y=y, yd=yd, ydd=ydd, forces=names[:1], tau=zero[:, :1])
    model = dynamic_model(FIVE)
    heads = [model.columns[i].name for i in (4, 0)]
    found = regression_of(model, measured, heads)
    assert found.between is not None
    time, between = found.between(np.array([0.25, 0.75]))
    np.testing.assert_allclose(time[:-1], T[:-1, None] + np.array([0.25, 0.75]) / 200)
    path = [x.reshape(-1, 2) for x in turning(time)]
    seen = observe_path(model, *path)
    want = np.concatenate([seen.W[:, :1, [4, 0]], seen.known[:, :1, None]], axis=-1)
    want = want.reshape(between.shape)
    np.testing.assert_allclose(between[3:-3], want[3:-3], atol=1e-6 * np.abs(want).max())
    assert regression_of(model, replace(measured, decimation=5)).between is None
