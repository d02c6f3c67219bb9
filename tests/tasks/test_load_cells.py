"""Load cells: linear in the parameters, and Newton's law."""

from __future__ import annotations

import numpy as np
import pytest

import mechid
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.parameters import parameter_values
from mechid.dynamics.reactions import joint_reactions
from mechid.errors import DataError
from mechid.kinematics.motion import Motion
from mechid.tasks.load_cells import load_cells, sensor_rows


def moved(name: str, n: int = 7) -> Motion:
    return mechid.tour(mechid.load(name)).chosen(np.arange(0, 10 * n, 10))


def test_linear_in_the_parameters() -> None:
    motion = moved("sla_suspension")
    model = dynamic_model(motion.model.mechanism)
    rng = np.random.default_rng(0)
    phi = parameter_values(model) * (1 + 0.3 * rng.normal(size=len(model.columns)))
    found = sensor_rows(motion, ("force:G_r", "moment:E_l", "axial:tie_rod_r"))
    assert found.names[:4] == ("force:G_r.x", "force:G_r.y", "force:G_r.z", "moment:E_l.x")
    shown = found.W @ phi + found.known
    known = joint_reactions(motion, phi, inverse_dynamics(motion, phi).tau)
    at = {name: k for k, name in enumerate(known.joints)}
    np.testing.assert_allclose(shown[:, :3], known.force[:, at["G_r"]], rtol=1e-9, atol=1e-8)
    np.testing.assert_allclose(shown[:, 3:6], known.moment[:, at["E_l"]], rtol=1e-9, atol=1e-8)
    # Along the rod from H to J; H acts on the rod, which is its second body.
    bodies = motion.bodies()
    rod = [b.name for b in motion.model.mechanism.bodies].index("tie_rod_r")
    along = np.einsum("nij,j->ni", bodies.rotation[:, rod], [1.0, 0, 0])
    expected = np.sum(known.force[:, at["H_r"]] * along, axis=1)
    np.testing.assert_allclose(shown[:, 6], expected, rtol=1e-9, atol=1e-8)


def test_newton() -> None:
    """The pivot of a pendulum carries m (a - g)."""
    motion = moved("pendulum", 5)
    mechanism = motion.model.mechanism
    found = sensor_rows(motion, (f"force:{mechanism.joints[0].name}",))
    phi = parameter_values(dynamic_model(mechanism))
    cad = mechanism.bodies[0].inertia
    assert cad is not None
    b = motion.bodies()
    c = b.rotation[:, 0] @ np.array(cad.center)
    alpha, omega = b.alpha[:, 0], b.omega[:, 0]
    a = b.acceleration[:, 0] + np.cross(alpha, c) + np.cross(omega, np.cross(omega, c))
    expected = cad.mass * (a - np.array(mechanism.gravity))
    np.testing.assert_allclose(found.W @ phi + found.known, expected, atol=1e-9)


def test_which_there_are() -> None:
    known = load_cells(mechid.load("sla_suspension"))
    assert "axial:tie_rod_r" in known
    assert "axial:upright_r" not in known  # four joints
    assert "axial:strut_top_r" not in known  # two joints in one place
    with pytest.raises(DataError, match="there is no load cell force:Q"):
        sensor_rows(moved("sla_suspension"), ("force:Q",))


def test_open_reactions_are_refused() -> None:
    """A planar linkage of revolute joints: forces across its plane are not determined."""
    with pytest.raises(DataError, match="redundant constraints leave"):
        sensor_rows(moved("four_bar"), ("force:q1",))
    found = sensor_rows(moved("four_bar"), ("force:q1",), skip_open=True)
    assert found.W.shape[1:] == (0, 30)
