"""States of an experiment: the whole range that limits allow, and no other branch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.base.bounds import bounds
from mechid.base.experiment import EVERYTHING, Experiment, _range, checked, random_states
from mechid.base.unseen import unseen
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.kinematics.joint_limits import outside_limits
from mechid.kinematics.joints import joint_motion
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.records import Limit, Mechanism
from mechid.modelfile import load, loads

from ..exact.test_construct import linkage

FRICTION = """
mechid: 1
name: rubbing
include: four_bar
elements:
  f1: {type: friction, joint: q1, coulomb: {identify: true}}
  f2: {type: friction, joint: q2, coulomb: {identify: true}}
  f3: {type: friction, joint: q3, coulomb: {identify: true}}
  f4: {type: friction, joint: q4, coulomb: {identify: true}}
"""


def limited(mechanism: Mechanism, joint: str, limit: Limit) -> Mechanism:
    joints = tuple(replace(j, limits=(limit,)) if j.name == joint else j for j in mechanism.joints)
    return replace(mechanism, joints=joints)


@pytest.mark.slow
def test_friction_shows_where_speeds_change_their_sign() -> None:
    """The four speeds add up to zero: four friction torques are independent only if signs change.

    The crank turns round, and the rocker turns back at its two dead centres.
    """
    mechanism = loads(FRICTION)
    whole = bounds(mechanism, precision=192)
    assert whole.lower == whole.upper == 8 + 4
    few = bounds(limited(mechanism, "q1", Limit(0.7, 0.9)), precision=192)
    assert few.lower == 8 + 3


@pytest.mark.parametrize("static", [True, False])
def test_speeds_and_accelerations_have_both_signs_alike(static: bool) -> None:
    """Up to 10 and 50 times the 0.35 rad that states are near home; none where nothing moves."""
    states = random_states(load("four_bar"), Experiment(static=static), 200, wide=False)
    for x, most in ((states.yd, 3.5), (states.ydd, 17.5)):
        part = 0.0 if static else 0.95
        assert -most <= x.min() <= -part * most
        assert part * most <= x.max() <= most
        assert not static or not x.any()


def test_range_is_covered() -> None:
    y = random_states(load("four_bar"), EVERYTHING, 100).y[:, 0] - 0.785
    assert y.min() < -2.5
    assert y.max() > 2.5
    near = random_states(load("four_bar"), EVERYTHING, 100, wide=False).y[:, 0] - 0.785
    assert np.abs(near).max() <= 0.35
    assert np.abs(y[0::2]).max() <= 0.35  # every second state is near home, the others are not
    assert np.median(np.abs(y[1::2])) > 0.35


@pytest.mark.parametrize("joint", ["q1", "q3"])
def test_limits_of_any_joint_are_kept(joint: str) -> None:
    """q1 is the coordinate itself, q3 depends on it."""
    home = {"q1": 0.785, "q3": 1.2500809674052349}[joint]
    mechanism = limited(load("four_bar"), joint, Limit(home - 0.1, home + 0.05))
    states = random_states(mechanism, EVERYTHING, 40)
    values = joint_motion(states, joint).coordinates[:, 0]
    assert home - 0.1 - 1e-9 <= values.min()
    assert values.max() <= home + 0.05 + 1e-9
    assert np.ptp(values) > 0.1
    assert not outside_limits(states).any()


@pytest.mark.parametrize(
    ("limit", "wanted"),
    [
        (Limit(None, None), (-np.pi, np.pi)),
        (Limit(-0.2, None), (-0.2, np.pi)),
        (Limit(None, 0.3), (-np.pi, 0.3)),
        (Limit(-0.2, 0.3), (-0.2, 0.3)),
    ],
)
def test_range_of_a_turn(limit: Limit, wanted: tuple[float, float]) -> None:
    """Half a turn to each side of home, at 0, where there is no limit."""
    mechanism = load("pendulum")
    model = kinematic_model(limited(mechanism, mechanism.joints[0].name, limit))
    found = np.array(_range(model))[:, 0]
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_what_is_measured() -> None:
    mechanism = load("five_bar")
    forces = {c.force: c.name for c in mechanism.coordinates}
    for force, name in forces.items():
        assert checked(Experiment(measure=(force,)), mechanism).measure == (name,)
    with pytest.raises(MechidError, match="there is no force F to measure"):
        checked(Experiment(measure=("F",)), mechanism)
    with pytest.raises(MechidError, match="at least one force must be measured"):
        checked(Experiment(measure=()), mechanism)
    with pytest.raises(MechidError, match="no independent coordinate F to hold"):
        checked(Experiment(hold=("F",)), mechanism)


def test_no_state_within_the_limits() -> None:
    mechanism = limited(load("four_bar"), "q3", Limit(3.0, 3.1))
    with pytest.raises(MechidError, match="within the limits of its joints"):
        random_states(mechanism, EVERYTHING, 4)


def test_states_stay_on_the_branch() -> None:
    """In a parallelogram the cranks stay parallel; behind its flat poses lies the crossed one."""
    states = random_states(linkage(crossed=False), Experiment(), 60)
    rotation = states.bodies().rotation
    same = [np.einsum("nij,nkj->nik", rotation[:, 0], rotation[:, i]) for i in range(1, 3)]
    turn = [np.arctan2(R[:, 1, 0], R[:, 0, 0]) for R in same]
    assert min(np.ptp(t) for t in turn) < 1e-9
    home = states.model.home_y
    assert np.all(np.sin(states.y - home + 0.785398) > 0) or np.ptp(states.y) < np.pi


def test_motion_and_what_is_held_exclude_each_other() -> None:
    mechanism = load("five_bar")
    motion = solve_motion(mechanism, random_states(mechanism, EVERYTHING, 3, wide=False).y,
                          ordered=False)  # fmt: skip
    for experiment in (Experiment(static=True), Experiment(hold=(mechanism.coordinates[0].name,))):
        with pytest.raises(MechidError, match="a motion cannot be combined"):
            bounds(mechanism, experiment, motion=motion)


# --------------------------------------------------------------------------- restricted


@pytest.mark.parametrize(
    "spec", ["puma560", "five_bar", "screw_press", "double_wishbone", "n_pendulum", "tx40"]
)
def test_what_is_said_to_be_unseen_has_no_column(spec: str) -> None:
    mechanism = load(spec)
    first, last = mechanism.coordinates[0].name, mechanism.coordinates[-1].name
    for given in (
        Experiment(static=True),
        Experiment(hold=(first,)),
        Experiment(measure=(last,)),
        Experiment(hold=(first,), measure=(last,)),
    ):
        experiment = checked(given, mechanism)
        states = random_states(mechanism, experiment, 20)
        seen = observation_matrix(states)
        names = [c.name for c in mechanism.coordinates]
        rows = [names.index(n) for n in experiment.measure or names]
        place = {c.name: i for i, c in enumerate(seen.columns)}
        for transfer in unseen(mechanism, experiment):
            ((name, _),) = transfer.entries
            column = np.abs(seen.W[:, rows][:, :, place[name]])
            assert column.max() <= 1e-12 * max(1.0, float(np.abs(seen.W).max()))


@pytest.mark.parametrize("held", ["s1", "s2"])
def test_coordinates_that_are_no_joint_move_bodies(held: str) -> None:
    """Distances of the tool of a five-bar: with either one held, the other moves every body."""
    mechanism = load("five_bar@distances")
    assert unseen(mechanism, checked(Experiment(hold=(held,)), mechanism)) == ()


def test_an_arm_at_rest_is_certified() -> None:
    """Statics of the robot: weights of six bodies, of which the first never moves up or down."""
    found = bounds(load("puma560"), Experiment(static=True), precision=192)
    assert found.certified
    assert found.upper == found.lower == 10
    last = bounds(load("puma560@bare"), Experiment(measure=("tau6",)), precision=192)
    assert last.upper == last.lower
