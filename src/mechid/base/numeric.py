"""Base parameters the usual way: the numerical rank of an observation matrix.

Columns that hold nothing but rounding go first: scaled to unit length they would count as much as
any other. What is left is equilibrated, its rank is read off the singular values or off the
diagonal of a QR factorisation with pivoting, and a basis of the null space gives the regrouping.

For mechanisms with loops the rank read so may be wrong, in any precision that hardware has: the
reading tells how reliable it is, and `exact` proves the rank.

How large a column of the observation matrix would be if nothing in it cancelled.

A parameter without effect leaves a column of zeros, or of what rounding leaves of zero. Whether a
small column is small or zero cannot be decided from the matrix alone: the size of the numbers that
cancelled in it decides. A column of m is a speed times an acceleration, one of a first moment or of
an inertia likewise with turns in the place of translations, all of the fastest body: rounding in
one body comes from the motions of those that carry it.

Pivoted triangular factorisation of W in multiprecision.

WᵀW = P Rᵀ R Pᵀ by Cholesky's method with pivoting is the R of W P = Q R with pivoting. It squares
the range of the numbers, which costs digits: with hundreds of bits there are enough, and a matrix
of p × p instead of M × p numbers is left to work on. The arithmetic is `arb`'s, of which only the
mid-points count here; nothing is proved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from flint import arb, arb_mat, ctx
from scipy.linalg import qr, solve_triangular

from mechid.base.partition import Choice, dependent_rows, regrouping
from mechid.base.spectrum import Reading, Verdict, read_rank
from mechid.dynamics.columns import element_terms
from mechid.dynamics.regressor import observation_matrix
from mechid.errors import MechidError
from mechid.exact.geometry import exact_geometry
from mechid.exact.stack import ball_observation, stacked
from mechid.kinematics.motion import Motion, rates
from mechid.kinematics.tables import Floats
from mechid.mechanism.element_laws import law_degree
from mechid.mechanism.size import characteristic_size


@dataclass(frozen=True, eq=False)
class Factors:
    """The rows of R as far as pivots are positive, columns in the order of `order`."""

    R: np.ndarray
    order: tuple[int, ...]
    diagonal: Floats


def factorise(W: arb_mat) -> Factors:
    """Factorise a matrix whose columns are of about equal length, at the context's precision."""
    gram = W.transpose() * W
    p = W.ncols()
    A = np.array([x.mid() for x in gram.entries()], dtype=object).reshape(p, p)
    order = np.arange(p)
    R = np.full((p, p), arb(0), dtype=object)
    diagonal = []
    for k in range(p):
        j = k + int(np.argmax([float(A[i, i].mid()) for i in range(k, p)]))
        for M in (A, R):
            M[:, [k, j]] = M[:, [j, k]]
        A[[k, j]] = A[[j, k]]
        order[[k, j]] = order[[j, k]]
        pivot = A[k, k].mid()
        if not pivot > 0:
            break
        root = pivot.sqrt().mid()
        row = np.array([x.mid() for x in A[k, k + 1 :] / root], dtype=object)
        R[k, k], R[k, k + 1 :] = root, row
        diagonal.append(float(root))
        live = np.flatnonzero([x != 0 for x in row])
        if len(live):
            block = np.ix_(k + 1 + live, k + 1 + live)
            A[block] = _mid(A[block] - np.outer(row[live], row[live]))
    n = len(diagonal)
    return Factors(R[:n], tuple(int(i) for i in order), np.array(diagonal))


def null_basis(factors: Factors, rank: int) -> Floats:
    """Return Z (p, p - rank) with W Z = 0 to the precision of the rank, rounded to floats.

    With R = (R1 R2) of the given rank, Z = (-R1⁻¹ R2; 1) in the order of the pivots.
    """
    p = len(factors.order)
    Z = np.zeros((p, p - rank))
    Z[list(factors.order[rank:])] = np.eye(p - rank)
    if 0 < rank < p:
        R1 = arb_mat([list(row[:rank]) for row in factors.R[:rank]])
        R2 = arb_mat([list(row[rank:]) for row in factors.R[:rank]])
        X = R1.solve(R2, algorithm="approx").entries()
        values = np.array([float(x.mid()) for x in X]).reshape(rank, p - rank)
        Z[list(factors.order[:rank])] = -values
    return Z


def _mid(A: np.ndarray) -> np.ndarray:
    return np.array([x.mid() for x in A.ravel()], dtype=object).reshape(A.shape)


def uncancelled(motion: Motion) -> Floats:
    """Return what the entries of W would be without cancellation, (N, n_i, p)."""
    mechanism = motion.model.mechanism
    L = characteristic_size(mechanism)
    bodies = motion.bodies()
    shift, turn = _partials(motion)
    # A motion that only translates still has rounding in its turns, and the other way round.
    turn = np.maximum(turn, shift / L)
    shift = np.maximum(shift, turn * L)
    kinematic = _largest(bodies.acceleration)
    swing = _largest(bodies.alpha) + _largest(bodies.omega) ** 2
    swing = np.maximum(swing, kinematic / L)[:, None]
    weight = (kinematic + np.linalg.norm(mechanism.gravity))[:, None]
    ten = [shift * weight] + 3 * [shift * swing + turn * weight] + 6 * [turn * swing]
    columns = ten * len(mechanism.bodies)
    speed = np.maximum(_largest(bodies.velocity), _largest(bodies.omega) * L)[:, None]
    taken = (np.full_like(shift, L), speed, swing * L)
    for term in element_terms(mechanism):
        if not term.known:
            columns.append(shift * taken[term.order] ** law_degree(term.law, term.shape))
    return np.stack(columns, axis=-1)


