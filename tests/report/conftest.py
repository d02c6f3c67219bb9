"""Runs to report on: small ones, of a mechanism with two forces."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.modelfile.api import load
from mechid.runs.record import About, DataFile, MotionData, Run
from mechid.runs.truth import Truth
from mechid.tables.motion import MotionTable
from mechid.tasks.identify import Options, identify
from mechid.tasks.reduce import ReduceOptions
from mechid.tasks.synthesise import Errors, ForceNoise, Level, synthesise


def measured(name: str, frequency: float, n: int = 80) -> tuple[MotionData, Truth]:
    mechanism = load("five_bar")
    t = np.linspace(0, 1, n)
    w = 2 * np.pi * frequency * np.array([1.0, 2.0])
    y = 0.3 * np.sin(np.outer(t, w))
    motion = MotionTable(t, y, 0.3 * w * np.cos(np.outer(t, w)), -(w**2) * y)
    made = synthesise(mechanism, motion, Errors(ForceNoise(level=Level(0.05)), cad=0.1), seed=5)
    forces = tuple(c.force for c in mechanism.coordinates)
    data = MotionData(name, f"{name}.csv", t, made.y, made.yd, made.ydd, forces, made.tau)
    return data, Truth(tuple(c.name for c in made.columns), made.phi, {})


@pytest.fixture(scope="session")
def run() -> Run:
    """A whole run, with a sample that was not measured and a name that HTML must not take."""
    first, truth = measured("identification", 1.0)
    first.tau[3, 1] = np.nan
    about = About(
        "mechid identify five_bar 'a <b>.csv' -o run",
        "five_bar",
        {"estimator": "map"},
        7,
        (DataFile("data/a <b>.csv", "ab" * 32, "identification"),),
        {"numpy": "2"},
    )
    return identify(
        load("five_bar"),
        [first, measured("validation-1", 1.3)[0]],
        Options(reduce=ReduceOptions(size=5)),
        truth=truth,
        about=about,
    )
