"""What the loops add to the joints: bodies constrained further, bodies that move alike.

A linkage built of spatial joints may move in a plane, a platform may only translate, the rods of a
parallelogram turn together. The joints alone do not say so; closed poses do. Points and directions
at rest, and points and directions of two bodies that move alike, are found as null vectors of
the poses of random states, recognised as exact numbers, and then confirmed in ball arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import sympy as sp
from flint import arb

from mechid.base.constant import Constant
from mechid.base.homogeneous import Rho, symmetric_product
from mechid.base.spaces import Row
from mechid.exact.geometry import Geometry
from mechid.exact.stack import frame_poses
from mechid.kinematics.motion import Motion
from mechid.kinematics.tables import Floats
from mechid.mechanism.records import Mechanism

SAMPLES = 12  # poses that are compared; the largest matrix has 8 columns
_REST = 1e-10  # relative to L
_NEAR = 1e-11  # how far a float null vector may be from the exact numbers
_PIVOT = 1e-8
_DENOMINATOR = 10_000
# Fractions of a denominator up to q lie so close that any number is near one where the slack is
# about 1/q²: what is recognised must not be by chance, in millimetres either.
_CHANCE = 1e-2


@dataclass(frozen=True)
class Alike:
    """Pairs (ρ_i, ρ_j) of two bodies that move alike: A_i ρ_i - A_j ρ_j is constant.

    `apart` says whether that constant is other than zero.
    """

    bodies: tuple[str, str]
    pairs: tuple[tuple[Rho, Rho], ...]
    apart: tuple[bool, ...]


def homogeneous(geometry: Geometry, motion: Motion) -> Floats:
    """Return the poses [R | p] of all bodies, (N, n_b, 3, 4)."""
    position, rotation = frame_poses(geometry, motion)
    return np.concatenate([rotation, position[..., None]], axis=-1)


def at_rest(
    poses: Floats, mechanism: Mechanism, known: dict[str, Constant], size: float
) -> dict[str, list[Row]]:
    """Return (ρ, c) with A ρ = c in all poses, beyond those known, where numbers are recognised."""
    found: dict[str, list[Row]] = {}
    for i, body in enumerate(mechanism.bodies):
        A = poses[:, i]
        null = _null(_scaled(A[1:] - A[0], size), size)
        span = _floats(known[body.name].at_rest).reshape(-1, 8)[:, :4]
        if len(null) <= len(span):
            continue
        rows = []
        for rho in null:
            exact, c = _recognised(rho), _recognised(A[0] @ rho)
            if exact is None or c is None or not _outside(span, rho):
                continue
            rows.append([_ball(x) for x in (*exact, *c, exact[3])])
            span = np.vstack([span, rho])
        if rows:
            found[body.name] = rows
    return found


def alike(
    poses: Floats, mechanism: Mechanism, rest: dict[str, Constant], size: float
) -> Iterator[Alike]:
    """Yield pairs of bodies that share more motion than being partly at rest.

    The fourth components must agree: a point moves like a point, a direction like a direction, or
    their weights would differ.
    """
    names = [body.name for body in mechanism.bodies]
    moved = poses[1:] - poses[0]
    for i, j in combinations(range(len(names)), 2):
        still = len(rest[names[i]].at_rest) + len(rest[names[j]].at_rest)
        stacked = np.concatenate([moved[:, i], -moved[:, j]], axis=-1)
        null = _null(_scaled(stacked, size), size)
        if len(null) <= still:
            continue
        pairs, apart = [], []
        for row in _same_kind(null):
            exact = _recognised(row)
            if exact is not None:
                way = poses[0, i] @ row[:4] - poses[0, j] @ row[4:]
                pairs.append((exact[:4], exact[4:]))
                apart.append(bool(np.linalg.norm(way) > _REST * max(1.0, size)))
        if pairs:
            yield Alike((names[i], names[j]), tuple(pairs), tuple(apart))


def products(pair: Alike) -> Iterator[tuple[tuple[sp.Expr, ...], tuple[sp.Expr, ...]]]:
    """Yield what can move between the two bodies: all products of what moves alike."""
    for a in range(len(pair.pairs)):
        for b in range(a, len(pair.pairs)):
            (ri, rj), (si, sj) = pair.pairs[a], pair.pairs[b]
            on_i, on_j = symmetric_product(ri, si), symmetric_product(rj, sj)
            if a != b and (ri == si) != (rj == sj):  # one side doubled, the other not
                on_i = on_i if ri != si else tuple(2 * x for x in on_i)
                on_j = on_j if rj != sj else tuple(2 * x for x in on_j)
            yield on_i, on_j


def _floats(rows: list[Row]) -> Floats:
    return np.array([[float(x.mid()) for x in row] for row in rows])


def _outside(span: Floats, row: Floats) -> bool:
    """Return whether a vector adds to the span of others."""
    if not len(span):
        return True
    left = row - span.T @ np.linalg.lstsq(span.T, row, rcond=None)[0]
    return bool(np.linalg.norm(left) > 1e-6 * np.linalg.norm(row))


def _scaled(blocks: Floats, size: float) -> Floats:
    """Stack (N, 3, m) blocks with lengths in units of L, in every fourth column."""
    flat = blocks.reshape(-1, blocks.shape[-1]).copy()
    flat[:, 3::4] /= size
    return flat


def _null(rows: Floats, size: float) -> Floats:
    """Return the null space in reduced form, one vector per row, scaled back to m."""
    _, s, Vt = np.linalg.svd(rows)
    rank = int(np.sum(s > _REST * max(1.0, float(s[0]))))
    basis = Vt[rank:].copy()
    basis[:, 3::4] /= size
    return _reduced(basis)


def _same_kind(basis: Floats) -> Floats:
    """Return the combinations with equal fourth components, reduced."""
    off = basis[:, 3] - basis[:, 7]
    if np.max(np.abs(off), initial=0.0) < _PIVOT:
        return basis
    pivot = int(np.argmax(np.abs(off)))
    kept = [basis[k] - off[k] / off[pivot] * basis[pivot] for k in range(len(basis)) if k != pivot]
    return _reduced(np.array(kept).reshape(-1, basis.shape[1]))


def _reduced(basis: Floats) -> Floats:
    """Return the reduced row echelon form."""
    rows = basis.copy()
    done = 0
    # Fourth components first, so that at most one vector is a point.
    order = [3, 7, *(k for k in range(rows.shape[1]) if k % 4 != 3)]
    for k in (c for c in order if c < rows.shape[1]):
        if done == len(rows):
            break
        pivot = done + int(np.argmax(np.abs(rows[done:, k])))
        if abs(rows[pivot, k]) < _PIVOT:
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, k]
        for other in range(len(rows)):
            if other != done:
                rows[other] -= rows[other, k] * rows[done]
        done += 1
    return np.asarray(rows[:done])


def _recognised(values: Floats) -> tuple[sp.Expr, ...] | None:
    """Return exact numbers, or None if one is not clearly a fraction or the root of one."""
    out: list[sp.Expr] = []
    for value in values.tolist():
        near = Fraction(value).limit_denominator(_DENOMINATOR)
        square = Fraction(value * value).limit_denominator(_DENOMINATOR)
        slack = _NEAR * abs(value)
        if abs(float(near) - value) < _NEAR:
            out.append(sp.Rational(near.numerator, near.denominator))
        elif abs(float(square) - value * value) < slack and slack * square.denominator**2 < _CHANCE:
            root = sp.sqrt(sp.Rational(square.numerator, square.denominator))
            out.append(root if value > 0 else -root)
        else:
            return None
    return tuple(out)


def _ball(x: sp.Expr) -> arb:
    if isinstance(x, sp.Rational):
        return arb(int(x.p)) / int(x.q)
    square = sp.Rational(x * x)
    root = (arb(int(square.p)) / int(square.q)).sqrt()
    return root if float(x) > 0 else -root
