"""The physically consistent parameters nearest to given ones, by semidefinite programming.

All parameters are known as φ* with covariance T Tᵀ: φ = φ* + T u with unit u. The nearest
physically consistent ones have the shortest u for which the pseudo-inertia of every body is
positive definite and no stiffness, damping, friction or rotor inertia is negative. Bodies are
scaled by their CAD values, Σ = L S Lᵀ, and coefficients likewise, so that all numbers are about
one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_matrix, identity

from mechid.errors import MechidError
from mechid.estimation.bodies import body_scales, column_sizes, scaled
from mechid.estimation.prior import Prior
from mechid.estimation.regression import Floats

MARGIN = 1e-6  # smallest eigenvalue of S, and smallest coefficient, in units of their CAD values
_PRECISIONS = (1e-10, 1e-8, 1e-6)  # the next where rounding does not allow one
_ROUNDING = 1e-8  # what is nearer to the boundary than that is at it
_THIN = 1e-9  # smallest eigenvalue of S of a body that is not flat
# Upper triangle column by column, off-diagonals times √2: the order of the solver.
_PLACES = tuple((i, j) for j in range(4) for i in range(j + 1))
_INFEASIBLE = ("PrimalInfeasible", "AlmostPrimalInfeasible")
_SOLVED = ("Solved", "AlmostSolved")


@dataclass(frozen=True, eq=False)
class Consistent:
    """Physically consistent parameters.

    Attributes
    ----------
    phi : array (p,)
    distance : float
        |u|, in standard deviations.
    border : tuple of str
        Bodies and coefficients at the boundary: the active constraints.
    """

    phi: Floats
    distance: float
    border: tuple[str, ...]


class Cone:
    """The physically consistent parameters of a model.

    Parameters
    ----------
    prior : Prior
        Bodies, coefficients and their CAD values.
    margin : float
        How far inside the result has to be. Bodies that are closer to the boundary than twice this
        in CAD keep half of their distance there, and flat ones may stay flat.
    """

    def __init__(self, prior: Prior, margin: float = MARGIN) -> None:
        self._knowledge = prior
        self._scales = body_scales(prior)
        least = np.array(self._least(prior.values))
        # Rounding must not make a flat body inconsistent.
        self._margins = np.where(least > _THIN, np.minimum(margin, least / 2), -_THIN)
        self._positive = np.array(prior.positive, dtype=np.int64)
        self._sizes = column_sizes(prior)[self._positive]
        self._floors = np.where(prior.values[self._positive] > 0, margin, 0.0)

    def eigenvalues(self, phi: Floats) -> dict[str, float]:
        """Return the smallest eigenvalue of S of each body: 1 for CAD values, 0 at the boundary."""
        names = [name for name, _ in self._knowledge.bodies]
        return dict(zip(names, self._least(phi), strict=True))

    def slack(self, phi: Floats) -> Floats:
        """Return the distance of each body and coefficient from the boundary, in CAD units."""
        bodies = self._least(phi) - self._margins
        return np.concatenate([bodies, phi[self._positive] / self._sizes - self._floors])

    def border(self, phi: Floats) -> tuple[str, ...]:
        """Return the bodies and coefficients at or beyond the boundary."""
        names = [name for name, _ in self._knowledge.bodies]
        names += [self._knowledge.parameters[k] for k in self._positive]
        near = 10 * np.append(self._margins, self._floors) + _ROUNDING
        return tuple(n for n, s, t in zip(names, self.slack(phi), near, strict=True) if s <= t)

    def nearest(self, phi: Floats, T: Floats) -> Consistent | None:
        """Return the physically consistent parameters nearest to φ* (p,) with covariance T Tᵀ, T
        (p, r).

        None if there are none.

        Raises
        ------
        MechidError
            If the solver fails.
        """
        if np.all(self.slack(phi) >= 0):
            return Consistent(phi, 0.0, self.border(phi))
        T = T[:, np.any(T != 0, axis=0)]
        if not T.shape[1]:
            return None
        rows, start, cones = self._conditions(phi, T)
        for precision in _PRECISIONS:
            status, u = _shortest(rows, start, cones, precision)
            if status in (*_INFEASIBLE, *_SOLVED):
                break
        if status in _INFEASIBLE:
            return None
        if status not in _SOLVED:
            raise MechidError(
                f"the semidefinite program was not solved ({status})",
                remedy="give a prior, or choose an estimator that determines the parameters better",
            )
        moved = phi + T @ u
        return Consistent(moved, float(np.linalg.norm(u)), self.border(moved))

    def _least(self, phi: Floats) -> list[float]:
        """Return the smallest eigenvalue of S of each body."""
        return [
            float(np.linalg.eigvalsh(scaled(phi[k : k + 10], L))[0])
            for (_, k), L in zip(self._knowledge.bodies, self._scales, strict=True)
        ]

    def _conditions(self, phi: Floats, T: Floats) -> tuple[Floats, Floats, list[object]]:
        """Return G, h and cones K of G u + h ∈ K."""
        import clarabel

        G, h, cones = [], [], []
        for (_, k), L, margin in zip(
            self._knowledge.bodies, self._scales, self._margins, strict=True
        ):
            to = np.array([_triangle(scaled(unit, L)) for unit in np.eye(10)]).T
            G.append(to @ T[k : k + 10])
            h.append(to @ phi[k : k + 10] - margin * _triangle(np.eye(4)))
            cones.append(clarabel.PSDTriangleConeT(4))
        if self._positive.size:
            G.append(T[self._positive] / self._sizes[:, None])
            h.append(phi[self._positive] / self._sizes - self._floors)
            cones.append(clarabel.NonnegativeConeT(int(self._positive.size)))
        return np.vstack(G), np.concatenate(h), cones


def _shortest(G: Floats, h: Floats, cones: list[object], precision: float) -> tuple[str, Floats]:
    """Return the shortest u with G u + h in the cones, and the status of the solver."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = precision
    r = G.shape[1]
    solver = clarabel.DefaultSolver(
        csc_matrix(identity(r)), np.zeros(r), csc_matrix(-G), h, cones, settings
    )
    found = solver.solve()
    return str(found.status), np.array(found.x)


def _triangle(S: Floats) -> Floats:
    return np.array([S[i, j] * (1.0 if i == j else np.sqrt(2)) for i, j in _PLACES])
