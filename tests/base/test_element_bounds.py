"""Base parameters with force elements: counted by hand, by balls, over prime fields."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mechid.base.bounds import bounds
from mechid.base.experiment import EVERYTHING, random_states
from mechid.base.nullspace import null_space
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.exact.field import field_rank
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build

U = {"identify": True}
BODY = {"mass": 1, "center": [0.2, 0, 0], "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}


def pendulum(**elements: Any) -> Mechanism:
    """Three base parameters of its own: a moment of inertia and two first moments."""
    return build(
        name="pendulum",
        points={"O": [0, 0, 0], "T": [0.5, 0, 0]},
        bodies={"b": BODY},
        joints={"J": {"type": "revolute", "between": ["ground", "b"], "at": "O", "axis": "y"}},
        elements=elements,
        coordinates={"q": {"joint": "J"}},
    )


def floating(**elements: Any) -> Mechanism:
    return build(
        name="floating",
        bodies={"b": BODY},
        joints={"J": {"type": "free", "between": ["ground", "b"]}},
        elements=elements,
        coordinates={"p": {"joint": "J"}},
    )


ON: dict[str, Any] = {"joint": "J"}
FORCE = {"type": "force", "body": "b", "at": "T", "direction": [0.6, 0, 0.8], "magnitude": U}
SPRING = {"type": "torsion_spring", **ON, "stiffness": U, "damping": U}
CASES = {
    # A force with a fixed direction is a weight: nothing new.
    "force": (pendulum(f=FORCE), 3),
    # Powers 1 and 2, a constant, two dampings; the spring beside is none of its own, nor the force.
    "polynomial": (
        pendulum(
            f={
                "type": "polynomial_spring_damper",
                **ON,
                "stiffness": [U, U],
                "free": 0.1,
                "preload": U,
                "damping": [U, U],
            },
            g={**SPRING, "free_angle": 0.3},
            h={"type": "joint_force", **ON, "force": U},
        ),
        3 + 5,
    ),
    # All slopes together are those of a spring and a damper with the same rest.
    "piecewise": (
        pendulum(
            f={
                "type": "piecewise_spring_damper",
                **ON,
                "stiffness": [U, U],
                "knots": [0.2],
                "free": 0.1,
                "damping": [U, U],
                "speed_knots": [0],
            },
            g={**SPRING, "free_angle": 0.1},
        ),
        3 + 4,
    ),
    # A spring that rests elsewhere differs by a constant force.
    "piecewise beside": (
        pendulum(
            f={
                "type": "piecewise_spring_damper",
                **ON,
                "stiffness": [U, U],
                "knots": [0.2],
                "free": 0.1,
            },
            g={**SPRING, "damping": 0, "free_angle": 0.4},
        ),
        3 + 3,
    ),
    "friction": (
        pendulum(
            f={
                "type": "friction",
                **ON,
                "viscous": U,
                "coulomb_positive": U,
                "coulomb_negative": U,
                "stribeck": U,
                "stribeck_speed": 0.5,
            },
            g={"type": "friction", **ON, "coulomb": U},
            h={"type": "friction", **ON, "hysteresis": U, "hysteresis_width": 0.01},
            i={"type": "friction", **ON, "hysteresis": U, "hysteresis_width": 0.03},
        ),
        3 + 4 + 2,
    ),
    "bushing": (
        floating(
            e={
                "type": "bushing",
                **ON,
                "stiffness": [U] * 6,
                "damping": [U] * 6,
                "preload": [U] * 6,
            }
        ),
        10 + 18,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_counts(name: str) -> None:
    mechanism, count = CASES[name]
    found = bounds(mechanism)
    assert (found.lower, found.upper) == (count, count)


@pytest.mark.parametrize("name", CASES)
def test_transfers_are_null_vectors(name: str) -> None:
    mechanism, count = CASES[name]
    null = null_space(mechanism)
    seen = observation_matrix(random_states(mechanism, EVERYTHING, 60, 3))
    W = seen.W.reshape(-1, len(seen.columns))
    size = np.linalg.norm(W, axis=0)
    place = {c.name: i for i, c in enumerate(seen.columns)}
    for transfer in null.transfers:
        entries = [(place[name], float(x)) for name, x in transfer.entries]
        left = sum(x * W[:, i] for i, x in entries)
        assert np.abs(left).max() <= 1e-12 * max(abs(x) * size[i] for i, x in entries)
    scaled = W[:, size > 0] / size[size > 0]
    assert np.linalg.matrix_rank(scaled, tol=1e-9) == count


def test_a_bushing_on_a_hinge_shows_one_turn_only() -> None:
    """Displacements and two turns have no effect, which no transfer says: the bounds stay apart."""
    bush = {"type": "bushing", **ON, "stiffness": [U] * 6, "damping": [U] * 6}
    found = bounds(pendulum(e=bush))
    assert (found.lower, found.upper) == (3 + 2, 3 + 12)


def test_prime_fields() -> None:
    """A bushing is algebraic, and so are powers of a displacement."""
    mechanism, count = CASES["bushing"]
    assert field_rank(mechanism, mechanism.gravity, seed=1).rank == count
    slide = build(
        name="slide",
        points={"O": [0, 0, 0]},
        bodies={"b": BODY},
        joints={"J": {"type": "prismatic", "between": ["ground", "b"], "at": "O", "axis": "x"}},
        elements={
            "e": {
                "type": "polynomial_spring_damper",
                **ON,
                "stiffness": [U, U, U],
                "free": 0,
                "preload": U,
                "damping": [U],
            }
        },
        coordinates={"x": {"joint": "J"}},
    )
    assert field_rank(slide, slide.gravity, seed=1).rank == 1 + 5


@pytest.mark.parametrize("name", ["polynomial", "piecewise", "friction", "force"])
def test_what_prime_fields_cannot_say_is_refused(name: str) -> None:
    mechanism, _ = CASES[name]
    with pytest.raises(MechidError, match="use ball arithmetic"):
        field_rank(replace(mechanism), mechanism.gravity, seed=1)
