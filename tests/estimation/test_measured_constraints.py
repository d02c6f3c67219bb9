"""Weights, sums of weights, symmetry: conditioning of the CAD values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.errors import DataError
from mechid.estimation.measured_constraints import MeasuredConstraint, informed, stated, weighed
from mechid.estimation.prior import Prior
from mechid.estimation.symmetry import Plane, mirror_matrix, mirrored_pairs, symmetric
from mechid.mechanism.records import Body, Frame
from mechid.modelfile import load
from mechid.spatial.inertia import from_pseudo_inertia
from mechid.spatial.rotations import matrix_from_quaternion
from mechid.tasks.cad_prior import prior_from_cad

from .consistent import model, truth, without


@pytest.fixture(scope="module")
def known() -> Prior:
    return truth("four_bar")


def test_facts_are_gaussian_conditioning(known: Prior) -> None:
    rng = np.random.default_rng(0)
    measured = [
        weighed(known, "bar_1", 1.2, 0.05),
        weighed(known, ["bar_2", "bar_3"], 3.3, 0.1),
        stated(known, {"mx_1": 2.0, "Izz_3": -1.0}, 0.4, 0.2),
        MeasuredConstraint(
            rng.normal(size=(2, 30)), rng.normal(size=2), np.array([[2.0, 0.5], [0.5, 1]]), ""
        ),
    ]
    found = informed(known, measured)
    A = np.vstack([f.matrix for f in measured])
    b = np.concatenate([f.values for f in measured])
    R = np.zeros((5, 5))
    R[0, 0], R[1, 1], R[2, 2], R[3:, 3:] = 0.05**2, 0.1**2, 0.2**2, measured[3].covariance
    P = known.covariance
    K = P @ A.T @ np.linalg.inv(A @ P @ A.T + R)
    np.testing.assert_allclose(found.values, known.values + K @ (b - A @ known.values), rtol=1e-9)
    size = np.sqrt(np.outer(np.diag(P), np.diag(P)))
    assert np.abs(found.covariance - (P - K @ A @ P))[size > 0].max() < 1e-10 * size.max()


def test_an_exact_weight_is_kept_and_takes_the_moments_along(known: Prior) -> None:
    found = informed(known, [weighed(known, "bar_2", 2.4)])
    k = dict(known.bodies)["bar_2"]
    assert found.values[k] == pytest.approx(2.4, rel=1e-12)
    assert found.covariance[k, k] == pytest.approx(0.0, abs=1e-14)
    # Only the error of the mass explains it: the centre stays where it was.
    np.testing.assert_allclose(
        found.values[k + 1 : k + 4] / 2.4, known.values[k + 1 : k + 4] / 2.0, atol=1e-12
    )
    assert found.words[-1] == "measured mass of bar_2: 2.4 ± 0 kg"


def test_a_fact_that_is_known_already_changes_nothing(known: Prior) -> None:
    exact = without(known)
    found = informed(exact, [weighed(exact, "bar_1", 1.0)])
    np.testing.assert_array_equal(found.values, exact.values)


def test_contradictions_are_refused(known: Prior) -> None:
    exact = without(known)
    with pytest.raises(
        DataError, match=r"contradicts exact prior values: measured mass of bar_1: 1\.5"
    ):
        informed(exact, [weighed(exact, "bar_1", 1.5)])
    with pytest.raises(DataError, match="contradicts"):
        informed(known, [weighed(known, "bar_1", 1.5), weighed(known, "bar_1", 1.4)])


def test_bad_facts_are_refused(known: Prior) -> None:
    with pytest.raises(DataError, match="no body bar_9"):
        weighed(known, "bar_9", 1.0)
    with pytest.raises(DataError, match="must be > 0 kg, got -1"):
        weighed(known, "bar_1", -1.0)
    with pytest.raises(DataError, match="once each"):
        weighed(known, ["bar_1", "bar_1"], 1.0)
    with pytest.raises(DataError, match=r"sigma must be ≥ 0, got -0\.1"):
        weighed(known, "bar_1", 1.0, -0.1)
    with pytest.raises(DataError, match="no parameter nothing"):
        stated(known, {"nothing": 1.0}, 1.0)
    with pytest.raises(DataError, match="needs a parameter"):
        stated(known, {"m_1": 0.0}, 1.0)
    with pytest.raises(DataError, match="must be finite"):
        stated(known, {"m_1": np.nan}, 1.0)
    with pytest.raises(DataError, match="must have 30 columns, got 3"):
        informed(known, [MeasuredConstraint(np.ones((1, 3)), np.ones(1), np.eye(1), "")])


def random_body(rng: np.random.Generator, name: str) -> Body:
    e = rng.normal(size=4)
    R = matrix_from_quaternion(e / np.linalg.norm(e))
    rows = tuple(tuple(map(float, row)) for row in R)
    return Body(name, Frame(tuple(map(float, rng.normal(size=3))), rows))


def test_mirror_matrix_mirrors_point_masses() -> None:
    rng = np.random.default_rng(5)
    left, right = random_body(rng, "left"), random_body(rng, "right")
    plane = Plane((1.0, 2.0, -0.5), (0.3, 0.1, 0.2))
    m, r = rng.uniform(0.1, 1.0, 8), rng.normal(size=(8, 3))
    n = np.array(plane.normal) / np.linalg.norm(plane.normal)
    image = r - 2 * np.outer((r - np.array(plane.point)) @ n, n)

    def phi(body: Body, places: np.ndarray) -> np.ndarray:
        R, p = np.array(body.frame.rotation), np.array(body.frame.origin)
        local = np.hstack([(places - p) @ R, np.ones((8, 1))])
        return from_pseudo_inertia((local.T * m) @ local)

    S = mirror_matrix(left, right, plane)
    np.testing.assert_allclose(S @ phi(right, r), phi(left, image), atol=1e-12)
    # The image of the image is the body.
    np.testing.assert_allclose(mirror_matrix(right, left, plane) @ S, np.eye(10), atol=1e-12)


def test_pairs_of_a_suspension_are_found() -> None:
    mechanism = load("sla_suspension")
    pairs = mirrored_pairs(mechanism, Plane.across("x"))
    expected = {(b.name, b.name[:-2] + "_l") for b in mechanism.bodies if b.name.endswith("_r")}
    assert set(pairs) == expected
    # CAD values of the zoo are symmetric: facts say nothing new of the values.
    known = truth("sla_suspension")
    found = informed(known, symmetric(known, mechanism, Plane.across("x"), 0.01))
    size = np.sqrt(np.diag(known.covariance))
    assert np.abs((found.values - known.values) / size).max() < 1e-9
    assert np.all(np.diag(found.covariance) <= np.diag(known.covariance) * (1 + 1e-9))


def test_symmetry_joins_what_was_measured_on_one_side() -> None:
    mechanism, base = model("sla_suspension")
    known = truth("sla_suspension")
    measured = [
        weighed(known, "wheel_r", 22.0),
        *symmetric(known, mechanism, Plane.across("x"), pairs=[("wheel_r", "wheel_l")]),
    ]
    found = prior_from_cad(mechanism, base, cad_error=0.2, measured=measured)
    left = dict(known.bodies)["wheel_l"]
    assert found.values[left] == pytest.approx(22.0, rel=1e-9)


def test_bad_symmetry_is_refused() -> None:
    mechanism, _ = model("four_bar")
    known = truth("four_bar")
    with pytest.raises(DataError, match="no two bodies mirror"):
        symmetric(known, mechanism, Plane.across("x"))
    with pytest.raises(DataError, match="must be x, y or z, got up"):
        Plane.across("up")
    with pytest.raises(DataError, match="normal of the mirror plane"):
        mirror_matrix(mechanism.bodies[0], mechanism.bodies[1], Plane((0.0, 0.0, 0.0)))
    with pytest.raises(DataError, match="no body ground"):
        symmetric(known, mechanism, Plane.across("x"), pairs=[("bar_1", "ground")])
    with pytest.raises(DataError, match="two different bodies, got bar_1 twice"):
        symmetric(known, mechanism, Plane.across("x"), pairs=[("bar_1", "bar_1")])


def test_several_images_are_refused() -> None:
    mechanism = load("sla_suspension")
    joints = [
        replace(j, name=f"twin_{j.name}", body_b="twin")
        for j in mechanism.joints
        if j.body_b == "wheel_l"
    ]
    twins = replace(
        mechanism,
        bodies=(*mechanism.bodies, replace(mechanism.body("wheel_l"), name="twin")),
        joints=(*mechanism.joints, *joints),
    )
    assert joints
    with pytest.raises(DataError, match="wheel_r could be the mirror image of wheel_l or of twin"):
        mirrored_pairs(twins, Plane.across("x"))


def test_a_body_is_no_pair_with_itself() -> None:
    # A planar linkage is its own mirror image across its plane.
    mechanism = load("four_bar")
    joint = mechanism.joints[0]
    assert joint.frame_a.rotation[2][2] == pytest.approx(1.0)
    assert mirrored_pairs(mechanism, Plane.across("z")) == ()
