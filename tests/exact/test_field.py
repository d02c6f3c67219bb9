"""Ranks over prime fields: residues, curves, ranks known otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from flint import ctx

from mechid.base.experiment import Experiment, random_states
from mechid.base.nullspace import null_space
from mechid.base.numeric import observed_base
from mechid.errors import MechidError
from mechid.exact.field import exact_problem, field_rank
from mechid.exact.geometry import exact_geometry
from mechid.exact.jets import Bilinear, closed_point, lift, multiply, tangents
from mechid.exact.numbers import PRECISION
from mechid.exact.residues import NoResidueError, good_primes
from mechid.mechanism.records import (
    Mechanism,
)
from mechid.modelfile import load

# --------------------------------------------------------------------------- residues


def test_residues_keep_sums_and_products() -> None:
    root, fifth = sp.sqrt, sp.pi / 5
    numbers = [root(7), root(2), root(6), sp.cos(fifth), sp.cos(sp.pi * 33 / 180)]
    fields = good_primes(numbers, {})
    for _ in range(3):
        f = next(fields)
        assert f(root(6)) == f(root(2)) * f(root(3)) % f.p
        assert f(root(7)) ** 2 % f.p == 7
        assert f(sp.cos(fifth)) == f((1 + root(5)) / 4)
        assert f(sp.cos(sp.pi / 6, evaluate=False)) == f(root(3) / 2)
        assert f(sp.sin(sp.pi / 6, evaluate=False)) == f(sp.Rational(1, 2))
        assert (f(sp.cos(sp.pi * 33 / 180)) ** 2 + f(sp.sin(sp.pi * 33 / 180)) ** 2) % f.p == 1


def test_numbers_without_residues_are_refused() -> None:
    with pytest.raises(NoResidueError, match="not a rational"):
        next(good_primes([sp.sqrt(1 + sp.sqrt(2))], {}))


# --------------------------------------------------------------------------- curves


def test_curve_stays_on_the_circle() -> None:
    p = 2147482801
    circle = Bilinear.of([[({0: 1}, {0: 1}), ({1: 1}, {1: 1}), ({2: 1}, {2: p - 1})]], p)
    x0 = np.array([3 * pow(5, -1, p) % p, 4 * pow(5, -1, p) % p, 1])
    rng = np.random.default_rng(0)
    point = closed_point(circle, circle.rates, x0, 2, rng, p)
    assert point.dimension == 1
    x = lift(point, 12, rng)
    V = tangents(point, x, 1, rng)
    assert not circle.values(x, p).any()
    assert not circle.rates.along(x, V, p).any()
    assert V[:2].any()


def test_open_and_singular_poses_are_refused() -> None:
    p = 2147482801
    cross = Bilinear.of([[({0: 1}, {1: 1})]], p)  # x y = 0
    rng = np.random.default_rng(0)
    with pytest.raises(MechidError, match="not closed"):
        closed_point(cross, cross.rates, np.array([1, 1]), 2, rng, p)
    with pytest.raises(MechidError, match="singular"):
        lift(closed_point(cross, cross.rates, np.array([0, 0]), 2, rng, p), 4, rng)


def test_product_of_series() -> None:
    a, b = np.array([1, 2, 3]), np.array([4, 5, 6])
    assert multiply(a, b, 97).tolist() == [4, 13, 28]


# --------------------------------------------------------------------------- ranks

# By transfers, or proved in ball arithmetic where loops confine a body further.
EXACT = {
    "five_bar": 11,
    "four_bar": 8,
    "four_bar@example-1": 4,
    "slider_crank": 8,
    "pendulum": 3,
    "pendulum@friction": 5,
    "pendulum@spring": 5,
    "puma560@bare": 36,
    "puma560": 52,
    "tx40": 54,
    "double_wishbone": 65,
    "quarter_vehicle": 15,
    "spatial_slider_crank": 11,
    "three_rps": 25,
    "n_pendulum": 52,
    "n_pendulum@plane": 24,
    "bricard@cube": 19,
    # The pose is constructed.
    "bricard": 22,
    "delta": 34,
    "planar_3rrr": 13,
    "sla_suspension": 83,
    "sla_suspension@struts": 87,
    "slider_crank@stroke": 8,
    "rssr_linkage": 6,
    "flyball_governor": 16,
    "stewart_platform@friction": 94,
}


@pytest.mark.parametrize("spec", EXACT)
def test_rank(spec: str) -> None:
    found = field_rank(load(spec))
    assert found.exact
    assert found.rank == EXACT[spec] == len(found.base)
    assert found.ranks == (found.rank,) * 2


@pytest.mark.parametrize("spec", ["double_wishbone@free", "macpherson", "macpherson@bearing"])
def test_rank_is_that_of_floats_where_they_are_clear(spec: str) -> None:
    mechanism = load(spec)
    n = 15 * len(mechanism.bodies) // len(mechanism.coordinates)
    numeric = observed_base(random_states(mechanism, Experiment(), n + 10))
    assert numeric.confidence == "clear"
    assert field_rank(mechanism, primes=1).rank == numeric.rank


def test_pushrod_suspension() -> None:
    """Transfers leave 126 of 220; double precision shows less, and its rank is ambiguous."""
    mechanism = load("pushrod_suspension")
    with ctx.workprec(PRECISION):
        null = null_space(mechanism, geometry=exact_geometry(mechanism, "exact"))
        upper = len(null.names) - null.rank
    found = field_rank(mechanism, primes=1, enough=upper)
    assert found.exact
    assert found.rank == upper == 126


def rounded(spec: str, joint: str) -> Mechanism:
    """Return a mechanism with a point of a joint moved by a millionth that is no short number."""
    mechanism = load(spec)
    end = mechanism.joint(joint).frame_b
    x, y, z = end.origin
    moved = replace(end, origin=(x * (1 + np.pi * 1e-6), y, z), origin_expr=None)
    joints = tuple(replace(j, frame_b=moved) if j.name == joint else j for j in mechanism.joints)
    return replace(mechanism, joints=joints)


def test_rank_of_a_mechanism_nearby() -> None:
    linkage = rounded("four_bar", "q4")
    with pytest.raises(MechidError, match="no recognised exact form"):
        field_rank(linkage)
    found = field_rank(linkage, primes=1, nearby=True)
    assert not found.exact
    assert found.rank == EXACT["four_bar"]


def test_nearby_is_not_the_same() -> None:
    """Rounded hardpoints are no parallelograms: the platform of the Delta robot turns a little."""
    found = field_rank(rounded("delta", "lower_a_1"), primes=1, nearby=True)
    assert not found.exact
    assert found.rank > EXACT["delta"]


def test_threads_take_an_exact_reference_pose() -> None:
    with pytest.raises(MechidError, match="thread takes a reference pose that is closed"):
        field_rank(load("screw_press"))


def test_problem_names_its_parameters() -> None:
    problem = exact_problem(load("five_bar"))
    assert problem.n_independent == 2
    assert problem.names[0] == "m_1"
