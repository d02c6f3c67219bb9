"""CAD values with and without declared standard deviations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.estimation.perturb import body_root
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import dumps, load, loads
from mechid.spatial.inertia import parameters
from mechid.spatial.inertia_errors import InertiaErrors, parameter_root
from mechid.tasks.cad_prior import assumed_errors, cad_covariance, prior_from_cad
from mechid.tasks.evaluate_motion import evaluate_motion
from mechid.tasks.excite import excite
from mechid.tasks.stages import base_of
from mechid.tasks.synthesise import synthesise

from ..elements import friction
from .test_identify import identified, moved

FRICTION = Coefficient(0.5, True, 0.1)


def linkage(viscous: Coefficient = FRICTION) -> Mechanism:
    """Return a four-bar linkage whose bodies declare nothing, with friction."""
    bare = load("four_bar")
    hinge = friction("hinge", "q1", 0, viscous, Coefficient(0.0))
    return replace(bare, elements=(hinge,))


def declaring(mechanism: Mechanism, spreads: dict[str, str]) -> Mechanism:
    """Return the mechanism, read again with `uncertainty` of some of its bodies."""
    text = dumps(mechanism)
    for body, spread in spreads.items():
        text = text.replace(f"\n  {body}:\n", f"\n  {body}:\n    uncertainty: {spread}\n", 1)
    return loads(text)


def usual(mechanism: Mechanism, i: int) -> np.ndarray:
    cad = mechanism.bodies[i].inertia
    assert cad is not None
    F = body_root(parameters(cad.mass, np.array(cad.center), np.array(cad.inertia_center)), 0.2)
    return F @ F.T


def test_bodies_that_declare_nothing_have_the_usual_error() -> None:
    mechanism = linkage()
    found = cad_covariance(mechanism)
    for i in range(3):
        ten = slice(10 * i, 10 * i + 10)
        np.testing.assert_allclose(found[ten, ten], usual(mechanism, i))
    assert found[30, 30] == pytest.approx(0.01)
    (note,) = assumed_errors(mechanism)
    assert "no uncertainty of bar_1, bar_2, bar_3: 20 % were assumed" in note
    assert prior_from_cad(mechanism, base_of(mechanism)).words == (
        "CAD values with their declared standard deviations; 20 % assumed for bar_1, bar_2, bar_3",
    )
    bare = load("four_bar")
    assert prior_from_cad(bare, base_of(bare)).words == ("CAD values with an error of 20 %",)
    assert not assumed_errors(mechanism, 0.1)


def test_zero_means_exact_and_what_is_missing_is_named() -> None:
    mechanism = declaring(
        linkage(Coefficient(0.5, True)),
        {"bar_1": "{mass: 0, center: 0, inertia: 0}", "bar_2": "{mass: 5 %, center: 0}"},
    )
    found = cad_covariance(mechanism)
    assert not found[:10, :10].any()
    assert found[10, 10] == pytest.approx(0.1**2)
    # Iyz about the frame errs by the central inertia only, as of a body with its frame there.
    cad = mechanism.bodies[1].inertia
    assert cad is not None
    shape = InertiaErrors(shape=0.2)
    alone = parameter_root(parameters(cad.mass, np.zeros(3), np.array(cad.inertia_center)), shape)
    assert found[18, 18] == pytest.approx(np.sum(alone[8] ** 2))
    np.testing.assert_allclose(found[11, 11], (1.5 * 0.1) ** 2)  # m x, by the mass alone
    assert found[30, 30] == pytest.approx(0.1**2)
    (note,) = assumed_errors(mechanism)
    assert "no uncertainty of bar_2 (inertia), bar_3, viscous_hinge: 20 %" in note
    assert loads(dumps(mechanism)) == mechanism


def test_an_exact_coefficient_stays_exact() -> None:
    mechanism = linkage(Coefficient(0.5, True, 0.0))
    assert cad_covariance(mechanism)[30, 30] == 0
    run = identified(mechanism, synthesise(mechanism, moved(mechanism, 100, 0.3)))
    at = run.estimate.parameters.index("viscous_hinge")
    assert run.estimate.values[at] == pytest.approx(0.5, abs=1e-12)


def test_bodies_are_identified_where_only_friction_declares_an_uncertainty() -> None:
    """They came back as in CAD, with standard deviations of zero."""
    mechanism, shares = linkage(), []
    for seed in range(5):
        motion = moved(mechanism, 200, 0.3)
        made = synthesise(mechanism, motion, cad_error=0.2, noise=0.001, seed=seed)
        run = identified(mechanism, made, estimator="map", settings={"prior": "full"})
        assert any("no uncertainty of bar_1, bar_2, bar_3: 20 %" in w for w in run.warnings)
        table, found = run.parameters, run.estimate
        sigma = np.sqrt(np.diag(found.covariance))
        assert np.all(sigma > 0)
        assert np.all(table.cad_sigma > 0)
        assert np.all(np.abs(found.values - table.truth) < 3 * sigma)
        off, before = (np.abs(x - table.truth) / table.cad_sigma for x in (found.values, table.cad))
        shares.append(np.median(off) / np.median(before))
    # Centres across the bars are hardly seen by the torque of this motion; the others are.
    assert np.median(shares) < 0.15


@pytest.mark.parametrize(("viscous", "same"), [(FRICTION, True), (Coefficient(0.0, True), False)])
def test_motions_are_designed_for_what_is_not_declared(viscous: Coefficient, same: bool) -> None:
    mechanism = linkage(viscous)
    motion = excite(load("four_bar"), random=3, starts=0)
    found = evaluate_motion(mechanism, motion)
    told = evaluate_motion(mechanism, motion, cad_error=0.2)
    # Of zero nothing is said in either way: it is not known.
    assert found.criteria == pytest.approx(told.criteria)
    assert any("were assumed" in note for note in found.notes)
    assert not told.notes
    if not same:
        exact = evaluate_motion(linkage(Coefficient(0.0, True, 0.0)), motion)
        assert exact.criteria["a"] < found.criteria["a"]
