"""Parallel filtering and decimation: what is linear stays true."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import butter, sosfiltfilt

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import DataError
from mechid.kinematics.motion import solve_motion
from mechid.modelfile import load
from mechid.signals.filters import ORDER, Decimation, decimate, edge, zero_phase


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_filtered_products_are_products_of_what_is_filtered(factor: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, phi = rng.standard_normal((300, 2, 70)), rng.standard_normal(70)
    left = decimate(W, factor) @ phi
    right = decimate(W @ phi, factor)
    assert left.shape == right.shape
    assert left == pytest.approx(right, abs=1e-10 * np.linalg.norm(phi))


def test_exact_forces_stay_exact() -> None:
    mechanism = load("five_bar")
    t = np.arange(1000) / 200.0
    w = 2 * np.pi
    y = np.stack([0.2 * np.sin(w * t), 0.1 * np.cos(2 * w * t)], axis=1)
    yd = w * np.stack([0.2 * np.cos(w * t), -0.2 * np.sin(2 * w * t)], axis=1)
    ydd = -(w**2) * np.stack([0.2 * np.sin(w * t), 0.4 * np.cos(2 * w * t)], axis=1)
    motion = solve_motion(mechanism, y, yd, ydd, time=t)
    found = observation_matrix(motion)
    phi = parameter_values(dynamic_model(mechanism))
    tau = inverse_dynamics(motion).tau
    left = decimate(found.W, 7) @ phi + decimate(found.known, 7)
    assert left == pytest.approx(decimate(tau, 7), abs=1e-10 * np.abs(tau).max())


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(1,), (7, 501, 64), (5000,), (30_000,)])
def test_a_record_in_blocks_is_filtered_as_a_whole(sizes: tuple[int, ...]) -> None:
    """Blocks of one sample, of odd lengths, with a short last one: as SciPy filters all at once."""
    rng = np.random.default_rng(3)
    n = 4321 if sizes == (1,) else 20_003
    x = np.cumsum(rng.standard_normal((n, 3, 2)), axis=0)
    ends = np.cumsum(np.resize(sizes, n))
    blocks = np.split(x, ends[ends < n])
    for factor in (2, 5, 11):
        decimation = Decimation(factor)
        sos = butter(ORDER, 2 * decimation.cutoff, output="sos")
        wanted = sosfiltfilt(sos, x, axis=0, padlen=edge(decimation.cutoff))
        close = 1e-13 * np.abs(x).max()
        assert zero_phase(x, decimation.cutoff) == pytest.approx(wanted, abs=close)
        found = decimation.apply_blocks(iter(blocks), n)
        assert found == pytest.approx(wanted[factor : n - factor : factor], abs=close)


def test_slow_signals_pass_and_fast_ones_do_not() -> None:
    t = np.arange(20_000) / 1000.0
    both = np.stack([np.sin(2 * np.pi * 2 * t), np.sin(2 * np.pi * 90 * t)], axis=1)
    decimation = Decimation(10)  # cut-off at 40 Hz
    kept = t[decimation.kept(len(t))]
    slow, fast = decimation.apply(both).T
    assert slow == pytest.approx(np.sin(2 * np.pi * 2 * kept), abs=1e-4)
    assert np.abs(fast[5:-5]).max() < 2e-3  # (90/40)⁻⁸
    assert np.diff(kept) == pytest.approx(0.01)


def test_noise_becomes_less_by_the_bandwidth() -> None:
    noise = np.random.default_rng(0).standard_normal((200_000, 1))
    # ∫ df/(1 + (f/fc)⁸)² = 0.892 fc, on both sides of zero; fc = 0.4/20.
    expected = np.sqrt(2 * 0.02 * np.trapezoid(1 / (1 + np.linspace(0, 20, 20001) ** 8) ** 2,
                                               np.linspace(0, 20, 20001)))  # fmt: skip
    assert decimate(noise, 20).std() == pytest.approx(expected, rel=0.03)


def test_what_feels_a_missing_sample_is_not_valid() -> None:
    valid = np.ones((1000, 2), dtype=bool)
    valid[500, 1] = False
    decimation = Decimation(5)
    found = decimation.valid(valid)
    kept = np.arange(1000)[decimation.kept(1000)]
    assert found[:, 0].all()
    # A wrong sample must not reach a valid one by more than a per cent.
    spike = np.zeros((1000, 1))
    spike[500] = 1.0
    felt = np.abs(decimation.apply(spike)[:, 0])
    assert felt[found[:, 1]].max() < 0.01 * felt.max()
    assert not found[np.abs(kept - 500) < 5, 1].any()
    assert found[np.abs(kept - 500) > 100, 1].all()


@pytest.mark.parametrize(("factor", "n"), [(0, 100), (50, 100)])
def test_factors_that_do_not_suit(factor: int, n: int) -> None:
    with pytest.raises(DataError, match="decimat"):
        decimate(np.zeros((n, 1)), factor)
