"""An identified mechanism, as it is and with its model reduced."""

from __future__ import annotations

import pytest

import mechid
from mechid.runs.record import Run


@pytest.fixture(scope="session")
def run() -> Run:
    motion = mechid.excite("five_bar", random=4, starts=0)
    log = mechid.synthesise("five_bar", motion, noise="2%", cad_error="20%", periods=3)
    return mechid.identify("five_bar", log, cad_error="20%")


@pytest.fixture(scope="session")
def reduced(run: Run) -> Run:
    return mechid.reduce(run, size=6)


@pytest.fixture(scope="session")
def sprung() -> Run:
    """With a spring of which stiffness, free angle and damping are identified."""
    text = mechid.dumps(mechid.load("pendulum@spring"))
    known = "free_angle: 0.08726646259971647"
    assert known in text
    unknown = f"free_angle: {{{known.replace('free_angle', 'value')}, identify: true}}"
    model = mechid.loads(text.replace(known, unknown))
    motion = mechid.excite(model, random=3, starts=0, harmonics=3)
    log = mechid.synthesise(model, motion, noise="1%", cad_error="10%", periods=2)
    return mechid.identify(model, log, cad_error="10%")
