"""CUDA source of samples, compiled as plain C++, against the kernels that run over tables."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.dynamics.device import record_samples
from mechid.dynamics.regressor import observe_path
from mechid.errors import KinematicsError
from mechid.kinematics.engine.reach_source import KERNEL, reach_source
from mechid.modelfile import load

from .compiled_c import as_plain_cpp, pointer

DECLARED = (
    "long long n, long long block, const double *y, const double *yd, const double *ydd, "
    "double *out, unsigned char *fine"
)
N = 40
# open chains, screws, gears, balls with redundant rows, elements with branches, turns by radians
MODELS = ("pendulum", "four_bar", "screw_press", "geared_gripper", "three_rps", "quarter_vehicle")


def reached(
    model: DynamicModel, given: tuple[np.ndarray, ...], folder: Path, motions: int = 1
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return W, known and whether they are fine, of samples in some motions of equal length."""
    reach = record_samples(model, lambda _, W, known: [*W.ravel(), *known])
    source = reach_source(reach)
    library = as_plain_cpp(source, KERNEL, DECLARED, "n, block, y, yd, ydd, out, fine", folder)
    n, n_i = given[0].shape
    block = n // motions
    arrays = [np.ascontiguousarray(x.reshape(motions, block, n_i).swapaxes(1, 2)) for x in given]
    out = np.full((motions, reach.slots.out.size, block), np.nan)
    fine = np.full(n, 9, dtype=np.uint8)
    sizes = (ctypes.c_longlong(n), ctypes.c_longlong(block))
    library.launch(n, 1, *sizes, *map(pointer, arrays), pointer(out), pointer(fine))
    rows = out.swapaxes(1, 2).reshape(n, -1)
    return rows[:, :-n_i].reshape(n, n_i, -1), rows[:, -n_i:], fine == 1


def drawn(model: DynamicModel, reach: float, n: int = N) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    k = model.kinematics
    usual = np.array([1.0 if c.unit == "rad" else 0.3 * k.size for c in k.mechanism.coordinates])
    y = k.home_y + reach * usual * rng.uniform(-1, 1, (n, k.n_independent))
    return y, *rng.standard_normal((2, *y.shape))


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_samples_agree_with_the_kernels(name: str, tmp_path: Path) -> None:
    model = dynamic_model(load(name))
    given = drawn(model, 0.1)
    W, known, fine = reached(model, given, tmp_path, motions=4)
    assert fine.all()
    seen = observe_path(model, *given, ordered=False)
    size = np.abs(seen.W).max(axis=(0, 1))
    # some columns are rounding of zero: they count in units of the largest
    assert np.all(np.abs(W - seen.W) <= 1e-11 * size + 1e-13 * size.max())
    np.testing.assert_allclose(known, seen.known, rtol=1e-11, atol=1e-11 * size.max())


def test_far_samples_are_reached_in_steps_or_left_to_the_kernels(tmp_path: Path) -> None:
    """A whole turn of a crank, and poses out of reach: what is called fine is right."""
    model = dynamic_model(load("four_bar"))
    given = drawn(model, 4.0)
    W, _, fine = reached(model, given, tmp_path)
    assert fine.sum() > N / 2
    for k in range(N):
        one = tuple(x[k : k + 1] for x in given)
        try:
            seen = observe_path(model, *one, ordered=False)
        except KinematicsError:
            assert not fine[k]
            continue
        if fine[k]:
            np.testing.assert_allclose(W[k], seen.W[0], atol=1e-11 * np.abs(seen.W).max())


def test_what_is_not_a_number_is_not_fine(tmp_path: Path) -> None:
    model = dynamic_model(load("four_bar"))
    y = np.array([[np.nan], [np.inf], [model.kinematics.home_y[0]]])
    _, _, fine = reached(model, (y, np.ones((3, 1)), np.ones((3, 1))), tmp_path)
    np.testing.assert_array_equal(fine, [False, False, True])
