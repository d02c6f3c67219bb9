"""Base sets with dependencies that no transfer explains."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from mechid.base.analyse import base_parameters
from mechid.base.choose import as_listed
from mechid.base.complete import complete_base, listed_base
from mechid.base.experiment import EVERYTHING, random_states
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.mechanism.altered import with_joints_moved
from mechid.mechanism.records import Mechanism
from mechid.modelfile import dumps, load, loads

from .test_quick import bennett


@pytest.mark.parametrize(
    ("mechanism", "left", "rank"),
    [
        # A spring that cannot be told from a weight; 40 by prime fields.
        (load("macpherson"), 41, 40),
        (load("bricard@cube"), 22, 19),
        (bennett(), 8, 7),
    ],
    ids=["macpherson", "bricard@cube", "bennett"],
)
def test_dependencies_that_no_transfer_explains(mechanism: Mechanism, left: int, rank: int) -> None:
    """No force of random states changes if parameters are replaced by base parameters."""
    found, by_transfers = complete_base(mechanism), base_parameters(mechanism).chosen
    assert (by_transfers.rank, found.rank) == (left, rank)
    W = observation_matrix(random_states(mechanism, EVERYTHING, 100, seed=3)).W
    W = W.reshape(-1, W.shape[-1])
    own = [found.null_space.names.index(name) for name in found.base]
    phi = np.random.default_rng(0).standard_normal(W.shape[1])
    # What a set has of massless bodies is zero.
    phi[[found.null_space.names.index(name) for name in found.null_space.zeros]] = 0.0
    forces = W @ phi
    np.testing.assert_allclose(
        W[:, own] @ (found.matrix @ phi), forces, atol=1e-9 * np.abs(forces).max()
    )
    # Runs keep the names of dependent parameters, those of earlier versions fewer.
    for one in (found, by_transfers):
        assert listed_base(mechanism, one.dependent, one.base).base == one.base
        # A list of the user, too.
        assert complete_base(mechanism, partial(as_listed, names=one.dependent)).base == one.base


@pytest.mark.parametrize(
    "element",
    [
        "friction, coulomb: {identify: true}, stribeck: {identify: true}, stribeck_speed: 0.001",
        "friction, coulomb: {identify: true}, smoothing: 1e-5",
        "piecewise_spring_damper, damping: [U, U, U, U], speed_knots: [-50, 0, 50]",
        "piecewise_spring_damper, stiffness: [U, U, U, U], knots: [-3.3, 0, 3.3], free: 0",
    ],
)
def test_what_random_states_do_not_reach(element: str) -> None:
    """Faster or slower motions show it."""
    element = element.replace("U", "{identify: true}")
    more = f"elements: {{a: {{type: {element}, joint: hinge}}}}\n"
    pendulum = loads(dumps(load("pendulum")) + more)
    assert complete_base(pendulum).base == base_parameters(pendulum).chosen.base


def test_nothing_to_add() -> None:
    """Columns of the suspension are independent, if only by 1e-11: prime fields show it."""
    for name in ("five_bar", "sla_suspension"):
        assert complete_base(load(name)).dependent == base_parameters(name).chosen.dependent


def test_a_list_that_is_no_choice() -> None:
    with pytest.raises(MechidError, match="has rank"):
        listed_base(load("five_bar"), ["m_1"])


# Displacements (m) that an identification of exact data found: parts of them are near to the zero
# of exact geometry, so that no rule can tell a set.
NEXT_TO_NOTHING = {
    "q1": (-4.3882416811882653e-07, -7.158650403186312e-07, 0.0),
    "q2": (-1.674596856654325e-07, 3.026679184619274e-12, 6.731894940948325e-07),
    "q3": (-9.85594082583794e-08, 3.692321465889469e-12, 5.526787388954181e-07),
}


def test_the_set_of_a_geometry_that_was_moved_by_next_to_nothing() -> None:
    puma = load("puma560@bare")
    moved, before = with_joints_moved(puma, NEXT_TO_NOTHING), base_parameters(puma).chosen
    with pytest.raises(MechidError):
        base_parameters(moved)
    found = listed_base(moved, before.dependent, before.base)
    assert (found.base, found.dependent) == (before.base, before.dependent)
    np.testing.assert_allclose(found.matrix, before.matrix, atol=1e-5)
    W = observation_matrix(random_states(moved, EVERYTHING, 50, seed=3)).W
    forces = np.random.default_rng(0).standard_normal(W.shape[-1])
    left = found.observation(W) @ found.values(forces) - W @ forces
    assert np.abs(left).max() < 1e-5 * np.abs(W @ forces).max()
    # Joints that are clearly elsewhere have sets of their own.
    far = with_joints_moved(puma, {"q1": (0.1, 0.05, 0.0)})
    with pytest.raises(MechidError, match="has rank"):
        listed_base(far, before.dependent, before.base)
