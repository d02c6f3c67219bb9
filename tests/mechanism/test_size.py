"""Lengths of a mechanism against those that it was built with."""

from __future__ import annotations

import numpy as np
import pytest

import mechid
from mechid.mechanism.size import shortest_body

from ..kinematics.mechanisms import Build


def test_the_shortest_bar() -> None:
    linkage = mechid.load("four_bar")  # bars of 1 m, 3 m and 7/4 m
    name, length = shortest_body(linkage) or ("", 0.0)
    assert name == "bar_1"
    assert length == pytest.approx(1.0, rel=1e-14)


def test_the_ground_is_no_body() -> None:
    """Two joints of the ground nearer to each other than those of every bar."""
    build = Build("near", np.random.default_rng(3))
    crank, rod = build.body("crank"), build.body("rod")
    build.joint("A", "revolute", "ground", crank, at=(0, 0, 0))
    build.joint("B", "revolute", crank, rod, at=(2, 0, 0))
    build.joint("C", "revolute", "ground", rod, at=(0.5, 0, 0))
    name, length = shortest_body(build.mechanism()) or ("", 0.0)
    assert name == "rod"
    assert length == pytest.approx(1.5, rel=1e-12)


def test_bodies_without_length() -> None:
    """One joint, and all joints at one point up to rounding."""
    assert shortest_body(mechid.load("pendulum")) is None
    build = Build("wrist", np.random.default_rng(4))
    ring, hand = build.body("ring"), build.body("hand")
    build.joint("A", "revolute", "ground", ring, at=(0.1, 0.2, 0.3), z=(1, 0, 0))
    build.joint("B", "revolute", ring, hand, at=(0.1, 0.2, 0.3), z=(0, 1, 0))
    assert shortest_body(build.mechanism()) is None
