"""Relations between vectors of bodies, and the counts that prove them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mechid.base.analyse import base_parameters
from mechid.base.bounds import all_transfers
from mechid.base.constant import constants
from mechid.base.experiment import EVERYTHING, random_states
from mechid.base.loop_constraints import homogeneous
from mechid.base.proof import Count, _Gradient, count, equations
from mechid.base.relations import Echelon, Entries, relations
from mechid.exact.field import field_rank
from mechid.exact.geometry import exact_geometry
from mechid.mechanism.records import Mechanism
from mechid.modelfile import build, load


def row(**entries: float) -> Entries:
    return {key: arb(x) for key, x in entries.items()}


def test_rows_that_follow_from_others() -> None:
    found = Echelon(2.0**-100)
    assert found.add(row(a=1, b=2))
    assert found.add(row(b=2, c=1))
    assert not found.add(row(a=2, b=2, c=-1))  # twice the first less the second
    assert not found.add(row())
    assert found.gap == 0.0
    assert not found.add(row(a=1, b=2, c=1e-12))  # nearly the first
    assert found.gap == pytest.approx(0.5e-12)  # of a row whose largest entry is one
    assert found.add(row(a=1, b=2, c=1e-6))


def test_a_one_comes_to_the_first_kind_of_place() -> None:
    found = Echelon(2.0**-100)
    kinds = (lambda key: key == "a", lambda key: key == "b")
    assert found.add(row(a=1e-3, b=1, c=1), kinds)
    assert found.add(row(b=1e-3, c=1), kinds)
    assert [place for place, _ in found.rows] == ["a", "b"]
    assert not found.add(row(c=1), kinds)  # c gets none: what is left of it is a contradiction
    assert found.gap == 1.0


def test_what_a_count_proves() -> None:
    found = Count(12, 10, 2, True)
    assert found.proves
    assert found.words == "12 unknowns - 10 equations = 2, for 2 degrees of freedom"
    assert not Count(12, 10, 1, True).proves
    assert not Count(12, 9, 2, True).proves
    singular = Count(12, 10, 2, False)
    assert not singular.proves
    assert singular.words.endswith("dependent in this pose")
    near = Count(12, 10, 2, True, 1e-12)
    assert not near.proves
    assert near.words == "the geometry has them to within 1e-12 of its size only"


@pytest.mark.parametrize("spec", ["double_wishbone", "screw_press", "geared_gripper", "delta"])
def test_gradients_against_differences(spec: str) -> None:
    """Over components of the free vectors, which need not be orthonormal."""
    geometry = exact_geometry(load(spec), "exact")
    with ctx.workprec(320):
        found = all_transfers(geometry, EVERYTHING).loops.relations
        products, others = equations(geometry, found)
    states = random_states(geometry.mechanism, EVERYTHING, 1, 3)
    pose = homogeneous(geometry, states)[0]
    gradient = _Gradient(found, pose)
    place = {key: k for k, key in enumerate(found.free)}

    def changed(column: int, step: float) -> _Gradient:
        body, k = divmod(found.free[column // 3], 4)
        other = pose.copy()
        other[body, column % 3, k] += step / (found.size if k < 3 else 1.0)
        return _Gradient(found, other)

    def value(g: _Gradient, entries: Entries) -> float:
        total = 0.0
        for (a, b), x in entries.items():
            ends = [g.at(p) if p in place else gradient.at(p) for p in (a, b)]
            total += float(x.mid()) * float(ends[0] @ ends[1])
        return total

    step, rng = 1e-6, np.random.default_rng(0)
    for column in rng.permutation(3 * len(found.free))[:12]:
        up, down = changed(column, step), changed(column, -step)
        for _, entries in products.rows[::7]:
            slope = (value(up, entries) - value(down, entries)) / (2 * step)
            assert gradient.of(entries)[column] == pytest.approx(slope, abs=1e-7)
        for outer in others:
            kinds = [outer] if outer.kind == "screw" else [t for t, _ in outer.terms]
            for term in kinds:
                if term.form not in ("angle", "screw"):
                    continue
                sine, cosine = term.products[-2:]
                angles = [np.arctan2(g._value(sine), g._value(cosine)) for g in (up, down)]
                # Images of other vectors follow the free ones: `_value` needs no pose of theirs.
                slope = (angles[0] - angles[1]) / (2 * step)
                assert gradient._turn(sine, cosine)[column] == pytest.approx(slope, abs=1e-6)


CARRIED = {
    "ground": [],
    "yaw": [("revolute", "x")],
    "slide": [("prismatic", [0.6, 0, 0.8])],
    "ball": [("spherical", None)],
}


def parallelogram(
    short: float, long: float, carried: str = "yaw", gravity: Any = (0, 0, -9.81), off: float = 0.0
) -> Mechanism:
    """Return a parallelogram of revolute joints about y on a body that is carried by a joint."""
    bodies = {"link": [0, 0, 0], "rocker": [short, 0, 0], "bar": [0, 0, long]}
    joints: dict[str, Any] = {}
    base = "ground"
    for type, axis in CARRIED[carried]:
        base = "carrier"
        bodies = {"carrier": [0, 0, 0], **bodies}
        joints["carry"] = {"type": type, "between": ["ground", "carrier"], "at": [0, 0, 0.1]}
        if axis is not None:
            joints["carry"]["axis"] = axis
    for name, a, b, at in (
        ("A", base, "link", [0, 0, 0]),
        ("B", base, "rocker", [short, 0, 0]),
        ("C", "link", "bar", [0, 0, long]),
        ("D", "bar", "rocker", [short + off, 0, long]),
    ):
        joints[name] = {"type": "revolute", "between": [a, b], "at": at, "axis": "y"}
    coordinates: dict[str, Any] = {"q": {"joint": "A"}}
    if carried != "ground":
        coordinates["carry"] = {"joint": "carry"}
    return build(
        name="parallelogram",
        gravity=list(gravity),
        bodies={name: {"frame": {"origin": at}} for name, at in bodies.items()},
        joints=joints,
        coordinates=coordinates,
    )


def test_counts_do_not_depend_on_the_body_that_carries_the_loop() -> None:
    """Two axes of the crank turn in the plane; of the yaw body one direction is at rest.

    On the ground two vectors are free, with two unit lengths, two right angles with the normal and
    one with each other. The yaw body adds two, with as many equations.
    """
    for carried, unknowns in (("ground", 6), ("yaw", 12)):
        geometry = exact_geometry(parallelogram(0.15, 0.4318, carried), "exact")
        found = all_transfers(geometry, EVERYTHING)
        proof = found.proof(redundant=True)
        assert proof is not None
        assert (proof.unknowns, proof.equations) == (unknowns, unknowns * 5 // 6)
        assert proof.proves


DECIMAL = st.integers(400, 9999).map(lambda k: k / 10_000)
GRAVITY = st.sampled_from([(0, 0, -9.81), (0, 0, 0), (-9.81, 0, 0), (0, 9.81, 0), (3.1, -5.7, 7.3)])


@settings(max_examples=8, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(DECIMAL, DECIMAL, st.sampled_from(sorted(CARRIED)), GRAVITY)
def test_carried_parallelograms_are_certified(
    short: float, long: float, carried: str, gravity: Any
) -> None:
    """Decimal lengths, any gravity; the number is that of arithmetic over prime fields."""
    mechanism = parallelogram(short, long, carried, gravity)
    found = base_parameters(mechanism, certify=True)
    assert found.certified, found.bounds and found.bounds.open_questions
    assert found.chosen.rank == field_rank(mechanism, primes=1).rank
    assert base_parameters(mechanism).chosen.rank == found.chosen.rank


def test_precision_does_not_depend_on_who_calls() -> None:
    """At 53 bits a division by what is next to zero once ended in a traceback."""
    geometry = exact_geometry(parallelogram(0.15, 0.4318), "exact")
    for gravity in ((0.0, 0.0, -9.81), (0.0, 0.0, 0.0)):
        for bits in (53, 320):
            with ctx.workprec(bits):
                rest = constants(geometry, gravity)
                assert len(rest["carrier"].at_rest) == 2  # the axis of yaw, and a point of it
                assert all(float(x.rad()) < 1e-50 for r in rest["link"].at_rest for x in r)
                states = random_states(geometry.mechanism, EVERYTHING, 1, 0)
                assert count(geometry, states, relations(geometry, {})).regular


def test_a_parallelogram_that_nearly_is_one_is_not_certified() -> None:
    found = base_parameters(parallelogram(0.25, 0.4, "ground", off=1e-12), certify=True)
    assert found.bounds is not None
    assert not found.certified
    assert any("to within" in text for text in found.bounds.open_questions)


def surgical_arm() -> Mechanism:
    """A remote centre of motion by two parallelograms on a yaw joint: seven freedoms.

    Both loops are planar, so that six of their constraints are redundant.
    """
    places = {
        "yaw": [0, 0, 0],
        "l2": [-0.4318, 0, 0.1],
        "p2": [-0.2818, 0, 0.1],
        "l3": [-0.4318, 0, 0.616],
        "p3": [-0.2818, 0, 0.466],
        "l4": [0, 0, 0.616],
        "tool": [0, 0, 0],
        "roll": [0, 0, 0],
        "wrist": [0, 0, -0.1],
        "jaw_1": [0.0091, 0, -0.1],
        "jaw_2": [0.0091, 0, -0.1],
    }
    joints = [
        ("j1", "revolute", "ground", "yaw", [0, 0, 0], "x"),
        ("A", "revolute", "yaw", "l2", [-0.4318, 0, 0.1], "y"),
        ("B", "revolute", "yaw", "p2", [-0.2818, 0, 0.1], "y"),
        ("C", "revolute", "l2", "l3", [-0.4318, 0, 0.616], "y"),
        ("D", "revolute", "p2", "l3", [-0.2818, 0, 0.616], "y"),
        ("E", "revolute", "l3", "l4", [0, 0, 0.616], "y"),
        ("F", "revolute", "p2", "p3", [-0.2818, 0, 0.466], "y"),
        ("G", "revolute", "p3", "l4", [0, 0, 0.466], "y"),
        ("j3", "prismatic", "l4", "tool", [0, 0, 0], "z"),
        ("j4", "revolute", "tool", "roll", [0, 0, 0], "z"),
        ("j5", "revolute", "roll", "wrist", [0, 0, -0.1], "y"),
        ("j6", "revolute", "wrist", "jaw_1", [0.0091, 0, -0.1], "z"),
        ("j7", "revolute", "wrist", "jaw_2", [0.0091, 0, -0.1], "z"),
    ]
    return build(
        name="surgical_arm",
        bodies={name: {"frame": {"origin": at}} for name, at in places.items()},
        joints={
            name: {"type": type, "between": [a, b], "at": at, "axis": axis}
            for name, type, a, b, at, axis in joints
        },
        coordinates={name: {"joint": name} for name in ("j1", "A", "j3", "j4", "j5", "j6", "j7")},
    )


@pytest.mark.slow
def test_an_arm_with_two_parallelograms_is_certified() -> None:
    """One transfer is between three bodies: yaw, and the two that turn with it as it does.

    Both are carried by the same crank at different heights, so that first moments of one along the
    crank's plane are exchanged for those of the other.
    """
    found = base_parameters(surgical_arm(), certify=True)
    assert found.certified
    assert not found.dependencies
    assert found.chosen.rank == field_rank(surgical_arm(), primes=1).rank
    several = [t for t in found.null_space.transfers if t.words.startswith("distribution over")]
    assert [t.words for t in several] == [
        "distribution over yaw, l3, p3, which the loops make move alike"
    ]
