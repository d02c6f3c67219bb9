"""The quick size of the trials of docs/reliability/numerics.md."""

from __future__ import annotations

import json
from dataclasses import replace

import numba
import numpy as np
import pytest

from mechid.dynamics.adjoint import observation_gradient
from mechid.dynamics.compile import dynamic_model
from mechid.dynamics.inverse import inverse_dynamics
from mechid.dynamics.regressor import observation_matrix, observe_path
from mechid.kinematics.engine.choice import engine
from mechid.kinematics.motion import solve_motion
from mechid.mechanism.element_kinds import ELEMENT_KINDS
from mechid.modelfile import load

from ..contract.states import EPS, LENGTH, zoo_course
from ..property.generate import TYPES
from ..records import DATA, stale_tables
from .cases import random_case
from .compare import Agreement, against_exudyn, against_tree, ours
from .descriptions import DESCRIPTIONS, force_difference, rank_bounds
from .digests import digest
from .on_mujoco import OnMujoco
from .tables import PAGE, RECORD, tables

QUICK = (1, 2, 4, 6, 7, 9, 11, 17)
# Exudyn takes differences where bodies move.
BY_DIFFERENCES = 1e-8


def bound(causes: dict[str, float]) -> float:
    """Rounding of a few hundred operations, amplified by the causes."""
    closing, terms, mass, pitch = causes.values()
    return 100 * EPS * max(terms, mass) * closing * pitch**2


@pytest.mark.parametrize("number", QUICK)
def test_engines_agree(number: int) -> None:
    case = random_case(number)
    mine = ours(case)
    causes = dict(mine.causes)
    for name in ("Pinocchio", "MuJoCo"):
        found = against_tree(case, name, mine)
        for word, difference in found.differences:
            assert difference <= bound(causes), (name, word)


def check_exudyn(found: Agreement) -> None:
    by_word = dict(found.differences)
    assert by_word.pop("accelerations in motion") <= BY_DIFFERENCES
    assert max(by_word.values()) <= 1e-11


def test_exudyn_agrees() -> None:
    compared = [against_exudyn(random_case(number)) for number in (1, 17, 25, 497)]
    for found in compared:
        assert not found.reason
        check_exudyn(found)
    assert against_exudyn(random_case(2)).reason == "helical joint"
    assert against_exudyn(random_case(3)).reason == "coupling"


def test_a_wrong_mechanism_is_noticed() -> None:
    """A joint moved by a micrometre, or a mass off by a millionth, is far above the bounds."""
    case = random_case(6)
    mine = ours(case)
    joints, bodies = list(case.mechanism.joints), list(case.mechanism.bodies)
    x, y, z = joints[2].frame_b.origin
    joints[2] = replace(joints[2], frame_b=replace(joints[2].frame_b, origin=(x + 1e-6, y, z)))
    c = bodies[2].inertia
    assert c is not None
    bodies[2] = replace(bodies[2], inertia=replace(c, mass=c.mass * (1 + 1e-6)))
    for wrong in ({"joints": tuple(joints)}, {"bodies": tuple(bodies)}):
        other = replace(case, mechanism=replace(case.mechanism, **wrong))
        for name in ("Pinocchio", "MuJoCo"):
            assert dict(against_tree(other, name, mine).differences)["inverse dynamics"] > 1e-8


@pytest.mark.parametrize("number", QUICK)
def test_description_does_not_matter(number: int) -> None:
    """Units, order, cuts, frames, place: equal forces, with all elements."""
    case = random_case(number)
    causes = dict(ours(case).causes)
    for name, describe in DESCRIPTIONS.items():
        described = describe(case.mechanism, np.random.default_rng(number))
        if described is not None:
            assert force_difference(case, described) <= bound(causes), name


def test_rank_does_not_depend_on_the_description() -> None:
    """Two bodies in a loop with a force element: the same bounds in other units and frames."""
    mechanism = random_case(7).mechanism
    before = rank_bounds(mechanism)
    for name in ("units: mm, t, s", "body frames"):
        described = DESCRIPTIONS[name](mechanism, np.random.default_rng(7))
        assert described is not None
        assert rank_bounds(described.change.mechanism) == before, name


@pytest.mark.parametrize("way", ["tables", "compiled"])
def test_threads_do_not_matter(way: str) -> None:
    """Poses, W, reactions and gradients are the same to the bit, however many threads there are."""
    model, course = dynamic_model(load("slider_crank")), zoo_course("slider_crank")
    time = np.linspace(0, LENGTH, 3000)
    G = np.random.default_rng(0).standard_normal((len(time), 1, len(model.columns)))
    before, found = numba.get_num_threads(), []
    try:
        for threads in (1, numba.config.NUMBA_NUM_THREADS):
            numba.set_num_threads(threads)
            with engine(way):
                motion = solve_motion(model.kinematics, *course.at(time), time=time)
                reactions = inverse_dynamics(motion, reactions=True).reactions
                assert reactions is not None
                path = observe_path(model, *course.at(time), time=time)
                W = observation_matrix(motion, model).W
                gradient = observation_gradient(model, motion, G)
            found.append(digest(motion.q, motion.vd, W, path.W, reactions.force, *gradient))
    finally:
        numba.set_num_threads(before)
    assert found[0] == found[1]


def test_every_kind_is_drawn() -> None:
    """The trial as a whole has every joint kind, in trees and closing loops, and every element."""
    record = json.loads((DATA / RECORD).read_text("utf-8"))
    drawn = set(record["engines"]["drawn"])
    assert {*TYPES, *(f"{t} closing a loop" for t in TYPES), *ELEMENT_KINDS} <= drawn
    assert {"coupling", "distance constraint"} <= drawn


def test_mujoco_has_most_elements_itself() -> None:
    """Elements are not compared by laws written here alone."""
    record = json.loads((DATA / RECORD).read_text("utf-8"))
    kinds = record["engines"]["by engine"]["MuJoCo"]["kinds"]
    own = {kind for kind in ELEMENT_KINDS if kinds[kind]["native"]}
    assert own >= {*ELEMENT_KINDS} - {"bushing", "piecewise_spring_damper"}
    case = random_case(11)
    assert OnMujoco(case.mechanism).native == (
        "e_joint_force",
        "e_polynomial_spring_damper",
        "e_torsion_spring",
    )


def test_the_page_shows_the_record() -> None:
    record = json.loads((DATA / RECORD).read_text("utf-8"))
    assert stale_tables(PAGE, tables(record)) == []
