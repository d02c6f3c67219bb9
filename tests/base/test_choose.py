"""Rules for the dependent parameters: the source's choices, refusals, conditioning, terms."""

from __future__ import annotations

import numpy as np
import pytest

from mechid.base.analyse import base_parameters
from mechid.base.baseset import BaseSet, base_set
from mechid.base.cad import cad_values
from mechid.base.choose import (
    MASS_FIRST_TENSOR,
    as_listed,
    at_random,
    by_name,
    converge_on,
    first,
    in_order,
    last,
)
from mechid.base.exchange import balanced, best_conditioned, condition_number, most_readable
from mechid.base.experiment import Experiment, random_states
from mechid.base.matroid import matroid, scales
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.modelfile import loads

from .cases import EVERY, SUSPENSION, null_of, stacked

LISTS = {s.name: s.dependent for s in null_of(SUSPENSION).geometry.mechanism.base_sets}
UPRIGHTS = ["upright_r", "upright_l"]
LOWER = ["lower_arm_r", "lower_arm_l"]
UPPER = ["upper_arm_r", "upper_arm_l"]

HEXAGLIDE = """
mechid: 1
name: hexaglide
title: Platform on six rods whose feet slide on parallel rails
gravity: [0, 0, -9.81]
bodies:
  platform:
    frame: {origin: [0, 0, 0.6]}
    mass: 12
    center: [0.01, 0.02, 0.03]
    inertia: {xx: 0.2, yy: 0.25, zz: 0.4}
subassemblies:
  leg:
    parameters: {fx: 0.0, fy: 0.0, px: 0.0, py: 0.0}
    points:
      foot: [fx, fy, 0]
      head: {in: platform, at: [px, py, 0]}
    bodies:
      carriage:
        frame: {origin: foot}
        mass: 3
        center: [0.001, 0.002, 0.02]
        inertia: {xx: 0.004, yy: 0.004, zz: 0.005}
      rod:
        frame: {origin: head, x: {from: foot, to: head}, y: y}
        mass: 1.5
        center: [-0.3, 0.001, 0.002]
        inertia: {xx: 0.0007, yy: 0.026, zz: 0.0263}
    joints:
      rail: {type: prismatic, between: [ground, carriage], at: foot, axis: x}
      cross: {type: universal, between: [carriage, rod], at: foot, axes: [y, rod.z]}
      ball: {type: spherical, between: [rod, platform], at: head}
    coordinates:
      position: {joint: rail, force: F}
use:
  leg_1: {subassembly: leg, suffix: _1, parameters: {fx: -0.5, fy: 0.5, px: -0.0547, py: 0.1504}}
  leg_2: {subassembly: leg, suffix: _2, parameters: {fx: 0.5, fy: 0.45, px: 0.1028, py: 0.1226}}
  leg_3: {subassembly: leg, suffix: _3, parameters: {fx: -0.6, fy: 0.1, px: -0.1576, py: 0.0278}}
  leg_4: {subassembly: leg, suffix: _4, parameters: {fx: 0.55, fy: -0.1, px: 0.1576, py: 0.0278}}
  leg_5: {subassembly: leg, suffix: _5, parameters: {fx: 0.45, fy: -0.45, px: 0.1028, py: -0.1226}}
  leg_6: {subassembly: leg, suffix: _6, parameters: {fx: -0.45, fy: -0.5, px: -0.0547, py: -0.1504}}
"""


def test_converging_on_the_uprights_is_t1() -> None:
    assert set(converge_on(null_of(SUSPENSION), UPRIGHTS)) == set(LISTS["T1"])


def test_converging_on_the_lower_arms_is_t2_but_for_the_grouped_moment_of_the_wheels() -> None:
    found = set(converge_on(null_of(SUSPENSION), LOWER, order=MASS_FIRST_TENSOR))
    assert found - set(LISTS["T2"]) == {"Izz_5", "Izz_13"}
    assert set(LISTS["T2"]) - found == {"Iyy_5", "Iyy_13"}


