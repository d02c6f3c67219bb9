"""Proof by counting that loops confine bodies."""

from __future__ import annotations

import pytest

from mechid.base.bounds import all_transfers, bounds
from mechid.base.experiment import EVERYTHING
from mechid.exact.geometry import exact_geometry
from mechid.modelfile import build, load


@pytest.mark.parametrize(
    "spec", ["delta", "five_bar@isostatic", "slider_crank@isostatic", "geared_gripper"]
)
def test_proved(spec: str) -> None:
    found = all_transfers(exact_geometry(load(spec), "exact"), EVERYTHING)
    assert found.null.rank > found.by_joints
    proof = found.proof(redundant=False)
    assert proof is not None
    assert proof.proves, proof.words


def parallelogram(length: float, pins: str = "spherical"):  # type: ignore[no-untyped-def]
    """Two cranks and a coupler in space: the second crank on a ball and a universal joint."""
    return build(
        name="linkage",
        gravity=[0, 0, -9.81],
        points={
            "A": [0, 0, 0],
            "B": [0, 0, 0.4],
            "C": [length, 0, 0.4],
            "D": [1.0, 0, 0],
        },
        bodies={
            "crank": {"frame": {"origin": "A"}},
            "coupler": {"frame": {"origin": "B"}},
            "rocker": {"frame": {"origin": "D"}},
        },
        joints={
            "a": {"type": "revolute", "between": ["ground", "crank"], "at": "A", "axis": "y"},
            "b": {"type": "cylindrical", "between": ["crank", "coupler"], "at": "B", "axis": "y"},
            "c": {"type": pins, "between": ["coupler", "rocker"], "at": "C"},
            "d": {"type": "revolute", "between": ["ground", "rocker"], "at": "D", "axis": "y"},
        },
        coordinates={"a": {"joint": "a"}},
    )


def test_parallelogram_translates_its_coupler() -> None:
    """The coupler does not turn: only its mass counts, and it moves as the cranks' ends do."""
    found = bounds(parallelogram(1.0), precision=200)
    assert found.upper == found.lower == 3  # J of all, and two first moments
    other = bounds(parallelogram(0.9), precision=200)
    assert other.upper == other.lower == 8  # any four-bar


def test_what_is_not_so_is_not_claimed() -> None:
    """With other lengths the coupler turns: the confinement of the parallelogram is not found."""
    right = all_transfers(exact_geometry(parallelogram(1.0), "exact"), EVERYTHING)
    wrong = all_transfers(exact_geometry(parallelogram(0.9), "exact"), EVERYTHING)
    assert right.by_loops
    assert wrong.null.rank - wrong.by_joints < 8


@pytest.mark.slow
def test_a_count_that_does_not_close_proves_nothing() -> None:
    """Bricard's linkage moves by a coincidence that no count explains."""
    found = bounds(load("bricard"), precision=160)
    assert found.proof is not None
    assert not found.proof.proves
    assert not found.certified
    assert any("not proved" in text for text in found.open_questions)
