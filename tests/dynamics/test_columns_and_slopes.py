"""Small parts of the dynamics: units of elements, slopes of known forces, reactions that add up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.dynamics.columns import element_terms
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.reference_point.observation import observation_matrix_reference
from mechid.dynamics.regressor import observe_path
from mechid.dynamics.sensitivities import observation_sensitivity
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Coefficient, Mechanism
from mechid.modelfile import loads

from ..elements import element
from .rich import RICH


def with_friction(**given: object) -> Mechanism:
    mechanism = loads(RICH)
    return replace(
        mechanism,
        elements=(*mechanism.elements, element("more", "friction", (), (("A", 0),), **given)),
    )


def test_units_of_angles_and_lengths() -> None:
    """Stiffness and damping of a line are per m, those of a turning joint per rad."""
    units = {t.column.name: t.column.unit for t in element_terms(loads(RICH))}
    assert units["k_spring"] == "N/m"
    assert units["c_spring"] == "N s/m"
    assert units["c_twist"] == "N m s/rad"
    assert units["viscous_rub"] == "N m s/rad"
    assert units["coulomb_rub"] == "N m"


def test_slopes_of_known_forces_behind_gears() -> None:
    """By finite differences, where loads of the model are rubbed off by friction, too."""
    mechanism = with_friction(load=0.2, smoothing=0.3)
    y, yd, ydd = np.array([[0.1], [0.2]]), np.array([[0.2], [-0.3]]), np.array([[1.0], [-2.0]])
    motion = solve_motion(mechanism, y, yd, ydd)
    for direction in range(3):
        W, known = observation_sensitivity(motion, direction)
        ends = []
        for step in (1e-6, -1e-6):
            there = [y, yd, ydd]
            there[direction] = there[direction] + step
            ends.append(observe_path(mechanism, *there, ordered=False))
        np.testing.assert_allclose(W, (ends[0].W - ends[1].W) / 2e-6, rtol=1e-5, atol=1e-6)
        slope = (ends[0].known - ends[1].known) / 2e-6
        np.testing.assert_allclose(known, slope, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("formulation", ["tree", "reference-point"])
def test_reactions_with_friction_that_remembers(formulation: str) -> None:
    """Those of a plain force with the same size at each sample: h = 1 - exp(-x/w) going up."""
    mechanism = with_friction(hysteresis=Coefficient(2.0), hysteresis_width=0.05)
    t = np.linspace(0, 0.4, 5)
    y, yd, ydd = t[:, None], np.ones((5, 1)), np.zeros((5, 1))
    found = inverse_dynamics(
        solve_motion(mechanism, y, yd, ydd, time=t), formulation=formulation, reactions=True
    )
    plain = inverse_dynamics(
        solve_motion(loads(RICH), y, yd, ydd, time=t), formulation=formulation, reactions=True
    )
    h = 1 - np.exp(-t / 0.05)
    np.testing.assert_allclose(found.tau, plain.tau + 2.0 * h[:, None], atol=1e-8)
    assert found.reactions is not None
    assert plain.reactions is not None
    # A drive and friction in the same hinge: bodies feel their sum, and joints nothing of it.
    for name in ("force", "moment"):
        a, b = getattr(found.reactions, name), getattr(plain.reactions, name)
        np.testing.assert_allclose(a, b, atol=1e-8)


def test_the_own_basis_of_a_method_has_no_friction_of_drives() -> None:
    """The same rows as without it, whatever their coordinates are."""
    mechanism, plain = with_friction(load=0.2), loads(RICH)
    motion = tuple(np.array([[x], [2 * x]]) for x in (0.1, 0.3, -0.4))
    found, want = (
        observation_matrix_reference(m, motion, "svd", own_basis=True) for m in (mechanism, plain)
    )
    np.testing.assert_allclose(found.W, want.W, atol=1e-10)
    np.testing.assert_allclose(found.known, want.known, atol=1e-10)
    declared = observation_matrix_reference(plain, motion, "svd")
    assert not np.allclose(found.W, declared.W)
