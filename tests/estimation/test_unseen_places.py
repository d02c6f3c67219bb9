"""Joints that sit elsewhere in a body: what no motion shows, and what it does to parameters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.estimation.unseen import unseen_places
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Frame, Mechanism
from mechid.spatial.inertia import by_central, transform
from mechid.tasks.cad_prior import prior_from_cad
from mechid.tasks.stages import base_of

BODY, OFF = "coupler_1", np.array([0.011, 0.0, -0.007])


def elsewhere(mechanism: Mechanism) -> Mechanism:
    """Return the mechanism with all joints of a body moved in it."""

    def moved(frame: Frame, body: str) -> Frame:
        if body != BODY:
            return frame
        x, y, z = (np.array(frame.origin) + OFF).tolist()
        return replace(frame, origin=(x, y, z), origin_expr=None)

    joints = tuple(
        replace(j, frame_a=moved(j.frame_a, j.body_a), frame_b=moved(j.frame_b, j.body_b))
        for j in mechanism.joints
    )
    return replace(mechanism, joints=joints)


def test_forces_are_those_of_a_shifted_body() -> None:
    """Joints moved by d in a body, or the body by -d under its joints: the forces are equal."""
    mechanism = mechid.load("five_bar")
    tour = mechid.tour(mechanism)
    phi = parameter_values(dynamic_model(mechanism))
    first = 10 * [body.name for body in mechanism.bodies].index(BODY)
    own = slice(first, first + 10)
    shifted = phi.copy()
    shifted[own] = transform(phi[own], np.eye(3), -OFF)
    tau = [
        inverse_dynamics(solve_motion(m, tour.y, tour.yd, tour.ydd, time=tour.time), x).tau
        for m, x in ((elsewhere(mechanism), phi), (mechanism, shifted))
    ]
    np.testing.assert_allclose(tau[0], tau[1], atol=1e-9 * np.abs(tau[1]).max())
    change = by_central(phi[own])[:, 1:4] @ -OFF
    half = transform(phi[own], np.eye(3), -OFF / 2) - phi[own]
    # To first order that is the derivative by the centre; twice the half less the whole is not.
    second = shifted[own] - phi[own] - 2 * half
    np.testing.assert_allclose(shifted[own] - phi[own], change + 2 * second, atol=1e-12)


def test_the_body_and_the_parameter_that_are_named() -> None:
    """Only the standard deviation of mx of the second crank is small: m d = 0.65 kg d."""
    mechanism = mechid.load("five_bar")
    known = prior_from_cad(mechanism, base_of(mechanism), cad_error=0.2)
    sigma = np.full(len(known.base), 1.0)
    assert unseen_places(known, sigma) == ()
    name = "mx_2"
    sigma[known.base.index(name)] = 1e-5
    (found,) = unseen_places(known, sigma)
    (said,) = found.words(sigma)
    # Radius of gyration of crank_2 about its centre, from its moments in the model file.
    radius = np.sqrt(0.5 * (0.00033 + 0.00257 + 0.0024) / 0.65)
    assert f"{1e3 * 0.002 * radius:.2g} mm off their places in crank_2" in said
    assert f"shift {name} by {0.65 * 0.002 * radius / 1e-5:.2g} standard deviations" in said
