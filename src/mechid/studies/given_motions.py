"""Motions as study files write them: designed, drawn at random, given as expressions, or a file.

- options of `mechid.excite`, such as {criterion: condition, harmonics: 5}; `base: own` designs for
  the base set of the cell, {random: 1, starts: 0, seed: 3} is a random motion;
- {departures: {z: "0.02*sin(2*pi*t)"}}: departures from the home pose as expressions of t;
  coordinates that are not named rest;
- {states: 3}: random states, each for itself, of independent speeds and accelerations; 3 is a seed;
- {file: …}: a trajectory file.

`scale`, next to these, multiplies all departures from the home pose.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from mechid.base.experiment import EVERYTHING, NO_GRAVITY, checked, random_states
from mechid.errors import DataError
from mechid.excitation.families import Constant, Family
from mechid.excitation.families.sums import Sum
from mechid.excitation.trajectory import Trajectory, of_mechanism, sample
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import Motion, solve_motion
from mechid.mechanism.records import Mechanism
from mechid.studies.experiments.shared import designed, mechanism, words_key
from mechid.trajectoryfile import Expression

GivenMotion: TypeAlias = Mapping[str, Any]
_OWN = "own"  # the base set of the cell


@lru_cache(maxsize=8)
def studied(model: str, gravity: bool = True) -> Mechanism:
    """Return a mechanism by name or file, on request without weight."""
    found = mechanism(model)
    return found if gravity else replace(found, gravity=NO_GRAVITY)


def solved(
    model: str, motion: GivenMotion, *, gravity: bool, base: str, rate: float, seconds: float
) -> Motion:
    """Return the solved samples of a motion.

    Parameters
    ----------
    model : str
        Name or file.
    motion : mapping
        As above.
    gravity : bool
        Whether there is weight.
    base : str
        Base set of the cell.
    rate, seconds : float
        Samples per second (Hz), and how long (s).

    Raises
    ------
    MechidError
        For a motion that is written wrongly or cannot be performed.
    """
    return _solved(model, words_key(for_base(motion, base)), gravity, rate, seconds)


def for_base(motion: GivenMotion, base: str) -> GivenMotion:
    """Return a motion that names the base set for which it is designed."""
    return {**motion, "base": base} if motion.get("base") == _OWN else motion


@lru_cache(maxsize=32)
def _solved(model: str, motion: str, gravity: bool, rate: float, seconds: float) -> Motion:
    ready = studied(model, gravity)
    words = json.loads(motion)
    scale = float(words.pop("scale", 1.0))
    n = round(rate * seconds)
    if n < 1:
        raise DataError(
            f"{rate:g} Hz for {seconds:g} s makes no sample", remedy="raise rate or seconds"
        )
    if "states" in words:
        return random_states(ready, checked(EVERYTHING, ready), n, int(words["states"]))
    if "departures" in words:
        found = _departures(ready, words["departures"], seconds)
    else:
        found = designed(model, words_key(words))
    s = sample(found, times=np.arange(n) / rate)
    home = kinematic_model(ready).home_y
    y = home + scale * (s.y - home)
    return solve_motion(ready, y, scale * s.yd, scale * s.ydd, time=s.time)


def _departures(of: Mechanism, words: Mapping[str, Any], seconds: float) -> Trajectory:
    home = kinematic_model(of).home_y.tolist()
    names = [c.name for c in of.coordinates]
    families: dict[str, Family] = {n: Constant(x) for n, x in zip(names, home, strict=True)}
    for name, text in words.items():
        moved = Expression(str(text))
        families[name] = Sum((families[name], moved)) if name in families else moved
    return of_mechanism(Trajectory.of(families, seconds), of)
