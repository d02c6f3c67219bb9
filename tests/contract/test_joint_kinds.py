"""The table of joint kinds: every fact derived from the steps against poses written out by hand.

`joint_table.joint_pose` says where frame b stands; it knows nothing of steps. What a kind holds
must vanish in every such pose, and must be all that vanishes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from numpy.testing import assert_allclose

from mechid.errors import ModelError
from mechid.kinematics.compile import STILL
from mechid.kinematics.coordinates import joint_coordinates
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointKind, Step, X, Y, Z
from mechid.mechanism.records import IDENTITY, Joint
from mechid.spatial.rotations import matrix_from_rpy

from ..property.generate import twists
from .joint_table import joint_pose, with_quaternion

Array = npt.NDArray[np.float64]
ROOT = Path(__file__).parents[2]
EPS = 1e-14
each_kind = pytest.mark.parametrize("name", list(JOINT_KINDS))


def joint_of(name: str) -> Joint:
    pitch = 0.3 if JOINT_KINDS[name].thread else 0.0
    return Joint("J", name, "ground", "body", IDENTITY, IDENTITY, pitch=pitch)


def poses(name: str, n: int = 20) -> tuple[Array, Array, Array]:
    """Coordinates, rotations and translations of frame b in frame a, at random."""
    rng = np.random.default_rng(list(JOINT_KINDS).index(name))
    scalars = rng.uniform(-1.2, 1.2, (n, JOINT_KINDS[name].n_speeds))
    c = with_quaternion(joint_of(name), scalars)
    return c, *joint_pose(joint_of(name), c)


@each_kind
def test_coordinates_say_the_pose(name: str) -> None:
    c, R, t = poses(name)
    assert joint_coordinates(joint_of(name), R, t) == pytest.approx(c, abs=EPS)
    kind = JOINT_KINDS[name]
    assert c.shape[1] == len(kind.coordinates) == len(kind.units)
    assert len(kind.choices) == len(kind.choice_units) == kind.n_speeds


@each_kind
def test_what_is_held_is_all_that_vanishes(name: str) -> None:
    kind, (c, R, t) = JOINT_KINDS[name], poses(name)
    lead = joint_of(name).pitch / (2 * np.pi)
    for k in (X, Y, Z):
        moves = np.abs(t[:, k]).max() > 0.01
        assert moves == (k not in kind.held_axes), k
        assert (np.abs(R[:, k, k] - 1).max() < EPS) == (k in kind.aligned), k
    assert all(np.abs(R[:, i, j]).max() < EPS for i, j in kind.held_pairs)
    assert kind.holds_point == (np.abs(t).max() < EPS)
    if kind.thread:
        assert t[:, Z] == pytest.approx(lead * c[:, 0])
    if kind.line is not None:
        assert np.abs(np.delete(t, kind.line, axis=1)).max() < EPS
    if kind.normal is not None:
        assert np.abs(t[:, kind.normal]).max() < EPS


@each_kind
def test_constraints_and_motion_are_complementary(name: str) -> None:
    """Rows of what is held vanish along the motion; together they are all six directions."""
    kind, joint = JOINT_KINDS[name], joint_of(name)
    c, R, t = poses(name, 1)
    motion = twists(joint, STILL, c[0])  # ω, and v of the point of b at the origin of a
    e, rows = np.eye(3), []
    for k in kind.held_axes:  # d/dt of t_k = e_k · (v + ω × t)
        rows.append(np.concatenate([np.cross(t[0], e[k]), e[k]]))
    for i, j in kind.held_pairs:  # d/dt of e_i · R e_j = e_i · ω × R e_j
        rows.append(np.concatenate([np.cross(R[0][:, j], e[i]), np.zeros(3)]))
    if kind.thread:
        rows.append(np.concatenate([-joint.pitch / (2 * np.pi) * e[Z], e[Z]]))
    held = np.array(rows).reshape(-1, 6)
    assert len(held) == kind.n_constraints
    assert np.abs(held @ motion).max(initial=0.0) < 1e-10
    assert np.linalg.matrix_rank(motion, tol=1e-6) == kind.n_speeds
    assert np.linalg.matrix_rank(np.vstack([held, motion.T]), tol=1e-6) == 6


@each_kind
def test_axes_that_mean_something(name: str) -> None:
    """Turning a frame about its only axis that means something changes coordinates, not freedom."""
    kind, (_, R, t) = JOINT_KINDS[name], poses(name)
    for side in (0, 1):
        if len(kind.axes[side]) > 1 or kind.thread:  # on a thread the angle starts elsewhere
            continue
        # Without an axis any turn will do; a joint without turns needs it on both sides.
        rpy = np.zeros(3)
        rpy[list(kind.axes[side]) or [X, Y, Z]] = 0.7
        turn = matrix_from_rpy(rpy)
        R2, t2 = (turn @ R, t @ turn.T) if side == 0 else (R @ turn, t)
        if kind.n_turns == 0:
            R2, t2 = turn @ R @ turn.T, t @ turn.T
        c = joint_coordinates(joint_of(name), R2, t2)
        back_R, back_t = joint_pose(joint_of(name), c)
        assert back_R == pytest.approx(R2, abs=1e-13)
        assert back_t == pytest.approx(t2, abs=1e-13)


@each_kind
def test_mirroring(name: str) -> None:
    """Both frames map by -S if the joint turns, else by S with y reversed (NOTATION.md)."""
    kind, (c, R, t) = JOINT_KINDS[name], poses(name)
    if kind.thread or kind.holds_nothing:  # the pitch is reversed; body frames are taken instead
        return
    F = np.diag([1.0, -1.0, 1.0]) if kind.n_turns == 0 else -np.eye(3)
    image = c.copy()
    image[:, list(kind.reversed)] *= -1
    R2, t2 = joint_pose(joint_of(name), image)
    assert_allclose(R2, F @ R @ F, atol=EPS)
    assert_allclose(t2, t @ F, atol=EPS)


@each_kind
def test_one_freedom(name: str) -> None:
    kind, (_, R, t) = JOINT_KINDS[name], poses(name)
    turned, moved = np.abs(R - np.eye(3)).max() > 0.01, np.abs(t).max() > 0.01
    one = kind.n_speeds == 1
    assert kind.hinge == (one and turned and not moved)
    assert kind.guide == (one and moved and not turned)
    assert kind.thread == (one and moved and turned)
    on_axis = np.abs(t[:, :2]).max() < EPS and np.abs(R[:, 2, 2] - 1).max() < EPS
    assert kind.axle == (on_axis and turned)


def test_letters_and_pages() -> None:
    """Letters differ; the page that lists the kinds lists all of them, as they are."""
    letters = [kind.letter for kind in JOINT_KINDS.values()]
    assert len(set(letters)) == len(letters)
    page = (ROOT / "docs/reference/conventions.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (\w+) (\| \w \|.*)$", page, re.MULTILINE))
    assert [*rows] == [*JOINT_KINDS]
    for name, kind in JOINT_KINDS.items():
        _, letter, coordinates, _, keys, constraints, _ = (x.strip() for x in rows[name].split("|"))
        assert (letter, constraints) == (kind.letter, str(kind.n_constraints)), name
        words = re.findall(r"\w+", coordinates)
        assert [w for w in words if w in kind.coordinates] == [*kind.coordinates], name
        assert tuple(re.findall(r"`(\w+)`", keys)) == kind.needs, name


def test_nothing_asks_for_the_name_of_a_kind() -> None:
    """Stages use properties of the table; comparing names would need an edit for every new kind."""
    compared = re.compile(r"""\.type (?:==|!=|(?:not )?in) \(?["']|match \w+\.type""")
    for path in (ROOT / "src").rglob("*.py"):
        found = compared.search(path.read_text(encoding="utf-8"))
        assert not found, f"{path.name}: {found and found.group()}"


def test_unknown_kinds_are_refused() -> None:
    with pytest.raises(ModelError, match=r"unknown joint type 'rubber'.*choose one of: revolute"):
        replace(joint_of("revolute"), type="rubber")


@pytest.mark.parametrize(
    ("steps", "rule"),
    [
        ((Step("turn", X, ("angle",)),), "turns must be z"),
        ((Step("turn", Z, ("a",)), Step("turn", Y, ("b",), 1)), "turns must be z"),
        ((Step("turn", Z, ("a",)), Step("turn", X, ("b",))), "the second in b"),
        ((Step("turn", Z, ("a",)), Step("slide", X, ("x",))), "must come before turns"),
        ((Step("ball", Z, ("w", "x", "y", "z")), Step("slide", Z, ("d",))), "must be the last"),
        ((Step("screw", Z, ("a",)), Step("slide", Z, ("z",))), "must be the only step"),
    ],
)
def test_steps_against_the_conventions(steps: tuple[Step, ...], rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        JointKind("?", steps, (), "")
