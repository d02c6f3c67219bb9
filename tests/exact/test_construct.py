"""Poses by square roots: programs, equations solved in turn, poses in prime fields, branches."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import sympy as sp
from flint import arb

from mechid.base.experiment import Experiment, random_states
from mechid.base.numeric import observed_base
from mechid.errors import MechidError
from mechid.exact.construct import construction
from mechid.exact.energies import spring_ends
from mechid.exact.equations import field_system
from mechid.exact.field import exact_problem, field_pivots, field_rank
from mechid.exact.geometry import exact_geometry
from mechid.exact.jets import closed_point
from mechid.exact.program import Recorder
from mechid.exact.quadrics import Poly
from mechid.exact.residues import good_primes
from mechid.exact.start import constructed_start
from mechid.exact.triangular import Solved, Solver
from mechid.kinematics.passive import passive_parts
from mechid.mechanism.records import Mechanism
from mechid.modelfile import load, loads
from mechid.modelfile.zoo import zoo_path

# --------------------------------------------------------------------------- programs


def test_program_does_the_same_in_a_field() -> None:
    """(1 + √5)/2 and its inverse differ by one, in balls and modulo primes."""
    recorder = Recorder()
    one, two, five = (recorder.constant(n, arb(n)) for n in (1, 2, 5))
    golden = (one + recorder.root(five, arb(5).sqrt())) / two
    program = recorder.program([golden, one / golden, golden * golden])
    assert float(golden.value) == pytest.approx((1 + math.sqrt(5)) / 2, abs=1e-15)
    for field in islice(good_primes(program.constants, {}), 5):
        found = program.modulo(field, np.random.default_rng(0)).results
        assert found is not None
        x, inverse, square = found
        assert (x - inverse) % field.p == 1
        assert x * x % field.p == square == (x + 1) % field.p


def test_program_keeps_what_is_needed() -> None:
    recorder = Recorder()
    a, b = recorder.free(arb(2)), recorder.free(arb(3))
    recorder.root(b, arb(3).sqrt())
    assert recorder.program([a * a]).roots == frozenset()
    assert len(recorder.program([a * a]).operations) == 2


def test_roots_that_hang_together_are_never_missed() -> None:
    """√t and √(t + 1) are missing for some t; √(4 t) is not where √t exists, nor is √(t²)."""
    recorder = Recorder()
    t, one, four = recorder.free(arb(2)), *(recorder.constant(n, arb(n)) for n in (1, 4))
    squares = [t, t + one, four * t, t * t]
    roots = [recorder.root(square, square.value.sqrt()) for square in squares]
    program = recorder.program(roots)
    missed: set[int] = set()
    for field in islice(good_primes(program.constants, {}), 10):
        image = program.modulo(field, np.random.default_rng(field.p))
        assert image.results is not None
        first, _, third, fourth = (r * r % field.p for r in image.results)
        assert (third, fourth) == (4 * first % field.p, first * first % field.p)
        missed |= image.missed
    assert missed == set(program.results[:2])


# --------------------------------------------------------------------------- equations


def test_two_circles_meet() -> None:
    """x² + y² = 25 and (x - 6)² + y² = 25: x = 3 by their difference, y = -4 by one root."""
    recorder = Recorder()

    def number(n: int):  # type: ignore[no-untyped-def]
        return recorder.constant(n, arb(n))

    first: Poly = {(0, 0): number(1), (1, 1): number(1), (): number(-25)}
    second: Poly = {(0, 0): number(1), (0,): number(-12), (1, 1): number(1), (): number(11)}
    unknowns: list[Poly] = [{(i,): number(1)} for i in range(2)]
    solver = Solver(recorder, [arb(3), arb(-4)], [0, 0])
    found = solver.solve(Solved(unknowns, [first, second], frozenset({0, 1})))
    assert not found.open
    assert not found.left
    assert [float(poly[()].value) for poly in found.x] == pytest.approx([3, -4])
    program = recorder.program([poly[()] for poly in found.x])
    field = next(good_primes(program.constants, {}))
    results = program.modulo(field, np.random.default_rng(0)).results
    assert results is not None
    assert results[0] == 3
    assert results[1] in (4, field.p - 4)


def test_contradictions_are_refused() -> None:
    recorder = Recorder()
    one, two = (recorder.constant(n, arb(n)) for n in (1, 2))
    equations: list[Poly] = [{(0,): one, (): one}, {(0,): one, (): two}]
    solver = Solver(recorder, [arb(1)], [0])
    with pytest.raises(MechidError, match="contradict"):
        solver.solve(Solved([{(0,): one}], equations, frozenset({0})))


# --------------------------------------------------------------------------- poses

CONSTRUCTED = [
    "bricard",
    "delta",
    "double_wishbone",
    "four_bar",
    "planar_3rrr",
    "sla_suspension@struts",
    "slider_crank@stroke",
    "spatial_slider_crank@two-balls",
    "three_rps",
]


@pytest.mark.parametrize("spec", CONSTRUCTED)
def test_pose_is_closed_and_moves_as_the_model_does(spec: str) -> None:
    """The rows are written by another module, from another list of what joints demand."""
    mechanism = load(spec)
    start = constructed_start(mechanism, spring_ends(mechanism))
    poses = []
    for residues in islice(good_primes(start.residual(), start.values), 3):
        system = field_system(start, residues, passive_parts(mechanism))
        assert system.F.closed(system.x0, system.p)
        point = closed_point(
            system.F, system.rates, system.x0, system.n, np.random.default_rng(0), system.p
        )
        assert point.dimension == len(mechanism.coordinates)
        poses.append(system.x0.tolist())
    assert len({tuple(x) for x in poses}) == 3


@pytest.mark.parametrize(
    "spec", ["five_bar", "three_rps", "quarter_vehicle", "spatial_slider_crank", "bricard@cube"]
)
def test_rank_is_that_of_the_reference_pose(spec: str) -> None:
    """Where the reference pose is exact, too: other poses, other frames, the same rank."""
    known = exact_problem(load(spec))
    assert known.start.construction is None
    start = constructed_start(known.start.mechanism, known.start.springs)
    ranks = [
        len(field_pivots(problem, next(problem.systems()), 0)[0])
        for problem in (known, replace(known, start=start))
    ]
    assert ranks[0] == ranks[1]


def test_lengths_of_the_suspension_are_those_of_the_model() -> None:
    """Upright, tie rods and struts, from the numbers of the bodies alone."""
    mechanism = load("sla_suspension@struts")
    start = constructed_start(mechanism, spring_ends(mechanism))
    residues = next(good_primes(start.residual(), start.values))
    system = field_system(start, residues, ())
    p, names = residues.p, [b.name for b in mechanism.bodies]
    x = system.x0[:-1].reshape(-1, 12).tolist()

    def place(body: str, *local: sp.Rational) -> list[int]:
        b = x[names.index(body)]
        q = [residues(t) for t in local]
        return [(b[k] + sum(b[3 + 3 * k + c] * q[c] for c in range(3))) % p for k in range(3)]

    def square(a: list[int], b: list[int]) -> int:
        return sum((s - t) ** 2 for s, t in zip(a, b, strict=True)) % p

    cm = sp.Rational(1, 100)
    for side in "rl":
        # Frames of the arms stand in their balls, the frame of the tie rod in H.
        G, D = place(f"lower_arm_{side}", 0, 0, 0), place(f"upper_arm_{side}", 0, 0, 0)
        assert square(G, D) == residues((22 * cm) ** 2)
        H, J = place(f"tie_rod_{side}", 0, 0, 0), place(f"tie_rod_{side}", 30 * cm, 0, 0)
        assert square(H, J) == residues((30 * cm) ** 2)
        assert square(H, G) == square(H, D) == residues((10 * cm) ** 2 + (11 * cm) ** 2)
        right = 37 * cm if side == "r" else -37 * cm
        N = [residues(right), residues(-5 * cm), residues(60 * cm)]
        L = place(f"strut_bottom_{side}", 0, 0, 0)
        assert square(L, place(f"lower_arm_{side}", -12 * cm, 0, 0)) == 0
        spring = next(
            s for ends, s in system.lengths.items() if ends[1].body == f"strut_bottom_{side}"
        )
        assert square(N, L) == spring * spring % p


def test_what_square_roots_do_not_reach_is_refused() -> None:
    with pytest.raises(MechidError, match="no construction"):
        construction(exact_geometry(load("macpherson"), "exact"))


# --------------------------------------------------------------------------- branches


def linkage(crossed: bool) -> Mechanism:
    """Return a four-bar with sides 1, 3, 1, 3: a parallelogram, or the same bars crossed."""
    theta = 0.785
    ax, ay = math.cos(theta), math.sin(theta)
    bx, by = ax + 3, ay
    if crossed:  # reflected in the line from the end of bar 1 to the other support
        nx, ny = -(0 - ay), 3 - ax
        h = 2 * ((bx - ax) * nx + (by - ay) * ny) / (nx * nx + ny * ny)
        bx, by = bx - h * nx, by - h * ny
    text = zoo_path("four_bar").read_text()
    for old, new in (
        ("l3: {value: 7/4", "l3: {value: 1"),
        ("0.3235990469432443", repr(math.atan2(by - ay, bx - ax))),
        ("1.2500809674052349", repr(math.atan2(by, bx - 3))),
    ):
        assert text.count(old) == 1
        text = text.replace(old, new)
    return loads(text)


def test_parallelogram_is_not_taken_for_the_crossed_one() -> None:
    """Its coupler only translates, which the equations of the joints do not say by themselves."""
    mechanism = linkage(crossed=False)
    found = field_rank(mechanism)
    numeric = observed_base(random_states(mechanism, Experiment(), 50, wide=False))
    assert numeric.confidence == "clear"
    assert found.exact
    assert found.ranks == (numeric.rank,) * 2


def test_crossed_linkage_is_refused() -> None:
    """Its root is that of a square: one sign is the parallelogram, and no field knows which."""
    with pytest.raises(MechidError, match="square roots of the closed pose are dependent"):
        field_rank(linkage(crossed=True))


def test_order_of_bodies_does_not_matter() -> None:
    mechanism = load("planar_3rrr")
    turned = replace(mechanism, bodies=mechanism.bodies[::-1], joints=mechanism.joints[::-1])
    assert field_rank(turned, primes=1).rank == field_rank(mechanism, primes=1).rank == 13
