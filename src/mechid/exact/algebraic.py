"""A closed pose as algebraic numbers: solved to thousands of bits, then recognised.

Near the reference pose the driven joints are set to turns with rational sine and cosine, and to
rational displacements. All numbers of the closed pose then lie in a number field Q(θ); where its
degree is small, lattice reduction finds the polynomial of θ and writes every number as a polynomial
in θ. Nothing rests on the recognition being right: in a prime field, the equations of all joints
are checked, and if the polynomial is irreducible each of its roots there is as good as the pose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx, fmpz_mat, fmpz_poly, nmod_poly

from mechid.errors import KinematicsError
from mechid.exact.geometry import Geometry
from mechid.exact.modular import Ints
from mechid.exact.poses import ExactSystem, exact_system
from mechid.exact.rows import Configuration, jacobian, rotation, value
from mechid.exact.stack import reference_poses
from mechid.kinematics.model import kinematic_model
from mechid.kinematics.motion import solve_motion
from mechid.kinematics.reference_point.constraints import ORIGIN, Product, Row, axis, body_numbers
from mechid.mechanism.records import Joint, JointCoordinate

BITS = 3000
_GUARD = 200
_STEPS = 9  # Newton's method doubles 50 digits to more than 3000 bits
_DEGREES = (1, 2, 4, 6)
_TURN, _SHIFT = 16, 64  # half-tangents and displacements are multiples of 1/16 and 1/64 m
# A relation is genuine if its coefficients are much shorter than chance would make them.
_SHORT = 0.5


@dataclass(frozen=True, eq=False)
class AlgebraicPose:
    """Numbers of all bodies (12 each) in Q(θ).

    Attributes
    ----------
    polynomial : tuple of int
        Coefficients of the irreducible polynomial of θ, the constant first.
    numbers : tuple of tuples of Fraction
        Coefficients of 1, θ, θ², … of each number.
    """

    polynomial: tuple[int, ...]
    numbers: tuple[tuple[Fraction, ...], ...]

    def modulo(self, p: int) -> Iterator[Ints]:
        """Yield the pose in a prime field, for each root of the polynomial there."""
        for root, _ in nmod_poly([c % p for c in self.polynomial], p).roots():
            theta = int(root)
            powers = [pow(theta, k, p) for k in range(len(self.polynomial) - 1)]
            yield np.array(
                [
                    sum(
                        c.numerator * pow(c.denominator, -1, p) * t
                        for c, t in zip(number, powers, strict=True)
                    )
                    % p
                    for number in self.numbers
                ],
                dtype=np.int64,
            )


def algebraic_pose(geometry: Geometry, seed: int = 0) -> AlgebraicPose | None:
    """Return a closed pose near the reference pose, or None if it is not found."""
    mechanism = geometry.mechanism
    driven = [c for c in mechanism.coordinates if isinstance(c, JointCoordinate)]
    kinds = [mechanism.joint(c.joint).type for c in driven]
    if len(driven) < len(mechanism.coordinates) or set(kinds) - {"revolute", "prismatic"}:
        return None
    old, ctx.prec = ctx.prec, BITS
    try:
        numbers = _solved(geometry, [c.joint for c in driven])
        return None if numbers is None else _recognised(numbers, np.random.default_rng(seed))
    finally:
        ctx.prec = old


def _solved(geometry: Geometry, driven: list[str]) -> list[arb] | None:
    """Return the 12 numbers of every body, in some thousand bits."""
    mechanism = geometry.mechanism
    model = kinematic_model(mechanism)
    settings = []
    for name, home in zip(driven, model.home_y, strict=True):
        if mechanism.joint(name).type == "revolute":
            settings.append(Fraction(round(float(np.tan(home / 2)) * _TURN), _TURN))
        else:
            settings.append(Fraction(round(float(home) * _SHIFT), _SHIFT))
    y = [
        2 * np.arctan(float(t)) if mechanism.joint(name).type == "revolute" else float(t)
        for name, t in zip(driven, settings, strict=True)
    ]
    try:
        x = reference_poses(geometry, solve_motion(model, np.array([y])))[0]
        system = exact_system(geometry, x)
    except KinematicsError:
        return None
    rows, targets = _drivers(system, driven, settings)
    closed = _newton((*system.rows, *rows), [Fraction(0)] * len(system.rows) + targets, x)
    out: list[arb] = []
    for i in range(len(mechanism.bodies)):
        out += closed[7 * i : 7 * i + 3]
        out += [t.mid() for row in rotation(closed[7 * i + 3 : 7 * i + 7]) for t in row]
    return out


def _drivers(
    system: ExactSystem, driven: list[str], settings: list[Fraction]
) -> tuple[list[Row], list[Fraction]]:
    """Write the settings of the driven joints without angles: products that vanish."""
    numbers = body_numbers(system.exact)
    rows, targets = [], []
    for name, t in zip(driven, settings, strict=True):
        joint: Joint = system.exact.joint(name)
        a, b = numbers[joint.body_a], numbers[joint.body_b]
        if joint.type == "revolute":
            cosine, sine = _ball((1 - t * t) / (1 + t * t)), _ball(2 * t / (1 + t * t))
            x, y = axis(joint.frame_a, 0), axis(joint.frame_a, 1)
            across: Any = tuple(cosine * q - sine * p for p, q in zip(x, y, strict=True))
            held = Product(a, across, a, ORIGIN, b, axis(joint.frame_b, 0), False)
            rows.append(Row(name, name, "driver", "value", "-", (held,)))
            targets.append(Fraction(0))
        else:
            z = axis(joint.frame_a, 2)
            slide = Product(a, z, a, joint.frame_a.origin, b, joint.frame_b.origin, True)
            rows.append(Row(name, name, "driver", "value", "m", (slide,)))
            targets.append(t)
    return rows, targets


def _newton(rows: Sequence[Row], targets: Sequence[Fraction], x: Any) -> list[arb]:
    closed = [arb(float(t)) for t in x]
    for _ in range(_STEPS):
        c = Configuration.of(closed)
        left = [[(value(c, row) - _ball(t)).mid()] for row, t in zip(rows, targets, strict=True)]
        step = jacobian(c, rows).mid().solve(arb_mat(left), algorithm="approx")
        closed = [(t - step[i, 0]).mid() for i, t in enumerate(closed)]
    return closed


def _recognised(numbers: list[arb], rng: np.random.Generator) -> AlgebraicPose | None:
    theta = arb(0)
    for t in numbers:
        theta = theta + int(rng.integers(-5, 6)) * t
    theta = theta.mid()
    for degree in _DEGREES:
        powers = [arb(1)]
        for _ in range(degree):
            powers.append((powers[-1] * theta).mid())
        found = _relation(powers)
        if found is None:
            continue
        factors = fmpz_poly(found).factor()[1]
        if len(factors) > 1 or factors[0][1] > 1:
            return None
        written = [_written(t, powers[:-1]) for t in numbers]
        if any(w is None for w in written):
            return None
        return AlgebraicPose(tuple(found), tuple(w for w in written if w is not None))
    return None


def _written(t: arb, powers: list[arb]) -> tuple[Fraction, ...] | None:
    """Write a number as a polynomial in θ."""
    if t == 0:
        return tuple(Fraction(0) for _ in powers)
    found = _relation([t, *powers])
    if found is None or found[0] == 0:
        return None
    return tuple(Fraction(-c, found[0]) for c in found[1:])


def _relation(numbers: list[arb]) -> list[int] | None:
    """Return short integers c with Σ c x = 0, by lattice reduction."""
    bits, n = BITS - _GUARD, len(numbers)
    rows = [[*(int(i == j) for j in range(n)), _scaled(x, bits)] for i, x in enumerate(numbers)]
    reduced = fmpz_mat(rows).lll()
    found = [int(reduced[0, j]) for j in range(n + 1)]
    longest = max(abs(c).bit_length() for c in found)
    return found[:n] if longest * n < _SHORT * bits else None


def _scaled(x: arb, bits: int) -> int:
    """Return the integer nearest to x 2^bits."""
    if x == 0:
        return 0
    mantissa, exponent = (int(t) for t in x.mid().man_exp())
    shift = exponent + bits
    return mantissa << shift if shift >= 0 else mantissa >> -shift


def _ball(t: Fraction) -> arb:
    return arb(t.numerator) / arb(t.denominator)
