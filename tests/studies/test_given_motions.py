"""Motions as study files write them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechid.errors import MechidError
from mechid.kinematics.model import kinematic_model
from mechid.studies.given_motions import for_base, solved, studied

GIVEN: dict[str, Any] = {"gravity": True, "base": "", "rate": 20.0, "seconds": 1.0}


def test_departures_are_from_the_home_pose() -> None:
    motion = solved("five_bar", {"departures": {"q1": "0.1*sin(2*pi*t)"}}, **GIVEN)
    home = kinematic_model(studied("five_bar")).home_y
    t = np.arange(20) / 20
    assert motion.y[:, 0] == pytest.approx(home[0] + 0.1 * np.sin(2 * np.pi * t), abs=1e-15)
    assert motion.yd[:, 0] == pytest.approx(0.2 * np.pi * np.cos(2 * np.pi * t), abs=1e-14)
    assert np.all(motion.y[:, 1] == home[1])


def test_scale_multiplies_departures_and_rates() -> None:
    words = {"departures": {"q1": "0.1*sin(2*pi*t)", "q2": "0.2*t**2"}}
    once, half = (solved("five_bar", {**words, "scale": s}, **GIVEN) for s in (1.0, 0.5))
    home = kinematic_model(studied("five_bar")).home_y
    assert half.y - home == pytest.approx(0.5 * (once.y - home), abs=1e-15)
    assert half.ydd == pytest.approx(0.5 * once.ydd, abs=1e-12)


def test_options_of_excite_are_a_motion_and_seeds_differ() -> None:
    words = {"random": 1, "starts": 0, "harmonics": 2}
    one, again, other = (
        solved("five_bar", {**words, "seed": seed}, **GIVEN).y for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again)
    assert not np.allclose(one, other)


def test_a_motion_is_designed_for_the_base_set_of_the_cell() -> None:
    assert for_base({"base": "own", "random": 4}, "T3") == {"base": "T3", "random": 4}
    assert for_base({"base": "T1"}, "T3") == {"base": "T1"}


def test_random_states_have_no_time() -> None:
    motion = solved("five_bar", {"states": 1}, **GIVEN)
    assert motion.time is None
    assert len(motion.y) == 20


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ({"departures": {"q9": "t"}}, "q9"),
        ({"departures": {"q1": "0.1*sin("}}, "0.1"),
        ({"harmonix": 3}, "harmonix"),
        ({"file": "nowhere.yaml"}, "nowhere.yaml"),
    ],
)
def test_what_is_wrong_is_named(words: dict[str, Any], part: str) -> None:
    with pytest.raises(MechidError, match=part):
        solved("five_bar", words, **GIVEN)


def test_no_sample() -> None:
    with pytest.raises(MechidError, match="no sample"):
        solved("five_bar", {"states": 0}, **{**GIVEN, "seconds": 0.01})
