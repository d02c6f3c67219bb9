"""Planar loops with axes that rounded numbers tilt: refused by name, and aligned on request."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.errors import ModelError
from mechid.kinematics.mobility import mobility
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.planar import aligned, refuse_tilted_axes
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load, loads, zoo, zoo_names

BODY = "{mass: 1, center: [1, 0.5, 0], inertia: {xx: 0.1, yy: 0.1, zz: 0.1}}"
HEAD = f"""
mechid: 1
name: planar
gravity: [0, -9.81, 0]
points: {{O: [0, 0, 0], A: [0.5, 0.8, 0], B: [3, 1.6, 0], C: [3, 0, 0]}}
bodies: {{crank: {BODY}, coupler: {BODY}, last: {BODY}}}
coordinates: {{q: {{joint: a}}}}
joints:
  a: {{type: revolute, between: [ground, crank], at: O, axis: z}}
"""


def four_bar(tilt: float) -> Mechanism:
    return loads(
        HEAD
        + f"  b: {{type: revolute, between: [crank, coupler], at: A, axis: [{tilt}, 0, 1]}}\n"
        + "  c: {type: revolute, between: [coupler, last], at: B, axis: z}\n"
        + "  d: {type: revolute, between: [last, ground], at: C, axis: z}\n"
    )


def slider_crank(tilt: float) -> Mechanism:
    return loads(
        HEAD
        + "  b: {type: revolute, between: [crank, coupler], at: A, axis: z}\n"
        + "  c: {type: revolute, between: [coupler, last], at: B, axis: z}\n"
        + f"  d: {{type: prismatic, between: [ground, last], at: B, axis: [1, 0, {tilt}]}}\n"
    )


@pytest.mark.parametrize("tilt", [1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4])
def test_tilted_axes_are_named_at_once(tilt: float) -> None:
    for make, name, loop in ((four_bar, "b", "a, b, c, d"), (slider_crank, "d", "a, b, c, d")):
        words = rf"planar loop .* are not parallel: that of {name} is off by {tilt:.2g} rad"
        for ask in (kinematic_model, mobility):
            with pytest.raises(ModelError, match=words) as error:
                ask(make(tilt))
            assert set(loop.split(", ")) <= set(error.value.what.replace(",", " ").split())
            assert "mechid check MODEL --align -o FILE" in error.value.remedy


@pytest.mark.parametrize("make", [four_bar, slider_crank])
@pytest.mark.parametrize("tilt", [1e-12, 1e-8, 1e-4])
def test_aligned_loops_move_as_exact_ones(make, tilt: float) -> None:
    found, tilts = aligned(make(tilt))
    assert [(t.joint, t.angle) for t in tilts] == [
        ("b" if make is four_bar else "d", pytest.approx(tilt, rel=1e-2))
    ]
    assert aligned(found)[1] == ()
    y = np.linspace(0, 0.3, 10)[:, None]
    exact = solve_motion(make(0.0), y)
    np.testing.assert_allclose(solve_motion(found, y).q, exact.q, atol=10 * tilt)
    assert mobility(found).dof == 1


def test_a_turned_plane_with_rounded_directions() -> None:
    """A plane across space whose normal was written with six digits in one joint."""
    n = np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    text = HEAD.replace("axis: z", f"axis: {n.tolist()}")
    x = np.cross(n, [0, 0, 1]) / np.linalg.norm(np.cross(n, [0, 0, 1]))
    y = np.cross(n, x)
    for name, (u, v) in {"A": (0.5, 0.8), "B": (3, 1.6), "C": (3, 0)}.items():
        old = f"{name}: [{u}, {v}, 0]".replace("3.0", "3")
        assert old in text
        text = text.replace(old, f"{name}: {(u * x + v * y).tolist()}")
    rounded = np.round(n, 6).tolist()
    text += (
        f"  b: {{type: revolute, between: [crank, coupler], at: A, axis: {n.tolist()}}}\n"
        f"  c: {{type: revolute, between: [coupler, last], at: B, axis: {rounded}}}\n"
        f"  d: {{type: revolute, between: [last, ground], at: C, axis: {n.tolist()}}}\n"
    )
    with pytest.raises(ModelError, match="that of c is off by"):
        kinematic_model(loads(text))
    assert mobility(aligned(loads(text))[0]).dof == 1


@pytest.mark.parametrize("name", zoo_names())
def test_the_zoo_is_exact(name: str) -> None:
    entry = next(e for e in zoo() if e.name == name)
    for variant in ("", *(f"@{v}" for v, _ in entry.variants)):
        refuse_tilted_axes(load(name + variant))


def test_axes_that_are_meant_so_are_left_alone() -> None:
    """A spatial loop, and a tilt that cannot be rounding, are judged by the kinematics."""
    refuse_tilted_axes(four_bar(0.01))
    refuse_tilted_axes(load("rssr_linkage"))
    assert aligned(load("bricard")) == (load("bricard"), ())
