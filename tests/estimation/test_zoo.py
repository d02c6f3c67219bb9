"""A mechanism of the zoo through its own observation matrix, and what is said of its estimates."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from mechid.base.baseset import base_set
from mechid.base.bounds import all_transfers
from mechid.base.choose import last
from mechid.base.experiment import EVERYTHING
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.regressor import observe_path
from mechid.estimation.bayes import MaximumAPosteriori
from mechid.estimation.estimate import predict
from mechid.estimation.linear import prior_factor
from mechid.estimation.prior import Prior
from mechid.estimation.registry import ESTIMATORS
from mechid.estimation.regression import Floats, Regression
from mechid.exact.geometry import exact_geometry
from mechid.modelfile import load


@cache
def made(name: str, amplitude: float) -> tuple[Prior, Floats, Floats, Floats]:
    """Return what is known of a zoo model, and W_b, known forces and times of a motion."""
    mechanism = load(name)
    model = dynamic_model(mechanism)
    null = all_transfers(exact_geometry(mechanism), EVERYTHING).null
    base = base_set(null, last(null))
    n_i = len(mechanism.coordinates)
    time = np.linspace(0.0, 2.0, 201)
    # Harmonics that no two coordinates share.
    w = 2 * np.pi * (1.0 + 0.37 * np.arange(n_i))
    home = model.kinematics.home_y
    y = home + amplitude * np.sin(w * time[:, None])
    yd = amplitude * w * np.cos(w * time[:, None])
    ydd = -amplitude * w**2 * np.sin(w * time[:, None])
    seen = observe_path(model, y, yd, ydd, time=time)
    known = Prior(
        tuple(c.name for c in model.columns),
        base.base,
        base.matrix,
        parameter_values(model),
        np.diag((0.2 * parameter_values(model)) ** 2),
    )
    return known, base.observation(seen.W), seen.known, time


def problem(
    name: str, amplitude: float, noise: float, seed: int
) -> tuple[Regression, Prior, Floats]:
    """Return a measured motion; truth is drawn from the prior, noise is a part of each force."""
    k, W, known, time = made(name, amplitude)
    rng = np.random.default_rng(seed)
    F = prior_factor(k.covariance)
    phi = k.matrix @ (k.values + F @ rng.normal(size=F.shape[1]))
    tau = W @ phi + known
    tau = tau + noise * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    channels = tuple(f"tau{j}" for j in range(tau.shape[1]))
    r = Regression(W, tau, known, time, k.base, channels, ("N m",) * len(channels),
                   np.ones(tau.shape, dtype=bool), instruments=W)  # fmt: skip
    return r, k, phi


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_exact_forces_give_exact_parameters(estimator: str) -> None:
    """Of sensors without gain errors: a factor of all forces is one of all parameters."""
    r, k, phi = problem("planar_3rrr", 0.2, 0.0, 0)
    calibrated = {"without": "gains"} if estimator == "auto" else {}
    found = ESTIMATORS[estimator](**calibrated)(r, k)
    np.testing.assert_allclose(found.values, phi, rtol=1e-8, atol=1e-8 * np.max(np.abs(phi)))


def test_plain_least_squares_of_all_parameters_is_not_to_be_trusted() -> None:
    """It says so itself; and the posterior mean has the least mean square error there is."""
    squares = []
    for seed in range(8):
        r, k, phi = problem("planar_3rrr", 0.2, 0.5, seed)
        plain = ESTIMATORS["ols"]()(r)
        assert any("have a relative standard deviation above 100 %" in w for w in plain.warnings)
        assert np.any(plain.relative > 100)
        prior = MaximumAPosteriori(prior="full", scale=1.0)(r, k)
        assert not any("relative deviation" in w for w in prior.warnings)
        scale = np.sqrt(np.diag(k.base_covariance))
        own = scale > 0
        squares.append([((x.values - phi)[own] / scale[own]) ** 2 for x in (prior, plain)])
    mapped, least = np.mean(squares, axis=(0, 2))
    assert mapped < 1.0  # the CAD values alone: one, by construction
    assert mapped < least


@pytest.mark.parametrize("prior", ["diagonal", "full"])
def test_data_never_make_the_prior_worse_on_average(prior: str) -> None:
    """Forces of another motion: better with data than with CAD values alone."""
    _, W, known, _ = made("planar_3rrr", 0.1)
    errors = []
    for seed in range(8):
        r, k, phi = problem("planar_3rrr", 0.2, 0.05, seed)
        found = MaximumAPosteriori(prior=prior)(r, k)  # type: ignore[arg-type]
        other = Regression(
            W, W @ phi + known, known, r.time, r.parameters, r.channels, r.units, r.valid
        )
        truth = other.tau
        mapped = predict(found, other).forces - truth
        cad = W @ k.mean + known - truth
        errors.append([np.sqrt(np.mean(mapped**2)), np.sqrt(np.mean(cad**2))])
    assert np.mean(errors, axis=0)[0] < 0.3 * np.mean(errors, axis=0)[1]


def test_combinations_that_the_motion_does_not_show_are_counted() -> None:
    """At rest only gravity acts: one row per pose, again and again."""
    k, W, known, time = made("four_bar", 0.3)
    still = np.repeat(W[:1], len(time), axis=0) + 0.0
    rng = np.random.default_rng(0)
    tau = still @ k.mean + np.repeat(known[:1], len(time), axis=0)
    tau = tau + 0.01 * np.max(np.abs(tau)) * rng.normal(size=tau.shape)
    r = Regression(still, tau, np.repeat(known[:1], len(time), axis=0), time, k.base,
                   ("tau",), ("N m",), np.ones(tau.shape, dtype=bool))  # fmt: skip
    b = len(k.base)
    for name in ("ols", "weighted", "huber"):
        found = ESTIMATORS[name]()(r)
        assert found.condition > 1e14
        assert f"{b - 1} of {b} combinations of parameters are not visible" in found.warnings[0]
    assert np.all(np.isfinite(MaximumAPosteriori()(r, k).sigma))
