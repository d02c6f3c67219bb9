"""The random mechanisms of the comparison, by number: trees, loops, constraints, elements."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mechid.dynamics.compile import DynamicModel, dynamic_model
from mechid.kinematics.motion import Motion
from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.mechanism.records import Coefficient, ForceElement, Joint, Mechanism

from ..contract.states import Course, random_course, solve_course
from ..property.generate import (
    TYPES,
    NotUsableError,
    random_elements,
    random_inertia,
    random_mechanism,
)
from ..property.test_random_mechanisms import LOOSE, spanning_tree_keeps

TIMES = np.linspace(0.0, 3.6, 13)  # s: the path from the reference pose
SAMPLES = np.array([4, 8, 12])  # of the path, that are compared
SEED = 17


@dataclass(frozen=True, eq=False)
class Case:
    """A mechanism with inertias and elements, and a path of it; `closing` joints are not tree."""

    number: int
    mechanism: Mechanism
    model: DynamicModel
    course: Course
    motion: Motion
    closing: tuple[Joint, ...]

    @property
    def kinds(self) -> set[str]:
        """What the mechanism is made of, as the tables of the page name it."""
        m = self.mechanism
        loop = {f"{j.type} closing a loop" for j in self.closing}
        other = {"coupling" for _ in m.couplings} | {"distance constraint" for _ in m.distances}
        return {j.type for j in m.joints} | loop | other | {e.kind for e in m.elements}


def random_case(number: int) -> Case:
    """Return a mechanism that has a freedom; draws that have none, or nearly, are repeated.

    Of five, one is a tree, two have loops, one has couplings or distances, one has loops and
    these. All but the trees with an even number carry up to four elements.
    """
    rng = np.random.default_rng((SEED, number))
    form = number % 5
    while True:
        tree = rng.choice(TYPES if form == 0 else LOOSE, rng.integers(2, 6)).tolist()
        closing = rng.choice(TYPES, rng.integers(1, 3) if form in (1, 2, 4) else 0).tolist()
        try:
            drawn = random_mechanism(tree, closing, rng, int(rng.integers(1, 3)) * (form > 2))
            if form > 2:
                spanning_tree_keeps(drawn.mechanism)
        except NotUsableError:
            continue
        break
    m = drawn.mechanism
    m = replace(m, bodies=tuple(replace(b, inertia=random_inertia(rng)) for b in m.bodies))
    if form or number % 2:
        some = rng.choice(list(ELEMENT_KINDS), rng.integers(0, 5), replace=False).tolist()
        elements = random_elements(m, rng, tuple(some))
        m = replace(
            m, elements=tuple(_plain(e) if rng.random() < 0.5 else _forgetful(e) for e in elements)
        )
    model = dynamic_model(m)
    course = random_course(model.kinematics, rng)
    motion = solve_course(model.kinematics, course, TIMES)
    return Case(number, m, model, course, motion, m.joints[drawn.n_tree :])


def _forgetful(e: ForceElement) -> ForceElement:
    """Friction without hysteresis: engines are asked for states, which have no past."""
    values = tuple((k, Coefficient(0.0) if k == "hysteresis" else v) for k, v in e.parts[0].values)
    return replace(e, parts=(replace(e.parts[0], values=values),)) if e.kind == "friction" else e


def _plain(e: ForceElement) -> ForceElement:
    """Friction as most engines have it: viscous and Coulomb, the same in both directions."""
    if e.kind != "friction":
        return e
    none = Coefficient(0.0)
    simple = {"coulomb_positive": none, "coulomb_negative": none, "stribeck": none}
    values = (
        dict(_forgetful(e).parts[0].values)
        | simple
        | {"smoothing": 0.0, "coulomb": Coefficient(0.7)}
    )
    return replace(e, parts=(replace(e.parts[0], values=tuple(values.items())),))
