"""Transfers of single joints and of short chains against brute force in rational numbers."""

from __future__ import annotations

from random import Random

import pytest
from flint import fmpq, fmpq_mat

from mechid.base.transfers import transfers
from mechid.exact.geometry import exact_geometry
from mechid.mechanism.joint_kinds import JOINT_KINDS, JointType
from mechid.mechanism.records import Vec3
from mechid.spatial.inertia import NAMES

from .exact_energies import (
    Link,
    Matrix,
    chain_mechanism,
    energy_matrix,
    pose,
    rational,
)

KINDS: tuple[JointType, ...] = tuple(t for t, k in JOINT_KINDS.items() if not k.holds_nothing)
third = fmpq(1, 3)
# Axes that are rationals and lie along no axis of the bodies.
TILTED: Matrix = [
    [2 * third, -2 * third, third],
    [third, 2 * third, 2 * third],
    [-2 * third, -third, 2 * third],
]
OTHER: Matrix = [
    [fmpq(6, 7), fmpq(2, 7), fmpq(3, 7)],
    [fmpq(-3, 7), fmpq(6, 7), fmpq(2, 7)],
    [fmpq(-2, 7), fmpq(-3, 7), fmpq(6, 7)],
]
Z = [row[2] for row in TILTED]  # the axis in the ground, when TILTED is the frame there
GRAVITY: dict[str, Vec3] = {
    "general": (1.0, 2.0, -9.0),
    "parallel": (3.0, 6.0, 6.0),
    "normal": (2.0, -2.0, 1.0),
    "none": (0.0, 0.0, 0.0),
}


def check(links: list[Link], gravity: Vec3, complete: bool = True) -> None:
    """Every transfer is a null vector, exactly; and there are as many as there can be."""
    M = energy_matrix(links, [fmpq(int(x)) for x in gravity])
    geometry = exact_geometry(chain_mechanism(links))
    assert geometry.rounded == ()
    found = transfers(geometry, gravity)
    place = {f"{n}_{i + 1}": 10 * i + k for i in range(len(links)) for k, n in enumerate(NAMES)}
    N = fmpq_mat(10 * len(links), max(1, len(found)))
    for k, transfer in enumerate(found):
        scale = transfer.entries[0][1]  # a square root that all of them share
        for name, entry in transfer.entries:
            N[place[name], k] = rational(entry / scale)
    wrong = M * N
    for k, transfer in enumerate(found):
        assert all(wrong[i, k] == fmpq(0) for i in range(wrong.nrows())), transfer.words
    if complete:
        assert N.rank() == 10 * len(links) - M.rank()


def test_axis() -> None:
    parallel, normal = GRAVITY["parallel"], GRAVITY["normal"]
    assert [fmpq(int(x), 9) for x in parallel] == Z
    assert sum((fmpq(int(a)) * b for a, b in zip(normal, Z, strict=True)), fmpq(0)) == 0


def frames(seed: int, first: Matrix = TILTED, second: Matrix = OTHER) -> tuple[Matrix, Matrix]:
    rng = Random(seed)

    def place() -> list[fmpq]:
        return [fmpq(rng.randint(-30, 30), 10) for _ in range(3)]

    return pose(first, place()), pose(second, place())


@pytest.mark.parametrize("gravity", list(GRAVITY))
@pytest.mark.parametrize("kind", KINDS)
def test_joint_with_the_ground(kind: JointType, gravity: str) -> None:
    check([Link(kind, *frames(1))], GRAVITY[gravity])


@pytest.mark.parametrize("gravity", ["general", "none"])
@pytest.mark.parametrize("kind", KINDS)
def test_joint_between_two_bodies(kind: JointType, gravity: str) -> None:
    """The first body moves in all ways, so nothing is left at rest."""
    check([Link("free", *frames(2)), Link(kind, *frames(3))], GRAVITY[gravity])


def parallel(kind: JointType, seed: int, aside: int = 1) -> Link:
    """A joint along the z axis of both of its bodies, off its origin."""
    eye: Matrix = [[fmpq(int(i == j)) for j in range(3)] for i in range(3)]
    a, b = frames(seed, eye, eye)
    for A in (a, b):
        for k in range(2):
            A[k][3] *= aside
    return Link(kind, a, b)


def across(kind: JointType, seed: int, aside: int = 0) -> Link:
    """A joint along x of both bodies, through their z axis if `aside` is 0."""
    turned: Matrix = [[fmpq(int(v)) for v in row] for row in ((0, 0, 1), (1, 0, 0), (0, 1, 0))]
    a, b = frames(seed, turned, turned)
    for A in (a, b):
        for k in range(2):
            A[k][3] *= aside
    return Link(kind, a, b)


PLANE: dict[str, Vec3] = {
    "vertical": (0.0, 0.0, -9.0),
    "horizontal": (0.0, -9.0, 0.0),
    "general": (1.0, 2.0, -9.0),
    "none": (0.0, 0.0, 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("gravity", ["vertical", "horizontal", "none"])
@pytest.mark.parametrize("second", ["revolute", "prismatic", "cylindrical", "universal", "planar"])
@pytest.mark.parametrize("first", ["revolute", "prismatic", "cylindrical", "planar", "helical"])
def test_two_joints_that_are_parallel_or_meet(
    first: JointType, second: JointType, gravity: str
) -> None:
    """Axes that are parallel, on one line, or meet at a right angle."""
    g = PLANE[gravity]
    check([parallel(first, 4), parallel(second, 5)], g)
    check([parallel(first, 4, 0), parallel(second, 5, 0)], g)
    # On a thread, a body hinged across it has products of inertia that act like first moments.
    check([parallel(first, 4, 0), across(second, 5)], g, complete=first != "helical")


@pytest.mark.slow
@pytest.mark.parametrize("gravity", list(PLANE))
def test_arms(gravity: str) -> None:
    """SCARA, polar and cylindrical arms; a wrist."""
    g = PLANE[gravity]
    R, P = "revolute", "prismatic"
    check([parallel(R, 1), parallel(R, 2), parallel(P, 3), parallel(R, 4)], g)
    check([parallel(R, 1), parallel(R, 2), parallel(R, 3), parallel(P, 4)], g)
    check([parallel(R, 1, 0), across(R, 2), across(P, 3)], g)
    check([parallel(R, 1, 0), parallel(P, 2), across(P, 3)], g)
    check([parallel(R, 1, 0), across(R, 2), parallel(R, 3, 0)], g)
    check([across(P, 1), parallel(P, 2), parallel(R, 3), Link("fixed", *frames(4))], g)
