"""Exported C against inverse dynamics: the whole zoo, parameters, guards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mechid.dynamics.inverse import inverse_dynamics
from mechid.modelfile import zoo
from mechid.tasks.export import content_of

from ..contract.states import EPS, LENGTH, condition, solve_course, zoo_course, zoo_model
from .compiled import Compiled

NAMES = tuple(entry.name for entry in zoo())
# Balls as coordinates, redundant rows, threads, a passive spin, elements with branches.
HARD = ("double_wishbone@free", "screw_press@guided", "spatial_slider_crank@two-balls")
TIME = np.linspace(0.0, LENGTH, 61)


@pytest.mark.parametrize("spec", [*NAMES, *HARD])
def test_forces_of_every_model(spec: str, tmp_path: Path) -> None:
    motion = solve_course(zoo_model(spec), zoo_course(spec), TIME)
    code = Compiled(content_of(spec), tmp_path)
    tau, codes = code.forces(motion.y, motion.yd, motion.ydd)
    assert codes == [0] * len(TIME)
    expected = inverse_dynamics(motion).tau
    tolerance = 1e5 * EPS * condition(motion) ** 2
    assert np.all(np.abs(tau - expected) <= tolerance * np.abs(expected).max(axis=0))