def _partials(motion: Motion) -> tuple[Floats, Floats]:
    """Return the largest partial velocities (N, n_i): of translation, of turning."""
    R = rates(motion).R
    still = np.zeros_like(motion.v)
    shift, turn = [], []
    for j in range(R.shape[2]):
        moved = replace(motion, v=np.ascontiguousarray(R[:, :, j]), vd=still).bodies()
        shift.append(_largest(moved.velocity))
        turn.append(_largest(moved.omega))
    return np.stack(shift, axis=1), np.stack(turn, axis=1)


def _largest(vectors: Floats) -> Floats:
    """Return the largest length over the bodies, (N,)."""
    return np.asarray(np.max(np.linalg.norm(vectors, axis=-1), axis=-1, initial=0.0))


Method: TypeAlias = Literal["svd", "qr"]
# Bits, where it is a number.
Precision: TypeAlias = Literal["single", "double"] | int

# Rounding of one entry of W, in units of eps times the size of what cancelled in it.
_NOTHING = 64.0


@dataclass(frozen=True, eq=False)
class NumericBase:
    """A base set read off an observation matrix.

    Attributes
    ----------
    names : tuple of str
        The p parameters.
    without_effect : tuple of str
        Those whose columns hold nothing but rounding; they are in neither of the other sets.
    base, dependent : tuples of str
        W φ = W_b (φ_b + β φ_d).
    beta : array (b, d)
    reading : Reading
        The whole spectrum, the gap, and how reliable the rank is.
    effect : array (p,)
        Length of each column, relative to that without cancellation (or to the largest column).
    method : "svd" or "qr"
    precision : "single", "double" or int
        Arithmetic; a number is bits.
    turned : frozenset of str
        Bodies whose parameters refer to ground axes of the reference pose (`exact.geometry`).
    """

    names: tuple[str, ...]
    without_effect: tuple[str, ...]
    base: tuple[str, ...]
    dependent: tuple[str, ...]
    beta: Floats
    reading: Reading
    effect: Floats
    method: Method
    precision: Precision
    turned: frozenset[str] = frozenset()

    @property
    def rank(self) -> int:
        """Number of base parameters."""
        return self.reading.rank

    @property
    def spectrum(self) -> Floats:
        """Singular values, or pivots, relative to the largest."""
        return self.reading.spectrum

    @property
    def gap(self) -> float:
        """Ratio of the smallest value kept to the largest dropped."""
        return self.reading.gap

    @property
    def confidence(self) -> Verdict:
        """How reliable the rank is, in a word."""
        return self.reading.verdict


def numeric_base(
    W: Floats,
    names: Sequence[str],
    *,
    scale: Floats | None = None,
    method: Method = "svd",
    precision: Literal["single", "double"] = "double",
    choice: Choice = "pivot",
    tolerance: float | None = None,
) -> NumericBase:
    """Read a base set off an observation matrix.

    Parameters
    ----------
    W : array (M, p)
    names : sequence of str
        Of the columns.
    scale : array (p,), optional
        Length that each column would have without cancellation (`effect.uncancelled`); without it,
        columns are compared with the largest, and small ones that count may be lost.
    method : "svd" or "qr"
        Singular values, or QR with pivoting.
    precision : "single" or "double"
        "single": W is rounded, and everything is computed, in single precision.
    choice : "pivot", "first" or "last"
        Which parameters become dependent: the best conditioned set, the first or the last.
    tolerance : float, optional
        Singular values above this part of the largest count; by default eps max(M, p).
    """
    kind = np.float32 if precision == "single" else np.float64
    A = np.asarray(W, dtype=kind)
    if A.ndim != 2 or A.shape[1] != len(names):
        raise MechidError(
            f"W must have shape (M, {len(names)}), one column per name, got {A.shape}",
            where="numeric base parameters",
            remedy="stack the samples: W.reshape(-1, p)",
        )
    eps = float(np.finfo(kind).eps)
    norms = np.linalg.norm(A, axis=0)
    sizes = np.full(len(names), norms.max(initial=0.0)) if scale is None else np.asarray(scale)
    effect = np.where(norms > 0, norms / np.where(sizes > 0, sizes, 1.0), 0.0)
    kept = np.flatnonzero(effect > _NOTHING * eps)
    scaled = A[:, kept] / norms[kept]
    values, null = (_by_svd if method == "svd" else _by_qr)(scaled)
    reading = read_rank(values, scaled.shape, eps, tolerance)
    Z = null(reading.rank)
    return _record(
        tuple(names), kept, norms[kept], Z, reading, effect, method, precision, choice, frozenset()
    )


