"""Errors of a run whose forces were measured late: compared as the sensor shows them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import mechid
from mechid.runs.record import Run
from mechid.tasks.synthesise import Synthesis

LATE = 0.012  # s, more than half a sample


def measured(seed: int, *, late: float = LATE) -> Synthesis:
    motion = mechid.excite("five_bar", random=4, starts=0, seed=seed)
    return mechid.synthesise(
        "five_bar", motion, noise="1%", cad_error="20%", seed=3, rate=50.0, delay=late, periods=10
    )


@cache
def run() -> Run:
    return mechid.identify("five_bar", measured(1), validate=[measured(2)])


@pytest.mark.slow
def test_the_delay_does_not_count_as_an_error() -> None:
    found = run()
    assert found.estimate is not None
    errors = found.estimate.errors
    assert errors is not None
    assert errors.delay is not None
    assert errors.delay == pytest.approx([LATE, LATE], abs=2e-4)
    for motion in ("identification", "validation-1"):
        error = found.errors(motion)
        assert error["estimate"] == pytest.approx(0.01, rel=0.2)  # the noise
        assert error["estimate"] < error["cad"]
    assert not [w for w in found.warnings if "CAD values predict better" in w]


def test_a_known_delay_is_no_news_on_another_log() -> None:
    assert not [d for d in run().diagnosis if d.motion and d.kind == "delay"]
    # A log without it has one, with the other sign.
    (found,) = (
        d for d in mechid.validate(run(), measured(2, late=0.0)).diagnosis if d.kind == "delay"
    )
    assert found.size == pytest.approx(-LATE, rel=0.1)


# A cart on a tilted rail and a crank that carry one point, with dry friction in both drives.
MODELS = Path(__file__).parent / "models"


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 2])
def test_dry_friction_beside_a_delay(seed: int) -> None:
    """The delay is found to a thirtieth of a sample, and the machine is not blamed for it."""
    model, motion = MODELS / "cart_crank.yaml", MODELS / "cart_crank_motion.yaml"
    words = {"noise": "1%", "cad_error": "10%", "rate": 100.0, "periods": 4, "seed": seed}
    log = mechid.synthesise(model, motion, delay=0.004, **words)
    found = mechid.identify(model, log)
    assert found.estimate is not None
    errors = found.estimate.errors
    assert errors is not None
    assert errors.delay is not None
    assert errors.delay == pytest.approx([0.004, 0.004], abs=4e-4)
    assert errors.sigma_delay is not None
    assert np.all(np.abs(errors.delay - 0.004) < 3 * errors.sigma_delay)
    # Masses that are off by 10 % look like a gain of a force; nothing is added to the machine.
    assert {"delay"} <= {d.kind for d in found.diagnosis} <= {"delay", "gain"}
    assert found.added == ()
    assert found.errors("identification")["estimate"] == pytest.approx(0.01, rel=0.1)  # the noise
