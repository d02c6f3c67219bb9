"""Poses where branches of a mechanism meet: crossed, or named as the reason for the end."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.simulate import simulate
from mechid.dynamics.simulation import SimulationError
from mechid.mechanism.records import Mechanism
from mechid.modelfile import loads

SPEED = 3.0


def parallelogram(crank: float, coupler: float, tilt: float) -> Mechanism:
    """Without weight: its cranks start at right angles to the ground, and turn at one speed."""
    c, s = float(np.cos(tilt)), float(np.sin(tilt))
    rod = "mass: 1, center: [0, 0.1, 0], inertia: {about: center, xx: 0.01, yy: 0.01, zz: 0.01}"
    return loads(
        f"""
mechid: 1
name: parallelogram
gravity: [0, 0, 0]
points:
  A: [0, 0, 0]
  D: [{coupler}*{c!r}, {coupler}*{s!r}, 0]
  B: [-{crank}*{s!r}, {crank}*{c!r}, 0]
  C: [{coupler}*{c!r}-{crank}*{s!r}, {coupler}*{s!r}+{crank}*{c!r}, 0]
bodies:
  left: {{frame: {{origin: A}}, {rod}}}
  right: {{frame: {{origin: D}}, {rod}}}
  coupler: {{frame: {{origin: B}}, {rod}}}
joints:
  a: {{type: revolute, between: [ground, left], at: A, axis: z}}
  b: {{type: revolute, between: [left, coupler], at: B, axis: z}}
  c: {{type: revolute, between: [coupler, right], at: C, axis: z}}
  d: {{type: revolute, between: [ground, right], at: D, axis: z}}
coordinates:
  angle: {{joint: a}}
"""
    )


@pytest.mark.parametrize("formulation", ["independent", "gibbs-appell"])
@pytest.mark.parametrize(
    ("crank", "coupler", "tilt", "end"), [(0.1, 0.2, 0.0, 1.0), (0.25, 0.6, 0.3, 3.0)]
)
def test_parallelograms_of_decimal_lengths(
    crank: float, coupler: float, tilt: float, end: float, formulation: str
) -> None:
    """All links lie on one line at 90°: crossed links would turn at other speeds from there."""
    times = np.linspace(0, end, 7)
    found = simulate(
        parallelogram(crank, coupler, tilt), times, formulation=formulation, yd0=np.array([SPEED])
    )
    assert found.options.integrator == "DOP853"
    np.testing.assert_allclose(found.y[:, 0] - found.y[0, 0], SPEED * times, atol=1e-6)


@pytest.mark.slow
def test_an_integrator_that_ends_there_says_why() -> None:
    with pytest.raises(SimulationError, match="branches of the mechanism meet there") as caught:
        simulate(
            parallelogram(0.25, 0.6, 0.3),
            np.linspace(0, 3, 7),
            formulation="gibbs-appell",
            integrator="Radau",
            yd0=np.array([SPEED]),
        )
    assert "DOP853" in caught.value.remedy
    assert caught.value.partial.time[-1] == 1.5