def test_converging_on_all_arms_is_t3_but_for_the_rack() -> None:
    keep_mass = ("tensor", "first", "mass")
    found = set(converge_on(null_of(SUSPENSION), [*LOWER, *UPPER], target_order=keep_mass))
    assert found - set(LISTS["T3"]) == {"Iyy_4"}  # the source: m_8 right, Iyy_12 left
    assert set(LISTS["T3"]) - found == {"m_8"}


@pytest.mark.parametrize("spec", EVERY)
def test_targets_keep_what_others_can_give(spec: str) -> None:
    null = null_of(spec)
    mechanism = null.geometry.mechanism
    for number, body in enumerate(mechanism.bodies, start=1):
        own = [n for n in null.names if n.endswith(f"_{number}")]
        others = [n for n in null.names if n not in own]
        chosen = converge_on(null, [body.name])
        # As few parameters of the target are dependent as with any order that names it last.
        fewest = len(set(in_order(null, [*others, *own])) & set(own))
        assert len(set(chosen) & set(own)) == fewest


def test_order_of_bodies_breaks_no_rule() -> None:
    null = null_of(SUSPENSION)
    assert converge_on(null, UPRIGHTS) == converge_on(null, UPRIGHTS[::-1])
    assert at_random(null, 7) == at_random(null, 7) != at_random(null, 8)
    assert first(null) != last(null)


def test_unknown_targets_are_refused() -> None:
    with pytest.raises(MechidError, match="no body hub to converge on; choose one of: lower_arm_r"):
        converge_on(null_of(SUSPENSION), ["hub"])
    with pytest.raises(MechidError, match="name at least one body to converge on"):
        converge_on(null_of(SUSPENSION), [])


# -------------------------------------------------------------------------------------------- lists


@pytest.mark.parametrize("name", ["T1", "T2", "T3", "T4"])
def test_valid_lists_of_the_source(name: str) -> None:
    null = null_of(SUSPENSION)
    chosen = as_listed(null, LISTS[name])
    assert set(chosen) == set(LISTS[name])
    assert base_set(null, chosen).dependent == chosen


def test_t5_is_refused_with_the_rank_it_has() -> None:
    null = null_of(SUSPENSION)
    with pytest.raises(MechidError) as caught:
        as_listed(null, LISTS["T5"])
    # Independently: the rank of these rows of N, besides those of parameters without effect.
    at = {n: i for i, n in enumerate(null.names)}
    rows = [at[n] for n in (*LISTS["T5"], *null.without_effect)]
    rank = np.linalg.matrix_rank(null.matrix[rows]) - len(null.without_effect)
    assert f"the list of 32 has rank {rank}, 32 are required" in caught.value.what
    # What it says to use instead makes the list valid.
    lost = caught.value.what.split("replace ")[1].rstrip(")").split(", ")
    instead = caught.value.remedy.removeprefix("use ").removesuffix(" instead").split(", ")
    mended = [n for n in LISTS["T5"] if n not in lost] + instead
    assert set(as_listed(null, mended)) == set(mended)


def test_refusals_say_what_depends_on_what() -> None:
    null = null_of(SUSPENSION)
    wrong = ["Ixx_6" if n == "Ixy_7" else n for n in LISTS["T1"]]
    with pytest.raises(MechidError, match=r"Ixx_6 depends on Ixx_7.*use Ixy_6 instead"):
        as_listed(null, [*(n for n in wrong if n != "Ixx_6"), "Ixx_6"])
    with pytest.raises(MechidError, match=r"rank 32, 32 are required .*mx_6.*omit these"):
        as_listed(null, [*LISTS["T1"], "mx_6"])
    with pytest.raises(MechidError, match=r"rank 31, 32 are required; add"):
        as_listed(null, LISTS["T1"][1:])
    with pytest.raises(MechidError, match=r"no parameter m5; did you mean m_5\?"):
        as_listed(null, ["m5"])
    with pytest.raises(MechidError, match="m_5 is listed twice"):
        as_listed(null, ["m_5", "m_5"])
    assert set(as_listed(null, [*LISTS["T1"], "my_1"])) == set(LISTS["T1"])  # without effect


