"""Gradients of W for random trees and loops with all kinds of elements."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, settings

from mechid.dynamics.compile import dynamic_model
from mechid.mechanism.records import (
    GROUND,
    Coefficient,
    ForceElement,
    Mechanism,
)

from ..contract.states import random_course, solve_course
from ..dynamics.gradients import check_gradient
from ..elements import friction, load, motor, spring_damper, torsion_spring, transmission
from .generate import Drawn, random_elements, single_coordinates
from .test_random_mechanisms import constrained, loops, trees

UNKNOWN, KNOWN = Coefficient(1.0, identify=True), Coefficient(2.0)


def with_elements(mechanism: Mechanism, rng: np.random.Generator) -> Mechanism:
    """Springs between points, springs and friction on joints, cut or not, loads, a transmission;
    and one element of every kind of the table.
    """
    elements: list[ForceElement] = [
        spring_damper(f"s{i}", a, b, UNKNOWN, UNKNOWN, UNKNOWN)
        for i, (a, b) in enumerate(zip(mechanism.points, mechanism.points[1:], strict=False))
    ]
    single = single_coordinates(mechanism)
    for joint, k in single:
        name = f"{joint}_{k}"
        elements.append(torsion_spring(f"t_{name}", joint, k, UNKNOWN, UNKNOWN, UNKNOWN))
        elements.append(friction(f"f_{name}", joint, k, UNKNOWN, UNKNOWN))
        elements.append(torsion_spring(f"u_{name}", joint, k, KNOWN, KNOWN, KNOWN))
    names = [b.name for b in mechanism.bodies]
    for i, point in enumerate(mechanism.points):
        vector = tuple(rng.uniform(-5, 5, 3).tolist())
        axes_of = names[int(rng.integers(len(names)))] if rng.integers(2) else GROUND
        kind = ("force", "moment")[i % 2]
        at = point if kind == "force" else None
        elements.append(load(f"l{i}", kind, point.body, vector, at, axes_of))
    if len(single) > 1:
        pick = [single[i] for i in rng.permutation(len(single))[:2]]
        motors = tuple(motor(f"m{i}", UNKNOWN, UNKNOWN, UNKNOWN) for i in range(2))
        matrix = tuple(tuple(rng.uniform(-2, 2, 2).tolist()) for _ in motors)
        elements.append(transmission("gear", motors, tuple(pick), matrix))
    return replace(mechanism, elements=(*elements, *random_elements(mechanism, rng)))


def check(drawn: Drawn, rng: np.random.Generator) -> None:
    model = dynamic_model(with_elements(drawn.mechanism, rng))
    course = random_course(model.kinematics, rng)
    check_gradient(model, solve_course(model.kinematics, course, [0.9, 2.2, 3.7]), rng)


@settings(max_examples=25)
@given(trees())
def test_gradient_of_trees(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check(*drawn)


@settings(max_examples=25)
@given(loops())
def test_gradient_of_loops(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check(*drawn)


@settings(max_examples=15)
@given(constrained())
def test_gradient_with_couplings_and_distances(drawn: tuple[Drawn, np.random.Generator]) -> None:
    check(*drawn)
