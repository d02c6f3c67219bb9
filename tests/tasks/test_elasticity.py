"""Drives that give way under load: named, and in the standard deviations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from mechid.dynamics.compile import dynamic_model
from mechid.estimation.ols import OrdinaryLeastSquares
from mechid.modelfile import load
from mechid.runs.record import Run
from mechid.signals.record import PreparedMeasurement
from mechid.tasks.doubtful_elasticity import elastic_candidate
from mechid.tasks.regress import regression_of
from mechid.validation import diagnosis
from mechid.validation.diagnosis_record import Diagnosis

from .arm import identified


def elastic(run: Run) -> list[float]:
    return [d.size for d in run.diagnosis if d.kind == "elasticity"]


@pytest.mark.parametrize("seed", range(2))
def test_it_is_named_and_contained(seed: int) -> None:
    """Deflections of 0.1 % of the motion; inertias of drives were up to 5.6 deviations off."""
    run = identified(seed, "1%", elasticity="0.1%")
    (size,) = elastic(run)
    assert 0.0005 < size < 0.002
    found, truth = run.estimate, run.parameters.truth
    assert found is not None
    assert truth is not None
    assert any("drives that give way under load" in text for text in found.known)
    z = (found.values - truth) / found.sigma
    own = [name.startswith("inertia_m") for name in found.parameters]
    assert np.count_nonzero(own) == 4
    assert np.all(np.abs(z[own]) < 3)
    assert np.mean(np.abs(z) < 1.96) > 0.9


@pytest.mark.parametrize("words", [{}, {"delay": 0.004}, {"positions_only": True}])
def test_stiff_drives_have_none(words: dict[str, Any]) -> None:
    run = identified(0, "1%", **words)
    assert elastic(run) == []
    assert run.estimate is not None
    assert not any("give way" in text for text in run.estimate.known)


def test_forces_of_a_deflection_in_closed_form() -> None:
    """A pendulum J q̈ + s(q) whose motor turns by x = c τ more than the pendulum does.

    The force of the pendulum is that of the motor's motion less ds/dq x + J ẍ. Moments of weight
    are sums of sine and cosine, so that ds/dq = s(q + 90°).
    """
    model, names = dynamic_model(load("pendulum")), ("mx_1", "mz_1", "Iyy_1")
    t = np.linspace(0.0, 4.0, 4001)
    path = CubicSpline(t, 0.7 * np.sin(3.1 * t) + 0.2 * np.cos(7.3 * t))
    y, yd, ydd = (path(t, k)[:, None] for k in range(3))
    log = PreparedMeasurement(
        time=t, y=y, yd=yd, ydd=ydd, forces=("M_hinge",), tau=np.zeros((len(t), 1))
    )
    W = regression_of(model, log, names).W
    phi = np.array([0.014, -0.6, 0.32])
    measured = replace(log, tau=W @ phi)
    found = OrdinaryLeastSquares()(regression_of(model, measured, names))
    (candidate,) = elastic_candidate(found, model.mechanism, [measured])
    force = CubicSpline(t, (W @ phi)[:, 0])
    x = np.std(y) / np.sqrt(np.mean(force(t) ** 2))
    still = np.zeros_like(y)
    turned = replace(log, y=y + np.pi / 2, yd=still, ydd=still)
    slope = (regression_of(model, turned, names).W @ phi)[:, 0]
    expected = -x * (slope * force(t) + phi[2] * force(t, 2))
    inner = slice(10, -10)
    np.testing.assert_allclose(
        candidate.column[inner, 0], expected[inner], atol=1e-3 * np.abs(expected).max()
    )


def test_what_steps_of_the_forces_explain_is_contained_and_not_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Steps and a hum look like it, too."""
    steps = Diagnosis("quantised", "tau1", 0.1, "N m", 2.0, "force tau1 has steps", "none")
    monkeypatch.setattr(diagnosis, "quantised", lambda *_: (steps,))
    run = identified(0, "1%", elasticity="0.1%")
    assert elastic(run) == []
    assert steps in run.diagnosis
    assert run.estimate is not None
    assert any("drives that give way under load" in text for text in run.estimate.known)
