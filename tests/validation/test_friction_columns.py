"""Friction by load and path, in closed form."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.validation.friction_columns import hysteresis, load_friction


def test_hysteresis_of_a_triangle() -> None:
    """Up by 1, down by 1: full friction after half the width, then reversed over the width."""
    path = np.concatenate([np.linspace(0, 1, 101), np.linspace(1, 0, 101)[1:]])
    z = hysteresis(path, 0.2)
    up, down = z[:101], z[101:]
    np.testing.assert_allclose(up[:11], np.linspace(0, 1, 11), atol=1e-12)
    np.testing.assert_allclose(up[10:], 1.0)
    np.testing.assert_allclose(down[:20], 1 - np.arange(1, 21) / 10, atol=1e-12)
    np.testing.assert_allclose(down[20:], -1.0)


def test_a_narrow_hysteresis_is_coulomb_friction() -> None:
    t = np.linspace(0, 1, 1000)
    z = hysteresis(np.sin(2 * np.pi * t), 1e-9)
    np.testing.assert_allclose(z[1:], np.sign(np.diff(np.sin(2 * np.pi * t))))


def test_hysteresis_step_by_step() -> None:
    """Of a path with many reversals and stops: as its definition, one sample after the other."""
    rng = np.random.default_rng(4)
    path = np.cumsum(rng.standard_normal(2000) * (rng.random(2000) < 0.7))
    state, wanted = 0.0, []
    for step in np.diff(path, prepend=path[:1]):
        state = min(max(state + 2.0 * step / 5.0, -1.0), 1.0)
        wanted.append(state)
    np.testing.assert_allclose(hysteresis(path, 5.0), wanted, atol=1e-13)
    assert len(hysteresis(path[:0], 5.0)) == 0


def test_load() -> None:
    found = load_friction(np.array([3.0, -2.0, 1.0]), np.array([0.1, 0.2, -0.3]))
    assert found == pytest.approx([3.0, 2.0, -1.0])
