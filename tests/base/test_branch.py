"""Branches: what is shown of poses on them, and certificates whose states are on another one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.chains.draw import drawn_model

from mechid.base.analyse import base_parameters
from mechid.base.bounds import bounds, home_branch
from mechid.base.certificate import Certificate, certificate
from mechid.base.experiment import EVERYTHING, Experiment, random_states
from mechid.base.verify import verify
from mechid.errors import DataError, KinematicsError
from mechid.exact.field import field_rank
from mechid.exact.geometry import exact_geometry
from mechid.exact.stack import reference_poses
from mechid.kinematics.model import kinematic_model
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load, loads
from mechid.modelfile.zoo import zoo_path


def bars(
    points: dict[str, tuple[float, float]], chain: str, coordinates: tuple[str, ...] = ("A",)
) -> Mechanism:
    """Return a planar loop: ground, a bar from each point of `chain` to the next, ground."""
    names = ["ground", *(a + b for a, b in pairwise(chain)), "ground"]
    return build(
        name="bars",
        gravity=[0, -9.81, 0],
        points={name: [*at, 0] for name, at in points.items()},
        bodies={
            name: {"frame": {"origin": name[0], "x": {"from": name[0], "to": name[1]}, "y": "y"}}
            for name in names[1:-1]
        },
        joints={
            point: {"type": "revolute", "between": names[i : i + 2], "at": [*points[point], 0],
                    "axis": "z"}
            for i, point in enumerate(chain)
        },
        coordinates={f"q_{name}": {"joint": name} for name in coordinates},
    )  # fmt: skip


def folded(a: Any, b: Any, c: Any) -> tuple[float, float]:
    """Return the image of b in the line from a to c."""
    a, b, c = (np.array(x) for x in (a, b, c))
    u = (c - a) / np.linalg.norm(c - a)
    image = 2 * (a + u * (u @ (b - a))) - b
    return (float(image[0]), float(image[1]))


PLACES = {"A": (0.0, 0.0), "B": (0.1234, 0.3321), "C": (0.6234, 0.3321), "D": (0.5, 0.0)}
FIVE = {"A": (0.0, 0.0), "B": (0.11, 0.31), "C": (0.42, 0.53), "D": (0.7, 0.29), "E": (0.55, 0.0)}
OTHER_BRANCH = {
    "parallelogram": (
        bars(PLACES, "ABCD"),
        bars(PLACES | {"C": folded(PLACES["B"], PLACES["C"], PLACES["D"])}, "ABCD"),
        EVERYTHING,
    ),
    "five bars, one held": (
        bars(FIVE, "ABCDE", ("A", "E")),
        bars(FIVE | {"C": folded(FIVE["B"], FIVE["C"], FIVE["D"])}, "ABCDE", ("A", "E")),
        Experiment(hold=("q_E",)),
    ),
}


@cache
def forged(name: str) -> tuple[Certificate, Certificate]:
    """Return the certificate of a loop, and the same with all minors of the folded one."""
    right, wrong, experiment = OTHER_BRANCH[name]
    honest, other = (certificate(bounds(m, experiment, precision=192)) for m in (right, wrong))
    return honest, replace(other, model=honest.model)


@pytest.mark.parametrize("name", OTHER_BRANCH)
def test_states_of_another_branch_prove_nothing(name: str) -> None:
    honest, wrong = forged(name)
    assert verify(honest).valid
    for model in (None, OTHER_BRANCH[name][0]):
        found = verify(wrong, model=model)
        assert not found.valid
        assert not found.certified
        assert found.lower == 0
        assert any(note.startswith("state 1: the pose") for note in found.notes)
    assert verify(wrong, model=OTHER_BRANCH[name][1]).valid


@pytest.mark.parametrize("off", [1e-12, 3e-13])
def test_a_parallelogram_but_for_the_last_digits_has_no_proved_upper_bound(off: float) -> None:
    """It has the 8 of any planar loop, which no number of this precision shows."""
    nearly = bars(PLACES | {"D": (0.5 + off, 0.0)}, "ABCD")
    assert field_rank(nearly, nearby=True, primes=1).rank == 8
    found = bounds(nearly)
    assert not found.upper_proved
    assert not found.certified
    assert any("to within 1e-11" in words for words in found.open_questions)
    verdict = verify(certificate(found))
    assert verdict.valid
    assert verdict.proved == f"at least {found.lower} of 30 parameters can be identified"


def test_the_folded_parallelogram_shows_more() -> None:
    honest, wrong = forged("parallelogram")
    assert (honest.lower, honest.upper) == (3, 3)
    assert wrong.lower > 3


def test_poses_that_a_crank_comes_by_are_reached() -> None:
    mechanism = load("four_bar")
    branch, near = home_branch(exact_geometry(mechanism, "exact"))
    assert 0 < near <= 1
    motion = random_states(mechanism, EVERYTHING, 6, 5)
    assert np.ptp(motion.y) > 1.0
    x = reference_poses(branch.system.geometry, motion)
    for pose, y in zip(x, motion.y, strict=True):
        assert branch.reaches(pose, y)
    other = np.where(np.arange(x.shape[1]) % 7 > 2, -x[0], x[0])  # the same rotations
    assert branch.reaches(other, motion.y[0])


def guided_platform(legs: int) -> Mechanism:
    """The Stewart platform on a vertical guide, with some of its legs, which drive nothing."""
    text = zoo_path("stewart_platform").read_text("utf-8")
    guide = "{type: prismatic, between: [ground, platform], at: [0.02, -0.015, height], axis: z}"
    head, rest = text.split("    coordinates:\n", 1)
    use = rest[rest.index("use:") : rest.index("variants:")].splitlines()[: legs + 1]
    own = f"joints:\n  guide: {guide}\ncoordinates:\n  lift: {{joint: guide}}\n"
    return loads("\n".join([head.replace(", limits: [0.74, 0.92]", ""), own, *use, ""]))


def test_a_platform_of_one_freedom_is_certified() -> None:
    """Its forces are so alike that pivots need twice the usual digits."""
    mechanism = guided_platform(2)
    found = base_parameters(mechanism, certify=True)
    assert found.certified, found.bounds and found.bounds.open_questions
    assert found.chosen.rank == field_rank(mechanism, primes=1).rank


def test_a_reference_pose_close_to_a_singular_one_has_a_branch() -> None:
    """A random chain whose boxes are ten thousand times smaller than usual."""
    _, near = home_branch(exact_geometry(loads(drawn_model(3501, 7)), "exact"))
    assert 0 < near < 1e-4


def test_a_pose_where_branches_meet_belongs_to_none() -> None:
    flat = {"A": (0.0, 0.0), "B": (0.1, 0.0), "C": (0.5, 0.0), "D": (0.4, 0.0)}
    with pytest.raises(KinematicsError, match="the reference pose is singular"):
        home_branch(exact_geometry(bars(flat, "ABCD"), "exact"))


def test_sizes_and_lengths_are_checked_first() -> None:
    honest, _ = forged("parallelogram")
    state = honest.states[0]
    many: list[tuple[dict[str, Any], str]] = [
        ({"states": (state,) * 100_000}, "states, got 100000"),
        ({"dependent": honest.dependent[:1] * 100_000}, "dependent parameters, got 100000"),
        ({"columns": honest.columns[:1] * 100_000}, "columns, got 100000"),
        ({"rows": honest.rows[:1] * 100_000}, "rows, got 100000"),
    ]
    for change, words in many:
        with pytest.raises(DataError, match=f"a minor has at most [0-9]+ {words}"):
            verify(replace(honest, **change))
    pose = (*state.pose[:3], 0.0, 0.0, 0.0, 0.0, *state.pose[7:])
    with pytest.raises(DataError, match="state 1: Euler parameters must have length 1"):
        verify(replace(honest, states=(replace(state, pose=pose), *honest.states[1:])))


def test_home_is_where_the_model_is_assembled() -> None:
    mechanism = load("sla_suspension")
    branch, _ = home_branch(exact_geometry(mechanism, "exact"))
    np.testing.assert_array_equal(branch.y, kinematic_model(mechanism).home_y)
