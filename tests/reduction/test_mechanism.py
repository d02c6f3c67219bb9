"""A real mechanism with exact forces and exact CAD values, and its forces with noise."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import mechid
from mechid.base.cad import parameter_covariance
from mechid.base.choose import last
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.parameters import parameter_values
from mechid.estimation.estimate import predict
from mechid.estimation.least_squares import OrdinaryLeastSquares
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Regression
from mechid.reduction.contribution import contribution
from mechid.reduction.reduce import reduce_model
from mechid.reduction.regroup import regroup
from mechid.reduction.size import OneStandardError, TwoLimits
from mechid.validation.blocks import Blocks
from mechid.validation.errors import force_errors


@cache
def exact(seed: int) -> tuple[Regression, Regression, Prior]:
    """Return exact forces of a random motion: in base parameters, and in all."""
    mechanism = mechid.load("quarter_vehicle")
    base = mechid.base_parameters(mechanism, rule=last).chosen
    model = dynamic_model(mechanism)
    names = tuple(c.name for c in model.columns)
    values = parameter_values(model)
    prior = Prior(names, base.base, base.matrix, values, parameter_covariance(mechanism))
    rng = np.random.default_rng(seed)
    kinematics = mechid.kinematic_model(mechanism)
    t = np.arange(150) / 150
    w = 2 * np.pi * np.arange(1, 5)
    S, C = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = rng.standard_normal((2, 4, 2)) * [0.02, 0.15]
    y = kinematics.home_y + S @ a + C @ b
    yd, ydd = (C * w) @ a - (S * w) @ b, -(S * w**2) @ a - (C * w**2) @ b
    seen = mechid.observation_matrix(mechid.solve_motion(kinematics, y, yd, ydd, time=t))
    tau = seen.W @ values + seen.known
    whole = Regression(
        seen.W,
        tau,
        seen.known,
        t,
        names,
        tuple(c.force for c in mechanism.coordinates),
        ("N", "N m"),
        np.ones(tau.shape, dtype=bool),
    )
    return replace(whole, W=base.observation(seen.W), parameters=base.base), whole, prior


def test_ineffective_parameters_go_at_no_cost() -> None:
    run, _, prior = exact(1)
    other, _, _ = exact(2)
    found = contribution(run, prior.mean)
    effective = np.count_nonzero(prior.mean)
    assert 0 < effective < len(prior.base)
    reduced = reduce_model(found.ranking, run, validation=[other], choose=TwoLimits(1e8, 1e-9))
    curves = reduced.curves
    at = curves.sizes >= effective
    assert (curves.identification_total[at] < 1e-12).all()
    # Rounding of the forces, made larger by the condition number.
    assert (curves.validation_total[at, 0] < 1e-15 * curves.condition[at] + 1e-12).all()
    # One that has an effect, however small, is missed.
    assert curves.identification_total[effective - 2] > 1e-9
    assert reduced.size.size == effective


def test_all_parameters_at_exact_cad_values_but_one() -> None:
    run, _, prior = exact(1)
    found = reduce_model(contribution(run, prior.mean).ranking, run, prior=prior, rest="cad")
    assert found.curves.identification_total.max() < 1e-8


def test_noise_makes_small_models_better() -> None:
    run, _, prior = exact(1)
    other, _, _ = exact(2)
    rng = np.random.default_rng(0)
    size = np.sqrt(np.mean(run.tau**2, axis=0))
    noisy = replace(run, tau=run.tau + 0.05 * size * rng.standard_normal(run.tau.shape))
    wrong = replace(prior, values=prior.values * (1 + 0.2 * rng.standard_normal(60)))
    found = reduce_model(
        contribution(noisy, wrong.mean).ranking,
        noisy,
        prior=wrong,
        rest="cad",
        validation=[other],
        folds=Blocks(5),
        choose=OneStandardError(),
    )
    assert found.size.size < 10
    assert found.curves.condition[-1] > 100 * found.curves.condition[found.size.size - 1]
    forces = {
        "reduced": predict(found.estimate, other).forces,
        "all": predict(OrdinaryLeastSquares()(noisy), other).forces,
        "cad": other.W @ wrong.mean + other.known,
    }
    assert min(forces, key=lambda model: force_errors(forces[model], other).total) == "reduced"


def test_singular_values_of_all_columns_find_the_same_rank() -> None:
    _, whole, prior = exact(1)
    other = exact(2)[1]
    # Columns that hold nothing but rounding are not columns.
    size = np.linalg.norm(whole.stacked()[0], axis=0)
    shown = [n for n, x in zip(whole.parameters, size, strict=True) if x > 1e-9 * size.max()]
    small = whole.select(shown)
    found = regroup(small)
    assert found.rank <= len(prior.base)
    place = {name: i for i, name in enumerate(whole.parameters)}
    values = found.matrix @ prior.values[[place[n] for n in shown]]
    forces = other.select(found.regression.parameters).W @ values + other.known
    assert force_errors(forces, other).total < 1e-6


@pytest.mark.parametrize("norm", ["stacked", "channels"])
def test_contributions_cover_the_forces(norm: str) -> None:
    # The triangle inequality: together they cannot be shorter than what they add up to.
    run, _, prior = exact(1)
    free = replace(run, tau=run.target, known=np.zeros_like(run.known))
    found = contribution(free, prior.mean, norm=norm)  # type: ignore[arg-type]
    assert found.index.sum() >= 100 - 1e-9
    assert found.share.sum() == pytest.approx(100)
