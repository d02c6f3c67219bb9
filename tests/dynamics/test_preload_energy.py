"""Energy of a preloaded spring, by every formulation."""

from __future__ import annotations

import numpy as np
import pytest

import mechid

MODEL = """
mechid: 1
name: mass_on_spring
gravity: [0, 0, 0]
bodies:
  block: {mass: 2, center: [0, 0, 0], inertia: {about: center, xx: 0.01, yy: 0.01, zz: 0.01}}
joints:
  slide: {type: prismatic, between: [ground, block], at: [0.5, 0, 0], axis: x}
elements:
  spring:
    type: spring_damper
    between: [{in: ground, at: [0, 0, 0]}, {in: block, at: [0, 0, 0]}]
    stiffness: {value: 300, identify: true}
    damping: 0
    free_length: {value: 0.4, identify: true}
coordinates: {s: {joint: slide, force: F}}
"""


@pytest.mark.parametrize("formulation", ["independent", "gibbs-appell", "augmented"])
def test_potential_energy_of_a_preloaded_spring(formulation: str) -> None:
    """½ k (l - l0)², but for a constant: the columns are k and the preload k l0."""
    mechanism = mechid.loads(MODEL)
    times = np.linspace(0.0, 0.3, 31)
    found = mechid.simulate(mechanism, times, formulation=formulation, rtol=1e-10, atol=1e-12)
    length = 0.5 + found.y[:, 0]
    energy = 150 * (length - 0.4) ** 2
    assert np.ptp(energy) > 1.0
    np.testing.assert_allclose(found.potential - found.potential[0], energy - energy[0], atol=1e-7)
    # At rest 0.1 m beyond the free length, it swings with √(k/m).
    np.testing.assert_allclose(length - 0.4, 0.1 * np.cos(np.sqrt(150) * found.time), atol=1e-7)
