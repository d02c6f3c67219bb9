"""Exact measurements give back the parameters they were made with, for every model of the zoo.

What float64 can give back: with W in columns of unit length, W = U S Vᵀ, the combination Vᵀ_k D φ
(D: lengths of the columns) has an error of about eps ‖D φ‖ s_1/s_k. The combinations with
s_k > 1e-7 s_1 must come back to 1e-8 of ‖D φ‖; where the whole matrix is well conditioned, every
single parameter that makes more than a ten-thousandth of the forces must come back to 1e-8 of
itself. What cannot be told must not matter: forces between the samples come out right all the same.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.modelfile import load
from mechid.options import IdentifyOptions
from mechid.signals.record import PreparedMeasurement
from mechid.tables.motion import MotionTable
from mechid.tasks.identify import identify_motions
from mechid.tasks.measured import prepare
from mechid.tasks.regress import regression_of
from mechid.tasks.synthesise import Synthesis, synthesise

from .states import LENGTH, SPECS, zoo_course

GOAL = 1e-8
SEEN = 1e-7  # singular values above this part of the largest
WELL = 1e6  # condition number up to which single parameters are compared
MATTERS = 1e-4  # of the forces


OLS = IdentifyOptions("ols")


def measured(spec: str, name: str, shift: float = 0.0) -> tuple[PreparedMeasurement, Synthesis]:
    """Return exact measurements of a course; `shift` moves the samples by a part of a step."""
    mechanism = load(spec)
    # Four rows for each of the parameters that a body has at most.
    n = max(40, 40 * len(mechanism.bodies) // len(mechanism.coordinates))
    t = np.linspace(0, LENGTH, n)
    motion = MotionTable(t, *zoo_course(spec).at(t + shift * LENGTH / (n - 1)))
    made = synthesise(mechanism, motion, cad_error=0.2, seed=5)
    return replace(prepare(made, mechanism), name=name), made


@pytest.mark.parametrize("spec", SPECS)
def test_known_truth_is_recovered(spec):
    data, made = measured(spec, "identification")
    other, _ = measured(spec, "validation-1", 0.5)
    run = identify_motions(load(spec), [data, other], OLS, truth=made.truth)
    x, true = run.estimate.values, run.parameters.truth
    assert np.any(np.abs(true - run.parameters.cad) > 0.01 * np.abs(true))

    A, t, _ = regression_of(dynamic_model(load(spec)), data, run.parameters.names).stacked()
    D = np.linalg.norm(A, axis=0)
    shown = D > 0
    _, s, Vh = np.linalg.svd(A[:, shown] / D[shown], full_matrices=False)
    told = s > SEEN * s[0]
    assert told.sum() >= 3
    error = Vh[told] @ (D * (x - true))[shown]
    assert np.abs(error).max() < GOAL * np.linalg.norm(D * true)

    size = np.linalg.norm(t)
    if run.estimate.condition < WELL:
        matters = D * np.abs(true) > MATTERS * size
        assert matters.any()
        np.testing.assert_allclose(x[matters], true[matters], rtol=GOAL)

    for course in run.forces:
        missed = np.linalg.norm(course.predicted - course.measured, axis=0)
        assert np.all(missed < GOAL * np.linalg.norm(course.measured))


@pytest.mark.parametrize("spec", ["pendulum@friction", "pendulum@spring", "n_pendulum@damped",
                                  "puma560", "stewart_platform@friction", "tx40"])  # fmt: skip
def test_springs_dampers_friction_and_rotors_are_recovered(spec):
    data, made = measured(spec, "identification")
    run = identify_motions(load(spec), [data], OLS, truth=made.truth)
    elements = {c.name for c in made.columns[10 * len(load(spec).bodies) :]}
    at = [i for i, name in enumerate(run.parameters.names) if name in elements]
    # Rotor inertias may be carried along by others; springs, dampers and friction are not.
    assert {run.parameters.names[i] for i in at} >= {
        name for name in elements if not name.startswith("inertia_")
    }
    assert len(at) > 0
    np.testing.assert_allclose(run.estimate.values[at], run.parameters.truth[at], rtol=GOAL)
