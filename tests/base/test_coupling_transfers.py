"""What couplings tie together: closed forms, and every bound against the rank of W in floats."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp

from mechid.base.bounds import Bounds, bounds
from mechid.base.coupling_transfers import coupling_transfers
from mechid.base.experiment import EVERYTHING, random_states
from mechid.base.nullspace import null_space
from mechid.dynamics.regressor import observation_matrix
from mechid.exact.geometry import exact_geometry
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load, loads

HEAD = "mechid: 1\nname: test\ngravity: [0, -9.81, 0]\n"
IDENTIFY = "{identify: true}"


def shafts(n: int, types: str = "revolute") -> str:
    out = "bodies:\n"
    out += "".join(f"  d{k}: {{frame: {{origin: [{k}, 0, 0]}}}}\n" for k in range(n))
    out += "joints:\n"
    for k in range(n):
        kind = types.split()[min(k, len(types.split()) - 1)]
        axis = "y" if kind == "prismatic" else "z"
        out += f"  q{k}: {{type: {kind}, between: [ground, d{k}], at: [{k}, 0, 0], axis: {axis}}}\n"
    return out


MODELS = {
    # Gears of different size: a common moment of inertia, first moments of each.
    "gears": (
        HEAD
        + "parameters: {r: 3}\n"
        + shafts(2)
        + "constraints: {mesh: {type: coupling, between: [q1, q0], ratio: -r}}\n"
        + "coordinates: {q0: {joint: q0}}\n",
        5,
    ),
    # Equal gears weigh alike.
    "equal": (
        HEAD
        + shafts(2)
        + "constraints: {mesh: {type: coupling, between: [q1, q0], ratio: -1, constant: 30 deg}}\n"
        + "coordinates: {q0: {joint: q0}}\n",
        3,
    ),
    # A rack that is lifted: its mass is a moment of inertia and a weight of its own.
    "rack": (
        HEAD
        + shafts(2, "revolute prismatic")
        + "constraints: {teeth: {type: coupling, between: [q1, q0], ratio: 0.04}}\n"
        + "coordinates: {q0: {joint: q0}}\n",
        4,
    ),
    # A weight and its counterweight over a wheel: their difference weighs, their sum is inert.
    "counterweight": (
        HEAD + shafts(3, "revolute prismatic prismatic") + "constraints:\n"
        "  left: {type: coupling, between: [q1, q0], ratio: 0.1}\n"
        "  right: {type: coupling, between: [q2, q0], ratio: -0.1}\n"
        "coordinates: {q0: {joint: q0}}\n",
        4,
    ),
    # Friction, springs and a rotor on either side of a gear.
    "elements": (
        HEAD
        + shafts(2)
        + "constraints: {mesh: {type: coupling, between: [q1, q0], ratio: -2, constant: 0.5}}\n"
        + "elements:\n"
        + "".join(
            f"  f{k}: {{type: friction, joint: q{k}, viscous: {IDENTIFY}, coulomb: {IDENTIFY}}}\n"
            f"  s{k}: {{type: torsion_spring, joint: q{k}, stiffness: {IDENTIFY}, "
            f"free_angle: {IDENTIFY}}}\n"
            for k in range(2)
        )
        + f"  t: {{type: transmission, coordinates: [q1], motors: {{m: {{inertia: {IDENTIFY}}}}}, "
        "matrix: [[7]]}\n"
        "coordinates: {q0: {joint: q0}}\n",
        9,
    ),
    # Four shafts of a differential with two freedoms: four squares, three products.
    "differential": (
        HEAD + shafts(4) + "constraints:\n"
        "  bevel: {type: coupling, coordinates: {q2: 2, q0: -1, q1: -1}}\n"
        "  more: {type: coupling, coordinates: {q3: 1, q0: -3, q1: 1}}\n"
        "coordinates: {q0: {joint: q0}, q1: {joint: q1}}\n",
        11,
    ),
}


@cache
def model(name: str) -> tuple[Mechanism, Bounds]:
    mechanism = loads(MODELS[name][0])
    return mechanism, bounds(mechanism)


def float_rank(mechanism: Mechanism) -> int:
    W = observation_matrix(random_states(mechanism, EVERYTHING, 80, 5)).W
    W = W.reshape(-1, W.shape[-1])
    norms = np.linalg.norm(W, axis=0)
    W = W[:, norms > 1e-12 * norms.max()] / norms[norms > 1e-12 * norms.max()]
    s = np.linalg.svd(W, compute_uv=False)
    return int(np.sum(s > 1e-9 * s[0]))


@pytest.mark.parametrize("name", MODELS)
def test_gear_trains_are_certified(name: str) -> None:
    mechanism, found = model(name)
    assert (found.lower, found.upper) == (MODELS[name][1], MODELS[name][1])
    assert found.certified
    assert float_rank(mechanism) == found.lower


@pytest.mark.parametrize("spec", ["geared_gripper", "gears", "elements", "differential", "equal"])
def test_no_force_notices_a_transfer(spec: str) -> None:
    mechanism = load(spec) if spec not in MODELS else model(spec)[0]
    null = null_space(mechanism)
    W = observation_matrix(random_states(mechanism, EVERYTHING, 20, 3)).W
    left = np.abs(W.reshape(-1, W.shape[-1]) @ null.matrix).max(axis=0)
    scale = np.abs(W).max()
    worst = int(np.argmax(left))
    assert left[worst] <= 1e-12 * scale, null.transfers[worst].words


def test_the_inertia_of_a_gear_is_reflected_in_symbols() -> None:
    """Izz_2 - r² Izz_1: what is added to one is taken from the other."""
    mechanism, _ = model("gears")
    found = coupling_transfers(exact_geometry(mechanism), (0.0, 0.0, 0.0))
    ratios = [
        str(sp.simplify(e["Izz_1"] / e["Izz_2"]))
        for e in (dict(t.entries) for t in found)
        if {"Izz_1", "Izz_2"} == set(e)
    ]
    assert ratios == ["-r**2"]


def test_without_couplings_there_is_nothing_to_find() -> None:
    assert coupling_transfers(exact_geometry(load("four_bar")), (0.0, 0.0, -9.81)) == ()
