"""Runs to report on: small ones, of a mechanism with two forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.modelfile.api import load
from mechid.options import IdentifyOptions, ReduceOptions
from mechid.runs.record import About, DataFile, Run
from mechid.runs.truth import Truth
from mechid.signals.record import PreparedMeasurement
from mechid.tables.motion import MotionTable
from mechid.tasks.identify import identify_motions
from mechid.tasks.measured import prepare
from mechid.tasks.synthesise import synthesise


def measured(name: str, frequency: float, n: int = 80) -> tuple[PreparedMeasurement, Truth]:
    mechanism = load("five_bar")
    t = np.linspace(0, 1, n)
    w = 2 * np.pi * frequency * np.array([1.0, 2.0])
    y = 0.3 * np.sin(np.outer(t, w))
    motion = MotionTable(t, y, 0.3 * w * np.cos(np.outer(t, w)), -(w**2) * y)
    made = synthesise(mechanism, motion, noise=0.05, cad_error=0.1, seed=5)
    data = prepare(made, mechanism)
    return replace(data, name=name, source=f"{name}.csv", notes=()), made.truth


@pytest.fixture(scope="session")
def run() -> Run:
    """A whole run, with a sample that was not measured and a name that HTML must not take."""
    first, truth = measured("identification", 1.0)
    first.tau[3, 1] = np.nan
    options = IdentifyOptions(reduce=ReduceOptions(size=5), seed=7)
    about = About(
        command="mechid identify five_bar 'a <b>.csv' -o run",
        model="five_bar",
        options=options,
        files=(DataFile("data/a <b>.csv", "ab" * 32, "identification"),),
        versions={"numpy": "2"},
    )
    return identify_motions(
        load("five_bar"),
        [first, measured("validation-1", 1.3)[0]],
        options,
        truth=truth,
        about=about,
    )
