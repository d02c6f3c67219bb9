"""The tour: smooth, from rest to rest, within the limits, and as large as it can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mechid.kinematics.model import kinematic_model
from mechid.kinematics.start import start_of
from mechid.mechanism.records import Limit, Start
from mechid.modelfile import load, zoo
from mechid.tables import limit_notes
from mechid.view import tour
from mechid.view.time_histories import Reach, smooth_step, sweep, swing


@pytest.mark.parametrize("name", [entry.name for entry in zoo()])
def test_every_model_is_shown_whole(name: str) -> None:
    model = kinematic_model(load(name))
    motion = tour(model)
    assert motion.time is not None
    assert limit_notes(motion) == ()
    start = start_of(model)
    assert motion.y[0] == pytest.approx(start)
    turns = (motion.y[-1] - start) / (2 * np.pi)
    assert turns == pytest.approx(np.round(turns), abs=1e-12)
    for rate in (motion.yd, motion.ydd):
        assert np.abs(rate[[0, -1]]).max() < 1e-9
    # Every coordinate moves, and first by itself.
    moves = np.abs(motion.yd) > 1e-9
    assert moves.any(axis=0).all()
    assert (moves.sum(axis=1) == 1).any()
    if model.n_independent > 1:
        assert moves.all(axis=1).any()
    # Positions, speeds and accelerations belong together (Hermite's rule between two samples).
    h = motion.time[1] - motion.time[0]
    y, yd, ydd = motion.y, motion.yd, motion.ydd
    steps = h / 2 * (yd[1:] + yd[:-1]) - h**2 / 12 * (ydd[1:] - ydd[:-1])
    assert np.abs((np.diff(y, axis=0) - steps) / np.ptp(y, axis=0)).max() < 1e-4


def test_wheels_and_cranks_turn_fully() -> None:
    motion = tour(load("sla_suspension"))
    names = [c.name for c in motion.model.mechanism.coordinates]
    assert np.ptp(motion.y[:, names.index("spin_r")]) == pytest.approx(4 * np.pi)
    assert np.ptp(tour(load("slider_crank")).y) == pytest.approx(2 * np.pi)


def test_what_cannot_be_reached_is_halved() -> None:
    bricard = load("bricard")
    q1 = bricard.joints[0]
    wide = replace(bricard, joints=(replace(q1, limits=()), *bricard.joints[1:]))
    # A full turn is impossible, half a turn to both sides too; a quarter from 60 degrees is not.
    assert np.ptp(tour(wide).y) == pytest.approx(np.pi / 2)


def test_limits_of_driven_joints_are_used() -> None:
    motion = tour(load("five_bar"))
    assert motion.y.max() == pytest.approx(0.9 * 0.6, rel=1e-3)
    assert motion.y.min() == pytest.approx(-0.9 * 0.6, rel=1e-3)


def test_one_sided_limits_and_starts_at_a_limit() -> None:
    pendulum = load("pendulum")
    joint = replace(pendulum.joints[0], limits=(Limit(None, 0.2),))
    there = replace(pendulum, joints=(joint,), start=Start(positions=(("angle", 0.2),)))
    motion = tour(there)
    assert motion.y.max() == pytest.approx(0.2)
    assert motion.y.min() == pytest.approx(0.2 - 0.35, abs=1e-3)
    # Outside its limits from the start, the mechanism is still shown.
    beyond = replace(there, start=Start(positions=(("angle", 0.5),)))
    assert np.ptp(tour(beyond).y) > 0


def test_time_histories_have_their_derivatives() -> None:
    histories = [
        sweep(Reach(0.3, 0.1), 4000.0),
        sweep(Reach(turn=2 * np.pi), 4000.0),
        swing(Reach(0.3, 0.2), 3, 2.0, 4000.0),
        swing(Reach(0.3, 0.02), 2, 2.0, 4000.0),
        swing(Reach(0.02, 0.3), 1, 2.0, 4000.0),
        swing(Reach(turn=2 * np.pi), 1, 2.0, 4000.0),
    ]
    for history in histories:
        h = 1 / 4000.0
        speed = (history.y[2:] - history.y[:-2]) / (2 * h)
        bend = (history.yd[2:] - history.yd[:-2]) / (2 * h)
        assert speed == pytest.approx(history.yd[1:-1], abs=1e-4)
        assert bend == pytest.approx(history.ydd[1:-1], abs=0.1)
        assert np.abs(np.diff(history.ydd)).max() < 0.25
        for rate in (history.yd, history.ydd):
            assert np.abs(rate[[0, -1]]).max() < 1e-9


def test_time_histories_stay_within_their_reach() -> None:
    for reach in (Reach(0.3, 0.2), Reach(0.3, 0.02), Reach(0.02, 0.3), Reach(0.3, 0.0)):
        for history in (sweep(reach, 100.0), swing(reach, 3, 6.0, 100.0)):
            assert history.y.max() <= reach.up + 1e-12
            assert history.y.min() >= -reach.down - 1e-12
            assert np.ptp(history.y) > 0.2


def test_smooth_step_is_at_rest_at_both_ends() -> None:
    s, s1, s2 = smooth_step(np.array([0.0, 0.5, 1.0]))
    assert s.tolist() == [0.0, 0.5, 1.0]
    assert (s1[[0, 2]].tolist(), s2.tolist()) == ([0.0, 0.0], [0.0, 0.0, 0.0])
