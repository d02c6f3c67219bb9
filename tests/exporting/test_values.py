"""Values put into a mechanism, and what becomes of their uncertainty."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.regressor import cad_parameters
from mechid.exporting.values import central_root, with_values
from mechid.modelfile import load
from mechid.spatial.inertia import central

from ..contract.states import SPECS


@pytest.mark.parametrize("spec", [s for s in SPECS if "@" not in s or "spring" in s])
def test_the_mechanism_has_the_values(spec: str) -> None:
    """Its CAD parameters are those that were put in, products of two values included."""
    mechanism = load(spec)
    rng = np.random.default_rng(2)
    phi = cad_parameters(dynamic_model(mechanism))
    bodies = phi[: 10 * len(mechanism.bodies)].reshape(-1, 10)
    bodies *= rng.uniform(0.5, 2, (len(bodies), 1))
    phi[bodies.size :] *= rng.uniform(0.5, 2, len(phi) - bodies.size)
    found = cad_parameters(dynamic_model(with_values(mechanism, phi)))
    assert found == pytest.approx(phi, rel=1e-12, abs=1e-15)


def test_product_of_two_values() -> None:
    """The preload k·s0 of a spring whose stiffness and free angle are identified."""
    from mechid.modelfile import build

    words = {"value": 30.0, "identify": True}, {"value": 0.2, "identify": True}
    mechanism = build(
        name="disc",
        gravity=[0, 0, -9.81],
        bodies={"disc": {"mass": 2.0, "inertia": {"xx": 0.01, "yy": 0.01, "zz": 0.02}}},
        joints={"axle": {"type": "revolute", "between": ["ground", "disc"], "axis": "z",
                         "at": [0, 0, 0]}},
        coordinates={"angle": {"joint": "axle", "force": "M"}},
        elements={"coil": {"type": "torsion_spring", "joint": "axle", "stiffness": words[0],
                           "free_angle": words[1]}},
    )  # fmt: skip
    model = dynamic_model(mechanism)
    names = [column.name for column in model.columns]
    phi = cad_parameters(model)
    phi[names.index("k_coil")], phi[names.index("preload_coil")] = 40.0, 10.0
    coil = with_values(mechanism, phi).elements[0]
    assert coil["stiffness"].value == 40.0
    assert coil["free_angle"].value == pytest.approx(0.25)


def test_uncertainty_of_mass_centre_and_central_inertia() -> None:
    """Central differences of `central`."""
    mechanism = load("sla_suspension")
    phi = cad_parameters(dynamic_model(mechanism))[:10]
    cad = with_values(mechanism, cad_parameters(dynamic_model(mechanism))).bodies[0].inertia
    assert cad is not None

    def numbers(x: np.ndarray) -> np.ndarray:
        mass, center, six = central(x)
        return np.array([mass, *center, *six])

    h = 1e-6
    want = np.array([(numbers(phi + h * e) - numbers(phi - h * e)) / (2 * h) for e in np.eye(10)]).T
    assert central_root(cad, np.eye(10)) == pytest.approx(want, abs=1e-7)