def observed_base(
    motion: Motion,
    *,
    method: Method | None = None,
    precision: Precision = "double",
    choice: Choice = "pivot",
    tolerance: float | None = None,
    forces: Sequence[int] | None = None,
) -> NumericBase:
    """Read a base set off the observation matrix of a solved motion.

    Parameters
    ----------
    motion : Motion
        A trajectory, or random states (`experiment.random_states`).
    method : "svd" or "qr", optional
        "svd" unless the precision is a number of bits; then there is "qr" only.
    precision : "single", "double" or int
        Bits of multiprecision: the poses are solved again, and W and its factors computed, with
        that many. Bodies may then be described in other frames (`NumericBase.turned`).
    choice, tolerance
        As in `numeric_base`.
    forces : sequence of int, optional
        Numbers of the independent coordinates whose forces are measured
        (`experiment.measured_rows`); all by default.
    """
    taken = list(range(motion.y.shape[1])) if forces is None else list(forces)
    if isinstance(precision, int):
        if method == "svd":
            raise MechidError(
                "singular values are computed in single and double precision only",
                where="numeric base parameters",
                remedy='use method="qr" in multiprecision',
            )
        return _multiprecision(motion, precision, choice, tolerance, taken)
    found = observation_matrix(motion)
    sizes = uncancelled(motion)[:, taken]
    # Rows in units of their coordinate, so that forces and torques weigh alike.
    rows = np.sqrt(np.mean(np.square(sizes[:, :, 0]), axis=0))[None, :, None]
    p = len(found.columns)
    W, scale = (found.W[:, taken] / rows).reshape(-1, p), (sizes / rows).reshape(-1, p)
    return numeric_base(
        W,
        [c.name for c in found.columns],
        scale=np.linalg.norm(scale, axis=0),
        method=method or "svd",
        precision=precision,
        choice=choice,
        tolerance=tolerance,
    )


def _by_svd(A: Any) -> tuple[Floats, Any]:
    _, s, Vt = np.linalg.svd(A, full_matrices=True)
    return s.astype(np.float64), lambda rank: Vt[rank:].T


def _by_qr(A: Any) -> tuple[Floats, Any]:
    R, order = qr(A, mode="r", pivoting=True)
    p = A.shape[1]

    def null(rank: int) -> Any:
        Z = np.zeros((p, p - rank), dtype=A.dtype)
        Z[order[rank:]] = np.eye(p - rank)
        if 0 < rank < p:
            Z[order[:rank]] = -solve_triangular(R[:rank, :rank], R[:rank, rank:])
        return Z

    return np.abs(np.diag(R)).astype(np.float64), null


def _multiprecision(
    motion: Motion, bits: int, choice: Choice, tolerance: float | None, taken: list[int]
) -> NumericBase:
    mechanism = motion.model.mechanism
    geometry = exact_geometry(mechanism, "exact")
    found = ball_observation(geometry, motion, mechanism.gravity, precision=bits)
    names = [c.name for c in observation_matrix(motion.part(slice(0, 1))).columns]
    rows = stacked(found.W, taken)
    # Squares need twice the digits.
    with ctx.workprec(2 * bits):
        A = np.array(rows, dtype=object)
        effective = [not all(x.contains(0) for x in A[:, j]) for j in range(A.shape[1])]
        kept = np.flatnonzero(effective)
        norms = np.linalg.norm([[float(x.mid()) for x in row] for row in rows], axis=0)
        scaled = A[:, kept] / np.array([arb(x) for x in norms[kept]], dtype=object)
        eps = max((float(x.rad()) for x in scaled.ravel()), default=0.0)
        mids = [[x.mid() for x in row] for row in scaled.tolist()]
        factors = factorise(arb_mat(mids))
        reading = read_rank(factors.diagonal, scaled.shape, max(eps, 2.0**-bits), tolerance)
        Z = null_basis(factors, reading.rank)
    effect = np.where(effective, norms / max(float(norms.max(initial=0.0)), 1e-300), 0.0)
    return _record(
        tuple(names), kept, norms[kept], Z, reading, effect, "qr", bits, choice, geometry.turned
    )


def _record(
    names: tuple[str, ...],
    kept: np.ndarray,
    norms: Floats,
    Z: Floats,
    reading: Reading,
    effect: Floats,
    method: Method,
    precision: Precision,
    choice: Choice,
    turned: frozenset[str],
) -> NumericBase:
    """Choose the dependent parameters, and undo the equilibration in β."""
    dependent = dependent_rows(Z, choice)
    base = np.setdiff1d(np.arange(len(kept)), dependent)
    beta = regrouping(Z, dependent).astype(np.float64)
    beta = beta * norms[dependent][None, :] / norms[base][:, None]
    gone = np.setdiff1d(np.arange(len(names)), kept)
    return NumericBase(
        names=names,
        without_effect=tuple(names[i] for i in gone),
        base=tuple(names[kept[i]] for i in base),
        dependent=tuple(names[kept[i]] for i in dependent),
        beta=beta,
        reading=reading,
        effect=effect,
        method=method,
        precision=precision,
        turned=turned,
    )
