"""On a real GPU: samples of all models of the zoo, and designs, against the processor."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.device import observe_samples
from mechid.dynamics.regressor import observe_path
from mechid.modelfile import load
from mechid.modelfile.zoo import zoo_names
from mechid.tape.cuda import cuda


def has_gpu() -> bool:
    if importlib.util.find_spec("cupy") is None:
        return False
    try:
        cuda("cuda:0")
    except mechid.MechidError:
        return False
    return True


pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not has_gpu(), reason="there is no GPU")]


@pytest.mark.parametrize("name", zoo_names())
def test_samples_agree_with_the_kernels(name: str) -> None:
    model = dynamic_model(load(name))
    motion = mechid.tour(model.mechanism)
    rng = np.random.default_rng(7)
    given = (motion.y, *rng.standard_normal((2, *motion.y.shape)))
    host = observe_path(model, *given, ordered=False)
    device = observe_samples(model, *given)
    size = np.abs(host.W).max(axis=(0, 1))
    assert np.all(np.abs(device.W - host.W) <= 1e-10 * size + 1e-12 * size.max())
    np.testing.assert_allclose(device.known, host.known, rtol=1e-10, atol=1e-10 * size.max())


@pytest.mark.parametrize(
    ("name", "criterion"),
    [
        ("five_bar", "d"),
        ("five_bar", "e"),
        ("five_bar", "condition-equilibrated"),
        ("sla_suspension", "prediction"),
    ],
)
def test_the_same_motion_is_designed(name: str, criterion: str) -> None:
    words = {"random": 20, "starts": 0, "criterion": criterion, "seed": 3}
    host = mechid.excite(name, **words)
    device = mechid.excite(name, **words, device="cuda")
    np.testing.assert_allclose(device.excitation.x, host.excitation.x, rtol=1e-6)
    np.testing.assert_allclose(device.excitation.value, host.excitation.value, rtol=1e-6)


def test_errors_name_the_sample() -> None:
    model = dynamic_model(load("sla_suspension"))
    y = np.tile(model.kinematics.home_y, (3, 1))
    y[2] += 1.0  # out of reach
    with pytest.raises(mechid.MechidError) as host:
        observe_path(model, y, ordered=False)
    with pytest.raises(mechid.MechidError) as device:
        observe_samples(model, y)
    assert str(device.value) == str(host.value)