def test_lists_of_the_model_file() -> None:
    null = null_of(SUSPENSION)
    assert set(by_name(null, "T4")) == set(LISTS["T4"])
    with pytest.raises(MechidError, match=r"base set T5: .*has rank 22"):
        by_name(null, "T5")
    with pytest.raises(MechidError, match="no base set T6; choose one of: T1, T2, T3, T4, T5"):
        by_name(null, "T6")
    with pytest.raises(MechidError, match="define base_sets in the file"):
        by_name(null_of("four_bar"), "T1")


# --------------------------------------------------------------------------------------- comparing


@pytest.mark.parametrize("spec", ["puma560@bare", "stewart_platform", SUSPENSION])
def test_best_conditioned_beats_random_choices(spec: str) -> None:
    null = null_of(spec)
    motion = random_states(null.geometry.mechanism, Experiment(), 150, seed=2)
    W = observation_matrix(motion).W
    best = base_set(null, best_conditioned(null, W))
    others = [condition_number(base_set(null, at_random(null, k)), W) for k in range(12)]
    assert condition_number(best, W) <= 1.1 * min(others)
    # No dependent column, of unit length, takes more than about one of a base column.
    lengths = np.linalg.norm(W.reshape(-1, W.shape[-1]), axis=0)
    at = [null.names.index(n) for n in best.dependent]
    assert np.max(np.abs(best.beta) * lengths[best.places][:, None] / lengths[at]) < 1.06


@pytest.mark.slow
@pytest.mark.parametrize("spec", EVERY)
def test_most_readable_has_no_more_terms_than_others(spec: str) -> None:
    null = null_of(spec)
    fewest = base_set(null, most_readable(null)).n_terms
    for choice in (first(null), last(null), at_random(null, 3)):
        assert fewest <= base_set(null, choice).n_terms


def largest_factor(chosen: BaseSet) -> float:
    """Return the largest factor between parameters of bodies, lengths in units of L."""
    null = chosen.null_space
    scale = dict(zip(null.names, scales(null).tolist(), strict=True))
    bodies = set(null.names[: 10 * len(null.geometry.mechanism.bodies)])
    return max(
        (
            abs(x) * scale[name] / scale[n]
            for name in chosen.base
            for n, x in chosen.row(name).items()
            if name in bodies and n in bodies and n != name
        ),
        default=0.0,
    )


@pytest.mark.parametrize("spec", EVERY)
def test_balanced_has_moderate_factors_and_few_terms(spec: str) -> None:
    null = null_of(spec)
    found, usual = base_set(null, balanced(null)), base_set(null, last(null))
    assert largest_factor(found) < 15
    assert found.n_terms <= 1.1 * usual.n_terms
    # Condition numbers above 1e15 cannot be told apart.
    ours, theirs = (min(condition_number(b, stacked(spec)), 1e15) for b in (found, usual))
    assert ours < 3.5 * theirs


def test_masses_of_a_hexaglide_are_not_differences_of_large_numbers() -> None:
    """With other rules, base parameters of 39 kg had CAD values of thousands of kg."""
    mechanism = loads(HEXAGLIDE)
    total = sum(body.inertia.mass for body in mechanism.bodies if body.inertia is not None)
    assert total == pytest.approx(39)
    found = base_parameters(mechanism).chosen
    cad = dict(zip(found.base, cad_values(found).values, strict=True))
    assert all(abs(x) < total for name, x in cad.items() if name.startswith("m_"))
    assert largest_factor(found) < 15


def test_w_of_another_model_is_refused() -> None:
    with pytest.raises(MechidError, match="W must have 150 columns, got 30"):
        best_conditioned(null_of(SUSPENSION), stacked("four_bar"))


def test_rows_span_the_same_space_as_n() -> None:
    null = null_of(SUSPENSION)
    assert matroid(null).rank == null.rank == 67
