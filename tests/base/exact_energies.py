"""Null space of energy and weight of open chains, by brute force in rational numbers.

Poses and rates of every joint are drawn at random, as rationals: rotations from quaternions, angles
from half-angle tangents. Kinetic energy and weight are linear in the ten parameters of each
body; what changes neither the energy of any state nor the differences of weights is the null space.
Nothing here knows what a transfer is.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TypeAlias

import sympy as sp
from flint import fmpq, fmpq_mat

from mechid.mechanism.joint_kinds import JOINT_KINDS, JointType
from mechid.mechanism.records import (
    GROUND,
    Body,
    Frame,
    Joint,
    Mechanism,
)

Matrix: TypeAlias = list[list[fmpq]]

PITCH = 0.4
PI = fmpq(22, 7)  # stands for π on both sides: an identity in the lead holds for any number


@dataclass(frozen=True)
class Link:
    """A joint to the body before: its type, and a pose of its frame in either body."""

    type: JointType
    frame_a: Matrix
    frame_b: Matrix


def product(A: Matrix, B: Matrix) -> Matrix:
    return [
        [sum((a * B[k][j] for k, a in enumerate(row)), fmpq(0)) for j in range(len(B[0]))]
        for row in A
    ]


def plus(A: Matrix, B: Matrix) -> Matrix:
    return [[a + b for a, b in zip(x, y, strict=True)] for x, y in zip(A, B, strict=True)]


def pose(R: Matrix, p: list[fmpq]) -> Matrix:
    return [[*row, x] for row, x in zip(R, p, strict=True)] + [
        [fmpq(int(k == 3)) for k in range(4)]
    ]


def inverse(A: Matrix) -> Matrix:
    R = [[A[j][i] for j in range(3)] for i in range(3)]
    p = [-sum((R[i][k] * A[k][3] for k in range(3)), fmpq(0)) for i in range(3)]
    return pose(R, p)


def twist(w: list[fmpq], v: list[fmpq]) -> Matrix:
    x, y, z = w
    zero = fmpq(0)
    return [[zero, -z, y, v[0]], [z, zero, -x, v[1]], [-y, x, zero, v[2]], [zero] * 4]


ZERO3 = [fmpq(0)] * 3
EYE3 = [[fmpq(int(i == j)) for j in range(3)] for i in range(3)]


def number(rng: Random) -> fmpq:
    return fmpq(rng.randint(-20, 20), rng.randint(1, 9))


def three(rng: Random) -> list[fmpq]:
    return [number(rng) for _ in range(3)]


def rotation(rng: Random) -> Matrix:
    w, x, y, z = (fmpq(rng.randint(-6, 6)) for _ in range(4))
    n = w * w + x * x + y * y + z * z
    if n == 0:
        return EYE3
    return [
        [(w * w + x * x - y * y - z * z) / n, 2 * (x * y - w * z) / n, 2 * (x * z + w * y) / n],
        [2 * (x * y + w * z) / n, (w * w - x * x + y * y - z * z) / n, 2 * (y * z - w * x) / n],
        [2 * (x * z - w * y) / n, 2 * (y * z + w * x) / n, (w * w - x * x - y * y + z * z) / n],
    ]


def about(axis: int, rng: Random) -> Matrix:
    t = number(rng)
    c, s = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = [list(row) for row in EYE3]
    R[i][i] = R[j][j] = c
    R[j][i], R[i][j] = s, -s
    return R


def joint_state(type: JointType, rng: Random) -> tuple[Matrix, Matrix]:
    """Return a random pose of frame b in frame a, and its rate (4×4 each), by NOTATION.md."""
    A, rate = pose(EYE3, ZERO3), [[fmpq(0)] * 4 for _ in range(4)]
    for step in JOINT_KINDS[type].steps:
        axis, speed = EYE3[step.axis], number(rng)
        spin, slide = ZERO3, ZERO3
        if step.motion == "ball":
            B, spin = pose(rotation(rng), ZERO3), three(rng)
        elif step.motion == "slide":
            B, slide = pose(EYE3, scaled(number(rng), axis)), scaled(speed, axis)
        else:
            B, spin = pose(about(step.axis, rng), ZERO3), scaled(speed, axis)
        if step.motion == "screw":
            # The angle of a thread is no rational function of its sine and cosine.
            B = product(B, pose(EYE3, scaled(number(rng), axis)))
            slide = scaled(fmpq(2, 5) / (2 * PI) * speed, axis)
        A, rate = product(A, B), product(rate, B)
        rate = plus(rate, product(A, twist(spin, slide)))  # in the axes of the frame that moves
    return A, rate


def scaled(factor: fmpq, v: list[fmpq]) -> list[fmpq]:
    return [factor * c for c in v]


def chain_state(links: list[Link], rng: Random) -> list[tuple[Matrix, Matrix]]:
    """Return A and Ȧ of every body of a chain that starts on the ground."""
    A, rate = pose(EYE3, ZERO3), [[fmpq(0)] * 4 for _ in range(4)]
    states = []
    for link in links:
        J, Jd = joint_state(link.type, rng)
        back = inverse(link.frame_b)
        K = product(product(link.frame_a, J), back)
        Kd = product(product(link.frame_a, Jd), back)
        A, rate = product(A, K), plus(product(rate, K), product(A, Kd))
        states.append((A, rate))
    return states


# Σ = ∫ ρ ρᵀ dm of a unit of each parameter, ρ = (s, 1): Ixx = ∫ y² + z², so ∫ x² = (Iyy+Izz-Ixx)/2.
def sigma(k: int) -> Matrix:
    S = [[fmpq(0)] * 4 for _ in range(4)]
    half = fmpq(1, 2)
    if k == 0:
        S[3][3] = fmpq(1)
    elif k < 4:
        S[k - 1][3] = S[3][k - 1] = fmpq(1)
    elif k in (4, 7, 9):
        i = (4, 7, 9).index(k)
        for j in range(3):
            S[j][j] = -half if i == j else half
    else:
        i, j = {5: (0, 1), 6: (0, 2), 8: (1, 2)}[k]
        S[i][j] = S[j][i] = fmpq(-1)
    return S


SIGMAS = [sigma(k) for k in range(10)]


def energies(rate: Matrix) -> list[fmpq]:
    """Return tr(Ȧ Σ Ȧᵀ) per unit of each parameter."""
    G = [
        [sum((rate[k][i] * rate[k][j] for k in range(3)), fmpq(0)) for j in range(4)]
        for i in range(4)
    ]
    return [sum((G[i][j] * S[i][j] for i in range(4) for j in range(4)), fmpq(0)) for S in SIGMAS]


def weights(A: Matrix, gravity: list[fmpq]) -> list[fmpq]:
    """Return g · A Σ (0, 0, 0, 1)ᵀ per unit of each parameter."""
    height = [sum((gravity[k] * A[k][i] for k in range(3)), fmpq(0)) for i in range(4)]
    return [sum((height[i] * S[i][3] for i in range(4)), fmpq(0)) for S in SIGMAS]


def energy_matrix(links: list[Link], gravity: list[fmpq], seed: int = 0) -> fmpq_mat:
    """Return energies, and weights less those of the first state, (rows, 10 n_b)."""
    rng = Random(seed)
    rows: list[list[fmpq]] = []
    first: list[fmpq] | None = None
    for _ in range(9 * len(links) + 6):
        states = chain_state(links, rng)
        rows.append([x for _, rate in states for x in energies(rate)])
        now = [x for A, _ in states for x in weights(A, gravity)]
        first = now if first is None else first
        rows.append([a - b for a, b in zip(now, first, strict=True)])
    return fmpq_mat(rows)


def chain_mechanism(links: list[Link]) -> Mechanism:
    """Return the chain as a mechanism, without coordinates."""
    names = [GROUND, *(f"b{i}" for i in range(len(links)))]
    joints = tuple(
        Joint(
            f"j{i}",
            link.type,
            names[i],
            names[i + 1],
            _frame(link.frame_a),
            _frame(link.frame_b),
            pitch=PITCH if JOINT_KINDS[link.type].thread else 0.0,
        )
        for i, link in enumerate(links)
    )
    identity = _frame(pose(EYE3, ZERO3))
    bodies = tuple(Body(name, identity) for name in names[1:])
    return Mechanism("chain", (0.0, 0.0, 0.0), bodies, joints, ())


def _frame(A: Matrix) -> Frame:
    x, y, z = ((_float(A[i][0]), _float(A[i][1]), _float(A[i][2])) for i in range(3))
    return Frame((_float(A[0][3]), _float(A[1][3]), _float(A[2][3])), (x, y, z))


def _float(x: fmpq) -> float:
    return int(x.p) / int(x.q)


def rational(x: sp.Expr) -> fmpq:
    """Return an exact number that knows π as a rational."""
    value = sp.expand(sp.sympify(x).subs(sp.pi, sp.Rational(22, 7)))
    if not value.is_Rational:
        value = sp.simplify(value)
    assert value.is_Rational, x
    return fmpq(int(value.p), int(value.q))
